"""Studies of papers: a folder each, with its data and a module for each exhibit.

docs/how-to/add-a-study.md explains how to add one.
"""

STUDIES: tuple[str, ...] = (
    "erase_suspension",
    "design_tradeoffs_performance",
    "tiny_tail_flash",
    "design_tradeoffs_reliability",
    "together",
    "io_determinism",
)
"""Folders that `flashscape reproduce` knows: add one line for a new study."""
