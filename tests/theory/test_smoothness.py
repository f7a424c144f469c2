"""The constants C_1, B, L_rho and L_rho' of every measure against exact truth on three models, and their tightness."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.risk import CVaR, Distortion, Mean, MeanVariance, SmoothCVaR
from riskgrad.risk.distortion import spread_slope
from riskgrad.theory import Constants, constants

D = rg.distortion

ON_POLICY = [
    Mean(),
    MeanVariance(0.5),
    MeanVariance(2.0, "seeking"),
    Distortion(D.DualPower(2.0)),
    Distortion(D.Exponential(3.0, "seeking")),
    SmoothCVaR(0.3),
    Distortion(D.Quadratic(1.0)).along(0.5),
]
WEIGHTED = [
    Mean(),
    Mean(estimator="unbiased"),
    MeanVariance(0.5),
    MeanVariance(0.5, "seeking", estimator="unbiased"),
    Distortion(D.DualPower(2.0)),
    Distortion(D.DualPower(2.0, "seeking"), estimator="paper"),
    Distortion(D.Identity(), estimator="paper"),
    SmoothCVaR(0.3),
]


def label(risk):
    return f"{risk}-{getattr(risk, 'estimator', '')}"


@pytest.mark.parametrize("risk", ON_POLICY, ids=label)
def test_slope_and_curvature_hold(model, some_thetas, risk):
    """`lm:rho_lip` and `lm:lip_rho_lambda`; the gradient is exact, the Hessian its differences."""
    found = risk.smoothness(constants(model.mdp, model.policy))
    for theta in some_thetas(model.policy.dim, 12):
        assert np.linalg.norm(model.gradient(risk, theta)) <= found.slope * (1 + 1e-9)
        assert np.linalg.norm(model.hessian(risk, theta), 2) <= found.curvature * (1 + 1e-6)


@pytest.mark.parametrize("risk", ON_POLICY, ids=label)
def test_on_policy_error_and_bias_hold(model, some_thetas, tools, risk):
    """`lm:est_error_G` and `lm:est_error_mvrm_pi`, over every possible sample of m episodes."""
    found = risk.smoothness(constants(model.mdp, model.policy))
    for theta in some_thetas(model.policy.dim, 6):
        law = model.law(theta)
        for m in (2, 3, 4):
            error, bias = tools.exact_error(risk, risk.value(law), m, law.values, law.probabilities)
            assert m * error <= found.error * (1 + 1e-9)
            assert m * abs(bias) <= found.bias * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("risk", WEIGHTED, ids=label)
def test_off_policy_error_and_bias_hold(model, some_thetas, tools, risk):
    """`lm:est_error_H`, and `lm:est_error_mvrm_b` with the unbiased variance, over every sample of (return, ratio)."""
    behavior = np.full((model.mdp.n_states, model.mdp.n_actions), 1 / model.mdp.n_actions)
    found = risk.smoothness(constants(model.mdp, model.policy), off_policy=True)
    for theta in some_thetas(model.policy.dim, 6):
        returns, ratios, masses = model.joint(theta, behavior)
        for m in (2, 3) if len(returns) > 3 else (2, 5, 20):
            error, bias = tools.exact_error(risk, model.value(risk, theta), m, returns, masses, ratios)
            assert m * error <= found.error * (1 + 1e-9)
            assert m * abs(bias) <= found.bias * (1 + 1e-9) + 1e-10


@pytest.mark.parametrize("risk", [Mean(), MeanVariance(0.5), Distortion(D.DualPower(2.0))], ids=label)
@pytest.mark.parametrize("name", ["coin", "gamble", "three_pulls"])
def test_slope_and_curvature_hold_for_preferences_that_are_not_linear(tools, some_thetas, risk, name):
    """h = (sin theta_1, cos(theta_2) / 2): score within sqrt(5/4), Hessian of log pi within 1 + 5/16."""
    policy = rg.policy.Gibbs(
        lambda theta, _: np.array([np.sin(theta[0]), np.cos(theta[1]) / 2]),
        2,
        gradient=lambda theta, _: np.array([[np.cos(theta[0]), 0.0], [0.0, -np.sin(theta[1]) / 2]]),
        bounds=(math.sqrt(1.25), 1 + 1.25 / 4),
    )
    pulls = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, -1.0, False)], [(1.0, 0, 2.0, False)]]], start=0, horizon=3)
    model = tools.small(pulls if name == "three_pulls" else getattr(tools, name)().mdp, policy)
    found = risk.smoothness(constants(model.mdp, model.policy))
    literal = risk.smoothness(constants(model.mdp, model.policy, literal=True), literal=True)
    for theta in some_thetas(2, 12):
        assert np.linalg.norm(model.gradient(risk, theta)) <= found.slope <= literal.slope
        assert np.linalg.norm(model.hessian(risk, theta), 2) <= found.curvature <= literal.curvature


# --- attained, and how tight ----------------------------------------------------------------------------------------


def test_the_error_of_the_mean_is_attained_by_a_fair_coin(tools):
    coin = tools.coin()
    law = coin.law(np.zeros(2))
    for risk in (Mean(), Distortion(D.Identity())):
        found = risk.smoothness(constants(coin.mdp, coin.policy))
        error, _ = tools.exact_error(risk, 0.0, 6, law.values, law.probabilities)
        assert math.isclose(6 * error, found.error, rel_tol=1e-12)


def test_the_slope_of_the_mean_is_attained_by_a_fair_coin(tools):
    coin = tools.coin()
    for risk in (Mean(), Distortion(D.Identity()), MeanVariance(0.0)):
        found = risk.smoothness(constants(coin.mdp, coin.policy))
        slope = np.linalg.norm(coin.gradient(risk, np.zeros(2)))
        assert math.isclose(found.slope, math.sqrt(0.5), rel_tol=1e-12)
        assert math.isclose(slope, found.slope, rel_tol=1e-12)


def test_the_error_of_the_unbiased_variance_is_attained_at_two_episodes(tools):
    """A policy that always gambles, from a behavior that seldom does: ratio M_s on every episode that counts."""
    gamble = tools.gamble()
    behavior = np.array([[0.1, 0.9]])
    theta = np.array([40.0, 0.0])
    returns, ratios, masses = gamble.joint(theta, behavior)
    problem = constants(gamble.mdp, gamble.policy, behavior=behavior)
    price = 1e6  # so that the variance is all that counts
    risk = MeanVariance(price, estimator="unbiased")
    error, bias = tools.exact_error(risk, gamble.value(risk, theta), 2, returns, masses, ratios)
    assert 0.99999 < 2 * error / risk.smoothness(problem, off_policy=True).error <= 1.0
    assert abs(bias) < 1e-6
    mean = Mean(estimator="unbiased")
    error, _ = tools.exact_error(mean, 0.0, 2, returns, masses, ratios)
    assert math.isclose(2 * error, mean.smoothness(problem, off_policy=True).error, rel_tol=1e-9)
    assert math.isclose(2 * error, 10.0, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("risk", "least"),
    [(Mean(), 0.74), (MeanVariance(1.0), 0.5), (Distortion(D.DualPower(2.0)), 0.5), (SmoothCVaR(0.3), 0.5)],
    ids=label,
)
def test_sharp_slope_and_curvature_are_within_a_small_factor(tools, risk, least):
    coin = tools.coin()
    found = risk.smoothness(constants(coin.mdp, coin.policy))
    thetas = [np.array([x, 0.0]) for x in np.linspace(-4, 4, 81)]
    slope = max(np.linalg.norm(coin.gradient(risk, theta)) for theta in thetas)
    curvature = max(np.linalg.norm(coin.hessian(risk, theta), 2) for theta in thetas)
    assert 0.7 * found.slope < slope <= found.slope * (1 + 1e-9)
    assert least * found.curvature < curvature <= found.curvature * (1 + 1e-6)


@pytest.mark.parametrize(
    ("risk", "least"),
    [
        (Mean(), 0.33),
        (Distortion(D.Identity()), 0.33),
        (Distortion(D.Identity(), estimator="paper"), 0.3),
        (Distortion(D.DualPower(2.0, "seeking"), estimator="paper"), 0.2),
        (MeanVariance(1e3, estimator="unbiased"), 0.12),
    ],
    ids=label,
)
def test_how_tight_the_off_policy_errors_are_far_from_the_behavior(tools, risk, least):
    """From the fair behavior on the coin, M_s = 2; the best ratio found is near `least`."""
    coin = tools.coin()
    found = risk.smoothness(constants(coin.mdp, coin.policy), off_policy=True)
    worst = 0.0
    for x in np.linspace(-6, 6, 25):
        theta = np.array([x, 0.0])
        returns, ratios, masses = coin.joint(theta, np.array([[0.5, 0.5]]))
        for m in (2, 5, 20):
            worst = max(worst, m * tools.exact_error(risk, coin.value(risk, theta), m, returns, masses, ratios)[0])
    assert least * found.error < worst <= found.error


@pytest.mark.parametrize(
    ("risk", "least"),
    [(Mean(), 0.69), (Distortion(D.DualPower(2.0)), 0.25), (MeanVariance(0.5), 0.3), (SmoothCVaR(0.3), 0.2)],
    ids=label,
)
def test_near_the_behavior_the_self_normalized_errors_are_tight(tools, risk, least):
    """OffP-SF as it runs: a fresh batch of the current policy, reweighted for one at a distance mu = 0.02."""
    coin = tools.coin()
    problem = constants(coin.mdp, coin.policy, behavior="current").at(0.02)
    found = risk.smoothness(problem, off_policy=True)
    worst = 0.0
    for x in np.linspace(-3, 3, 25):
        theta, moved = np.array([x, 0.0]), np.array([x, 0.0]) + 0.02 * np.array([1.0, -1.0]) / math.sqrt(2.0)
        returns, ratios, masses = coin.joint(moved, np.exp(coin.log_pi(theta)))
        for m in (2, 8):
            worst = max(worst, m * tools.exact_error(risk, coin.value(risk, moved), m, returns, masses, ratios)[0])
    assert least * found.error < worst <= found.error


def test_the_moment_bounds_behind_mean_variance():
    """mu_4 - s^4 <= w^4 and mu_4 + s^4 <= 2 w^4 on an interval of length 2w, both attained."""
    rng = np.random.default_rng(1)
    for _ in range(3000):
        size = int(rng.integers(2, 5))
        atoms, masses = rng.uniform(-1, 1, size), rng.dirichlet(np.full(size, 0.5))
        centered = atoms - masses @ atoms
        second, fourth = masses @ centered**2, masses @ centered**4
        assert fourth - second**2 <= 1.0
        assert fourth + second**2 <= 2.0
    law = rg.DiscreteLaw([-1.0, 1.0], [(2 + math.sqrt(2)) / 4, (2 - math.sqrt(2)) / 4])
    fourth = float(np.sum(law.probabilities * (law.values - law.mean) ** 4))
    assert math.isclose(fourth - law.variance**2, 1.0, rel_tol=1e-12)


@pytest.mark.parametrize("g", [D.Identity(), D.DualPower(3.0), D.Exponential(5.0), SmoothCVaR(0.05).function], ids=str)
def test_the_spread_slope_is_an_upper_bound_and_close(g):
    s = np.random.default_rng(0).uniform(0, 1, 20_000)
    seen = np.max(np.abs(g.slope_at(s)) * np.sqrt(s * (1 - s)))
    assert seen <= spread_slope(g) <= min(g.slope_bound / 2, 1.01 * seen)


# --- literal values, by hand ---------------------------------------------------------------------------------------

HAND = Constants(M_r=3.0, M_e=5, M_d=2.0, M_h=7.0, dim=4, log_M_s=math.log(4.0))


def test_literal_distortion_by_hand():
    risk = Distortion(D.DualPower(3.0))  # M_g' = 3, M_g'' = 6
    on, off = (risk.smoothness(HAND, off_policy=flag, literal=True) for flag in (False, True))
    assert math.isclose(on.C_1, 16 * 9 * 9, rel_tol=1e-12)
    assert math.isclose(off.C_1, 16 * 9 * 9 * 16, rel_tol=1e-12)
    assert math.isclose(on.L_rho, 2 * 3 * 3 * 5 * 2, rel_tol=1e-12)
    assert math.isclose(on.L_rho_prime, 2 * 3 * 5 * (7 * 3 + 5 * 4 * (3 + 6)), rel_tol=1e-12)


@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_literal_mean_variance_by_hand(attitude):
    """With |lambda| for lambda: at lambda = -1 the formulas as printed are negative."""
    risk = MeanVariance(0.25, attitude, estimator="unbiased")
    on, off = (risk.smoothness(HAND, off_policy=flag, literal=True) for flag in (False, True))
    assert math.isclose(on.C_1, 8 * 9 + 32 * 0.0625 * 81, rel_tol=1e-12)
    assert math.isclose(off.C_1, 8 * 9 * 16 + 32 * 0.0625 * 81 * 256, rel_tol=1e-12)
    assert math.isclose(on.L_rho, 3 * 5 * 2 + 3 * 0.25 * 9 * 5 * 2, rel_tol=1e-12)
    expected = 3 * 5 * (7 + 5 * 4) + 0.25 * 9 * 5 * (3 * 7 + 5 * 5 * 4)
    assert math.isclose(on.L_rho_prime, expected, rel_tol=1e-12)


def test_the_mean_takes_the_smaller_of_the_two_statements():
    mean, identity = Mean().smoothness(HAND, literal=True), Distortion(D.Identity()).smoothness(HAND, literal=True)
    assert (identity.error, identity.slope) == (2 * mean.error, 2 * mean.slope)
    assert mean == MeanVariance(0.0).smoothness(HAND, literal=True)
    assert math.isclose(identity.curvature, 2 * mean.curvature)


def test_sharp_values_by_hand():
    """One step, D = sqrt 2, returns in [-1, 1], M_s = 1: every formula in one line."""
    problem = Constants(M_r=1.0, M_e=1, M_d=math.sqrt(2), M_h=0.5, dim=2, feature_spread=math.sqrt(2))
    root = math.sqrt(0.5)
    power = Distortion(D.DualPower(2.0)).smoothness(problem)
    spread = 2 * 0.75 * math.sqrt(0.75 * 0.25)  # sup of 2 s sqrt(s (1 - s)), at s = 3/4
    assert math.isclose(power.error, 4.0, rel_tol=1e-12)
    assert math.isclose(power.bias, 0.5, rel_tol=1e-12)
    assert math.isclose(power.slope, 2 * spread * root, rel_tol=1e-3)
    assert math.isclose(power.curvature, 2 * (spread * 0.5 + 2 * 0.5 / 4), rel_tol=1e-3)
    variance = MeanVariance(3.0).smoothness(problem)
    assert math.isclose(variance.error, (1 + math.sqrt(2) * 3) ** 2, rel_tol=1e-12)
    assert math.isclose(variance.slope, 4 * root, rel_tol=1e-12)
    assert math.isclose(variance.curvature, 4 * 0.5 + 2 * 3 * 0.5, rel_tol=1e-12)


# --- properties ----------------------------------------------------------------------------------------------------

problems = st.builds(
    lambda reach, inside, steps, spread, ratio, linear: Constants(
        M_r=reach,
        M_e=steps,
        M_d=spread,
        M_h=spread * spread / 4,
        dim=3,
        log_M_s=ratio,
        return_range=(-reach, -reach + 2 * reach * inside),
        feature_spread=spread if linear else None,
    ),
    st.floats(0.01, 50),
    st.floats(0, 1),
    st.integers(1, 200),
    st.floats(0.01, 10),
    st.floats(0, 40),
    st.booleans(),
)
measures = st.sampled_from(
    [
        *ON_POLICY,
        *[risk for risk in WEIGHTED if not isinstance(risk, MeanVariance)],
        *[MeanVariance(lam, estimator="unbiased") for lam in (0.0, 0.1, 30.0)],
    ]
)


@settings(max_examples=200, deadline=None)
@given(problem=problems, risk=measures, off_policy=st.booleans())
def test_sharp_is_never_above_literal(problem, risk, off_policy):
    if off_policy and isinstance(risk, MeanVariance) and risk.estimator != "unbiased":
        return
    sharp, literal = (risk.smoothness(problem, off_policy=off_policy, literal=flag) for flag in (False, True))
    for name in ("error", "slope", "curvature", "span"):
        assert getattr(sharp, name) <= getattr(literal, name) * (1 + 1e-9), name


@settings(max_examples=60, deadline=None)
@given(problem=problems, risk=st.sampled_from([*ON_POLICY, *WEIGHTED]))
def test_with_ratios_of_one_off_policy_is_on_policy(problem, risk):
    if getattr(risk, "estimator", "") == "paper":
        return
    plain = Constants(**{**vars(problem), "log_M_s": 0.0})
    on, off = (risk.smoothness(plain, off_policy=flag) for flag in (False, True))
    for name in ("error", "bias", "slope", "curvature", "span"):
        assert math.isclose(getattr(on, name), getattr(off, name), rel_tol=1e-9, abs_tol=1e-12), name


@settings(max_examples=40, deadline=None)
@given(problem=problems, risk=st.sampled_from(ON_POLICY), shift=st.floats(-100, 100))
def test_only_the_range_of_the_returns_matters_on_policy(problem, risk, shift):
    low, high = problem.return_range
    moved = Constants(
        **{
            **vars(problem),
            "return_range": (low + shift, high + shift),
            "M_r": max(abs(low + shift), abs(high + shift)),
        }
    )
    before, after = risk.smoothness(problem), risk.smoothness(moved)
    assert math.isclose(before.error, after.error, rel_tol=1e-6, abs_tol=1e-6)
    assert math.isclose(before.curvature, after.curvature, rel_tol=1e-6, abs_tol=1e-6)


def test_a_blend_lies_between_its_parts():
    half = rg.risk.Blend(MeanVariance(2.0), 0.5).smoothness(HAND)
    ends = [rg.risk.Blend(MeanVariance(2.0), w).smoothness(HAND) for w in (0.0, 1.0)]
    assert math.isclose(half.slope, (ends[0].slope + ends[1].slope) / 2)
    assert math.isclose(math.sqrt(half.error), (math.sqrt(ends[0].error) + math.sqrt(ends[1].error)) / 2)


# --- refusals ------------------------------------------------------------------------------------------------------


def test_a_kink_has_no_bound_and_the_message_names_what_has():
    for risk in (CVaR(0.1), CVaR(0.1).along(0.5), Distortion(D.Custom(lambda s: s * s))):
        with pytest.raises(InputError, match=r"bounded g''.*SmoothCVaR"):
            risk.smoothness(HAND)
    assert math.isfinite(SmoothCVaR(0.1).smoothness(HAND).curvature)
    declared = D.Custom(lambda s: s * s, slope_bound=2.0, curvature_bound=2.0)
    assert math.isclose(
        Distortion(declared).smoothness(HAND).slope, Distortion(D.DualPower(2.0)).smoothness(HAND).slope, rel_tol=1e-6
    )


def test_the_inconsistent_estimator_is_refused_with_the_reason():
    for literal in (False, True):
        with pytest.raises(InputError, match=r"Var\(psi R\) instead of Var\(R\).*Off-policy mean-variance"):
            MeanVariance(0.5, estimator="paper").smoothness(HAND, off_policy=True, literal=literal)
    with pytest.raises(InputError, match="'unbiased'"):
        MeanVariance(0.5).smoothness(HAND, off_policy=True, literal=True)
    assert math.isfinite(MeanVariance(0.5).smoothness(HAND, off_policy=True).error)
    assert math.isfinite(MeanVariance(0.0, estimator="paper").smoothness(HAND, off_policy=True).error)


def test_a_measure_without_constants_says_what_is_missing():
    class Median(rg.risk.RiskMeasure):
        attitude = "mixed"

        def estimate(self, values, weights=None):
            del weights
            return np.median(values, axis=-1)  # pyright: ignore[reportCallIssue]

        def value(self, law):
            return float(law.quantile(0.5))

    with pytest.raises(InputError, match="bring its own constants"):
        Median().smoothness(HAND)
