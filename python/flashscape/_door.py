"""The public names of the package, whose modules are imported when a name is first used."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class _Door(ModuleType):
    """A package that knows where its public names are."""

    _homes: Mapping[str, str]
    """The module of each name."""
    _modules: frozenset[str]
    """Modules that are offered as they are."""

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_modules"]:
            return import_module(f"{self.__name__}.{name}")
        if name not in self.__dict__["_homes"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{self.__name__}.{self._homes[name]}"), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the module `flashscape.run` must not hide the function of that name.
        if not (name in self._homes and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *self._homes, *self._modules})


def offer(package: str, names: Mapping[str, Iterable[str]], *, modules: Iterable[str]) -> list[str]:
    """Offer names by their modules, and modules as they are, in a package; return all names."""
    door = sys.modules[package]
    homes = {name: home for home, of_it in names.items() for name in of_it}
    door.__dict__.update(_homes=homes, _modules=frozenset(modules))
    door.__class__ = _Door
    return [*homes, *modules]
