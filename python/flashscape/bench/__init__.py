"""Benchmark of the simulator's speed and memory: ``python -m flashscape.bench``.

Runs experiment files that ship with flashscape, each in a process of its own,
through the public entry point ``flashscape.run``. It compares the figures with
bounds and with the time of a bare loop on the same machine.
"""
