"""The contract of a source of episodes: a fixed quota, keyed randomness, and records that agree with returns.

Sizes: P policies at once, m episodes each, V visits.
"""

import numpy as np

from riskgrad.checks import check_count
from riskgrad.errors import ContractError
from riskgrad.kinds import checks_kinds
from riskgrad.policy import ObservationStatistics, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources import Source
from riskgrad.sources.base import kind_shown_to
from riskgrad.testing.policy import demand, fits
from riskgrad.types import Episodes, FloatArray, Returns, Vectors
from riskgrad.weights import log_ratios

ERRORS_ALLOWED = 6.0  # standard errors; two-sided false alarm 2e-9 for a normal error
TOLERANCE = 1e-9


@checks_kinds
def check_source(source: Source, policy: Policy, episodes: int = 200, seed: int = 0) -> None:
    """Check a source of episodes against its contract; raise `ContractError` naming the first broken clause.

    Clauses: it gives observations, with the policy's memory if it has one, and takes actions as it declares; exactly m
    episodes for each policy, every return finite and within `return_range`; equal streams give equal numbers; rows of
    one pair see the same random numbers; where it `observes`, `keeps_steps` or `remembers`, it reports each step of
    the same episodes; a record has as many visits as its episodes have steps, and says with which probability each
    action was taken; recorded and plain episodes have the same mean return and length; importance weights of recorded
    episodes have mean 1; wrong input is a `ValueError`.

    Args:
        source: the source to check.
        policy: a policy that fits it.
        episodes: m, the episodes of each check; more of them find smaller faults.
        seed: the seed of the parameters and episodes.
    """
    rng = np.random.default_rng(check_count("seed", seed, 0))
    theta = np.asarray(policy.initial_theta(np.random.default_rng(seed)), dtype=np.float64)
    thetas = theta + rng.normal(scale=0.1, size=(3, policy.dim))
    stream = Stream(seed, Purpose.EXAMPLE)
    found = source.returns(policy, thetas, episodes, stream)
    _check_quota(source, found, len(thetas), episodes)
    _check_keys(source, policy, thetas, stream, found)
    _check_bad_calls(source, policy, thetas, stream)
    shown = kind_shown_to(policy, source)
    if source.observes and isinstance(shown, Vectors):
        none = ObservationStatistics.none(shown.size)
        again, seen = source.returns_and_statistics(policy, thetas, episodes, stream, None, none)
        counted = seen.count == np.sum(found.lengths)
        demand(
            source, "returns_and_statistics counts each step of the same episodes", counted and _are_equal(found, again)
        )
    if source.keeps_steps:
        _check_steps(source, policy, theta, episodes, stream)
    if source.remembers:
        _check_so_far(source, policy, theta, episodes, stream)
    if not policy.has_density:
        return
    batch = source.record(policy, theta, episodes, Stream(seed, Purpose.EXAMPLE, 1))
    _check_record(source, policy, theta, batch, episodes)
    _check_same_law(source, source.returns(policy, theta[None], episodes, Stream(seed, Purpose.EXAMPLE, 2)), batch)
    near = theta + rng.normal(scale=0.1 / np.sqrt(policy.dim), size=(1, policy.dim))
    _check_mean_weight(source, log_ratios(policy, near, batch)[0])


def _check_quota(source: Source, found: Returns, rows: int, episodes: int) -> None:
    demand(source, "each policy gets exactly m episodes", found.values.shape == (rows, episodes))
    demand(source, "each episode has a length", found.lengths.shape == (rows, episodes))
    demand(source, "an episode has at least one step", np.all(found.lengths >= 1))
    demand(source, "returns are finite", np.all(np.isfinite(found.values)))
    _check_range(source, found.values)


def _check_keys(source: Source, policy: Policy, thetas: FloatArray, stream: Stream, found: Returns) -> None:
    again = source.returns(policy, thetas, found.values.shape[1], stream)
    demand(source, "equal streams give equal numbers", _are_equal(found, again))
    twins = source.returns(policy, thetas[[0, 0]], found.values.shape[1], stream, np.array([4, 4]))
    same = np.array_equal(twins.values[0], twins.values[1]) and np.array_equal(twins.lengths[0], twins.lengths[1])
    demand(source, "rows of one pair see the same random numbers", same)
    fresh = source.returns(policy, thetas, found.values.shape[1], Stream(stream.seed + 1, stream.purpose))
    constant = bool(np.all(found.values == found.values[0, 0]))
    demand(source, "another seed gives other episodes", constant or not _are_equal(found, fresh))


def _check_steps(source: Source, policy: Policy, theta: FloatArray, episodes: int, stream: Stream) -> None:
    steps = source.record_steps(policy, theta, episodes, stream)
    played = source.returns(policy, theta[None], episodes, stream, np.zeros(1, dtype=np.int64))
    lengths = np.diff(steps.offsets)
    demand(source, "record_steps keeps each step of the same episodes", np.array_equal(lengths, played.lengths[0]))
    same = np.array_equal(steps.values, played.values[0])
    demand(source, "record_steps has the returns of the same episodes", same)
    times = np.arange(len(steps.rewards)) - np.repeat(steps.offsets[:-1], lengths)
    earned = steps.rewards * (1.0 if source.discount is None else source.discount) ** times
    sums = np.add.reduceat(earned, steps.offsets[:-1])
    demand(source, "discounted rewards add up to returns", np.allclose(sums, steps.values, atol=TOLERANCE))


def _check_so_far(source: Source, policy: Policy, theta: FloatArray, episodes: int, stream: Stream) -> None:
    so_far = source.returns_so_far(policy, theta, episodes, stream)
    lengths = source.returns(policy, theta[None], episodes, stream, np.zeros(1, dtype=np.int64)).lengths[0]
    demand(source, "returns_so_far tells each step of the same episodes", len(so_far) == np.sum(lengths))
    starts = np.cumsum(lengths) - lengths
    demand(source, "the return so far of an episode begins at 0", np.all(so_far[starts] == 0.0))


def _check_record(source: Source, policy: Policy, theta: FloatArray, batch: Episodes, episodes: int) -> None:
    demand(source, "a record holds exactly m episodes", batch.values.shape == (episodes,))
    demand(source, "offsets begin each episode's visits", len(batch.offsets) == episodes + 1)
    visits = np.add.reduceat(batch.counts, batch.offsets[:-1])
    demand(source, "an episode has as many visits as steps", np.array_equal(visits, batch.lengths))
    shown = kind_shown_to(policy, source)
    demand(source, "it gives what it declares", shown is None or fits(shown, batch.observations))
    acted = policy.execute(batch.actions)
    demand(source, "it takes what it declares", source.takes is None or fits(source.takes, acted))
    logs = policy.log_prob(theta, batch.observations, batch.actions)
    demand(source, "a record says how likely each action was", np.allclose(logs, batch.log_behavior, atol=TOLERANCE))
    _check_range(source, batch.values)


def _check_same_law(source: Source, played: Returns, batch: Episodes) -> None:
    lengths = played.lengths[0].astype(np.float64), batch.lengths.astype(np.float64)
    _check_same_mean(source, "return", played.values[0], batch.values)
    _check_same_mean(source, "length", *lengths)


def _check_same_mean(source: Source, what: str, one: FloatArray, other: FloatArray) -> None:
    gap = abs(float(np.mean(one)) - float(np.mean(other)))
    error = float(np.sqrt((np.var(one) + np.var(other)) / len(one)))
    holds = gap <= ERRORS_ALLOWED * error + TOLERANCE
    demand(source, f"recorded and plain episodes have the same mean {what}", holds)


def _check_mean_weight(source: Source, logs: FloatArray) -> None:
    weights = np.exp(logs)
    error = float(np.std(weights, ddof=1) / np.sqrt(len(weights)))
    miss = abs(float(np.mean(weights)) - 1.0)
    demand(source, "importance weights have mean 1", miss <= ERRORS_ALLOWED * error + TOLERANCE)


def _check_bad_calls(source: Source, policy: Policy, thetas: FloatArray, stream: Stream) -> None:
    cases = {"no episodes": (thetas, 0), "parameters of another length": (thetas[:, :-1], 2)}
    for what, (given, episodes) in cases.items():
        try:
            source.returns(policy, given, episodes, stream)
        except ValueError:
            continue
        raise ContractError(f"{source}: {what} must be a ValueError; see riskgrad.sources.base")


def _check_range(source: Source, values: FloatArray) -> None:
    if source.return_range is None:
        return
    low, high = source.return_range
    slack = TOLERANCE * (1.0 + max(abs(low), abs(high)))
    demand(source, "returns are within return_range", np.all((values >= low - slack) & (values <= high + slack)))


def _are_equal(one: Returns, other: Returns) -> bool:
    return np.array_equal(one.values, other.values) and np.array_equal(one.lengths, other.lengths)
