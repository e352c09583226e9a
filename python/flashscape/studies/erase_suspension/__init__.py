"""Practical erase suspension (USENIX ATC 2019): its claims; the exhibits' code is to come."""
