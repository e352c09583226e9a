"""Keys of one element: read as MQSim reads them, each with its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from flashscape.imported import Key, Verdict
from flashscape.mqsim import known, values, xml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.imported import Faults
    from flashscape.mqsim.xml import Element


class Section:
    """The keys of one element."""

    def __init__(self, element: Element, file: str, title: str, faults: Faults) -> None:
        self.title = title
        self.file = file
        self.line = element.line
        self._faults = faults
        self._known = known.of(element.name)
        self._values: dict[str, values.Value] = {}
        self._keys: dict[str, Key] = {}
        self._remarks: dict[str, str] = {}
        self._strays: list[Key] = []
        self.warnings: list[str] = []
        """Keys of MQSim's that stand where MQSim does not read them."""
        for child in element.children:
            # Flash_Parameter_Set is inside Device_Parameter_Set.
            if child.name != known.FLASH:
                self._take(child)
        for key in self._known.values():
            if key.name not in self._keys:
                self._default(key)

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return cast("int", self._values[name])

    def real(self, name: str) -> float:
        """Return a number."""
        return cast("float", self._values[name])

    def truth(self, name: str) -> bool:
        """Return a switch."""
        return cast("bool", self._values[name])

    def text(self, name: str) -> str:
        """Return a text, or one of several names."""
        return cast("str", self._values[name])

    def ids(self, name: str) -> tuple[int, ...]:
        """Return a list of numbers; empty means all."""
        return cast("tuple[int, ...]", self._values[name])

    def line_of(self, name: str) -> int | None:
        """Return the line of a key, if the file has it."""
        return self._keys[name].line

    def has(self, name: str) -> bool:
        """Return True if the file has the key."""
        return self.line_of(name) is not None

    def say(
        self,
        name: str,
        verdict: Verdict | None = None,
        why: str | None = None,
        becomes: str | None = None,
    ) -> None:
        """Record the verdict on a key whose value changes it."""
        key = self._keys[name]
        if becomes is None:
            becomes = "" if verdict in (Verdict.INERT, Verdict.IGNORED) else key.becomes
        self._keys[name] = replace(
            key,
            verdict=verdict or key.verdict,
            why=key.why if why is None else why,
            becomes=becomes,
        )

    def why(self, name: str) -> str:
        """Return the reason that is recorded for a key."""
        return self._keys[name].why

    @property
    def is_older(self) -> bool:
        """True if it has names of values that only older versions of MQSim know."""
        return any(values.OLDER in remark for remark in self._remarks.values())

    def is_written(self, name: str, word: str) -> bool:
        """Return True if the file has this word as the value, in upper or lower case."""
        return self.has(name) and self._keys[name].value.upper() == word

    def refuse(self, name: str, message: str) -> None:
        """Record that a key's value is refused."""
        self._faults.add(f"{self.title}.{name}", self.file, self.line_of(name), message)

    def __iter__(self) -> Iterator[Key]:
        for key in self._keys.values():
            # A missing key without effect is not worth a line.
            if key.line is not None or key.verdict not in (Verdict.INERT, Verdict.UNKNOWN):
                remark = self._remarks.get(key.name)
                yield (
                    replace(key, why=f"{key.why}; {remark}" if key.why else remark)
                    if remark
                    else key
                )
        yield from self._strays

    def _take(self, child: Element) -> None:
        name = child.name
        if name not in self._known:
            self._stray(child)
            return
        if name in self._keys:
            earlier = self._keys[name]
            why = f"given again in line {child.line}, which counts"
            self._strays.append(replace(earlier, verdict=Verdict.INERT, becomes="", why=why))
        if child.children:
            message = f"has an element <{child.children[0].name}> in it, not a value"
            self._faults.add(f"{self.title}.{name}", self.file, child.line, message)
            return
        self._read(self._known[name], child.text, child.line)

    def _read(self, key: known.Known, text: str, line: int | None) -> None:
        try:
            value, remark = key.read(text)
        except values.RefusedError as refused:
            self._faults.add(f"{self.title}.{key.name}", self.file, line, str(refused))
            value, remark = self._default_value(key), ""
        self._values[key.name] = value
        self._remarks[key.name] = remark
        self._keys[key.name] = Key(
            self.file, line, self.title, key.name, text.strip(), key.verdict, key.becomes, key.why
        )

    def _default(self, key: known.Known) -> None:
        self._values[key.name] = self._default_value(key)
        self._keys[key.name] = Key(
            self.file, None, self.title, key.name, key.default, key.verdict, key.becomes, key.why
        )
        chance = key.section in (known.FLOW, known.SYNTHETIC, known.TRACE)
        self._remarks[key.name] = (
            "missing: MQSim leaves it to chance, here it is as in MQSim's own first scenario"
            if chance
            else "missing: this is MQSim's default"
        )

    @staticmethod
    def _default_value(key: known.Known) -> values.Value:
        return () if key.default == "all" else key.read(key.default).value

    def _stray(self, child: Element) -> None:
        why = "no key of MQSim's, which ignores it silently"
        if found := misplaced(child):
            why = f"{why}; {found}"
            self.warnings.append(f"{self.file}, line {child.line}: <{child.name}> {found}")
        self._strays.append(
            Key(
                self.file,
                child.line,
                self.title,
                child.name,
                child.text.strip(),
                Verdict.UNKNOWN,
                "",
                why,
            )
        )


def misplaced(element: Element) -> str:
    """Say which keys of MQSim's an element is or has that MQSim does not read there; or nothing."""
    names = dict.fromkeys(of.name for of in xml.inside(element) if known.homes(of.name))
    if not names:
        return ""
    homes = dict.fromkeys(home for name in names for home in known.homes(name))
    where = " and ".join(f"<{home}>" for home in homes)
    if list(names) == [element.name]:
        return f"is a key that MQSim reads in {where} only: it is not used here, as it is not there"
    listed = ", ".join(names)
    keys = "keys that MQSim reads" if len(names) > 1 else "a key that MQSim reads"
    are = "they are" if len(names) > 1 else "it is"
    return f"has {keys} in {where} only ({listed}): {are} found in it and not used, here as there"


def sources(section: Section, *names: str) -> tuple[tuple[str, str], ...]:
    """Return the sources of a value: sections and keys."""
    return tuple((section.title, name) for name in names)
