"""What a compiled environment is: three numba functions on a small array of state, and the loop that plays them.

    reset(state, stream)           fill state [k] with a start, drawing from the environment's stream
    step(state, action, stream)    change state; give (reward, whether the episode is over)
    observe(state, values)         write the observation, all of its entries

An observation that is mostly zeros is better given by its other entries: a soft one-hot of 64 with 4 of them costs a
linear policy 4 products per action rather than 64. For it, `observe` has one argument more:

    observe(state, indices, values) -> count    write `count` pairs of index and value

The loop plays many episodes side by side, `state`, `stream`, `indices` and `values` being views of its arrays: take
entries of them by index. Functions without branches run several episodes per instruction: write `a if c else b` and
`(x > 1) | (y > 1)` rather than `if` and `or`, and take exp, sine and cosine from `riskgrad.kernels.elementary`. Others
run one after the other; the answers are the same.

Numba compiles the loop together with the three functions. It can keep the result on disk only for a function that
stands in a file, so an environment that is to start at once names its own loop, five lines at the end of its file (see
`cart_pole`); without it the loop is compiled in each process, a few seconds at its first use.
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from riskgrad.errors import InputError
from riskgrad.kernels.compile import fresh_kernel
from riskgrad.kernels.lane_loop import Job, Trace, play_episodes
from riskgrad.kernels.lane_state import writes_all_entries
from riskgrad.kinds import checks_calls


class EnvShape(NamedTuple):
    """The numbers of a compiled environment, as the file of a twin states them beside its functions."""

    id: str
    state_size: int
    n_features: int
    n_actions: int
    horizon: int
    reward_range: tuple[float, float]


@checks_calls
@dataclass(frozen=True)
class CompiledEnv:
    """An environment with finitely many actions whose steps run as machine code.

    Attributes:
        id: its name; that of the Gymnasium environment whose twin it is, where there is one.
        reset: numba function (state [k], stream).
        step: numba function (state [k], action, stream) -> (reward, over).
        observe: numba function (state [k], values [n_features]), or (state [k], indices, values) -> count; both arrays
            have room for n_features.
        state_size: k.
        n_features: length of an observation.
        n_actions: A.
        horizon: steps after which an episode is cut.
        reward_range: smallest and largest reward of a step, where known; every step must be in it.
        one_hot: whether observations are a soft one-hot: not negative, and summing to 1.
        play: the loop over episodes, compiled and kept on disk; None compiles one in this process.
    """

    id: str
    reset: Callable[..., None]
    step: Callable[..., tuple[float, bool]]
    observe: Callable[..., int | None]
    state_size: int
    n_features: int
    n_actions: int
    horizon: int
    reward_range: tuple[float, float] | None = None
    one_hot: bool = False
    play: Callable[..., None] | None = None

    def __post_init__(self) -> None:
        for name in ("state_size", "n_features", "n_actions", "horizon"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(name, "be an integer of at least 1", value)
        if len(inspect.signature(self.observe).parameters) not in (2, 3):
            raise InputError("observe", "take (state, values) or (state, indices, values)", self.observe)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle functions that stand in a file by their names: what is kept of them on disk is found again."""
        return _make_again, (type(self), {part.name: _name(getattr(self, part.name)) for part in fields(self)})

    def __str__(self) -> str:
        return self.id

    @property
    def dense(self) -> bool:
        """Whether `observe` writes all entries."""
        return writes_all_entries(self.observe)

    @cached_property
    def loop(self) -> Callable[..., None]:
        """The loop over episodes; see `play_episodes` for its arguments after the three functions."""
        if self.play is not None:
            return self.play
        reset, step, observe = self.reset, self.step, self.observe

        def play(first: int, last: int, job: Job, trace: Trace) -> None:
            play_episodes(reset, step, observe, first, last, job, trace)

        return fresh_kernel(play)


class _Name(NamedTuple):
    """Where a function stands."""

    module: str
    name: str


def _name(value: Any) -> Any:
    """Give where a function stands, where it is found there; anything else as it is."""
    place = _Name(str(getattr(value, "__module__", "")), str(getattr(value, "__name__", "")))
    found = getattr(sys.modules.get(place.module), place.name, None) if callable(value) else None
    return place if found is value and found is not None and place.module != "__main__" else value


def _make_again(kind: type[CompiledEnv], parts: dict[str, Any]) -> CompiledEnv:
    found = {
        name: getattr(importlib.import_module(value.module), value.name) if isinstance(value, _Name) else value
        for name, value in parts.items()
    }
    return kind(**found)
