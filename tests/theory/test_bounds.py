"""The proposition, the theorem and its corollaries as numbers, and what a guarantee costs."""

import math
from dataclasses import replace

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.theory import (
    Constants,
    bound,
    constants,
    guarantee,
    iterations_for,
    schedule,
    thrifty_schedule,
)

HAND = Constants(M_r=3.0, M_e=5, M_d=2.0, M_h=7.0, dim=4, log_M_s=math.log(4.0))


def theorem(n_iterations, d, c_1, steep, bend, gap):
    """`tm:sf`, typed from the paper."""
    root = math.sqrt(n_iterations)
    return (
        2 * gap / root
        + 3 * d**2 * bend * c_1 / (2 * n_iterations)
        + 3 * d**2 * (steep**2 * bend + c_1 + 16 * math.e**2 * steep**2) / root
        + 3 * d**2 * bend**2 / (4 * root)
    )


@pytest.mark.parametrize("n_iterations", [1, 3, 100, 1000])
@pytest.mark.parametrize(
    ("risk", "off_policy", "c_1", "steep", "bend"),
    [
        (rg.risk.parse("dual-power:3"), False, 1296.0, 180.0, 6030.0),
        (rg.risk.parse("dual-power:3"), True, 20736.0, 180.0, 6030.0),
        (rg.risk.MeanVariance(0.25), False, 234.0, 97.5, 405.0 + 11.25 * 121),
        (rg.risk.MeanVariance(0.25, estimator="unbiased"), True, 1152.0 + 2 * 81 * 256, 97.5, 405.0 + 11.25 * 121),
    ],
    ids=["cr:drm_onP", "cr:drm_offP", "cr:mvrm_onP", "cr:mvrm_offP"],
)
def test_the_four_corollaries_by_hand(n_iterations, risk, off_policy, c_1, steep, bend):
    if n_iterations < 3 and isinstance(risk, rg.risk.MeanVariance):
        with pytest.raises(InputError, match="episodes must be at least 3"):
            bound(risk, HAND, iterations=n_iterations, off_policy=off_policy, literal=True)
        return
    found = bound(risk, HAND, iterations=n_iterations, off_policy=off_policy, literal=True, gap=1.5)
    assert math.isclose(found, theorem(n_iterations, 4, c_1, steep, bend, 1.5), rel_tol=1e-12)


def test_the_proposition_at_any_schedule_by_hand():
    plan = replace(schedule(50), step_size=0.02, smoothing=0.3, directions=7, episodes=11)
    found = guarantee("dual-power:3", HAND, plan=plan, literal=True, gap=2.0)
    start = 2 * 2.0 / (50 * 0.02)
    step = 6030.0 * 0.02 * (3 * 16 * 1296 / (2 * 0.09 * 11) + 3 * 16 * 180**2)
    error = 3 * 1296 * 16 / (0.09 * 11) + 48 * math.e**2 * 16 * 180**2 / 7 + 3 * 0.09 * 16 * 6030**2 / 4
    assert math.isclose(found.start, start, rel_tol=1e-12)
    assert math.isclose(found.step, step, rel_tol=1e-12)
    assert math.isclose(found.error, error, rel_tol=1e-12)
    assert math.isclose(found.total, start + step + error, rel_tol=1e-12)
    assert found.episodes == 2 * 7 * 11 * 50


def test_rounding_the_directions_up_keeps_the_theorem_and_down_breaks_it():
    """N = 3: n = 2 is inside the right-hand side of `tm:sf`, n = 1 is not."""
    whole = bound("dual-power:3", HAND, iterations=3, literal=True)
    up = bound("dual-power:3", HAND, plan=schedule(3), literal=True)
    down = bound("dual-power:3", HAND, plan=replace(schedule(3), directions=1), literal=True)
    assert up < whole < down


@pytest.mark.parametrize(
    "risk", ["mean", "mean-variance:0.5", "mean-variance:0.5:seeking", "dual-power:2", "smooth-cvar:0.2"]
)
@pytest.mark.parametrize("off_policy", [False, True])
def test_sharp_is_never_above_literal(model, risk, off_policy):
    sharp, literal = (constants(model.mdp, model.policy, literal=flag) for flag in (False, True))
    measure = rg.risk.parse(risk)
    if off_policy and "variance" in risk:
        measure = rg.risk.MeanVariance(0.5, measure.attitude, estimator="unbiased")
    for n_iterations in (3, 100, 10**7):
        small = guarantee(measure, sharp, iterations=n_iterations, off_policy=off_policy)
        large = guarantee(measure, literal, iterations=n_iterations, off_policy=off_policy, literal=True)
        assert 0.0 < small.total <= large.total
        assert small.start <= large.start
        assert small.step <= large.step
        assert small.error <= large.error
        assert small.episodes == large.episodes


def test_what_runs_cost():
    """2 N^(5/2) and N^2 over a whole run, whatever the remark after the theorem says of one iteration."""
    assert guarantee("mean", HAND, iterations=100).episodes == 200_000
    assert guarantee("mean", HAND, iterations=100, off_policy=True).episodes == 10_000
    assert guarantee("mean", HAND, iterations=101).episodes == 2 * 11 * 101 * 101


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("off_policy", [False, True])
def test_iterations_for_is_the_smallest_that_will_do(tools, literal, off_policy):
    walk = tools.walk()
    c = constants(walk.mdp, walk.policy, literal=literal)
    for eps in (1e4, 50.0, 0.01):
        n = iterations_for(eps, "dual-power:2", c, off_policy=off_policy, literal=literal)
        assert bound("dual-power:2", c, iterations=n, off_policy=off_policy, literal=literal) <= eps
        if n > 1:
            assert bound("dual-power:2", c, iterations=n - 1, off_policy=off_policy, literal=literal) > eps


def test_how_many_iterations_until_a_guarantee_says_something(tools):
    """The literal theorem needs 125,794 d^4 iterations before its direction term alone is below L_rho^2."""
    coin = tools.coin()
    literal, sharp = (constants(coin.mdp, coin.policy, literal=flag) for flag in (True, False))
    steep = rg.risk.parse("dual-power:2").smoothness(literal, literal=True).slope
    assert (48 * math.e**2) ** 2 * 2**4 < iterations_for(steep**2, "dual-power:2", literal, literal=True)
    ours = rg.risk.parse("dual-power:2").smoothness(sharp).slope
    needed = iterations_for(ours**2, "dual-power:2", sharp)
    assert needed < 1500
    assert guarantee("dual-power:2", sharp, iterations=needed).informative
    assert not guarantee("dual-power:2", literal, iterations=needed, literal=True).informative


@pytest.mark.parametrize("risk", ["mean", "mean-variance:0.5", "dual-power:2"])
@pytest.mark.parametrize("off_policy", [False, True])
def test_the_rate_is_one_over_root_n_on_both_schedules(tools, risk, off_policy):
    walk = tools.walk()
    c = constants(walk.mdp, walk.policy, behavior="current" if off_policy else "uniform")
    for plan_of in (schedule, thrifty_schedule):
        found = [bound(risk, c, plan=plan_of(n), off_policy=off_policy) for n in (10**12, 10**16)]
        assert math.isclose(math.log(found[1] / found[0], 10**4), -0.5, abs_tol=0.02)


def test_the_thrifty_schedule_is_cheaper():
    plan = thrifty_schedule(10_000)
    assert (plan.directions, plan.episodes) == (1, 100)
    assert plan.onp_sf_episodes == 2 * 10_000**1.5
    assert schedule(10_000).onp_sf_episodes == 2 * 10_000**2.5


def test_a_run_keeps_the_sharp_guarantee(tools):
    """OnP-SF on the fair coin, mean, thrifty schedule, 200 runs of 64 iterations from theta_0 = 0.

    What is averaged lies in [0, 1/2]; over 200 runs its standard error is below 0.01, the bound is more than 0.3 away.
    """
    coin, rng, runs, plan = tools.coin(), np.random.default_rng(5), 200, thrifty_schedule(64)
    theta = np.zeros((runs, 2))
    total = 0.0
    for _ in range(plan.iterations):
        p = 1 / (1 + np.exp(theta[:, 0] - theta[:, 1]))
        total += np.mean(2 * (2 * p * (1 - p)) ** 2)
        v = rng.normal(size=theta.shape)
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        chances = [1 / (1 + np.exp((theta + sign * plan.smoothing * v) @ [1.0, -1.0])) for sign in (1, -1)]
        up, down = (2 * rng.binomial(plan.episodes, chance) / plan.episodes - 1 for chance in chances)
        theta = theta + plan.step_size * 2 * ((up - down) / (2 * plan.smoothing))[:, None] * v
    seen = total / plan.iterations
    promised = bound("mean", constants(coin.mdp, coin.policy), plan=plan, gap=1.0)
    assert 0.2 * promised < seen < promised - 0.3


def test_the_gap_defaults_to_the_most_that_it_can_be(model):
    c = constants(model.mdp, model.policy)
    span = np.ptp(model.returns)
    for risk, most in (("mean", span), ("dual-power:2", span), ("mean-variance:2", span + 2 * (span / 2) ** 2)):
        found = guarantee(risk, c, iterations=16)
        assert math.isclose(found.start, 2 * most / 4, rel_tol=1e-12)


def test_current_behavior_uses_the_smoothing_of_the_schedule(tools):
    coin = tools.coin()
    c = constants(coin.mdp, coin.policy, behavior="current")
    fixed = c.at(schedule(10_000).smoothing)
    assert bound("mean", c, iterations=10_000, off_policy=True) == bound(
        "mean", fixed, iterations=10_000, off_policy=True
    )
    assert bound("mean", c, iterations=10_000, off_policy=True) < bound(
        "mean", constants(coin.mdp, coin.policy), iterations=10_000, off_policy=True
    )


def test_refusals_get_one_line():
    with pytest.raises(InputError, match="SmoothCVaR"):
        bound("cvar:0.1", HAND, iterations=100)
    with pytest.raises(InputError, match="one at a time"):
        bound("mean", HAND)
    with pytest.raises(InputError, match="one at a time"):
        bound("mean", HAND, iterations=4, plan=schedule(4))
    with pytest.raises(InputError, match="gap must be"):
        bound("mean", HAND, iterations=4, gap=-1.0)
    with pytest.raises(InputError, match="eps must be positive"):
        iterations_for(0.0, "mean", HAND)
    with pytest.raises(InputError, match="within reach"):
        iterations_for(1.0, "mean", replace(HAND, log_M_s=1e4), off_policy=True)
    with pytest.raises(InputError, match="at least 2"):
        bound("mean-variance:1", HAND, iterations=1)
