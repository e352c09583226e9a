"""``python -m flashscape.bench``: how fast the simulator is and how much memory it takes.

Runs experiment files that ship with flashscape, each in a process of its own,
through the same entry point as everybody's (``flashscape.run``), and sets the
figures beside bounds and beside what a bare loop takes on the same machine.
"""
