"""I/O determinism and NVM sets (Toshiba, Flash Memory Summit 2017)."""
