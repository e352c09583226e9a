"""Tiny-Tail Flash (USENIX FAST 2017)."""
