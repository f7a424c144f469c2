"""The lemmas on the smoothed gradient against exact truth, and the functions that attain their sharp versions."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.risk import Distortion, Mean, MeanVariance, SmoothCVaR
from riskgrad.theory import Smoothness, constants, gradient_bounds

D = rg.distortion
RISKS = [Mean(), MeanVariance(0.5), Distortion(D.DualPower(2.0)), SmoothCVaR(0.3)]


def directions_of(dim, count=64):
    """A rule for averages over the sphere: equal angles in the plane (exact for what is smooth), else many draws."""
    if dim == 2:
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        return np.stack([np.cos(angle), np.sin(angle)], 1)
    rows = np.random.default_rng(0).normal(size=(count, dim))
    rows = np.concatenate([np.linalg.qr(block.reshape(dim, dim))[0] for block in np.split(rows, count // dim)])
    return np.concatenate([rows, -rows])


def smooth(slope=1.0, curvature=1.0, error=0.0, bias=0.0):
    return Smoothness(error=error, bias=bias, slope=slope, curvature=curvature, span=1.0)


def slopes(function, theta, units, mu):
    return np.array([(function(theta + mu * v) - function(theta - mu * v)) / (2 * mu) for v in units])


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_bias_and_direction_variance_hold_on_models(model, some_thetas, risk):
    """`lm:bias_rho`, `lm:bias_SF_2` and, with exact values, `lm:var_SF`; the linear part is averaged exactly."""
    measure = risk.smoothness(constants(model.mdp, model.policy))
    d, mu = model.policy.dim, 0.7
    units = directions_of(d)
    for theta in some_thetas(d, 3):
        gradient = model.gradient(risk, theta)
        rest = slopes(lambda t: model.value(risk, t), theta, units, mu) - units @ gradient
        bias = np.linalg.norm(d * np.mean(rest[:, None] * units, axis=0))
        moment = d * np.sum(gradient**2) + d * d * np.mean(rest * rest + 2 * rest * (units @ gradient))
        mean = gradient + d * np.mean(rest[:, None] * units, axis=0)
        for literal in (False, True):
            found = gradient_bounds(measure, dim=d, smoothing=mu, directions=1, episodes=1e15, literal=literal)
            assert bias <= found.smoothing_bias
            assert moment - np.sum(mean**2) <= found.direction_variance * (1 + 1e-9)
            assert moment <= found.second_moment


def test_the_smoothing_bias_is_attained_in_one_dimension_and_close_in_more():
    """rho = x|x| / 2 has L' = 1 and bias mu E|u_1|, u uniform on the ball."""
    mu = 0.3
    found = gradient_bounds(smooth(), dim=1, smoothing=mu, directions=1, episodes=1)
    slope = slopes(lambda x: x[0] * abs(x[0]) / 2, np.zeros(1), np.ones((1, 1)), mu)[0]
    assert math.isclose(slope, found.smoothing_bias, rel_tol=1e-12)
    for d, least in ((2, 0.63), (4, 0.41), (10, 0.25)):
        average = math.gamma(d / 2 + 1) / (math.sqrt(math.pi) * math.gamma((d + 3) / 2))  # E|u_1| on the ball
        found = gradient_bounds(smooth(), dim=d, smoothing=mu, directions=1, episodes=1)
        assert least < mu * average / found.smoothing_bias < 1.0


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_linear_functions_attain_the_direction_variance_and_the_second_moment(d):
    found = gradient_bounds(smooth(slope=3.0, curvature=0.0), dim=d, smoothing=0.5, directions=5, episodes=1)
    # E s^2 = L^2 / d for s = L v_1, so that E||d s v||^2 = d L^2, of which L^2 is the squared mean
    assert math.isclose(found.direction_variance, (d * 9.0 - 9.0) / 5, rel_tol=1e-12)
    assert math.isclose(found.second_moment, 9.0 + (d * 9.0 - 9.0) / 5, rel_tol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_no_function_with_the_same_slope_exceeds_it(d):
    """Random sums of waves with known Lipschitz constants; 4,000 draws, relative error of the moment below 3%."""
    rng = np.random.default_rng(d)
    v = rng.normal(size=(4000, d))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    for _ in range(60):
        waves = rng.normal(size=(2, d)) * rng.exponential(1.0)
        sizes, phases = rng.normal(size=2), rng.uniform(0, 6, 2)
        steep = np.sum(np.abs(sizes) * np.linalg.norm(waves, axis=1))
        s = (np.sin(v @ waves.T + phases) @ sizes - np.sin(-v @ waves.T + phases) @ sizes) / 2
        terms = d * s[:, None] * v
        assert np.sum(np.var(terms, axis=0)) <= (d - 1) * steep**2 * 1.05


# --- noise ---------------------------------------------------------------------------------------------------------


def moments(model, tools, risk, theta, m):
    law = model.law(theta)
    error, bias = tools.exact_error(risk, risk.value(law), m, law.values, law.probabilities)
    return error - bias**2, bias


@pytest.mark.parametrize("risk", RISKS, ids=str)
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("name", ["coin", "gamble", "bandit"])
def test_on_policy_noise_holds(tools, name, risk, n):
    """`lm:bias_SF_1` and `lm:bias_SF` with independent batches, exactly: samples enumerated, directions by the rule."""
    model = getattr(tools, name)()
    d, mu, m, theta = 2, 0.5, 3, np.array([0.4, -0.3])
    measure = risk.smoothness(constants(model.mdp, model.policy))
    units = directions_of(d, 16)
    ups, downs = ([moments(model, tools, risk, theta + s * mu * v, m) for v in units] for s in (1, -1))
    spread = np.array([up[0] + down[0] for up, down in zip(ups, downs, strict=True)])
    odd = np.array([up[1] - down[1] for up, down in zip(ups, downs, strict=True)])
    shared = np.linalg.norm(d * np.mean(odd[:, None] * units, axis=0) / (2 * mu)) ** 2
    noise = d * d * np.mean(spread + odd**2) / (4 * mu * mu) / n + (1 - 1 / n) * shared
    gradient = model.gradient(risk, theta)
    terms = d * slopes(lambda t: model.value(risk, t), theta, units, mu)[:, None] * units
    biased = terms + d * (odd[:, None] * units) / (2 * mu)
    within = (d * d * np.mean(spread) / (4 * mu * mu) + np.sum(np.var(biased, axis=0))) / n
    error = within + np.sum((np.mean(biased, axis=0) - gradient) ** 2)
    moment = within + np.sum(np.mean(biased, axis=0) ** 2)
    for literal, common in product((False, True), repeat=2):
        found = gradient_bounds(
            measure,
            dim=d,
            smoothing=mu,
            directions=n,
            episodes=m,
            literal=literal,
            common_random_numbers=common,
        )
        assert noise <= found.noise * (1 + 1e-9)
        assert error <= found.error * (1 + 1e-9)
        assert moment <= found.second_moment * (1 + 1e-9)
        assert np.linalg.norm(np.mean(biased, axis=0) - gradient) <= found.bias * (1 + 1e-9)


def test_independent_noise_is_attained_by_the_mean_of_a_fair_coin(tools):
    """At theta = 0 and small mu both estimates of a pair have variance C_1 / m: C_1 d^2 / (2 mu^2 m n)."""
    coin, mu, m, n = tools.coin(), 1e-3, 4, 6
    measure = Mean().smoothness(constants(coin.mdp, coin.policy))
    found = gradient_bounds(measure, dim=2, smoothing=mu, directions=n, episodes=m, common_random_numbers=False)
    variance = moments(coin, tools, Mean(), np.zeros(2), m)[0]
    assert math.isclose(4 * 2 * variance / (4 * mu * mu) / n, found.noise, rel_tol=1e-9)
    assert math.isclose(found.noise, 4.0 / (2 * mu**2 * m * n), rel_tol=1e-9)


@pytest.mark.parametrize("risk", [Mean(), MeanVariance(0.5), Distortion(D.DualPower(2.0))], ids=str)
@pytest.mark.parametrize("n", [1, 4])
def test_off_policy_noise_holds(tools, risk, n):
    """One batch of the fair coin for all directions, every batch of 4 episodes enumerated."""
    coin, mu, m, d = tools.coin(), 0.4, 4, 2
    theta = np.array([0.3, -0.2])
    behavior = np.exp(coin.log_pi(theta))
    problem = constants(coin.mdp, coin.policy, behavior="current").at(mu)
    measure = risk.smoothness(problem, off_policy=True)
    units = directions_of(d, 16)
    chances = np.array([math.comb(m, k) * behavior[0, 0] ** (m - k) * behavior[0, 1] ** k for k in range(m + 1)])
    arms = np.array([[0] * (m - k) + [1] * k for k in range(m + 1)])

    def errors(target):
        ratios = np.exp(coin.log_pi(target) - np.log(behavior))[0]
        return risk.estimate(coin.returns[arms], ratios[arms]) - coin.value(risk, target)

    odd = np.stack([errors(theta + mu * v) - errors(theta - mu * v) for v in units], 1) / (2 * mu)  # [batches, units]
    shared = d * np.mean(odd[:, :, None] * units, axis=1)
    noise = d * d * np.sum(chances * np.mean(odd**2, axis=1)) / n + (1 - 1 / n) * np.sum(
        chances * np.sum(shared**2, axis=1)
    )
    for literal in (False, True):
        if literal and isinstance(risk, MeanVariance):
            continue
        kind = risk.smoothness(problem, off_policy=True, literal=literal)
        found = gradient_bounds(kind, dim=d, smoothing=mu, directions=n, episodes=m, off_policy=True, literal=literal)
        assert noise <= found.noise
    assert measure.bias < math.inf


def test_shared_noise_is_attained():
    """An error proportional to v_1, shared by every direction: more of them do not help beyond a factor d."""
    d, mu, m, n, size = 3, 0.2, 5, 1000, 2.0
    # error(theta + mu v) = size * z * v_1 * sqrt(d), z = +-1: mean square size^2 = C_1 / m
    found = gradient_bounds(
        smooth(error=size**2 * m, bias=math.inf), dim=d, smoothing=mu, directions=n, episodes=m, off_policy=True
    )
    average = d * (size * math.sqrt(d) / mu) / d  # ||d E[odd v]||, odd = size sqrt(d) v_1 / mu
    exact = d * d * size**2 / mu**2 / n + (1 - 1 / n) * average**2
    assert math.isclose(exact, found.noise, rel_tol=1e-12)


# --- the false statement, literal values, edges -------------------------------------------------------------------


def test_the_second_moment_as_stated_is_false_and_as_proved_is_right():
    """`lm:var_SF`: two arms with rewards 0 and 1, d = 1, L = 1/4, mu = 0.1, exact values."""
    value = lambda x: 1 / (1 + math.exp(-x[0]))  # noqa: E731
    moment = slopes(value, np.zeros(1), np.ones((1, 1)), 0.1)[0] ** 2
    assert math.isclose(moment, 0.062396, abs_tol=5e-7)
    stated = 3 * 1 * 0.25**2 / 4
    assert moment > stated == 0.046875
    measure = smooth(slope=0.25, curvature=0.1)
    proved = gradient_bounds(measure, dim=1, smoothing=0.1, directions=1, episodes=1, literal=True)
    sharp = gradient_bounds(measure, dim=1, smoothing=0.1, directions=1, episodes=1)
    assert proved.second_moment == 0.1875
    assert 0.998 * sharp.second_moment < moment <= sharp.second_moment == 0.0625


def test_literal_values_by_hand():
    measure = smooth(slope=2.0, curvature=5.0, error=7.0)
    found = gradient_bounds(measure, dim=3, smoothing=0.5, directions=4, episodes=10, literal=True)
    assert math.isclose(found.smoothing_bias, 0.5 * 3 * 5 / 2, rel_tol=1e-12)
    assert math.isclose(found.direction_variance, 16 * math.e**2 * 9 * 4 / 4, rel_tol=1e-12)
    assert math.isclose(found.noise, 7 * 9 / (0.25 * 10), rel_tol=1e-12)
    expected = 3 * 7 * 9 / (0.25 * 10) + 48 * math.e**2 * 9 * 4 / 4 + 3 * 0.25 * 9 * 25 / 4
    assert math.isclose(found.error, expected, rel_tol=1e-12)
    assert math.isclose(found.second_moment, 3 * 9 * 7 / (2 * 0.25 * 10) + 3 * 9 * 4, rel_tol=1e-12)


@settings(max_examples=300, deadline=None)
@given(
    error=st.floats(0, 1e6),
    bias=st.one_of(st.just(math.inf), st.floats(0, 1e4)),
    slope=st.floats(0, 1e3),
    curvature=st.floats(0, 1e3),
    dim=st.integers(1, 500),
    mu=st.floats(0.01, 1),
    n=st.integers(1, 1000),
    m=st.integers(1, 10**6),
    off_policy=st.booleans(),
    common=st.booleans(),
)
def test_sharp_is_never_above_literal(error, bias, slope, curvature, dim, mu, n, m, off_policy, common):
    measure = smooth(slope, curvature, error, bias)
    sharp, literal = (
        gradient_bounds(
            measure,
            dim=dim,
            smoothing=mu,
            directions=n,
            episodes=m,
            off_policy=off_policy,
            literal=flag,
            common_random_numbers=common,
        )
        for flag in (False, True)
    )
    for name in vars(sharp):
        # the square of a number below 1e-150 is 0
        assert getattr(sharp, name) <= getattr(literal, name) * (1 + 1e-9) + 1e-150, name
    assert sharp.bias**2 <= literal.error * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "change"),
    [("smoothing", {"smoothing": 0.0}), ("smoothing", {"smoothing": 1.5}), ("directions", {"directions": 0})],
)
def test_bad_input_gets_one_line(name, change):
    settings_ = {"dim": 2, "smoothing": 0.5, "directions": 1, "episodes": 1, **change}
    with pytest.raises(InputError, match=name):
        gradient_bounds(smooth(), **settings_)
