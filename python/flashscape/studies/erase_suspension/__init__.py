"""Practical erase suspension (USENIX ATC 2019)."""
