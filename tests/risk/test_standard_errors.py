"""The standard errors that a record holds are those that repeated batches show."""

import numpy as np
import pytest
from support.training import train_briefly

from riskgrad.risk import CVaR, Mean, MeanVariance, RiskMeasure
from riskgrad.risk.base import error_of_mean

REPEATS, M = 600, 400


class WithoutInfluence(RiskMeasure):
    """The mean of the worst tenth, as a user might write it."""

    attitude = "averse"

    def estimate(self, values, weights=None):
        return CVaR(0.1).estimate(values, weights)

    def value(self, law):
        return CVaR(0.1).value(law)


def estimate_errors(risk, values, weights=None):
    return {"risk_error": risk.standard_error(values, weights), "mean_error": error_of_mean(values, weights)}


def batches(seed, *shape):
    return np.random.default_rng(seed).gumbel(size=(REPEATS, *shape))


@pytest.mark.parametrize(
    "risk", [Mean(), CVaR(0.1), MeanVariance(0.5), WithoutInfluence()], ids=lambda r: type(r).__name__
)
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_the_spread_of_repeated_estimates(risk, weighted):
    """The spread over 600 repeats has a relative error of 3%; 25% leaves room for the tail's small-sample bias."""
    values = batches(1, M)
    weights = np.exp(0.5 * np.random.default_rng(2).normal(size=values.shape)) if weighted else None
    estimates = risk.estimate(values, weights)
    told = [estimate_errors(risk, row, None if weights is None else weights[i]) for i, row in enumerate(values)]
    assert np.mean([one["risk_error"] for one in told]) == pytest.approx(np.std(estimates), rel=0.25)
    means = Mean().estimate(values, weights)
    assert np.mean([one["mean_error"] for one in told]) == pytest.approx(np.std(means), rel=0.15)


def test_pairs_share_their_random_numbers():
    """Two rows of one pair that are equal say no more than one; rows of different pairs do."""
    values = batches(3, 6, M)
    shared = np.concatenate([values, values], axis=1)
    estimates = np.mean(CVaR(0.2).estimate(shared), axis=-1)
    told = [estimate_errors(CVaR(0.2), row) for row in shared]
    assert np.mean([one["risk_error"] for one in told]) == pytest.approx(np.std(estimates), rel=0.15)
    assert estimate_errors(Mean(), shared[0])["mean_error"] == pytest.approx(
        np.sqrt(np.sum(np.var(values[0], axis=-1, ddof=1) / M)) / 6
    )


def test_known_answers_and_too_few_episodes():
    assert estimate_errors(Mean(), np.array([0.0, 2.0])) == {"risk_error": 1.0, "mean_error": 1.0}
    assert all(np.isnan(error) for error in estimate_errors(Mean(), np.array([1.0])).values())
    few = estimate_errors(WithoutInfluence(), np.arange(7.0))
    assert np.isnan(few["risk_error"])
    assert few["mean_error"] > 0.0


@pytest.mark.parametrize("algorithm", ["onp-sf", "offp-sf", "score"])
def test_every_algorithm_records_them(algorithm):
    run = train_briefly("two-roads", "cvar:0.1", algorithm=algorithm, iterations=3, episodes=50)
    assert all(line["risk_error"] > 0.0 and line["mean_error"] > 0.0 for line in run.history)
