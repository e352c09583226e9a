"""One job: its options with those of [global] above it, and the verdict on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from flashscape import spelling
from flashscape.fio_jobs import known, values, ways
from flashscape.imported import Key, Verdict
from flashscape.written import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flashscape.fio_jobs.reading import Option
    from flashscape.imported import Faults
    from flashscape.written import Value

    Read = TypeVar("Read")

KB_BASE = 1024


class Said(NamedTuple):
    """Verdict on an option of a job."""

    verdict: Verdict
    becomes: str
    why: str


class Job:
    """A job section. Its clones differ only in their files and offsets."""

    def __init__(
        self,
        title: str,
        line: int,
        options: Iterable[Option],
        faults: Faults,
        without: Iterable[str],
    ) -> None:
        self.title = title
        self.line = line
        self._faults = faults
        self._has_engine = True
        self._refused: set[str] = set()
        self._options: dict[str, Option] = {}
        self.said: dict[Option, Said] = {}
        self._missing: dict[str, Key] = {}
        for option in options:
            earlier = self._options.pop(option.name, None)
            if earlier is not None:
                why = f"line {option.line} gives it again, which counts"
                self.said[earlier] = Said(Verdict.INERT, "", why)
            self._options[option.name] = option
        self._keep_own_name()
        for name in without:
            if (left := self._options.pop(name, None)) is not None:
                why = f"left out, as {spelling.option('--without', 'without=')} says"
                self.said[left] = Said(Verdict.IGNORED, "", why)
        self.kb_base = self.value("kb_base", values.whole, KB_BASE)
        if self.kb_base not in (1000, KB_BASE):
            self.refuse("kb_base", f"{self.kb_base} is neither 1000 nor 1024")
            self.kb_base = KB_BASE
        self.say("kb_base", Verdict.MAPPED, "", "k, m and g were read by it")

    @property
    def name(self) -> str:
        """Name in results; clones get a number as suffix.

        fio sets the name of a job to its section when the job begins, so a ``name`` of [global]
        is lost.
        """
        option = self._options.get("name")
        return option.value if option is not None and option.value else self.title

    def _keep_own_name(self) -> None:
        option = self._options.get("name")
        if option is not None and option.is_shared:
            del self._options["name"]
            why = "fio names a job after its section, whatever [global] says"
            self.said[option] = Said(Verdict.INERT, "", why)
        self.say("name", Verdict.MAPPED, "workload.name")

    def has(self, name: str) -> bool:
        """Return True if an option is given."""
        return name in self._options

    def order(self, name: str) -> int:
        """Return the position of an option among those that count; -1 if it is not given."""
        return list(self._options).index(name) if name in self._options else -1

    def text(self, name: str) -> str | None:
        """Return the value as it is written; None if the option is missing."""
        option = self._options.get(name)
        if option is None:
            return None
        if not option.value:
            self.refuse(name, f"has no value; write {name}=VALUE")
            return None
        return option.value

    def value(self, name: str, read: Callable[[str], Read], default: Read) -> Read:
        """Return the parsed value; the default if it is missing, or wrong (a fault)."""
        text = self.text(name)
        if text is None:
            return default
        try:
            return read(text)
        except values.RefusedError as refused:
            self.refuse(name, str(refused))
            return default

    def size(self, name: str) -> int | values.Percent | None:
        """Return bytes or a share; None if it is missing or 0, which fio treats alike."""
        found = self.value(name, self.bytes_of, None)
        return found or None

    def bytes_of(self, text: str) -> int | values.Percent | None:
        """Parse bytes or a share, by the job's ``kb_base``."""
        return values.size(text, self.kb_base)

    def plain_bytes(self, text: str) -> int:
        """Parse bytes; raise RefusedError for a share."""
        found = values.size(text, self.kb_base)
        if isinstance(found, values.Percent):
            raise values.RefusedError(f"{text!r} is a share, and here fio takes a size")
        return found

    def time(self, name: str, unit: str) -> int:
        """Return nanoseconds; 0 if it is missing. ``unit`` is that of a bare number."""
        return self.value(name, lambda text: values.time(text, unit), 0)

    def whole(self, name: str, default: int = 0, least: int = 0) -> int:
        """Return a whole number."""
        found = self.value(name, values.whole, default)
        if found < least:
            self.refuse(name, f"{found} is less than {least}")
            return default
        return found

    def truth(self, name: str) -> bool:
        """Return a switch; False if it is missing."""
        option = self._options.get(name)
        if option is None:
            return False
        try:
            return values.truth(option.value)
        except values.RefusedError as refused:
            self.refuse(name, str(refused))
            return False

    def say(self, name: str, verdict: Verdict, becomes: str = "", why: str = "") -> None:
        """Record the verdict on an option, if it is given."""
        option = self._options.get(name)
        if option is not None:
            self.said[option] = Said(verdict, becomes, why)

    def is_said(self, name: str) -> bool:
        """Return True if an option has its verdict, or is not given."""
        option = self._options.get(name)
        return option is None or option in self.said

    def assume(self, name: str, value: str, verdict: Verdict, becomes: str, why: str) -> None:
        """Record that fio's default applies, if an option is missing and its default matters."""
        if name not in self._options:
            key = Key("", None, self.title, name, value, verdict, becomes, why)
            self._missing[name] = key

    def refuse(self, name: str, message: str) -> None:
        """Record a fault of an option; of a missing one, of the job."""
        self._refused.add(name)
        option = self._options.get(name)
        # Options of a refused engine are not worth a line.
        self._has_engine &= name != "ioengine"
        line = self.line if option is None else option.line
        section = self.title if option is None else option.section
        file = "" if option is None else option.file
        self._faults.add(f"[{section}] {name}", file, line, message)

    def is_refused(self, name: str) -> bool:
        """Return True if an option has a fault: further ones may only follow from it."""
        return name in self._refused

    def row(self, key: str, value: Value, *names: str, remark: str = "") -> Row:
        """Return a row of the experiment, with the given options as its sources."""
        given = tuple((self.title, name) for name in names if name in self._options)
        return Row(key, value, given, remark)

    def option(self, name: str) -> Option | None:
        """Return an option with its place in the file."""
        return self._options.get(name)

    def settle(self) -> None:
        """Record verdicts on the options that no code has read; record refused ones as faults."""
        for name, option in self._options.items():
            if option in self.said:
                continue
            fate = known.of(name)
            if fate.fate == known.READ:
                # After a refusal, dependent options are not read.
                assert self._faults.problems, f"nobody has said what becomes of {name}"
                continue
            if option.value is not None and option.value.lower() in known.OFF:
                self.say(name, Verdict.INERT, "", "switched off, as without it")
            elif fate.fate == known.REFUSED and self._has_engine:
                self.refuse(name, f"{fate.why}; take it out, or import with {ways.without(name)}")
            elif fate.fate != known.REFUSED:
                self.say(name, Verdict(fate.fate), "", fate.why)

    def missing(self) -> Iterator[Key]:
        """Return the options that are not given, and whose defaults matter."""
        yield from self._missing.values()
