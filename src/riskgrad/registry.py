"""The list of each kind of part: what is in its folder, and what users register.

A folder's files are its list. A measure, a distortion, a policy, a source, an algorithm, an ascent, a backend or a
command is added by one new file in its folder: it is then found by name, parsed, listed on the command line and in the
docs, and held to the contract tests. A part that lives outside riskgrad joins the same list by `rg.register(part)`.

A part is a class (a command is a function) and says its own `name`: how a string calls it, empty where no string can.
"""

import importlib
import inspect
import pkgutil
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

from riskgrad.errors import ContractError, InputError, UnknownNameError
from riskgrad.kinds import checks_calls, checks_kinds

Part = TypeVar("Part", bound=Any)

_LISTS: "list[PartList[Any]]" = []


class PartList(Generic[Part]):
    """The parts of one kind: those of a folder, in the order of its files, and those that were registered.

    Args:
        kind: what a part is called in messages, such as "risk".
        base: the abstract class of all parts.
        folder: the package whose files hold them, such as "riskgrad.risk".
    """

    def __init__(self, kind: str, base: Part, folder: str) -> None:
        self.kind, self.base = kind, base
        self._folder = folder
        self._found: list[Part] | None = None
        self._registered: list[Part] = []
        _LISTS.append(self)

    def parts(self) -> list[Part]:
        """Give all parts: those of the folder in the order of their files and lines, then the registered ones.

        When the folder's parts are found, they and the classes they are made of get the checks of `checks_calls`.
        """
        if self._found is None:
            found: list[Part] = []
            for module in _modules(self._folder):
                found += [thing for thing in vars(module).values() if self._is_part(thing, module.__name__)]
            self._found = list(dict.fromkeys(found))
            for kind in dict.fromkeys(kind for part in self._found for kind in part.__mro__ if self.holds(kind)):
                checks_calls(kind)
        return [*self._found, *self._registered]

    def exports(self) -> dict[str, Part]:
        """Give the folder's parts by the names of their classes, for the folder's `__init__`."""
        return {part.__name__: part for part in self.parts()}

    def by_name(self) -> dict[str, Part]:
        """Give the parts that a string can name, by that name."""
        return {part.name: part for part in self.parts() if part.name}

    def find(self, name: str, advice: str = "") -> Part:
        """Give the part of a name; offer the nearest one where there is none."""
        known = self.by_name()
        if name not in known:
            raise UnknownNameError(self.kind, name, known, advice)
        return known[name]

    def register(self, part: Part) -> Part:
        """Add a part from outside; refuse a name that is taken."""
        if part.name and part.name in self.by_name() and self.by_name()[part.name] is not part:
            raise InputError("name", f"be new among the names of {self.kind}", part.name)
        if part not in self._registered:
            self._registered.append(part)
        return part

    def forget(self, part: Part) -> None:
        """Take a registered part off the list."""
        self._registered.remove(part)

    def holds(self, part: object) -> bool:
        """Say whether a part is of this kind."""
        return inspect.isclass(part) and issubclass(part, self.base)

    def _is_part(self, thing: object, home: str) -> bool:
        own = inspect.isclass(thing) and thing.__module__ == home and not thing.__name__.startswith("_")
        return own and self.holds(thing) and not inspect.isabstract(thing)


def _modules(folder: str) -> list[ModuleType]:
    """Load the files of a folder and of the folders in it, in the order of their names."""
    found: list[ModuleType] = []
    for file in sorted(pkgutil.iter_modules(importlib.import_module(folder).__path__), key=lambda file: file.name):
        name = f"{folder}.{file.name}"
        found += _modules(name) if file.ispkg else [importlib.import_module(name)]
    return found


@checks_kinds
def register(part: Part) -> Part:
    """Add a part of your own to the list of its kind: it is then found by its name like those of riskgrad.

    Args:
        part: a final subclass of `RiskMeasure`, `DistortionFunction`, `Policy`, `Source`, `Algorithm`, `Ascent` or
            `Backend` that says its `name`; or a function, which becomes a command of the command line.

    Returns:
        the part, so that `@rg.register` can stand above it.
    """
    for parts in part_lists():
        if parts.holds(part):
            return parts.register(part)
    known = ", ".join(sorted(parts.base.__name__ for parts in _LISTS if parts.base is not FunctionType))
    raise InputError("part", f"be a function, or a subclass of one of {known}", part)


def write_name(name: str, *values: float | str) -> str:
    """Write how a string calls a part: its name, its numbers in the fewest digits that read back, and words, if any."""
    words = [value if isinstance(value, str) else repr(value).removesuffix(".0") for value in values]
    return ":".join([name, *(word for word in words if word)])


def demand_example(part: Any) -> None:
    """Refuse a class that has a name and gives no example of a string that builds one."""
    if part.name and not part.example:
        raise ContractError(f"{part.__name__} must have, beside its name, an example: a string that builds one")


def part_lists() -> "list[PartList[Any]]":
    """Give the lists of all folders; a folder makes its list when it is imported."""
    for folder in ("distortion", "risk", "policy", "sources", "algorithms", "ascent", "backend", "cli"):
        importlib.import_module(f"riskgrad.{folder}")
    return _LISTS
