"""Gains from the returns of episodes, for observations that do not determine what follows.

The gain of each step is the utility of its episode's return, less the model's value of the state where the step was
taken. The model is learned from earlier batches, and a value does not depend on the action: a wrong value adds noise
but no bias.
"""

from typing import Final

import numpy as np

from riskgrad.critic.assessment import Assessment, table_of
from riskgrad.critic.graph import Sweeper, ValueGraph
from riskgrad.critic.log import LogBlock
from riskgrad.critic.utility import find_utility
from riskgrad.kernels.formulas import log_of
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray, Steps

FEW_VISITS: Final = 5.0  # the visits of a batch to a row at which the row's gains are halved


def assess_by_returns(
    graph: ValueGraph,
    before: ValueGraph | None,
    policy: Policy,
    theta: FloatArray,
    risk: RiskMeasure,
    bonus: float,
    batch: Steps,
    block: LogBlock,
) -> Assessment:
    """Compute from the returns of a batch what each action of the policy that played it gains.

    Args:
        graph: the learned model, from which the bonus takes the spread of the utility and the length of episodes.
        before: the model before this batch, whose values are the baselines; None for baselines of 0.
        policy: the policy that acted.
        theta: its parameters [d].
        risk: the measure that is maximized.
        bonus: the bonus for random actions, as a part of the utility's standard deviation in an episode.
        batch: the episodes, with observations as the policy saw them.
        block: the same episodes, with the states of the environment.
    """
    table = table_of(policy, theta, len(graph.known))
    utility = find_utility(risk, graph.ends, Sweeper(graph).law(table))
    values = np.zeros(len(batch.rewards)) if before is None else _values_of(before, table, risk, block)
    gains, visits = weigh_returns(table, risk, batch, values)
    logs = log_of(np.maximum(table, 1e-300))
    entropies = -np.sum(table * logs, axis=1)
    gains -= bonus * utility.spread / graph.mean_length * (logs + entropies[:, None])
    episodes = len(batch.values)
    randomness = float(np.sum(visits * entropies) / np.sum(visits))
    return Assessment(table, gains, visits / episodes, randomness)


def _values_of(graph: ValueGraph, table: FloatArray, risk: RiskMeasure, block: LogBlock) -> FloatArray:
    """Give a model's values [N] at the steps of a batch that the model was not learned from."""
    sweeper = Sweeper(graph)
    utility = find_utility(risk, graph.ends, sweeper.law(table))
    return graph.read_values(sweeper.gains(table, utility.values, utility.tails), block)


def weigh_returns(
    table: FloatArray, risk: RiskMeasure, batch: Steps, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give the gains of actions from returns [rows, A], and how often each row was visited [rows].

    The sum over rows and actions of visits times pi times gains times the score is the score gradient with the values
    as baselines, except that the gains of rarely visited rows are made smaller.

    Args:
        table: probabilities of actions of the policy that acted [rows, A].
        risk: the measure.
        batch: the episodes.
        values: a baseline for each step [N].
    """
    lengths = np.diff(batch.offsets)
    advantages = np.repeat(risk.influence(batch.values), lengths) - values
    rows, actions = batch.observations, batch.actions
    sums = np.zeros(table.shape)
    np.add.at(sums, (rows, actions), advantages)
    visits = np.bincount(rows, minlength=len(table)).astype(np.float64)
    # the score of a row is e_a - pi: sums of c (e_a - pi) over visits, as gains that are centered under the policy
    gains = (sums / np.maximum(table, 1e-12)) / (visits + FEW_VISITS)[:, None]
    return gains - np.sum(table * gains, axis=1, keepdims=True), visits
