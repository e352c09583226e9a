"""Seeds of random tests: each is printed, and FLASHSCAPE_TEST_SEED chooses another."""

from __future__ import annotations

import os
import random

VARIABLE = "FLASHSCAPE_TEST_SEED"
"""Environment variable with the seed of all random tests; Rust's tests take it, too."""


def seed(usual: int | None = None) -> int:
    """Return the seed of a test and print it; without the variable, the usual or a new one."""
    given = os.environ.get(VARIABLE)
    found = random.randrange(2**32) if usual is None else usual
    if given:
        found = int(given)
    print(f"{VARIABLE}={found}")
    return found


def drawn(usual: int | None = None) -> random.Random:
    """Return random numbers of the test's seed."""
    return random.Random(seed(usual))
