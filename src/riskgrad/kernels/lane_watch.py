"""What the lanes see: the environment's `observe` in all of them, by the arguments that it takes.

    observe(state, values)                       writes all entries
    observe(state, indices, values) -> count     writes `count` of them, and says which

Which of the two it is, is known when the loop is compiled: no step is spent on writing where the entries belong, if it
is the same place every time.
"""

import inspect
from collections.abc import Callable
from typing import Any, cast

from numba.extending import overload  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from riskgrad.kernels.lane_memory import column
from riskgrad.types import FloatArray, IntArray

WOVEN = {"nogil": True, "error_model": "numpy", "forceinline": True}  # see `riskgrad.kernels.compile.woven`


def sees_all(observe: Callable[..., Any]) -> bool:
    """Whether a function writes all entries of an observation."""
    return len(inspect.signature(observe).parameters) == 2


def watch(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    live: int,
) -> None:
    """Let the first lanes observe. Compiled, it is one of the two loops below."""
    loop = watch_all if sees_all(observe) else watch_some
    loop(observe, states, indices, values, counts, live)


def watch_all(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,  # noqa: ARG001 - they stay 0, 1, 2 ...
    values: FloatArray,
    counts: IntArray,  # noqa: ARG001 - they stay the number of features
    live: int,
) -> None:
    """Let lanes write all entries."""
    for lane in range(live):
        observe(column(states, lane), column(values, lane))


def watch_some(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    live: int,
) -> None:
    """Let lanes write the entries that there are."""
    for lane in range(live):
        counts[lane] = observe(column(states, lane), column(indices, lane), column(values, lane))


def _loop_for(observe: Any, states: Any, indices: Any, values: Any, counts: Any, live: Any) -> Callable[..., None]:
    """Choose the loop for the type of an `observe`."""
    del states, indices, values, counts, live
    return watch_all if sees_all(observe.dispatcher.py_func) else watch_some


cast("Any", overload)(watch, jit_options=WOVEN, strict=False)(_loop_for)
