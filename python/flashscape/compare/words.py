"""Names and values of compared figures, as text."""

from __future__ import annotations

from flashscape import units

COSTS = {
    "write_amplification": "write amplification",
    "erases": "erases",
    "worn_out_bytes": "asked for until worn out",
    "erase_count_stddev": "erases of a block, standard deviation",
    "recovery_mean_ns": "recovery from a power cut",
    "recovery_pages": "pages read to recover",
}
"""Figures of the whole drive."""


OF_WEAR = ("write_amplification", "erases")
"""Figures that are comparable only if write amplification is steady."""


def figure_name(figure: str) -> str:
    """Return the figure's name in text: ``p99.9``, ``the mean``."""
    return {"iops": "IOPS", **COSTS}.get(figure, figure.replace("_", "."))


def part_name(part: str) -> str:
    """Return the name of a part of the drives in text: ``drive 0``, ``NVM set 1``."""
    return f"NVM {part}" if part.startswith("set ") else part


_RATIOS = ("write_amplification", "erase_count_stddev")
_COUNTS = ("erases", "recovery_pages")
_COARSE_NS = 1_000
"""Size of a time from which on fractions of a nanosecond mean nothing."""


def shown(figure: str, value: float) -> str:
    """Return a value of a figure, with its unit."""
    if figure == "iops":
        return units.count(value)
    if figure in _RATIOS:
        return f"{value:.3f}"
    if figure == "worn_out_bytes":
        return units.size(value)
    if figure in _COUNTS:
        return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
    return units.duration(value)


def signed(figure: str, value: float, of: float = 0.0) -> str:
    """Return a difference with its sign; ``0`` if rounding leaves nothing of it.

    ``of`` is the size of the values that differ.
    """
    size = unsigned(figure, value, of)
    return size if size == "0" else f"{'+' if value > 0 else '−'}{size}"


def unsigned(figure: str, value: float, of: float = 0.0) -> str:
    """Return the size of a difference; ``0`` if rounding leaves nothing of it."""
    is_time = figure not in ("iops", "worn_out_bytes", *_RATIOS, *_COUNTS)
    if is_time and of >= _COARSE_NS:
        value = round(value)
    size = shown(figure, abs(value))
    return size if any(digit in size for digit in "123456789") else "0"
