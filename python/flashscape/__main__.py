"""``python -m flashscape``."""

from flashscape.cli import main

main()
