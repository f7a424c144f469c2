"""The contract of a policy: that acting, log-probabilities, scores and entropies are those of one distribution.

B observations   d parameters   P policies at once   u uniform numbers per action
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import ContractError, InputError
from riskgrad.policy import Policy
from riskgrad.types import FloatArray

TOLERANCE = 1e-9
SLOPE_TOLERANCE = 1e-5  # of central differences with this step
STEP = 1e-5
DRAWS = 20_000
ERRORS_ALLOWED = 6.0  # standard errors; two-sided false alarm 2e-9 for a normal error


def check_policy(policy: Policy, observations: ArrayLike, seed: int = 0) -> None:
    """Check a policy against its contract; raise `ContractError` naming the first broken clause.

    Clauses: the start has d finite numbers; several parameter vectors at once equal one after another; each observation
    is acted on by its own row, and equal numbers give equal actions; probabilities are a distribution whose logarithm
    is `log_prob`; actions are drawn from the density that `log_prob` names; `score_sum` is the derivative of
    `log_prob`; `entropy_sum` is the derivative of the entropy; wrong parameters are a `ValueError`.

    Args:
        policy: the policy to check.
        observations: at least three observations along the first axis, as its environment would show them.
        seed: of the parameters and actions; the same seed checks the same ones.
    """
    batch = np.asarray(observations)
    if batch.ndim < 1 or len(batch) < 3:
        raise InputError("observations", "be at least three, along the first axis", f"shape {batch.shape}")
    rng = np.random.default_rng(seed)
    start = np.asarray(policy.initial_theta(np.random.default_rng(seed)), dtype=np.float64)
    _demand(policy, "initial_theta gives d finite numbers", start.shape == (policy.dim,) and np.all(np.isfinite(start)))
    thetas = start + rng.normal(scale=0.5, size=(3, policy.dim))
    _acting(policy, thetas, batch, rng)
    _bad_input(policy, batch)
    if not policy.has_density:
        return
    actions = _drawn(policy, thetas[:1], np.zeros(len(batch), dtype=np.int64), batch, rng)
    _stacked(policy, thetas, batch, actions)
    _distribution(policy, thetas[0], batch, actions)
    _drawn_from_density(policy, thetas, batch, rng)
    _score(policy, thetas[0], batch, actions, rng)
    if actions.ndim == 1:
        _entropy(policy, thetas[0], batch, rng)


def _acting(policy: Policy, thetas: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    rows = np.arange(len(batch)) % len(thetas)
    uniforms = rng.random((len(batch), policy.noise_size))
    together = policy.act(thetas, rows, batch, uniforms)
    _demand(policy, "act gives an action for each observation", len(together) == len(batch))
    again = policy.act(thetas, rows, batch, uniforms)
    _demand(policy, "equal numbers give equal actions", np.array_equal(together, again))
    for b, row in enumerate(rows):
        mine = policy.act(thetas[[row]], np.zeros(1, dtype=np.int64), batch[[b]], uniforms[[b]])
        _demand(policy, "an action does not depend on what acts beside it", np.array_equal(mine[0], together[b]))
    likeliest = policy.act(thetas, rows, batch, None)
    _demand(policy, "act without numbers gives actions of the same kind", likeliest.shape == together.shape)


def _bad_input(policy: Policy, batch: NDArray[Any]) -> None:
    wrong = {"a vector that is too long": np.zeros(policy.dim + 1), "NaN": np.full(policy.dim, np.nan)}
    for what, theta in wrong.items():
        try:
            policy.log_prob(theta, batch, np.zeros(len(batch), dtype=np.int64))
        except ValueError:
            continue
        raise ContractError(f"{policy}: {what} as theta must be a ValueError; see riskgrad.policy.base.checked_thetas")


def _stacked(policy: Policy, thetas: FloatArray, batch: NDArray[Any], actions: NDArray[Any]) -> None:
    together = policy.log_prob(thetas, batch, actions)
    alone = np.stack([policy.log_prob(theta, batch, actions) for theta in thetas])
    _demand(policy, "log_prob of thetas [P, d] has shape [P, B]", together.shape == (len(thetas), len(batch)))
    _demand(policy, "several thetas at once equal one after another", np.allclose(together, alone, rtol=TOLERANCE))


def _distribution(policy: Policy, theta: FloatArray, batch: NDArray[Any], actions: NDArray[Any]) -> None:
    chances = _probabilities(policy, theta, batch)
    if chances is None or actions.ndim > 1:
        return
    total = np.sum(chances, axis=-1)
    _demand(policy, "probabilities are not negative", bool(np.all(chances >= 0.0)))
    _demand(policy, "probabilities sum to 1", np.allclose(total, 1.0, rtol=TOLERANCE))
    logs = policy.log_prob(theta, batch, actions)
    taken = np.take_along_axis(chances, actions[:, None], axis=1)[:, 0]
    _demand(policy, "log_prob is the logarithm of probabilities", np.allclose(np.exp(logs), taken, rtol=TOLERANCE))
    likeliest = policy.act(theta[None], np.zeros(len(batch), dtype=np.int64), batch, None)
    best = np.take_along_axis(chances, likeliest[:, None], axis=1)[:, 0]
    _demand(policy, "act without numbers takes the likeliest action", np.allclose(best, np.max(chances, axis=1)))


def _drawn_from_density(policy: Policy, thetas: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    """Check E[pi'(a) / pi(a)] = 1 for actions drawn from pi, which ties what `act` does to what `log_prob` says."""
    near = thetas[0] + 0.2 * (thetas[1] - thetas[0])
    for b in range(3):
        repeated = np.repeat(batch[[b]], DRAWS, axis=0)
        actions = _drawn(policy, thetas[:1], np.zeros(DRAWS, dtype=np.int64), repeated, rng)
        log_ratio = policy.log_prob(near, repeated, actions) - policy.log_prob(thetas[0], repeated, actions)
        ratio = np.exp(log_ratio)
        error = float(np.std(ratio, ddof=1) / np.sqrt(DRAWS))
        miss = abs(float(np.mean(ratio)) - 1.0)
        _demand(policy, "actions are drawn from the density of log_prob", miss <= ERRORS_ALLOWED * error + TOLERANCE)


def _score(
    policy: Policy, theta: FloatArray, batch: NDArray[Any], actions: NDArray[Any], rng: np.random.Generator
) -> None:
    coefficients = rng.normal(size=len(batch))
    found = policy.score_sum(theta, batch, actions, coefficients)
    _demand(policy, "score_sum gives a vector [d]", np.shape(found) == (policy.dim,))
    towards = rng.normal(size=(4, policy.dim))
    sides = [
        np.sum(policy.log_prob(theta + sign * STEP * towards, batch, actions) * coefficients, axis=1)
        for sign in (1, -1)
    ]
    _slope(policy, "score_sum is the derivative of log_prob", (sides[0] - sides[1]) / (2 * STEP), found, towards)


def _entropy(policy: Policy, theta: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    """Check it where an action is one index; elsewhere the entropy is not known here."""
    if _probabilities(policy, theta, batch) is None:
        return
    coefficients = rng.normal(size=len(batch))
    found = policy.entropy_sum(theta, batch, coefficients)
    towards = rng.normal(size=(4, policy.dim))

    def entropies(sign: int) -> FloatArray:
        chances = policy.probabilities(theta + sign * STEP * towards, batch)
        logs = np.log(np.maximum(chances, np.finfo(np.float64).tiny))
        return -np.sum(np.sum(chances * logs, axis=-1) * coefficients, axis=1)

    slopes = (entropies(1) - entropies(-1)) / (2 * STEP)
    _slope(policy, "entropy_sum is the derivative of the entropy", slopes, found, towards)


def _slope(policy: Policy, clause: str, slopes: FloatArray, vector: FloatArray, towards: FloatArray) -> None:
    expected = np.sum(towards * vector, axis=1)
    scale = 1.0 + float(np.max(np.abs(slopes)))
    _demand(policy, clause, bool(np.all(np.abs(slopes - expected) <= SLOPE_TOLERANCE * scale)))


def _probabilities(policy: Policy, theta: FloatArray, batch: NDArray[Any]) -> FloatArray | None:
    """Give probabilities [B, A]; None where actions are no single index."""
    try:
        return policy.probabilities(theta, batch)
    except InputError:
        return None


def _drawn(
    policy: Policy, thetas: FloatArray, rows: NDArray[np.int64], batch: NDArray[Any], rng: np.random.Generator
) -> NDArray[Any]:
    return policy.act(thetas, rows, batch, rng.random((len(batch), policy.noise_size)))


def _demand(policy: Policy, clause: str, holds: object) -> None:
    if not holds:
        raise ContractError(f"{policy}: does not keep that {clause}")
