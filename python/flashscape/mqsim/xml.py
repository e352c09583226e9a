"""XML as MQSim's files have it, with the line of each element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LARGEST = 16 << 20
"""Bytes; a configuration of MQSim has a few thousand."""

_DEEPEST = 32
"""Levels of nested elements; MQSim's files have four."""


@dataclass(slots=True)
class Element:
    """An element: its name, text, line and children."""

    name: str
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)


def inside(element: Element) -> Iterator[Element]:
    """Yield an element and all elements in it."""
    yield element
    for child in element.children:
        yield from inside(child)


def read(path: Path) -> Element:
    """Return the root; raise ConfigError if the file is no well-formed XML.

    Document types are refused: MQSim's files have none, and entities that expand into
    each other could fill the memory.
    """
    parser = expat.ParserCreate(encoding="utf-8")
    builder = _Builder(path, parser)
    parser.StartElementHandler = builder.begin
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        # Parse in one piece, so that an unknown entity is an error and is not skipped.
        parser.Parse(_text(path).encode(), True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        hint = "MQSim's reader does not look at the names of closing tags; correct the line"
        raise fault(path, error.lineno, f"is not well-formed XML: {what}; {hint}") from error
    assert builder.root is not None, "expat refuses a document without an element"
    return builder.root


def fault(path: Path, line: int | None, problem: str) -> ConfigError:
    """Return an error about a whole file."""
    place = f"{path}" if line is None else f"{path}, line {line}"
    return ConfigError(f"{place}: {problem}", [("", str(path), line, problem)])


class _Builder:
    """Builds elements from the parser's events."""

    def __init__(self, path: Path, parser: expat.XMLParserType) -> None:
        self.root: Element | None = None
        self._path = path
        self._parser = parser
        self._open: list[Element] = []

    def begin(self, name: str, _attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if len(self._open) >= _DEEPEST:
            raise fault(self._path, line, "elements are nested too deeply for a file of MQSim")
        element = Element(name, line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].text += text

    def doctype(self, *_declared: object) -> None:
        line = self._parser.CurrentLineNumber
        raise fault(
            self._path,
            line,
            "has a document type (<!DOCTYPE>), which MQSim's files do not; remove it",
        )


def _text(path: Path) -> str:
    """Return the file as text, ignoring its declared encoding: only comments may not be ASCII."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise fault(path, None, f"cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise fault(path, None, f"is larger than {_LARGEST >> 20} MiB: no configuration of MQSim")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
