"""Design Tradeoffs for SSD Reliability (USENIX FAST 2019)."""
