"""Bit errors of a run as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from flashscape.measured import Measured

_READS = {"host": "hosts", "internal": "the drive itself"}

_SOURCES = {
    "host_read": "of hosts",
    "rmw_read": "for partial writes",
    "gc_read": "of GC",
    "scrub": "of scrubbing",
    "rebuild": "of other members",
}


def errors(result: Measured) -> Rows:
    """Return what bit errors cost; no rows if flash has none."""
    # Summaries of earlier versions lack this key.
    of = result.summary.get("errors")
    if of is None:
        return Rows("Bit errors", ("what", "value"), [], 1)
    rows = [("expected errors of a codeword at first", _first(of["first_decodes"]))]
    for key, words in (
        ("undecoded_reads", "reads that could not be decoded at first"),
        ("re_reads", "re-reads"),
        ("soft_decodings", "soft decodings"),
        ("rebuilds", "reads for which the rest of their stripe was read"),
        ("rebuild_failures", "of these, reads that could not be rebuilt"),
        ("unrecovered_units", "mapping units that could not be read"),
    ):
        if of[key]:
            rows.append((words, _by_source(of[key])))
        if key == "undecoded_reads":
            rows += _faulty(of)
    if of["poisoned_units"]:
        rows.append(("mapping units without their data at the end", f"{of['poisoned_units']:,}"))
    rows.append(("UBER of hosts", _uber(of["uber"], has_faults=bool(_faulty(of)))))
    return Rows("Bit errors", ("what", "value"), rows, 1)


_FAULTS = {"page": "a page", "word_line": "a word line", "die": "a die"}


def _faulty(of: dict[str, Any]) -> list[tuple[str, str]]:
    """Return reads that met a fault of flash; summaries of earlier versions lack them."""
    met: dict[str, dict[str, int]] = of.get("faulty_reads", {})
    return [
        (f"reads that met a fault of {_FAULTS[fault]}", _by_source(counts))
        for fault, counts in met.items()
        if counts
    ]


def _first(first: dict[str, Any]) -> str:
    """Return the mean errors of first decodes: of reads of hosts, and of those of the drive."""
    if first["mean_errors"] is None:
        return "none was read"
    # Summaries of earlier versions do not tell the two apart.
    parts = [(words, first[key]) for key, words in _READS.items() if key in first]
    told = [
        f"{part['mean_errors']:.3g} in {part['codewords']:,} of {words}"
        for words, part in parts
        if part["codewords"]
    ]
    return ", ".join(told) or f"{first['mean_errors']:.3g}"


def _by_source(counts: dict[str, int]) -> str:
    return ", ".join(
        f"{count:,} {_SOURCES.get(source, source)}" for source, count in counts.items()
    )


def _uber(uber: dict[str, Any], *, has_faults: bool) -> str:
    if uber["counted"] is None:
        return "hosts read nothing"
    read = f"{units.many(uber['units'], 'mapping unit')} of {uber['bits_read']:.3g} bits"
    # Faults are in no sum of probabilities.
    expected = "expected of bit errors" if has_faults else "expected"
    return f"{uber['counted']:.3g} ({read}); {expected} {uber['expected']:.3g}"
