"""What NumPy would quietly turn into other numbers is refused wherever returns come in; what is right is taken."""

import decimal
import fractions

import numpy as np
import pytest
from support.environments import Toss

import riskgrad as rg
from riskgrad.errors import EpisodeError, InputError
from riskgrad.mdp import FiniteMDP

MEASURES = ["mean", "cvar:0.5", "smooth-cvar:0.5", "mean-variance:0.5", "dual-power:2"]
STRANGE = {
    "masked": np.ma.array([1.0, 2.0, 100.0], mask=[False, False, True]),
    "masked inside": [1.0, 2.0, np.ma.masked],
    "complex": [1.0, 2.0, 3.0 + 1.0j],
    "dates": np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[D]"),
    "spans of time": np.array([1, 2, 3], dtype="m8[s]"),
    "digits": ["1", "2", "3"],
    "bytes": [b"1", b"2", b"3"],
    "one string": "123",
    "records": np.zeros(3, dtype=[("a", float)]),
    "ragged": [[1.0, 2.0], [3.0]],
    "huge": [1.0, 2.0, 10**400],
    "nothing": [1.0, 2.0, None],
    "objects": [1.0, 2.0, object()],
    "a dictionary": {"a": 1.0},
    "overflow": [1e308, 1.5e308, 1.7e308],
    "overflow of a long double": np.array([1.0, 2.0, np.finfo(np.longdouble).max]),
}
ENTRIES = {
    "estimate": lambda values: rg.risk.parse("cvar:0.5").estimate(values),
    "weighted": lambda values: rg.risk.parse("dual-power:2").estimate(values, [1.0, 1.0, 1.0]),
    "mean": lambda values: rg.risk.parse("mean").estimate(values),
    "mean-variance": lambda values: rg.risk.parse("mean-variance:1").estimate(values),
    "influence": lambda values: rg.risk.parse("cvar:0.5").influence(values),
    "law": lambda values: rg.DiscreteLaw(values, [0.25, 0.25, 0.5]),
    "table": lambda values: rg.evaluation.table_of_returns(values, [rg.risk.parse("mean")]),
    "log": lambda values: rg.LoggedEpisodes.from_arrays(
        [0, 1, 2], [0, 0, 0], [0, 0, 0], values, behavior_prob=[0.5] * 3, state=[0] * 3
    ),
    "model": lambda values: FiniteMDP([[[0.0, 1.0, 0.0]]] * 3, [[values]] * 3, 0, [2], 3),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", STRANGE)
def test_what_are_not_returns_is_refused(kind, entry):
    if entry == "model" and kind.startswith(("overflow", "masked", "huge", "nothing", "objects")):
        # a reward of probability 0 is never looked at, but its kind is
        values = list(reversed(STRANGE[kind])) if not kind.startswith("masked") else STRANGE[kind]
        values = [values[1], values[0], values[2]] if isinstance(values, list) else values
    else:
        values = STRANGE[kind]
    with pytest.raises(InputError) as told:
        ENTRIES[entry](values)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("measure", MEASURES)
def test_numbers_of_other_kinds_are_taken(measure):
    rho, plain = rg.risk.parse(measure), [0.0, 1.0, 0.5]
    wanted = rho.estimate(plain)
    for same in (
        [fractions.Fraction(0), 1, decimal.Decimal("0.5")],
        np.array(plain, dtype=object),
        np.array(plain, dtype=np.float16),
        np.array(plain, dtype=np.longdouble),
        np.ma.array(plain, mask=False),
        (0, True, np.float32(0.5)),
    ):
        assert rho.estimate(same) == wanted
    assert rho.estimate([0.0, 1e100, 2e100]) <= 1e100


def test_a_mean_that_would_overflow_is_refused_and_large_ones_are_right():
    with pytest.raises(InputError, match=r"values must be at most 1e\+140 in size, got 1e\+308 at index 0"):
        rg.risk.Mean().estimate([1e308, 1e308])
    large = np.full(1000, 9e139)
    assert rg.risk.Mean().estimate(large) == pytest.approx(9e139, rel=1e-12)
    table = rg.evaluation.table_of_returns(np.array([1e139, -1e139] * 50), ["mean", "cvar:0.1", "mean-variance:1"])
    assert all(np.isfinite([row.value, *row.bootstrap]).all() for row in table)


def test_huge_weights_do_not_overflow_where_only_their_shares_count():
    values, weights = [1e100, 3e100], [1e300, 1e300]
    assert rg.risk.Mean().estimate(values, weights) == pytest.approx(2e100, rel=1e-12)
    assert rg.risk.MeanVariance(1.0).estimate([1.0, 3.0], weights) == pytest.approx(2.0 - 2.0, abs=1e-12)
    with pytest.raises(InputError, match="weights times values must give an estimate that fits"):
        rg.risk.Mean(estimator="unbiased").estimate(values, weights)


def train_on(**answers):
    env = type("Toss", (Toss,), answers)
    options = {"horizon": 3, "iterations": 1, "held_out": 4, "algorithm": "offp-sf:episodes=4"}
    return rg.train(env, "mean", **options)


@pytest.mark.parametrize(
    "answers",
    [
        {"terminated": "False"},
        {"terminated": float("nan")},
        {"terminated": None},
        {"terminated": 0.5},
        {"terminated": 2},
        {"terminated": np.array([True, False])},
        {"terminated": False, "truncated": "no"},
        {"reward": 10**400},
        {"reward": 1 + 1j},
        {"reward": "1"},
        {"reward": np.datetime64("2020-01-01")},
        {"reward": None},
        {"reward": float("nan")},
    ],
)
def test_a_step_that_says_what_cannot_be_is_refused_by_name(answers):
    with pytest.raises(EpisodeError, match="Toss failed at step") as told:
        train_on(**answers)
    assert str(told.value).isprintable()
    if "terminated" in answers and answers["terminated"] is not False and np.ndim(answers["terminated"]) == 0:
        assert f"terminated has to be True or False, got {answers['terminated']!r}" in str(told.value)


@pytest.mark.parametrize("flag", [True, np.True_, 1, np.array([True]), np.array(True)])
def test_what_is_true_ends_an_episode(flag):
    assert train_on(terminated=flag).history[0]["mean"] == 1.0
    assert train_on(terminated=False, truncated=flag).history[0]["mean"] == 1.0
    assert train_on(terminated=False).history[0]["mean"] == 3.0


def test_a_return_that_is_too_large_is_refused_in_one_line():
    with pytest.raises(InputError, match="at most 1e\\+140 in size"):
        train_on(reward=1e300)
