"""Checks of arguments of the Python interface, by their annotations.

:func:`checks_arguments` refuses a value that no part of the annotation allows. The error names the
argument and says what to write. A table has a test and words for each part of an annotation, so a
new kind of argument is one line there.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

from flashscape.refusal import ConfigError

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

_FREE = ("Any",)
"""Parts that allow any value: the function checks it, with words of its own."""

_TOLD = {"bool": ("True", "False")}
"""Words of parts that have several."""

_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 60


class _Kind(NamedTuple):
    """A part of an annotation."""

    fits: Callable[[Any], bool]
    told: str
    """Words for what to write."""


@overload
def checks_arguments(function: Callable[Given, Returned]) -> Callable[Given, Returned]: ...


@overload
def checks_arguments(
    *, but: Sequence[str]
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]: ...


def checks_arguments(function: Any = None, *, but: Sequence[str] = ()) -> Any:
    """Check the arguments of a function by their annotations, except for those in ``but``.

    Raises ConfigError for the first one that does not fit. Those in ``but`` are checked by the
    function, which knows more of them.
    """
    if function is None:
        return functools.partial(checks_arguments, but=but)
    kinds = {
        name: parts
        for name, annotation in inspect.get_annotations(function).items()
        if name not in ("return", *but) and (parts := _parts(annotation, function)) is not None
    }
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            # Python names the function when it refuses missing and unknown arguments.
            return function(*args, **kwargs)
        for name, parts in kinds.items():
            if name in given:
                values = given[name]
                is_variadic = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
                for value in values if is_variadic else (values,):
                    _refuse(name, value, parts)
        return function(*args, **kwargs)

    return checking


def _refuse(name: str, value: Any, parts: Sequence[str]) -> None:
    if not any(_KINDS[part].fits(value) for part in parts):
        # A path may be a text, which needs no words of its own.
        named = [part for part in parts if part != "str" or "PathLike[str]" not in parts]
        told = [words for part in named for words in _TOLD.get(part, (_KINDS[part].told,))]
        *others, last = dict.fromkeys(told)
        either = f"{', '.join(others)} or {last}" if others else last
        raise ConfigError(f"{name}: {_SHOWN.repr(value)} is not {either}")


def _parts(annotation: str, function: Callable[..., Any]) -> list[str] | None:
    """Return the parts of an annotation; None if any value fits one of them."""
    parts = split(annotation)
    if any(part in _FREE for part in parts):
        return None
    if unknown := [part for part in parts if part not in _KINDS]:
        raise TypeError(f"{function.__qualname__}: no words for {unknown[0]}; add them to _KINDS")
    return parts


def split(annotation: str) -> list[str]:
    """Split an annotation such as ``int | Sequence[int | str] | None`` into its parts."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(annotation):
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            parts.append(annotation[begin:at].strip())
            begin = at + 1
    return [*parts, annotation[begin:].strip()]


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not _is_truth(value)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 <= operator.index(value) < 2**64


def _is_number(value: Any) -> bool:
    if _is_whole(value):
        return True
    is_number = isinstance(value, float) or hasattr(value, "__float__")
    return is_number and not _is_truth(value) and math.isfinite(value)


def _is_truth(value: Any) -> bool:
    # NumPy has truth values of its own.
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    is_text = isinstance(value, str | bytes | bytearray | Mapping)
    return not is_text and hasattr(value, "__len__") and hasattr(value, "__getitem__")


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_list(value) and all(fits(each) for each in value)


def _iterable_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test that looks at the entries of a list, but does not use up an iterator."""

    def test(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        return not _is_list(value) or all(fits(each) for each in value)

    return test


def _one_of(*names: str) -> Callable[[Any], bool]:
    """Return a test for objects of flashscape's classes, which are not imported for that."""

    def test(value: Any) -> bool:
        classes = [of for of in type(value).__mro__ if of.__module__.startswith("flashscape")]
        return any(of.__name__ in names for of in classes)

    return test


def _with_methods(*names: str) -> Callable[[Any], bool]:
    return lambda value: all(callable(getattr(value, name, None)) for name in names)


def _observer(*methods: str) -> _Kind:
    told = f"an observer (an object with the methods {', '.join(methods)})"
    return _Kind(_with_methods(*methods), told)


def _is_pair(value: Any) -> bool:
    return _is_list(value) and len(value) == 2 and all(map(_is_number, value))


def _is_limit(value: Any) -> bool:
    return _is_count(value) or _is_text(value)


def _is_overrides(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_text, value))
    return _list_of(lambda pair: _is_list(pair) and len(pair) == 2)(value)


_PATH = _Kind(lambda value: isinstance(value, str | os.PathLike), "a path")
_OVERRIDES = _Kind(
    _is_overrides,
    'a mapping such as {"run.time": "10 s"} or a list of pairs of a path and a value',
)
_CALLABLE = _Kind(callable, "a function")
_FRAME = _Kind(_with_methods("lazy", "collect_schema"), "a frame of Polars")
_RUN = _one_of("Result", "Measured")


def _is_run(value: Any) -> bool:
    return _RUN(value) or _PATH.fits(value)


def _is_side(value: Any) -> bool:
    return _is_run(value) or _one_of("Experiment")(value) or isinstance(value, Mapping)


_KINDS: dict[str, _Kind] = {
    "None": _Kind(lambda value: value is None, "None"),
    "bool": _Kind(_is_truth, "a truth value"),
    "int": _Kind(_is_count, "a whole number from 0 to 2^64 - 1"),
    "float": _Kind(_is_number, "a number"),
    "str": _Kind(_is_text, "a text"),
    "PathLike[str]": _PATH,
    "Experiment": _Kind(_one_of("Experiment"), "an Experiment"),
    "Mapping[str, Any]": _Kind(lambda value: isinstance(value, Mapping), "a dictionary"),
    "Snapshot": _Kind(_one_of("Snapshot"), "a Snapshot"),
    "Measured": _Kind(_RUN, "the Result of a run"),
    "Sweep": _Kind(_one_of("Sweep"), "a Sweep"),
    "Comparison": _Kind(_one_of("Comparison"), "a Comparison"),
    "Overrides": _OVERRIDES,
    "Mapping[str, str]": _OVERRIDES,
    "Sequence[tuple[str, str]]": _OVERRIDES,
    "Sequence[str]": _Kind(_list_of(_is_text), "a list of texts"),
    "Sequence[int]": _Kind(_list_of(_is_count), "a list of whole numbers from 0 to 2^64 - 1"),
    "Iterable[float | str]": _Kind(
        _iterable_of(lambda each: _is_number(each) or _is_text(each)),
        "percentiles such as (50, 99.9) or '50,99.9'",
    ),
    "Callable[[float], object]": _CALLABLE,
    "Callable[..., Any]": _CALLABLE,
    "Observer": _observer("surveyed", "preconditioning", "running", "ended"),
    "SweepObserver": _observer("checking", "begins", "prepared", "ended", "tick", "over"),
    "SearchObserver": _observer("ageing", "running", "trying", "tried", "over"),
    "pl.DataFrame": _FRAME,
    "pl.LazyFrame": _FRAME,
    "Iterable[str]": _Kind(_iterable_of(_is_text), "a list of texts"),
    "list[int]": _Kind(_list_of(_is_count), "a list of whole numbers from 0 to 2^64 - 1"),
    "Callable[[int, float], object]": _CALLABLE,
    "SideOrPath": _Kind(
        _is_side,
        "an Experiment, a dictionary, the Result of a run, or the path of a file or directory",
    ),
    "tuple[float, float]": _Kind(_is_pair, "a pair such as (0, 0.25)"),
    "SlowAbove": _Kind(
        lambda value: value is None or _is_limit(value) or _list_of(_is_limit)(value),
        "None, a time such as '1 ms', nanoseconds, or a list of these",
    ),
    "Pairs": _Kind(lambda value: value in ("all", "first"), '"all" or "first"'),
    "LifeOrPath": _Kind(
        lambda value: _one_of("Lifetime")(value) or _PATH.fits(value),
        "a Lifetime, or the directory of one",
    ),
    "Run": _Kind(_is_run, "the Result of a run, its directory"),
    "Iterable[Run]": _Kind(_iterable_of(_is_run), "a list of these"),
    "Iterable[int]": _Kind(_iterable_of(_is_count), "a list of them"),
    "Where": _Kind(
        lambda value: value is None or _PATH.fits(value) or _one_of("Cluster")(value),
        "None, the address of a scheduler, a file for a batch system, or an open Cluster",
    ),
}
"""Tests and words of the parts of annotations."""
