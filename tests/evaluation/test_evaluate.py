"""`rg.evaluate` on finite models whose truth is known, and the table that it gives."""

import json

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError, KeywordError
from riskgrad.evaluation import table_of_returns
from riskgrad.mdp.models import two_roads
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource

MODEL = two_roads()
POLICY = rg.policy.TabularGibbs(MODEL.n_states, MODEL.n_actions)
THETA = np.zeros(POLICY.dim)
RISKS = ["mean", "cvar:0.1", "mean-variance:0.01", "dual-power:2"]


def test_intervals_hold_the_exact_values():
    # certified: misses are below 5% for all rows together, and far rarer in fact; one fixed seed
    table = rg.evaluate((POLICY, THETA), MODEL, RISKS, episodes=4000)
    law = rg.exact.return_law(MODEL, POLICY.probabilities(THETA, np.arange(MODEL.n_states)))
    assert [row.risk for row in table] == RISKS
    for row in table:
        truth = rg.risk.parse(row.risk).value(law)
        assert row.certified[0] <= truth <= row.certified[1]
        assert row.certified[0] <= row.bootstrap[0] <= row.value <= row.bootstrap[1] <= row.certified[1]
        assert row.reason is None
        assert row.flag is None
    assert table.return_range == MODEL.return_range


def test_value_is_the_estimate_on_the_evaluation_stream():
    returns = TabularSource(MODEL).returns(POLICY, THETA[None], 500, Stream(7, Purpose.EVALUATION)).values[0]
    table = rg.evaluate((POLICY, THETA), MODEL, "cvar:0.2", episodes=500, seed=7)
    assert table[0].value == float(rg.risk.CVaR(0.2).estimate(returns))
    assert rg.evaluate((POLICY, THETA), MODEL, "cvar:0.2", episodes=500, seed=7) == table
    assert rg.evaluate((POLICY, THETA), MODEL, "cvar:0.2", episodes=500, seed=8) != table


def test_a_run_brings_its_policy_theta_and_measure():
    run = rg.train(MODEL, "cvar:0.1", iterations=1)
    table = rg.evaluate(run, MODEL, episodes=200)
    assert [row.risk for row in table] == ["cvar:0.1", "mean"]
    assert table == rg.evaluate((run.policy, run.theta), MODEL, ["cvar:0.1", "mean"], episodes=200)
    neutral = rg.train(MODEL, "mean", iterations=1)
    assert [row.risk for row in rg.evaluate(neutral, MODEL, episodes=200)] == ["mean"]


def test_a_run_brings_its_horizon_and_discount_to_an_id():
    run = rg.train("FrozenLake-v1", "mean", iterations=1, horizon=1, discount=0.5)
    assert rg.evaluate(run, "FrozenLake-v1", episodes=50)["mean"].value == 0.0
    longer = rg.evaluate(run, "FrozenLake-v1", episodes=2000, horizon=100, discount=1.0)
    assert longer["mean"].value > 0.0


class Unbounded(TabularSource):
    """A source that does not know its range."""

    return_range = None  # pyright: ignore[reportAssignmentType]


def test_without_a_range_there_is_no_certified_interval_unless_one_is_given():
    row = rg.evaluate((POLICY, THETA), Unbounded(MODEL), "mean", episodes=100)[0]
    assert row.certified is None
    assert "return_range" in row.reason
    given = rg.evaluate((POLICY, THETA), Unbounded(MODEL), "mean", episodes=100, return_range=(-500.0, 0.0))[0]
    assert given.certified[0] < given.value < given.certified[1]


def test_table_reads_well_and_survives_json():
    values = np.append(np.full(3, -100.0), np.linspace(0.0, 1.0, 397))
    table = table_of_returns(values, [rg.risk.Mean(), rg.risk.CVaR(0.1)])
    (low, high), (bad, good) = (row.bootstrap for row in table)
    mean, tail = f"[{low:.1f}, {high:.1f}]", f"[{bad:.0f}, {good:.0f}]"  # two digits of the width
    width = max(len(mean), len(tail))
    assert str(table).splitlines() == [
        "400 episodes, intervals at 95% confidence",
        "",
        f"risk      value  certified      {'bootstrap':>{width}}",
        f"mean       -0.3       none (1)  {mean:>{width}} (2)",
        f"cvar:0.1     -7       none (1)  {tail:>{width}} (2)",
        "",
        "(1) no certified interval: the range of the return is not known; give return_range=(low, high)",
        "(2) unreliable: about 3 of 400 episodes decide it; want 20",
    ]
    plain = json.loads(json.dumps(table.as_dict()))
    assert plain["rows"][1]["risk"] == "cvar:0.1"
    assert plain["rows"][1]["bootstrap"] == list(table[1].bootstrap)
    assert plain["episodes"] == 400
    assert len(table) == 2


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        ((POLICY, THETA), {"confidence": 95}, "confidence must be in"),
        ((POLICY, THETA), {"risk": "cvrr:0.1"}, "did you mean 'cvar'"),
        ((POLICY, THETA), {"risk": []}, "risk must name at least one measure"),
        ((POLICY, THETA), {"episodes": 0}, "episodes must be"),
        ((POLICY, THETA), {"return_range": (0.0, 1.0)}, "return_range must hold every return"),
        ((POLICY, THETA[1:]), {}, "theta must have shape"),
        ((POLICY, THETA * np.nan), {}, "theta must be finite"),
        (POLICY, {}, "run must be a run, its folder or file, or a pair"),
        ((POLICY, THETA, 3), {}, "run must be a run, its folder or file, or a pair"),
    ],
)
def test_refuses_in_one_line(run, options, message):
    with pytest.raises(InputError, match=message) as caught:
        rg.evaluate(run, MODEL, **{"episodes": 50, **options})
    assert "\n" not in str(caught.value)


def test_a_narrow_interval_is_worth_six_digits_of_the_value():
    """Returns that differ by rounding alone, such as sums of the same rewards in another order."""
    values = -13.0 + 1e-9 * np.random.default_rng(0).normal(size=200)
    row = str(rg.evaluation.table_of_returns(values, ["mean"])).splitlines()[3]
    assert row.split()[1] == "-13.0000"
    assert "-13.00000" not in row


def test_an_unknown_row_lists_the_known_ones():
    table = table_of_returns(np.arange(50.0), [rg.risk.Mean()])
    with pytest.raises(InputError, match="row must be one of mean"):
        table["cvar:0.1"]


def test_greedy_plays_the_mode_of_the_policy():
    """A policy that prefers the pass a little: drawn, it takes both roads; greedy, the pass alone."""
    mdp = rg.mdp.two_roads()
    policy = rg.policy.TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.tile([0.1, 0.0], mdp.n_states)
    always = np.tile([1.0, 0.0], (mdp.n_states, 1))
    exact = rg.exact.return_law(mdp, always).mean
    drawn, greedy = (
        rg.evaluate((policy, theta), mdp, "mean", episodes=20_000, greedy=flag)[0].value for flag in (False, True)
    )
    assert greedy == pytest.approx(exact, abs=0.7)  # 5 standard errors: false alarm 6e-7
    assert drawn == pytest.approx(rg.exact.value(mdp, policy, theta, rg.risk.Mean()), abs=0.7)
    assert greedy > drawn + 1.0


@pytest.mark.parametrize("bad", [3, None, (1, 2), b"run"])
def test_what_is_no_run_is_named(bad):
    with pytest.raises(InputError) as caught:
        rg.evaluate(bad, MODEL)
    assert str(caught.value) == f"run must be a run, its folder or file, or a pair (policy, theta), got {bad!r}"


def test_a_misspelled_keyword_is_refused_with_the_nearest_one():
    with pytest.raises(KeywordError, match=r"rg\.evaluate has no keyword 'episods'; did you mean 'episodes'\?"):
        rg.evaluate((POLICY, THETA), MODEL, episods=10)  # pyright: ignore[reportCallIssue]
