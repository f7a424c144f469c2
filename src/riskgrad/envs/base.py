"""What a compiled environment is: three numba functions on a small array of state, and the loop that plays them.

    reset(state, stream)           fill state [k] with a start, drawing from the environment's stream
    step(state, action, stream)    change state; give (reward, whether the episode is over)
    observe(state, values)         write the observation, all of its entries

If most entries of an observation are 0, it is better to give only the others: for a soft one-hot of 64 entries, 4 of
them not 0, a linear policy computes 4 products per action rather than 64. Then `observe` has one more argument:

    observe(state, indices, values) -> count    write `count` pairs of index and value

The loop plays many episodes side by side, and `state`, `stream`, `indices` and `values` are views of its arrays: read
and write their entries by index. If the functions have no branches, one instruction processes several episodes: write
`a if c else b` and `(x > 1) | (y > 1)` rather than `if` and `or`, and take exp, sine and cosine from
`riskgrad.kernels.elementary`. Functions with branches process one episode after the other, with the same results.

Numba compiles the loop together with the three functions. It can keep compiled code on disk only for functions that are
defined in a file. So an environment that should start at once defines its own loop at the end of its file (see
`cart_pole`); otherwise the loop is compiled in each process, which takes a few seconds at its first use.
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
    """The sizes and limits of a compiled environment, stated in the file of its functions; see `CompiledEnv`."""

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
        id: its name; for the twin of a Gymnasium environment, the id of that.
        reset: numba function (state [k], stream).
        step: numba function (state [k], action, stream) -> (reward, over).
        observe: numba function (state [k], values [n_features]), or (state [k], indices, values) -> count; both arrays
            have room for n_features.
        state_size: k.
        n_features: length of an observation.
        n_actions: A.
        horizon: steps after which an episode is cut.
        reward_range: smallest and largest reward of a step, where known; no reward may lie outside.
        one_hot: whether observations are a soft one-hot: not negative, and summing to 1.
        play: the loop over episodes, whose compiled code is kept on disk; None compiles one in this process.
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
        """Pickle functions by module and name where possible, so that their compiled code on disk is found again."""
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
    """The module and the name of a function."""

    module: str
    name: str


def _name(value: Any) -> Any:
    """Give the module and name of a function that can be imported by them; anything else as it is."""
    place = _Name(str(getattr(value, "__module__", "")), str(getattr(value, "__name__", "")))
    found = getattr(sys.modules.get(place.module), place.name, None) if callable(value) else None
    return place if found is value and found is not None and place.module != "__main__" else value


def _make_again(kind: type[CompiledEnv], parts: dict[str, Any]) -> CompiledEnv:
    found = {
        name: getattr(importlib.import_module(value.module), value.name) if isinstance(value, _Name) else value
        for name, value in parts.items()
    }
    return kind(**found)
