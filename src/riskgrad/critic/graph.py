"""The law of the return in a learned model, and what each action gains under a utility.

    T steps   S states   A actions   E knots of the final return
    rows of a policy's table: one for each state, or one for each state and cell of its memory

A graph has a node for each (time, state, return so far) that the model can reach. The return so far is at one of a few
knots, between which chances and values are interpolated linearly. One sweep forward gives the law of the return under
a policy; one sweep backward gives Q - V for a utility of the return, averaged over the visits to each row of the
policy's table.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.critic.log import LogBlock
from riskgrad.critic.outcomes import OutcomeModel
from riskgrad.kernels import value_layout, value_sweeps
from riskgrad.kernels.compile import as_contiguous
from riskgrad.kernels.knots import place_knots, sort_by_time
from riskgrad.kernels.outcome_counts import returns_so_far
from riskgrad.policy import Policy
from riskgrad.types import FloatArray, IntArray

KNOTS: Final = 128  # usual number of knots at each time
FEWEST_KNOTS: Final = 16  # at each time
END_KNOTS: Final = 512  # of the final return
ASTRAY: Final = 0.2  # share of random actions in `Sweeper.go_astray`
ASTRAY_WEIGHT: Final = 1e-3  # weight of the visits that these actions lead to
MOST_EDGES: Final = 1 << 20  # a graph with more edges is laid out again with fewer knots
ENOUGH_KNOTS: Final = 64  # at each time; with fewer, the rounding of every step adds up in long episodes
STRETCH: Final = 8  # a graph may have up to this many times MOST_EDGES to reach ENOUGH_KNOTS


@dataclass(frozen=True)
class Gains:
    """What each action gains, and the values and visits that go with it: the result of a sweep backward.

    Attributes:
        values: expected utility from each node; an array of the sweeper, which its next sweep backward overwrites.
        gains: Q - V of each action, averaged over the visits to each row [rows, A]; 0 where there are no visits.
        visits: expected visits to each row in an episode [rows].
    """

    values: FloatArray
    gains: FloatArray
    visits: FloatArray


class ValueGraph:
    """A learned model with the return so far in its state.

    Args:
        model: outcomes of each state and action.
        horizon: T.
        discount: of the returns.
        recent: recent batches, whose returns so far decide where most knots lie.
        straight: whether every utility is a straight line, so that few knots are enough.
        policy: the policy whose memory decides which row of its table applies at a node; without memory, or without a
            policy, there is a row for each state.

    Attributes:
        model: as given.
        exact: whether no return is rounded to a knot.
        edges: for every node the groups of outcomes that can follow it, summed over nodes.
        mean_length: mean number of steps of the recent episodes.
        known: which actions were seen in the state of each row [rows, A].
        ends: knots of the final return [E].
        layout: nodes and outcomes in the form that the kernels read.
    """

    def __init__(
        self,
        model: OutcomeModel,
        horizon: int,
        discount: float,
        recent: list[LogBlock],
        straight: bool = False,
        policy: Policy | None = None,
    ) -> None:
        self.model, self._policy, self._discount = model, policy, discount
        n_states, n_actions = model.counts.shape
        self._powers = _powers(discount, horizon)
        begins, sums, returns, self.mean_length = _sort_recent(recent, horizon, discount)
        self._low, self._high = value_layout.find_ranges(
            horizon,
            n_states,
            n_actions,
            self._powers,
            model.groups,
            model.group_rewards,
            model.firsts,
            model.nexts,
            model.starts,
        )
        self._recent = (begins, sums, returns)
        self._lay_out(FEWEST_KNOTS if straight else KNOTS, END_KNOTS)
        if self.edges > MOST_EDGES and not straight:
            knots = KNOTS * MOST_EDGES / self.edges
            self._lay_out(int(max(knots, min(ENOUGH_KNOTS, STRETCH * knots), FEWEST_KNOTS)), END_KNOTS)
        memory = None if policy is None else policy.memory
        self.known = np.tile(model.counts > 0.0, (1 if memory is None else memory.cells, 1))

    def _lay_out(self, most: int, most_ends: int) -> None:
        model, horizon = self.model, len(self._powers)
        n_states, n_actions = model.counts.shape
        self.exact, offsets, knots, self.ends = place_knots(
            self._powers, np.unique(model.group_rewards), *self._recent, self._low, self._high, most, most_ends
        )
        lo, hi = np.full(horizon * n_states, len(knots)), np.full(horizon * n_states, -1)
        node = np.zeros(horizon * n_states + 1, dtype=np.int64)
        layout = value_layout.Layout(
            horizon=horizon,
            n_states=n_states,
            n_actions=n_actions,
            powers=self._powers,
            groups=model.groups,
            group_rewards=model.group_rewards,
            firsts=model.firsts,
            nexts=model.nexts,
            chances=model.chances,
            starts=model.starts,
            knot_offsets=offsets,
            knots=knots,
            knot_slopes=_slopes(knots, offsets),
            ends=self.ends,
            end_slopes=_slopes(self.ends, np.array([0, len(self.ends)])),
            lo=lo,
            hi=hi,
            node=node,
            cells=self._find_cells(offsets, knots),
        )
        value_layout.find_windows(layout)
        widths = np.where(hi < 0, 0, hi - lo + 1)
        node[1:] = np.cumsum(widths)
        per_state = model.groups[n_actions::n_actions] - model.groups[:-1:n_actions]
        self.edges = int(np.sum(widths.reshape(horizon, n_states) * per_state))
        self.layout = layout

    def _find_cells(self, offsets: IntArray, knots: FloatArray) -> IntArray:
        memory = None if self._policy is None else self._policy.memory
        if memory is None:
            return np.zeros(len(knots), dtype=np.int64)
        times = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return memory.find_cells(times, knots)

    def among_known(self, table: FloatArray) -> FloatArray:
        """Give a policy's probabilities [rows, A] restricted to the actions that were seen, rescaled to sum 1."""
        chances = np.where(self.known, table, 0.0)
        return chances / np.maximum(np.sum(chances, axis=1, keepdims=True), 1e-300)

    def read_values(self, gains: Gains, block: LogBlock) -> FloatArray:
        """Give V at each step of a batch [N], interpolated between the knots of its time."""
        times, sums = _sums_of(block, self._discount)
        found = np.empty(len(sums))
        states = as_contiguous(block.states, np.int64)
        value_sweeps.read_values(self.layout, gains.values, states, times, sums, found)
        return found


class Sweeper:
    """Sweeps over a graph, for one ascent at a time; several sweepers may use one graph at once.

    Args:
        graph: the learned model.
    """

    def __init__(self, graph: ValueGraph) -> None:
        nodes = int(graph.layout.node[-1])
        self.graph = graph
        self._mass, self._astray = np.zeros(nodes), np.zeros(nodes)
        self._values = np.empty(nodes)

    def law(self, table: FloatArray) -> FloatArray:
        """Give the probability of each final knot [E] under the probabilities of actions [rows, A]."""
        law = self._sweep_forward(table, self._mass)
        return law / np.sum(law)

    def gains(self, table: FloatArray, utility: FloatArray, tails: tuple[float, float]) -> Gains:
        """Give what each action gains over the policy; `law` must be called for the same policy first.

        Args:
            table: probabilities of actions [rows, A].
            utility: of each final knot [E].
            tails: the slope of the utility below the first knot and above the last.
        """
        graph, values, sums = self.graph, self._values, np.zeros(table.shape)
        weights, visits = np.zeros(len(table)), np.zeros(len(table))
        acting = graph.among_known(table)
        value_sweeps.sweep_backward(
            graph.layout, acting, utility, tails, self._mass, self._astray, values, sums, weights, visits
        )
        gains = np.where(graph.known, sums / np.maximum(weights, 1e-300)[:, None], 0.0)
        return Gains(values, gains, visits)

    def go_astray(self, table: FloatArray) -> None:
        """Let `gains` also count, with a small weight, the visits of a policy that takes random actions at times.

        A row that the policy hardly ever visits would otherwise never learn what to do there, and so never become worth
        a visit.
        """
        self._sweep_forward((1.0 - ASTRAY) * table + ASTRAY / table.shape[1], self._astray)
        self._astray *= ASTRAY_WEIGHT

    def _sweep_forward(self, table: FloatArray, mass: FloatArray) -> FloatArray:
        """Fill the chance of each node; give that of each final knot [E]."""
        graph, law = self.graph, np.zeros(len(self.graph.ends))
        mass.fill(0.0)
        value_sweeps.sweep_forward(graph.layout, graph.among_known(table), mass, law)
        return law


def _sums_of(block: LogBlock, discount: float) -> tuple[IntArray, FloatArray]:
    times, sums = np.empty(len(block.states), dtype=np.int64), np.empty(len(block.states))
    returns_so_far(discount, block.offsets, block.rewards, times, sums)
    return times, sums


def _sort_recent(
    recent: list[LogBlock], horizon: int, discount: float
) -> tuple[IntArray, FloatArray, FloatArray, float]:
    """Give where each time begins, returns so far by time, sorted final returns, and the mean length of episodes."""
    parts = [_sums_of(block, discount) for block in recent]
    times, sums = (np.concatenate(part) for part in zip(*parts, strict=True))
    begins, by_time = sort_by_time(horizon, times, sums)
    powers = _powers(discount, horizon)
    finals: list[FloatArray] = []
    for block, (when, before) in zip(recent, parts, strict=True):
        last = block.offsets[1:] - 1
        finals.append(before[last] + powers[when[last]] * block.rewards[last])
    returns = np.sort(np.concatenate(finals))
    return begins, by_time, returns, len(sums) / len(returns)


def _powers(discount: float, horizon: int) -> FloatArray:
    """Give the discount to the power of t, by products [T]."""
    factors = np.full(horizon, discount)
    factors[0] = 1.0
    return np.asarray(np.cumprod(factors), dtype=np.float64)


def _slopes(knots: FloatArray, offsets: IntArray) -> FloatArray:
    """Give 1 over the gap to the next knot, 0 for the last one of each time."""
    slopes = np.zeros(len(knots))
    gaps = np.diff(knots)
    slopes[:-1] = 1.0 / np.where(gaps > 0.0, gaps, 1.0)
    slopes[offsets[1:] - 1] = 0.0
    return slopes
