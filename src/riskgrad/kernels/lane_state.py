"""Lanes: what the episodes that are played side by side have in memory.

    L lanes at most   k numbers of state   F features   A actions   d parameters

Every array has the lanes in its last axis: the same number of neighboring lanes lies side by side, so that the
compiler does four or eight lanes at a time. `lane_column` gives one lane of an array as the small array which the
functions of an environment take; it holds no reference, because counting references would keep the compiler from that.

An episode that is over makes room for the next; when there is none, the last lane moves to its place, so that the lanes
in use are always the first ones.

Lanes observe by the arguments that the environment's `observe` takes:

    observe(state, values)                       writes all entries
    observe(state, indices, values) -> count     writes `count` of them, and says which

Which of the two it is, is known when the loop is compiled: where all entries are written, no step is spent on their
places, which never change.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
from numba.extending import intrinsic, overload  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from riskgrad.kernels.arrays import aligned_zeros
from riskgrad.kernels.compile import helper, inline_helper
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

LANES = 128
INLINE_HELPER = {"nogil": True, "error_model": "numpy", "forceinline": True}  # as `compile.inline_helper`
SEEN_AT_ONCE = 8  # lanes, where one is sought whose episode is over


class LaneState(NamedTuple):
    """The episodes that are being played.

    Attributes:
        states: [k, L].
        streams: words of the environments [1, L].
        choices: words of the policies [L].
        weights: the networks [n, L], the last layer of two actions being the difference; or nothing [0, L].
        indices, entries, counts: observations [F, L], [1, F, L], [L]; at first indices and counts are those of
            observations that have all their entries.
        units: two layers of a network [2, width, L].
        actions, over: of the step that is being made [L]; over is 1 or 0.
        totals, factors: discounted sums of rewards, discount ** steps [L].
        starts: rounds that all lanes had made when the episode began [L].
        items: which of all episodes [L]; none, -1, at first, when every lane is over.
        rows: of which policy [L].
    """

    states: FloatArray
    streams: Words
    choices: Words
    weights: FloatArray
    indices: IntArray
    entries: FloatArray
    counts: IntArray
    units: FloatArray
    actions: IntArray
    over: IntArray
    totals: FloatArray
    factors: FloatArray
    starts: IntArray
    items: IntArray
    rows: IntArray


def _generate_lane_column(typing: Any, array: Any, lane: Any) -> Any:
    """Generate array[:, lane] of an array [n, L], without a reference to it; all strides are constants."""
    del typing, lane
    answer = types.Array(array.dtype, 1, "A")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = context.make_array(signature.args[0])(context, builder, values[0])
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        one, count = types.UniTuple(types.intp, 1), builder.extract_value(whole.shape, 0)
        view = context.make_array(answer)(context, builder)
        view.meminfo = context.get_constant_null(types.MemInfoPointer(array.dtype))
        view.parent = context.get_constant_null(types.pyobject)
        view.data = builder.gep(whole.data, [values[1]])
        view.nitems = count
        view.itemsize = context.get_constant(types.intp, size)
        view.shape = context.make_tuple(builder, one, [count])
        view.strides = context.make_tuple(builder, one, [context.get_constant(types.intp, size * LANES)])
        return view._getvalue()  # noqa: SLF001 - numba's name for the value that a proxy stands for

    return answer(array, types.intp), generate


lane_column = cast("Callable[[Any, int], Any]", intrinsic(_generate_lane_column))


@helper
def empty_lanes(state_size: int, n_features: int, widest: int, n_weights: int) -> LaneState:
    """Make room for the lanes, each with so many parameters."""
    indices = np.zeros((n_features, LANES), dtype=np.int64)
    counts, items = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.int64)
    for lane in range(LANES):
        counts[lane], items[lane] = n_features, -1
        for i in range(n_features):
            indices[i, lane] = i
    return LaneState(
        states=aligned_zeros(state_size * LANES).reshape(state_size, LANES),
        streams=np.zeros((1, LANES), dtype=np.uint64),
        choices=np.zeros(LANES, dtype=np.uint64),
        weights=aligned_zeros(n_weights * LANES).reshape(n_weights, LANES),
        indices=indices,
        entries=aligned_zeros(n_features * LANES).reshape(1, n_features, LANES),
        counts=counts,
        units=aligned_zeros(2 * widest * LANES).reshape(2, widest, LANES),
        actions=np.zeros(LANES, dtype=np.int64),
        over=np.ones(LANES, dtype=np.int64),
        totals=np.zeros(LANES),
        factors=np.zeros(LANES),
        starts=np.zeros(LANES, dtype=np.int64),
        items=items,
        rows=np.zeros(LANES, dtype=np.int64),
    )


@helper
def move_lane(lanes: LaneState, source: int, target: int) -> None:
    """Let an episode change its lane."""
    lanes.choices[target], lanes.streams[0, target] = lanes.choices[source], lanes.streams[0, source]
    lanes.items[target], lanes.rows[target] = lanes.items[source], lanes.rows[source]
    lanes.starts[target] = lanes.starts[source]
    lanes.totals[target], lanes.factors[target] = lanes.totals[source], lanes.factors[source]
    for i in range(len(lanes.states)):
        lanes.states[i, target] = lanes.states[i, source]
    for i in range(len(lanes.weights)):
        lanes.weights[i, target] = lanes.weights[i, source]


@inline_helper
def last_lane_over(over: IntArray, end: int) -> int:
    """Give the last of the lanes 0:end whose episode is over, or -1; eight that go on are passed at a time."""
    while end > 0:
        some = 1
        if end >= SEEN_AT_ONCE:
            some = 0
            for i in range(SEEN_AT_ONCE):
                some |= over[end - SEEN_AT_ONCE + i]
        if some == 0:
            end -= SEEN_AT_ONCE
        else:
            end -= 1
            if over[end] == 1:
                return end
    return -1


@inline_helper
def cut_late_lanes(lanes: LaneState, live: int, horizon: int, clock: int) -> tuple[int, int]:
    """End episodes that have had their time; give how many lanes are over now, and when the next may have to be cut."""
    starts, over, ended, oldest = lanes.starts, lanes.over, 0, clock
    for lane in range(live):
        late = 1 if starts[lane] <= clock - horizon else 0
        over[lane] |= late
        ended += over[lane]
        oldest = min(oldest, clock if late == 1 else starts[lane])
    return ended, oldest + horizon


def writes_all_entries(observe: Callable[..., Any]) -> bool:
    """Whether a function writes all entries of an observation."""
    return len(inspect.signature(observe).parameters) == 2


def observe_lanes(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    live: int,
) -> None:
    """Let the first lanes observe. Compiled, it is one of the two loops below."""
    loop = observe_all_entries if writes_all_entries(observe) else observe_some_entries
    loop(observe, states, indices, values, counts, live)


def observe_all_entries(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,  # noqa: ARG001 - they stay 0, 1, 2 ...
    values: FloatArray,
    counts: IntArray,  # noqa: ARG001 - they stay the number of features
    live: int,
) -> None:
    """Let lanes write all entries."""
    for lane in range(live):
        observe(lane_column(states, lane), lane_column(values, lane))


def observe_some_entries(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    live: int,
) -> None:
    """Let lanes write the entries that there are."""
    for lane in range(live):
        counts[lane] = observe(lane_column(states, lane), lane_column(indices, lane), lane_column(values, lane))


def _observing_loop(
    observe: Any, states: Any, indices: Any, values: Any, counts: Any, live: Any
) -> Callable[..., None]:
    """Choose the loop for the type of an `observe`."""
    del states, indices, values, counts, live
    return observe_all_entries if writes_all_entries(observe.dispatcher.py_func) else observe_some_entries


cast("Any", overload)(observe_lanes, jit_options=INLINE_HELPER, strict=False)(_observing_loop)
