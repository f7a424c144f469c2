"""Lanes: the arrays of the episodes that are played side by side, one episode in each lane.

    L lanes at most   k numbers of state   F features   n parameters of a network

The lanes are the last axis of every array: the same quantity of neighboring lanes is adjacent in memory, so that the
compiler processes four or eight lanes at a time. `lane_column` gives one lane of an array as the small array which the
functions of an environment take; it holds no reference to the array, because counting references would prevent that.

When an episode is over, the next one takes its lane; when none is left to begin, the last lane in use moves there, so
that the lanes in use are always the first ones.

The `observe` function of an environment has one of two forms:

    observe(state, values)                       writes all entries of the observation
    observe(state, indices, values) -> count     writes `count` entries, and their indices

Its form is known when the loop is compiled: where all entries are written, no time is spent on their indices, which
never change.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
from numba.extending import intrinsic, overload  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from riskgrad.kernels.arrays import ONE, ZERO, aligned_zeros, full_array, full_integers, full_words
from riskgrad.kernels.compile import helper, inline_helper
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

LANES = cast("int", np.int64(128))
INLINE_HELPER = {"nogil": True, "error_model": "numpy", "forceinline": True}  # as in `compile.inline_helper`
NONE = np.uint64(0)
SEEN_AT_ONCE = 8  # lanes that are checked together for an episode that is over


class LaneState(NamedTuple):
    """The episodes that are being played.

    Attributes:
        states: states of the environments [k, L].
        streams: states of the environments' random streams [1, L].
        choices: states of the policies' random streams [L].
        weights: parameters of the networks [n, L], where for two actions the last layer has the difference of the
            logits as its one output; [0, L] where parameters are not copied to the lanes.
        indices, entries, counts: indices of the entries of each observation [F, L], the entries [1, F, L], and how many
            there are [L]; initially the indices are 0, 1, ..., F - 1 and each count is F.
        units: two successive layers of the networks [2, width, L].
        actions, over: the action of the current step [L], and whether the episode is over, 1 or 0 [L].
        totals, factors: discounted sums of rewards [L], and discount ** steps [L].
        starts: the clock when the episode began [L]; it counts rounds, in each of which every lane makes one step.
        items: index of the episode among all that are played [L]; -1 in a lane that has had none yet.
        rows: index of the policy [L].
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
    """Generate code for the view array[:, lane] of an array [n, L], without a reference; its stride is a constant."""
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
        view.strides = context.make_tuple(builder, one, [context.get_constant(types.intp, size * int(LANES))])
        return view._getvalue()  # noqa: SLF001 - numba's name for the value that a proxy stands for

    return answer(array, types.intp), generate


lane_column = cast("Callable[[Any, int], Any]", intrinsic(_generate_lane_column))


@helper
def make_lanes(state_size: int, n_features: int, widest: int, n_weights: int) -> LaneState:
    """Make the arrays of the lanes, which are all free, with room for n_weights parameters in each."""
    indices = full_integers(n_features * LANES, ZERO).reshape(n_features, LANES)
    for i in range(n_features):
        for lane in range(LANES):
            indices[i, lane] = i
    return LaneState(
        states=aligned_zeros(state_size * LANES).reshape(state_size, LANES),
        streams=full_words(LANES, NONE).reshape(1, LANES),
        choices=full_words(LANES, NONE),
        weights=aligned_zeros(n_weights * LANES).reshape(n_weights, LANES),
        indices=indices,
        entries=aligned_zeros(n_features * LANES).reshape(1, n_features, LANES),
        counts=full_integers(LANES, n_features),
        units=aligned_zeros(2 * widest * LANES).reshape(2, widest, LANES),
        actions=full_integers(LANES, ZERO),
        over=full_integers(LANES, ONE),
        totals=full_array(LANES, 0.0),
        factors=full_array(LANES, 0.0),
        starts=full_integers(LANES, ZERO),
        items=full_integers(LANES, -ONE),
        rows=full_integers(LANES, ZERO),
    )


@helper
def move_lane(lanes: LaneState, source: int, target: int) -> None:
    """Move an episode from the lane `source` to the lane `target`."""
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
    """Give the last of the lanes 0:end whose episode is over, or -1; lanes that go on are skipped eight at a time."""
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
    """End episodes of `horizon` steps; give how many lanes are over, and the clock when the next may have to be cut."""
    starts, over, ended, oldest = lanes.starts, lanes.over, 0, clock
    for lane in range(live):
        late = 1 if starts[lane] <= clock - horizon else 0
        over[lane] |= late
        ended += over[lane]
        oldest = min(oldest, clock if late == 1 else starts[lane])
    return ended, oldest + horizon


def writes_all_entries(observe: Callable[..., Any]) -> bool:
    """Tell whether an `observe` function writes all entries, as those with two parameters do."""
    return len(inspect.signature(observe).parameters) == 2


def observe_lanes(
    observe: Callable[..., Any],
    states: FloatArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    live: int,
) -> None:
    """Write the observations of the first `live` lanes; in compiled code this is one of the two loops below."""
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
    """Write all entries of the observations of the first `live` lanes."""
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
    """Write the entries that `observe` gives, their indices and their counts, for the first `live` lanes."""
    for lane in range(live):
        counts[lane] = observe(lane_column(states, lane), lane_column(indices, lane), lane_column(values, lane))


def _observing_loop(
    observe: Any, states: Any, indices: Any, values: Any, counts: Any, live: Any
) -> Callable[..., None]:
    """Choose the loop for an `observe` function, of which numba gives the type."""
    del states, indices, values, counts, live
    return observe_all_entries if writes_all_entries(observe.dispatcher.py_func) else observe_some_entries


cast("Any", overload)(observe_lanes, jit_options=INLINE_HELPER, strict=False)(_observing_loop)
