"""Numbers as text for people: a suitable unit, three significant digits."""

from __future__ import annotations

from flashscape import _flashscape

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def duration(ns: float | None) -> str:
    """Format nanoseconds: ``85.3 µs``; a dash for None."""
    if ns is None:
        return "–"
    return _scaled(ns, _TIMES, "ns")


def nanoseconds(text: str) -> int:
    """Parse a duration as in configurations: ``3.5 ms``; raise ValueError."""
    return _flashscape.time_ns(text)


def size_of(text: str) -> int:
    """Parse a size as in configurations: ``4 KiB``; raise ValueError."""
    return _flashscape.size_bytes(text)


def size(count: float) -> str:
    """Format bytes, in powers of ten: ``1.92 TB``."""
    return _scaled(count, _SIZES, "B")


def binary(count: float) -> str:
    """Format bytes in powers of two, for addresses and footprints: ``4 KiB``."""
    scale = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    place = 0
    while abs(count) >= 1024 and place < len(scale) - 1:
        count, place = count / 1024, place + 1
    digits = f"{count:.0f}" if count == int(count) or count >= 1000 else f"{count:.3g}"
    return f"{digits} {scale[place]}"


def rate(per_second: float) -> str:
    """Format bytes per second: ``640 MB/s``."""
    return f"{size(per_second)}/s"


def count(number: float) -> str:
    """Format a number of things, shortened from ten thousand on: ``25.6 k``."""
    if number < 10_000:
        return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"
    return _scaled(number, _COUNTS, "")


def many(number: int, noun: str) -> str:
    """Format a number of things in full: ``1 block``, ``2,000 blocks``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def times(number: float, digits: str = ",") -> str:
    """Format a number of times: ``once``, ``2 times``."""
    return "once" if number == 1 else f"{number:{digits}} times"


def percent(share: float) -> str:
    """Format a share of one: ``12.3 %``; a tiny share is not rounded to 0."""
    hundredths = share * 100
    if 0 < hundredths < 0.1:
        return "< 0.1 %"
    return f"{hundredths:.1f} %"


def _scaled(number: float, scale: tuple[tuple[float, str], ...], smallest: str) -> str:
    for factor, unit in scale:
        # A value that would round up to 1000 of a unit is shown as 1 of the next.
        if abs(number) >= factor * 0.9995:
            return f"{_digits(number / factor)} {unit}"
    return f"{_digits(number)} {smallest}".rstrip()


def _digits(number: float) -> str:
    if abs(number) >= 99.95 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 9.995 else f"{number:.2f}"
