"""Checks of arguments against signatures: a misspelled keyword or a value of another kind is refused in one line.

A signature says that `mdp` is a FiniteMDP and `discount` a float. When a function decorated with `checks_kinds` fails,
for example because a number lacks an attribute, its arguments are compared with its signature. A keyword that it does
not have is refused with the nearest one that it has, a value of the wrong kind with the name of its argument.
`checks_calls` does the same for the constructor and the public methods of a class. Calls that work cost next to
nothing. Rules for values, such as "in (0, 1]", are in `checks` and come first. Arguments that may be arrays, or one of
many things, are not checked here.
"""

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from riskgrad.errors import InputError, KeywordError, RiskgradError, refuse_unknown_keyword

P = ParamSpec("P")
T = TypeVar("T")

MOST_NAMED = 6  # most arguments that a message names
MOST_CHOICES = 2  # most kinds that a message names; a function that takes more kinds checks its arguments itself


@dataclass(frozen=True)
class Kind:
    """What a value has to be.

    Attributes:
        words: the kind in words, such as "an integer".
        holds: says whether a value is of this kind.
    """

    words: str
    holds: Callable[[object], bool]


def checks_kinds(call: Callable[P, T]) -> Callable[P, T]:
    """Let a function that fails refuse keywords that it does not have, and values of another kind than it takes."""

    @functools.cache
    def kinds() -> dict[str, Kind]:
        hints = {name: _resolve(one.annotation, call) for name, one in inspect.signature(call).parameters.items()}
        found = {name: _kind_of(hint) for name, hint in hints.items()}
        return {name: kind for name, kind in found.items() if kind is not None}

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except RiskgradError:
            raise
        except Exception as error:  # whatever a value of the wrong kind leads to
            if isinstance(error, TypeError):
                refuse_unbound(checked, args, kwargs)
            known, order = kinds(), inspect.signature(call).parameters
            if not any(one.kind is one.VAR_KEYWORD for one in order.values()):
                refuse_unknown_keyword(_public_name(call, args), kwargs, set(order) - {"self", "cls"})
            for name, value in [*zip(order, args, strict=False), *kwargs.items()]:
                if name in known and not known[name].holds(value):
                    raise InputError(name, f"be {known[name].words}", value) from error
            raise

    return checked


def refuse_unbound(call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise if a call lacks an argument or has too many, naming what the function takes; misspellings come later."""
    signature = inspect.signature(call)
    if not kwargs.keys() <= signature.parameters.keys():
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as problem:
        names = [name for name in signature.parameters if name not in ("self", "cls")]
        takes = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        name = _public_name(inspect.unwrap(call), args)
        raise KeywordError(f"{name}: {problem}; it takes {takes or 'none'}") from problem


def checks_calls(kind: type[T]) -> type[T]:
    """Let the constructor and the public methods of a class refuse keywords and values as `checks_kinds` does."""
    for name, found in list[tuple[str, Any]](vars(kind).items()):
        plain = found.__func__ if type(found) in (classmethod, staticmethod) else found
        is_own = isinstance(plain, types.FunctionType) and plain.__module__ == kind.__module__
        if is_own and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, checks_kinds(plain) if plain is found else type(found)(checks_kinds(plain)))
    return kind


def _public_name(call: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Give how a user writes a call, such as "rg.theory.bound", "rg.Run.act" or, for a constructor, "rg.OnPSF".

    A method is called by the class of its object, which may have inherited it.
    """
    home, _, name = call.__qualname__.rpartition(".")
    if not home:
        return _public_path(call)
    kind: Any = args[0] if args else inspect.unwrap(call).__globals__[home]
    path = _public_path(kind if inspect.isclass(kind) else type(kind))
    return path if name == "__init__" else f"{path}.{name}"


def _public_path(thing: Any) -> str:
    """Give how a user writes a function or class: with its folder, unless it is in `rg` itself."""
    top, folder, *_ = f"{thing.__module__}.".split(".")
    if top != "riskgrad":
        return thing.__qualname__
    root: Any = getattr(sys.modules[top], thing.__name__, None)
    at_root = inspect.unwrap(root) is thing
    return f"rg.{thing.__name__}" if at_root else f"rg.{folder}.{thing.__name__}"


def _resolve(hint: Any, call: Callable[..., Any]) -> Any:
    """Give the hint that a text stands for; `Any` where it names something that is imported for type checkers only."""
    if not isinstance(hint, str):
        return Any if hint is inspect.Parameter.empty else hint
    try:
        return eval(hint, inspect.unwrap(call).__globals__)  # noqa: S307 - a hint of our own source
    except NameError:
        return Any


def _kind_of(hint: Any) -> Kind | None:
    """Give the kind that a hint asks for; None where it allows everything."""
    origin = get_origin(hint)
    if origin in COMPOSED:
        return COMPOSED[origin](get_args(hint))
    kind: Any = origin or hint
    if kind in PLAIN or not isinstance(kind, type) or kind.__module__ in ("builtins", "numpy", "typing"):
        return PLAIN.get(kind)
    return Kind(_with_article(kind.__name__), lambda value: isinstance(value, kind))


def _one_of(parts: tuple[Any, ...]) -> Kind | None:
    kinds = [_kind_of(part) for part in parts]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds) or len([kind for kind in known if kind is not NOTHING]) > MOST_CHOICES:
        return None
    paths = PLAIN[Path] in known  # then texts are not named: they are paths as well
    words = " or ".join(kind.words for kind in known if not paths or kind is not PLAIN[str])
    return Kind(words, lambda value: any(kind.holds(value) for kind in known))


def _several(parts: tuple[Any, ...]) -> Kind:
    each = _kind_of(parts[0])
    words = "a list" if each is None else f"a list, each of it {each.words}"

    def holds(value: object) -> bool:
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            return False
        again = isinstance(value, Collection | np.ndarray)  # others may be read only once
        return each is None or not again or all(each.holds(one) for one in cast("Collection[object]", value))

    return Kind(words, holds)


def _word(parts: tuple[Any, ...]) -> Kind:
    return Kind(" or ".join(map(repr, parts)), lambda value: isinstance(value, str) and value in parts)


def _fits_float(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:  # an integer beyond all floats
        return False
    return True


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))  # pyright: ignore[reportUnknownArgumentType]


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


NOTHING = Kind("None", lambda value: value is None)
PLAIN: dict[Any, Kind] = {
    None: NOTHING,
    type(None): NOTHING,
    bool: Kind("True or False", lambda value: isinstance(value, bool | np.bool_)),
    int: Kind("an integer", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    float: Kind("a number", _fits_float),
    str: Kind("a text", lambda value: isinstance(value, str)),
    Path: Kind("a path", _is_path),
}
COMPOSED: dict[Any, Callable[[tuple[Any, ...]], Kind | None]] = {
    Union: _one_of,
    types.UnionType: _one_of,
    Literal: _word,
    Sequence: _several,
    Mapping: lambda _: Kind("a dictionary", lambda value: isinstance(value, Mapping)),
    Callable: lambda _: Kind("a function", callable),
}
