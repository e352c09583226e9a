"""Groups of requests that are compared: of an initiator and a kind, or of all initiators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.together import ALL, joint

if TYPE_CHECKING:
    import polars as pl

    from flashscape.result import Result

    Group = tuple[str, str]
    """Initiator and kind; the initiator ``all`` stands for all of them."""


def of_run(run: Result) -> list[Group]:
    """Return the groups with requests, first those of several initiators together."""
    return [
        *((ALL, kind) for kind, _ in joint(run.summary)),
        *((name, kind) for name, kind, _ in run.groups()),
    ]


def figures(run: Result, group: Group) -> dict[str, Any]:
    """Return the figures of a group in a run, as its summary has them."""
    if group[0] == ALL:
        return dict(joint(run.summary))[group[1]]
    return next(of for name, kind, of in run.groups() if (name, kind) == group)


def members(run: Result, group: Group) -> tuple[str, ...]:
    """Return the initiators whose requests a group has."""
    name, kind = group
    return tuple(one for one, of, _ in run.groups() if of == kind and name in (ALL, one))


def initiator(group: Group) -> str | None:
    """Return the initiator of a group; None for all of them."""
    return None if group[0] == ALL else group[0]


def in_log(log: pl.LazyFrame, group: Group) -> pl.LazyFrame:
    """Return the requests of a group in a log."""
    import polars as pl

    own = log.filter(pl.col("kind") == group[1])
    return own if group[0] == ALL else own.filter(pl.col("initiator") == group[0])


def order(group: Group) -> list[str]:
    """Return the columns of a log by which requests of a group are in the order of arrival."""
    return ["arrived_ns", "initiator", "index"] if group[0] == ALL else ["index"]
