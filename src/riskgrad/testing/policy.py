"""The contract of a policy: it is what it declares, and all that it computes belongs to one distribution.

Sizes: B observations, d parameters, P policies at once, u uniform numbers per action.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_array, check_count
from riskgrad.errors import ContractError, InputError
from riskgrad.kinds import checks_kinds
from riskgrad.policy import Policy
from riskgrad.types import ActionKind, Both, Choice, Choices, FloatArray, ObservationKind, States, Vectors

TOLERANCE = 1e-9
SLOPE_TOLERANCE = 1e-5  # of central differences with this step
STEP = 1e-5
DRAWS = 20_000
ERRORS_ALLOWED = 6.0  # standard errors; two-sided false alarm 2e-9 for a normal error


@checks_kinds
def check_policy(policy: Policy, observations: ArrayLike, seed: int = 0) -> None:
    """Check a policy against its contract; raise `ContractError` naming the first broken clause.

    Clauses: it reads such observations and acts as it declares; its recipe makes the same policy; the start has d
    finite numbers; several parameter vectors at once equal one after another; each observation is acted on by its own
    row, and equal numbers give equal actions; probabilities are a distribution whose logarithm is `log_prob`; actions
    are drawn from the density that `log_prob` names; `score_sum` is the derivative of `log_prob`; `entropy_sum` is the
    derivative of the entropy; wrong parameters are a `ValueError`.

    Args:
        policy: the policy to check.
        observations: at least three observations along the first axis, as its environment would show them.
        seed: of the parameters and actions; the same seed checks the same ones.
    """
    batch, seed = as_array("observations", observations), check_count("seed", seed, 0)
    if batch.ndim < 1 or len(batch) < 3:
        raise InputError("observations", "be at least three, along the first axis", f"shape {batch.shape}")
    rng = np.random.default_rng(seed)
    start = np.asarray(policy.initial_theta(np.random.default_rng(seed)), dtype=np.float64)
    demand(policy, "initial_theta gives d finite numbers", start.shape == (policy.dim,) and np.all(np.isfinite(start)))
    thetas = start + rng.normal(scale=0.5, size=(3, policy.dim))
    _check_declarations(policy, thetas, batch, rng)
    _check_recipe(policy)
    _check_acting(policy, thetas, batch, rng)
    _check_refusals(policy, batch)
    if not policy.has_density:
        return
    actions = _draw_actions(policy, thetas[:1], np.zeros(len(batch), dtype=np.int64), batch, rng)
    _check_stacking(policy, thetas, batch, actions)
    _check_distribution(policy, thetas[0], batch, actions)
    _check_draws(policy, thetas, batch, rng)
    _check_score(policy, thetas[0], batch, actions, rng)
    if actions.ndim == 1:
        _check_entropy(policy, thetas[0], batch, rng)


def _check_declarations(policy: Policy, thetas: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    demand(policy, "it reads what it declares", not policy.reads or any(fits(each, batch) for each in policy.reads))
    actions = policy.act(
        thetas, np.zeros(len(batch), dtype=np.int64), batch, rng.random((len(batch), policy.noise_size))
    )
    demand(policy, "it acts as it declares", policy.acts is None or fits(policy.acts, policy.execute(actions)))


def fits(kind: ObservationKind | ActionKind, values: NDArray[Any]) -> bool:
    """Say whether a batch of observations or actions [B, ...] is of a kind."""
    if isinstance(kind, States | Choice):
        return values.ndim == 1 and values.dtype.kind in "iu" and bool(np.all((values >= 0) & (values < kind.n)))
    if isinstance(kind, Vectors):
        return values.ndim == 2 and values.shape[1] == kind.size
    if isinstance(kind, Both):
        cut = len(kind.choices.sizes)
        return values.ndim == 2 and fits(kind.choices, values[:, :cut]) and fits(kind.numbers, values[:, cut:])
    low, high = (
        ([0] * len(kind.sizes), np.array(kind.sizes) - 1) if isinstance(kind, Choices) else (kind.low, kind.high)
    )
    return values.shape[1:] == np.shape(low) and bool(np.all((values >= low) & (values <= high)))


def _check_recipe(policy: Policy) -> None:
    recipe = policy.recipe()
    if recipe is None:
        return
    again = type(policy).from_recipe(json.loads(json.dumps(recipe, allow_nan=False)))
    demand(policy, "from_recipe makes what recipe tells", again.recipe() == recipe and str(again) == str(policy))


def _check_acting(policy: Policy, thetas: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    rows = np.arange(len(batch)) % len(thetas)
    uniforms = rng.random((len(batch), policy.noise_size))
    together = policy.act(thetas, rows, batch, uniforms)
    demand(policy, "act gives an action for each observation", len(together) == len(batch))
    again = policy.act(thetas, rows, batch, uniforms)
    demand(policy, "equal numbers give equal actions", np.array_equal(together, again))
    for b, row in enumerate(rows):
        mine = policy.act(thetas[[row]], np.zeros(1, dtype=np.int64), batch[[b]], uniforms[[b]])
        demand(policy, "an action does not depend on what acts beside it", np.array_equal(mine[0], together[b]))
    likeliest = policy.act(thetas, rows, batch, None)
    demand(policy, "act without numbers gives actions of the same kind", likeliest.shape == together.shape)


def _check_refusals(policy: Policy, batch: NDArray[Any]) -> None:
    wrong = {"a vector that is too long": np.zeros(policy.dim + 1), "NaN": np.full(policy.dim, np.nan)}
    for what, theta in wrong.items():
        try:
            policy.log_prob(theta, batch, np.zeros(len(batch), dtype=np.int64))
        except ValueError:
            continue
        raise ContractError(f"{policy}: {what} as theta must be a ValueError; see riskgrad.policy.base.check_thetas")


def _check_stacking(policy: Policy, thetas: FloatArray, batch: NDArray[Any], actions: NDArray[Any]) -> None:
    together = policy.log_prob(thetas, batch, actions)
    alone = np.stack([policy.log_prob(theta, batch, actions) for theta in thetas])
    demand(policy, "log_prob of thetas [P, d] has shape [P, B]", together.shape == (len(thetas), len(batch)))
    demand(policy, "several thetas at once equal one after another", np.allclose(together, alone, rtol=TOLERANCE))


def _check_distribution(policy: Policy, theta: FloatArray, batch: NDArray[Any], actions: NDArray[Any]) -> None:
    chances = _action_probabilities(policy, theta, batch)
    if chances is None or actions.ndim > 1:
        return
    total = np.sum(chances, axis=-1)
    demand(policy, "probabilities are not negative", bool(np.all(chances >= 0.0)))
    demand(policy, "probabilities sum to 1", np.allclose(total, 1.0, rtol=TOLERANCE))
    logs = policy.log_prob(theta, batch, actions)
    taken = np.take_along_axis(chances, actions[:, None], axis=1)[:, 0]
    demand(policy, "log_prob is the logarithm of probabilities", np.allclose(np.exp(logs), taken, rtol=TOLERANCE))
    likeliest = policy.act(theta[None], np.zeros(len(batch), dtype=np.int64), batch, None)
    best = np.take_along_axis(chances, likeliest[:, None], axis=1)[:, 0]
    demand(policy, "act without numbers takes the likeliest action", np.allclose(best, np.max(chances, axis=1)))


def _check_draws(policy: Policy, thetas: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    """Check E[pi'(a) / pi(a)] = 1 for actions drawn from pi, which ties what `act` does to what `log_prob` says."""
    near = thetas[0] + 0.05 * (thetas[1] - thetas[0])  # close by, since far away a few huge ratios decide the mean
    for b in range(3):
        repeated = np.repeat(batch[[b]], DRAWS, axis=0)
        actions = _draw_actions(policy, thetas[:1], np.zeros(DRAWS, dtype=np.int64), repeated, rng)
        log_ratio = policy.log_prob(near, repeated, actions) - policy.log_prob(thetas[0], repeated, actions)
        ratio = np.exp(log_ratio)
        error = float(np.std(ratio, ddof=1) / np.sqrt(DRAWS))
        miss = abs(float(np.mean(ratio)) - 1.0)
        demand(policy, "actions are drawn from the density of log_prob", miss <= ERRORS_ALLOWED * error + TOLERANCE)


def _check_score(
    policy: Policy, theta: FloatArray, batch: NDArray[Any], actions: NDArray[Any], rng: np.random.Generator
) -> None:
    coefficients = rng.normal(size=len(batch))
    found = policy.score_sum(theta, batch, actions, coefficients)
    demand(policy, "score_sum gives a vector [d]", np.shape(found) == (policy.dim,))
    toward = rng.normal(size=(4, policy.dim))
    sides = [
        np.sum(policy.log_prob(theta + sign * STEP * toward, batch, actions) * coefficients, axis=1) for sign in (1, -1)
    ]
    _central_difference(
        policy, "score_sum is the derivative of log_prob", (sides[0] - sides[1]) / (2 * STEP), found, toward
    )


def _check_entropy(policy: Policy, theta: FloatArray, batch: NDArray[Any], rng: np.random.Generator) -> None:
    """Check `entropy_sum` where an action is one index; elsewhere the entropy is not known here."""
    if _action_probabilities(policy, theta, batch) is None:
        return
    coefficients = rng.normal(size=len(batch))
    found = policy.entropy_sum(theta, batch, coefficients)
    toward = rng.normal(size=(4, policy.dim))

    def entropies(sign: int) -> FloatArray:
        chances = policy.probabilities(theta + sign * STEP * toward, batch)
        logs = np.log(np.maximum(chances, np.finfo(np.float64).tiny))
        return -np.sum(np.sum(chances * logs, axis=-1) * coefficients, axis=1)

    slopes = (entropies(1) - entropies(-1)) / (2 * STEP)
    _central_difference(policy, "entropy_sum is the derivative of the entropy", slopes, found, toward)


def _central_difference(
    policy: Policy, clause: str, slopes: FloatArray, vector: FloatArray, toward: FloatArray
) -> None:
    expected = np.sum(toward * vector, axis=1)
    scale = 1.0 + float(np.max(np.abs(slopes)))
    demand(policy, clause, bool(np.all(np.abs(slopes - expected) <= SLOPE_TOLERANCE * scale)))


def _action_probabilities(policy: Policy, theta: FloatArray, batch: NDArray[Any]) -> FloatArray | None:
    """Give probabilities [B, A]; None where an action is not a single index."""
    try:
        return policy.probabilities(theta, batch)
    except InputError:
        return None


def _draw_actions(
    policy: Policy, thetas: FloatArray, rows: NDArray[np.int64], batch: NDArray[Any], rng: np.random.Generator
) -> NDArray[Any]:
    return policy.act(thetas, rows, batch, rng.random((len(batch), policy.noise_size)))


def demand(part: object, clause: str, holds: object) -> None:
    """Raise `ContractError`, naming the clause of its contract that a part breaks, unless the clause holds."""
    if not holds:
        raise ContractError(f"{part}: does not keep the clause that {clause}")
