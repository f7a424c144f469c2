"""Observations that policies cannot read, or read badly: what is left out, what is refused, and what to do instead.

text in a Dict        left out, with a note: the other parts, such as the grid beside a mission, can be read without it
text alone, Sequence  refused, as are all other spaces; the message names a wrapper that makes an array of it
images                read as plain numbers, with a note that says so
"""

from typing import Any, Final

from gymnasium import Space, spaces

from riskgrad.errors import InputError
from riskgrad.sources.gymnasium.readings import has_parts, parts_of

READABLE: Final = (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)
LEAST_IMAGE: Final = 1000  # fewest numbers of an array that is taken for an image
SMALLER: Final = "gymnasium.wrappers.GrayscaleObservation and ResizeObservation make them smaller"


def leave_out_text(space: Space[Any]) -> tuple[Space[Any], tuple[str, ...]]:
    """Give a space without the text in its Dicts, and the keys that are left out; a Dict of text alone is kept."""
    if not _is_dict(space):
        return space, ()
    inner: Any = space
    kept: dict[str, Space[Any]] = {}
    gone: list[str] = []
    for key, part in inner.spaces.items():
        if is_text(part):
            gone.append(str(key))
            continue
        kept[key], deeper = leave_out_text(part)
        gone += [f"{key}.{name}" for name in deeper]
    return (spaces.Dict(kept), tuple(gone)) if gone and kept else (space, ())


def pick_parts(space: Space[Any], found: Any) -> Any:
    """Give an observation with only the parts of a space from which `leave_out_text` has removed the text."""
    inner: Any = space
    return {key: pick_parts(part, found[key]) for key, part in inner.spaces.items()} if _is_dict(space) else found


def is_text(space: Space[Any]) -> bool:
    """Say whether the values of a space are strings."""
    return space.dtype is not None and space.dtype.kind == "U"


def refuse_unreadable(space: Space[Any]) -> None:
    """Refuse a space that no policy reads; the message names a wrapper that converts it, and one that leaves it out."""
    if has_parts(space):
        for part in parts_of(space):
            refuse_unreadable(part)
    elif not isinstance(space, READABLE):
        rule = "be made of Discrete, Box, MultiDiscrete, MultiBinary, Tuple and Dict"
        aim = "pads it to one length" if isinstance(space, spaces.Sequence) else "makes numbers of it"
        advice = f"gymnasium.wrappers.TransformObservation {aim}, FilterObservation leaves it out of a Dict"
        raise InputError("observation space", rule, type(space).__name__, advice)


def describe_image(shape: tuple[int, ...], size: int) -> tuple[str, ...]:
    """Give the note for an array that looks like an image; an empty tuple for others."""
    if len(shape) < 2 or size < LEAST_IMAGE:
        return ()
    sizes = " x ".join(str(side) for side in shape)
    return (f"observations are images of {sizes}, read as {size:,} numbers without a sense of place; {SMALLER}",)


def _is_dict(space: Space[Any]) -> bool:
    return isinstance(space, spaces.Dict)
