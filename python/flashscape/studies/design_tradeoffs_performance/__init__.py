"""Design Tradeoffs for SSD Performance (USENIX ATC 2008)."""
