"""What each action of a policy gains, and a step along these gains whose length is a distance between policies.

    rows of a policy's table: one for each state, or one for each state and cell of its memory   A actions

The gradient of the measure is the sum over rows and actions of visits times pi times gains times the score. A table of
preferences moves along the natural gradient: every preference by the gain of its action, so that a row that is rarely
visited learns as fast as one that is often visited. The gain of an action that was seen C times is multiplied by
C / (C + 20).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.critic.graph import Gains, Sweeper, ValueGraph
from riskgrad.critic.utility import Utility, find_utility
from riskgrad.kernels.formulas import log_of
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray

DOUBT: Final = 20.0  # the count at which the gain of an action is halved
LONGEST_MOVE: Final = 2.0  # how far one preference moves in one step, at most
LEAST_PREFERENCE: Final = -30.0  # least preference, relative to the largest of its row


@dataclass(frozen=True)
class Assessment:
    """What the critic says about the actions of a policy.

    Attributes:
        table: chances of actions [rows, A].
        gains: estimates of Q - V for each action, with the bonus, of mean 0 under the policy [rows, A].
        visits: expected visits to each row in an episode [rows].
        randomness: how random the policy is: the mean of its entropies over the visits.
        foreseen: the mean return of the policy in the learned model; None where gains come from returns of episodes.
    """

    table: FloatArray
    gains: FloatArray
    visits: FloatArray
    randomness: float
    foreseen: float | None = None

    @property
    def weights(self) -> FloatArray:
        """The factor of the score of each row and action in the gradient [rows, A]."""
        return self.visits[:, None] * self.table * self.gains


def table_of(policy: Policy, theta: FloatArray, rows: int) -> FloatArray:
    """Give the probabilities of a policy's actions in each row [rows, A]."""
    return policy.probabilities(theta, np.arange(rows))


def assess(sweeper: Sweeper, policy: Policy, theta: FloatArray, risk: RiskMeasure, bonus: float) -> Assessment:
    """Compute from the learned model what each action of a policy gains.

    Args:
        sweeper: over the learned model.
        policy: the policy that acts.
        theta: its parameters [d].
        risk: the measure that is maximized.
        bonus: the bonus for random actions, as a part of the utility's standard deviation in an episode.
    """
    graph = sweeper.graph
    table = table_of(policy, theta, len(graph.known))
    law = sweeper.law(table)
    utility = find_utility(risk, graph.ends, law)
    found = sweeper.gains(table, utility.values, utility.tails)
    return _weigh(graph, table, found, utility, law, bonus)


def _weigh(
    graph: ValueGraph,
    table: FloatArray,
    found: Gains,
    utility: Utility,
    law: FloatArray,
    bonus: float,
) -> Assessment:
    """Shrink gains of rarely seen actions, add the bonus, and subtract their mean under the policy."""
    counts = np.tile(graph.model.counts, (len(table) // len(graph.model.counts), 1))
    logs = log_of(np.maximum(table, 1e-300))
    entropies = -np.sum(table * logs, axis=1)
    price = bonus * utility.spread / graph.mean_length
    gains = found.gains * (counts / (counts + DOUBT)) - price * (logs + entropies[:, None])
    gains -= np.sum(table * gains, axis=1, keepdims=True)
    total = float(np.sum(found.visits))
    return Assessment(
        table=table,
        gains=gains,
        visits=found.visits,
        randomness=float(np.sum(found.visits * entropies)) / total,
        foreseen=float(np.sum(graph.ends * law)),
    )


def move_table(theta: FloatArray, assessment: Assessment, trust: float) -> FloatArray:
    """Move a table of preferences along the natural gradient.

    Args:
        theta: preferences, row by row [rows * A].
        assessment: of the critic at theta.
        trust: the divergence from the old policy to the new one, averaged over visits and to second order, that the
            step has before moves are clipped.
    """
    total = np.sum(assessment.visits)
    spread = np.sum(assessment.weights * assessment.gains) / total
    if not spread > 0.0:
        return theta
    moves = np.sqrt(2.0 * trust / spread) * assessment.gains
    table = theta.reshape(moves.shape) + np.minimum(np.maximum(moves, -LONGEST_MOVE), LONGEST_MOVE)
    table = table - np.max(table, axis=1, keepdims=True)
    return np.maximum(table, LEAST_PREFERENCE).ravel()


def gradient_of(policy: Policy, theta: FloatArray, assessment: Assessment) -> FloatArray:
    """Give the gradient of the measure, with the bonus, in the learned model [d]."""
    rows, actions = np.nonzero(assessment.visits[:, None] * np.ones(assessment.table.shape[1]) > 0.0)
    return policy.score_sum(theta, rows, actions, assessment.weights[rows, actions])
