"""Studies of papers: a folder each, with its data and a module for each exhibit.

How to add one is in docs/how-to/add-a-study.md.
"""

STUDIES: tuple[str, ...] = ("erase_suspension", "design_tradeoffs_performance")
"""The folders here that `flashscape reproduce` knows: one line to add a study."""
