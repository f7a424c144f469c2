"""The loop that plays episodes of a compiled environment: observe, choose, step, until all are over.

    P policies   m episodes each   d parameters   A actions   V visits

Up to 128 episodes are played side by side, each in a lane (see `lane_state`): all observe, all choose (see
`lane_choice`), all step. Each of these is a loop over lanes into which the compiler inlines the environment's
function; where that has no branches, calls of the C library or draws by rejection, one instruction processes four or
eight lanes. An episode that is over gives its lane to the next one at once, so that no lane waits for a long episode.

An episode is a function of the environment, the parameters, the pair's key and the episode's index, never of what else
is played or of its lane: no number is rounded differently when several lanes are processed at a time.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riskgrad.kernels import streams
from riskgrad.kernels.arrays import FLOAT, INTEGER, ZERO, resize
from riskgrad.kernels.compile import helper, inline_helper, inline_kernel
from riskgrad.kernels.lane_choice import (
    draw_from_many,
    draw_from_two,
    order_by_policy,
    run_later_layers,
    run_networks_in_turn,
    take_largest,
    weigh_entries,
    weigh_lanes,
)
from riskgrad.kernels.lane_memory import ShownMemory, remember_lanes
from riskgrad.kernels.lane_state import (
    LANES,
    LaneState,
    cut_late_lanes,
    lane_column,
    last_lane_over,
    make_lanes,
    move_lane,
    observe_lanes,
)
from riskgrad.kernels.layers import make_workspace
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

MOST_WEIGHTS = 512  # most parameters of a policy that are copied to each of its lanes


class Job(NamedTuple):
    """What to play, and the arrays that receive the results.

    Attributes:
        keys: the key of each policy's streams [P].
        thetas: parameters [P, d]; layer by layer, weights [in, out] and then, with `bias`, one number per output.
        widths: number of features, with those of memory, of units of each hidden layer, and of actions [layers + 1].
        bias: whether layers have one.
        relu: whether the activation between layers is relu; otherwise it is tanh.
        greedy: whether to take the likeliest action instead of drawing one.
        dense: whether observations have all their entries, in order.
        state_size: numbers in the environment's state.
        horizon: steps after which an episode is cut.
        discount: discount of the returns.
        episodes: m, of each policy.
        memory: what policies see besides observations.
        values: discounted returns, flat [P * m]; filled.
        lengths: numbers of steps, flat [P * m]; filled.
    """

    keys: Words
    thetas: FloatArray
    widths: IntArray
    bias: bool
    relu: bool
    greedy: bool
    dense: bool
    state_size: int
    horizon: int
    discount: float
    episodes: int
    memory: ShownMemory
    values: FloatArray
    lengths: IntArray


class Trace(NamedTuple):
    """The arrays that receive the visits of the episodes of a single policy; if `actions` is empty, none is written.

    Attributes:
        offsets: where each episode's visits begin [m + 1].
        observations: zeros [V, features]; entries that are observed are filled.
        actions: action of each visit [V]; filled.
        so_far: the return before each visit [V]; filled, or empty if not wanted.
        rewards: the reward of each visit [V]; filled, or empty if not wanted.
    """

    offsets: IntArray
    observations: FloatArray
    actions: IntArray
    so_far: FloatArray
    rewards: FloatArray


NO_TRACE = Trace(np.zeros(1, dtype=np.int64), np.zeros((0, 0)), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))


@inline_helper
def begin_episode(lanes: LaneState, lane: int, item: int, job: Job, clock: int) -> None:
    """Begin an episode in a lane, all but its state, which `reset` fills; `clock` counts the rounds of steps."""
    row, episode = item // job.episodes, item % job.episodes
    lanes.choices[lane], lanes.streams[0, lane] = streams.first_words(job.keys[row], episode)
    lanes.items[lane], lanes.rows[lane], lanes.starts[lane] = item, row, clock
    lanes.totals[lane], lanes.factors[lane] = 0.0, 1.0
    kept = len(lanes.weights)
    if kept > 0:
        merged = job.thetas.shape[1] - kept  # pairs of weights in a last layer of two actions, whose difference is kept
        for i in range(kept - merged):
            lanes.weights[i, lane] = job.thetas[row, i]
        for i in range(kept - merged, kept):
            second = 2 * i - (kept - merged) + 1
            lanes.weights[i, lane] = job.thetas[row, second] - job.thetas[row, second - 1]


@inline_helper
def finish_episode(lanes: LaneState, lane: int, job: Job, clock: int) -> None:
    """Write the return and the length of the episode of a lane, if it has had one."""
    item = lanes.items[lane]
    if item >= 0:
        job.values[item], job.lengths[item] = lanes.totals[lane], clock - lanes.starts[lane]


@helper
def keep_visits(trace: Trace, job: Job, lanes: LaneState, live: int, clock: int) -> None:
    """Write the observation, the action and the return so far of each lane to the trace."""
    for lane in range(live):
        episode = lanes.items[lane] % job.episodes
        visit = trace.offsets[episode] + clock - lanes.starts[lane]
        if visit < trace.offsets[episode + 1]:
            for k in range(lanes.counts[lane]):
                trace.observations[visit, lanes.indices[k, lane]] = lanes.entries[0, k, lane]
            trace.actions[visit] = lanes.actions[lane]
            if len(trace.so_far) > 0:
                trace.so_far[visit] = lanes.totals[lane]


@helper
def set_sums_aside(lanes: LaneState, live: int, sums: FloatArray) -> None:
    """Move returns and discount factors of the lanes to sums [2, LANES], so that the next step leaves its rewards."""
    for lane in range(live):
        sums[0, lane], sums[1, lane] = lanes.totals[lane], lanes.factors[lane]
        lanes.totals[lane], lanes.factors[lane] = 0.0, 1.0


@helper
def keep_rewards(trace: Trace, job: Job, lanes: LaneState, live: int, clock: int, sums: FloatArray) -> None:
    """Write the rewards that a step has left, and go on with the sums that were set aside, with the same bits."""
    for lane in range(live):
        episode, reward = lanes.items[lane] % job.episodes, lanes.totals[lane]
        visit = trace.offsets[episode] + clock - lanes.starts[lane]
        if visit < trace.offsets[episode + 1]:
            trace.rewards[visit] = reward
        lanes.totals[lane] = sums[0, lane] + sums[1, lane] * reward
        lanes.factors[lane] = sums[1, lane] * job.discount


@inline_kernel
def play_episodes(  # noqa: C901, PLR0912, PLR0915 - cut into functions it would fetch arrays again in each
    reset: Callable[..., None],
    step: Callable[..., tuple[float, bool]],
    observe: Callable[..., int | None],
    first: int,
    last: int,
    job: Job,
    trace: Trace,
) -> None:
    """Play the episodes first:last of all P * m, counted policy by policy.

    If the trace has room, which takes a single policy, the visits are written to it.
    """
    # local names for all that the loop uses: to fetch an array from a tuple in the loop costs more than the work on it
    thetas, widths, bias, relu, greedy = job.thetas, job.widths, job.bias, job.relu, job.greedy
    discount, horizon, n_features, n_actions = job.discount, job.horizon, widths[0], widths[-1]
    together = job.dense and thetas.shape[1] <= MOST_WEIGHTS
    # for two actions the lanes keep one number per input of the last layer, for the difference of the logits
    layers = resize(widths, len(widths))
    layers[-1] = 1 if n_actions == 2 else n_actions
    halved = (widths[-2] + (1 if bias else 0)) if n_actions == 2 else 0
    widest = n_features
    for width in widths:
        widest = max(widest, width)
    lanes = make_lanes(job.state_size, n_features, widest, thetas.shape[1] - halved if together else 0)
    states, streams, choices, weights, units = lanes.states, lanes.streams, lanes.choices, lanes.weights, lanes.units
    indices, entries, slots, counts = lanes.indices, lanes.entries, lanes.entries[0], lanes.counts
    actions, over, totals, factors = lanes.actions, lanes.over, lanes.totals, lanes.factors
    rows, work = lanes.rows, make_workspace(LANES, widths)
    order, places = np.empty(LANES, INTEGER), np.empty(LANES, INTEGER)
    live, following, kept = min(last - first, LANES), first, len(trace.actions) > 0
    ended, clock, due, remembers = live, ZERO, horizon, job.memory.extra > 0
    earns, sums = len(trace.rewards) > 0, np.empty(2 * LANES, FLOAT).reshape(2, LANES)
    while live > 0:
        if ended > 0:
            lane = last_lane_over(over, live)
            while lane >= 0:
                finish_episode(lanes, lane, job, clock)
                if following < last:
                    begin_episode(lanes, lane, following, job, clock)
                    reset(lane_column(states, lane), lane_column(streams, lane))
                    following += 1
                else:
                    live -= 1
                    move_lane(lanes, live, lane)
                lane = last_lane_over(over, lane)
        observe_lanes(observe, states, indices, slots, counts, live)
        if remembers:
            remember_lanes(job.memory, lanes, n_features, job.dense, live, clock)
        row = ZERO
        if together:
            weigh_lanes(weights, ZERO, bias, entries, ZERO, n_features, units, ZERO, layers[1], live)
            if len(widths) > 2:
                row = run_later_layers(weights, units, live, layers, bias, relu)
        elif len(widths) == 2:
            weigh_entries(thetas, rows, indices, slots, counts, units, live, n_features, n_actions, bias)
        else:
            order_by_policy(rows, live, order, places)
            run_networks_in_turn(thetas, rows, order, indices, slots, counts, units, live, widths, relu, work)
        if greedy:
            take_largest(units, row, live, n_actions, choices, actions)
        elif n_actions == 2:
            draw_from_two(units, row, live, choices, actions)
        else:
            draw_from_many(units, row, live, n_actions, choices, actions)
        if kept:
            keep_visits(trace, job, lanes, live, clock)
            if earns:
                set_sums_aside(lanes, live, sums)
        clock += 1
        ended = 0
        for lane in range(live):
            reward, done = step(lane_column(states, lane), actions[lane], lane_column(streams, lane))
            totals[lane] += factors[lane] * reward
            factors[lane] *= discount
            over[lane] = 1 if done else 0
            ended += over[lane]
        if earns:
            keep_rewards(trace, job, lanes, live, clock - 1, sums)
        if clock == due:
            ended, due = cut_late_lanes(lanes, live, horizon, clock)
