"""A policy that ends the run by an error, which is the finding of an exhibit."""


def choose(blocks):
    """Give up."""
    raise RuntimeError("no victim will do")
