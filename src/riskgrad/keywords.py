"""What a wrong keyword of `rg.train` may have meant: an option of an algorithm, or a word of another library."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from riskgrad.errors import KeywordError, refuse_unknown_keyword
from riskgrad.registry import part_lists


def refuse_keyword_of_train(
    given: Mapping[str, Any], known: Mapping[str, Any], function: str = "rg.train", own: Iterable[str] = ()
) -> NoReturn:
    """Raise for the first keyword that is not known, and say what it may have meant.

    Args:
        given: the keywords of the call, at least one of which is not known.
        known: the facts of all options of `rg.train`, by keyword.
        function: which function was called, as the user writes it; one that passes keywords on to `rg.train`.
        own: keywords of its own.
    """
    names = {*known, *own}
    wrong = next(name for name in given if name not in names)
    owners = [kind for kind in _find_algorithms(given.get("algorithm")) if wrong in _own_options(kind)]
    if owners:
        titles = ", ".join(kind.name for kind in owners)
        example = f"algorithm='{owners[0].name}:{wrong}={_write(given[wrong])}'"
        raise KeywordError(f"{function} has no keyword {wrong!r}; it is an option of {titles}: {example}")
    for name, facts in known.items():
        if wrong in facts.also:
            raise KeywordError(f"{function} has no keyword {wrong!r}; did you mean {name!r}?")
    refuse_unknown_keyword(function, [wrong], names)
    raise AssertionError("a known keyword was refused")


def _find_algorithms(given: object) -> list[Any]:
    """Give all algorithms, the one that is named first, then those that "auto" prefers."""
    named = given.partition(":")[0].strip().lower() if isinstance(given, str) else type(given).__name__
    parts = next(parts for parts in part_lists() if parts.kind == "algorithm").parts()
    return sorted(parts, key=lambda kind: (named not in (kind.name, kind.__name__), -kind.preference))


def _own_options(kind: Any) -> set[str]:
    return {one.name for one in dataclasses.fields(kind) if one.metadata}


def _write(value: object) -> str:
    """Write a value as the string of an algorithm has it; dots stand for what no string can give."""
    return str(value).lower() if isinstance(value, bool | int | float) else "..."
