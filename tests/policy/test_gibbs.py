import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.policy import Gibbs, LinearGibbs, TabularGibbs

FEATURES = np.random.default_rng(1).normal(size=(5, 3, 4))


def bend(theta, state):
    """A preference that is not linear: [A] from theta [4]."""
    return np.sin(FEATURES[state] * theta).sum(axis=1) + theta[0] * theta[1]


def bend_gradient(theta, state):
    slopes = FEATURES[state] * np.cos(FEATURES[state] * theta)
    slopes[:, 0] += theta[1]
    slopes[:, 1] += theta[0]
    return slopes


POLICIES = {
    "tabular": TabularGibbs(5, 3),
    "linear": LinearGibbs(FEATURES),
    "linear by function": LinearGibbs(lambda state: FEATURES[state]),
    "own": Gibbs(bend, 4, bend_gradient),
    "own without gradient": Gibbs(bend, 4),
}


@pytest.fixture(params=POLICIES.values(), ids=POLICIES.keys())
def policy(request):
    return request.param


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_table_is_a_softmax_of_its_entries():
    policy = TabularGibbs(2, 2)
    theta = np.log([1.0, 3.0, 2.0, 2.0])
    np.testing.assert_allclose(policy.probabilities(theta, [0, 1]), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(policy.log_prob(theta, [0], [1]), [np.log(0.75)], rtol=1e-15)
    np.testing.assert_allclose(policy.score_sum(theta, [0], [1], [2.0]), [-0.5, 0.5, 0.0, 0.0], rtol=1e-15)


def test_indicator_features_give_the_table():
    theta = np.random.default_rng(0).normal(size=6)
    features = np.eye(6).reshape(2, 3, 6)
    table, linear, own = TabularGibbs(2, 3), LinearGibbs(features), Gibbs(lambda t, s: features[s] @ t, 6)
    expected = table.probabilities(theta, [0, 1])
    np.testing.assert_allclose(linear.probabilities(theta, [0, 1]), expected, rtol=1e-14)
    np.testing.assert_allclose(own.probabilities(theta, [0, 1]), expected, rtol=1e-14)
    states, actions, scale = [0, 1, 1, 0], [2, 0, 2, 2], [1.0, -2.0, 0.5, 3.0]
    expected = table.score_sum(theta, states, actions, scale)
    np.testing.assert_allclose(linear.score_sum(theta, states, actions, scale), expected, atol=1e-14)
    np.testing.assert_allclose(own.score_sum(theta, states, actions, scale), expected, atol=1e-9)


def test_shapes_follow_theta_and_observations(policy):
    rng = np.random.default_rng(0)
    thetas, states, actions = rng.normal(size=(7, policy.dim)), [4, 0, 0, 2], [2, 1, 0, 2]
    assert policy.probabilities(thetas, states).shape == (7, 4, 3)
    assert policy.probabilities(thetas[0], states).shape == (4, 3)
    assert policy.probabilities(thetas, 4).shape == (7, 3)
    assert policy.probabilities(thetas[0], 4).shape == (3,)
    assert policy.log_prob(thetas, states, actions).shape == (7, 4)
    assert policy.log_prob(thetas[0], states, actions).shape == (4,)
    assert policy.score_sum(thetas[0], states, actions, np.ones(4)).shape == (policy.dim,)
    assert policy.probabilities(thetas, np.zeros(0, dtype=int)).shape == (7, 0, 3)


def test_a_row_has_the_same_bits_in_any_batch(policy):
    rng = np.random.default_rng(0)
    thetas, states, actions = rng.normal(size=(7, policy.dim)), np.array([4, 0, 0, 2, 3]), np.array([2, 1, 0, 2, 0])
    probabilities = policy.probabilities(thetas, states)
    logs = policy.log_prob(thetas, states, actions)
    for p in range(7):
        for b in range(5):
            np.testing.assert_array_equal(policy.probabilities(thetas[p], states[b]), probabilities[p, b])
            np.testing.assert_array_equal(policy.log_prob(thetas[p], states[b : b + 1], actions[b : b + 1]), logs[p, b])


def test_scores_are_the_slopes_of_log_prob(policy):
    rng = np.random.default_rng(3)
    theta, scale = rng.normal(size=policy.dim), rng.normal(size=6)
    states, actions = rng.integers(0, 5, 6), rng.integers(0, 3, 6)
    step = 1e-5 * np.eye(policy.dim)
    above, below = policy.log_prob(theta + step, states, actions), policy.log_prob(theta - step, states, actions)
    slopes = ((above - below) / 2e-5) @ scale
    np.testing.assert_allclose(policy.score_sum(theta, states, actions, scale), slopes, rtol=1e-6, atol=1e-9)


def test_differences_agree_with_a_given_gradient():
    theta, states, actions = np.array([0.3, -40.0, 2.0, 0.0]), [0, 1, 4, 4], [0, 1, 2, 0]
    expected = POLICIES["own"].score_sum(theta, states, actions, np.ones(4))
    found = POLICIES["own without gradient"].score_sum(theta, states, actions, np.ones(4))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=50, deadline=None)
@given(
    theta=st.lists(st.floats(-1e4, 1e4), min_size=6, max_size=6),
    scale=st.lists(st.floats(-10, 10), min_size=3, max_size=3),
)
def test_large_preferences_stay_finite_and_scores_have_mean_zero(theta, scale):
    policy = TabularGibbs(2, 3)
    table = policy.probabilities(theta, [0, 1])
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-14)
    logs = policy.log_prob(theta, [0, 0, 0], [0, 1, 2])
    assert np.all(np.isfinite(logs))
    np.testing.assert_allclose(np.exp(logs), table[0], rtol=1e-11, atol=1e-300)
    score = policy.score_sum(theta, [0, 0, 0], [0, 1, 2], table[0])
    np.testing.assert_allclose(score, 0.0, atol=1e-15)
    assert np.all(np.isfinite(policy.score_sum(theta, [0, 1, 1], [0, 2, 1], scale)))


def test_log_probabilities_survive_where_probabilities_underflow():
    policy = TabularGibbs(1, 2)
    theta = [1e4, -1e4]
    assert policy.probabilities(theta, 0).tolist() == [1.0, 0.0]
    assert policy.log_prob(theta, [0], [1]).tolist() == [-2e4]
    np.testing.assert_allclose(LinearGibbs([[[1.0], [-1.0]]]).log_prob([1e4], [0], [1]), [-2e4])


def test_bounds_hold_and_are_attained():
    policy = LinearGibbs(FEATURES)
    gaps = FEATURES[:, :, None] - FEATURES[:, None]
    spread = np.sqrt((gaps**2).sum(axis=-1)).max()
    assert policy.score_bounds == pytest.approx((spread, spread**2 / 4.0), rel=1e-7)
    linear = LinearGibbs(np.eye(4).reshape(2, 2, 4))
    assert TabularGibbs(2, 2).score_bounds == pytest.approx(linear.score_bounds, rel=1e-7)
    assert TabularGibbs(2, 1).score_bounds == (0.0, 0.0)
    assert POLICIES["linear by function"].score_bounds is None
    assert Gibbs(bend, 4, bounds=(3.0, 2.0)).score_bounds == (3.0, 2.0)
    sure = TabularGibbs(1, 2).score_sum([30.0, -30.0], [0], [1], [1.0])
    np.testing.assert_allclose(np.linalg.norm(sure), TabularGibbs(1, 2).score_bounds[0])


def test_observations_may_be_vectors():
    def features(observation):
        return np.outer([1.0, -1.0], observation)

    linear = LinearGibbs(features, example=np.zeros(3))
    own = Gibbs(lambda theta, observation: features(observation) @ theta, 3, example=np.zeros(3))
    assert (linear.dim, linear.n_actions) == (3, 2)
    batch, theta = np.random.default_rng(0).normal(size=(3, 3)), np.array([1.0, 2.0, 3.0])
    for policy in (linear, own):
        assert policy.probabilities(theta, batch).shape == (3, 2)
        assert policy.probabilities(theta, batch[0]).shape == (2,)
        np.testing.assert_allclose(policy.probabilities(theta, batch)[:, 0], 1 / (1 + np.exp(-2 * batch @ theta)))
    actions = [0, 1, 1]
    expected = sum(
        features(o)[a] - linear.probabilities(theta, o) @ features(o) for o, a in zip(batch, actions, strict=True)
    )
    np.testing.assert_allclose(linear.score_sum(theta, batch, actions, np.ones(3)), expected, rtol=1e-12)
    np.testing.assert_allclose(own.score_sum(theta, batch, actions, np.ones(3)), expected, rtol=1e-8)


def test_large_batches_go_through_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    policy, theta = LinearGibbs(FEATURES), rng.normal(size=4)
    states, actions, scale = rng.integers(0, 5, 100), rng.integers(0, 3, 100), rng.normal(size=100)
    table, score = policy.probabilities(theta, states), policy.score_sum(theta, states, actions, scale)
    monkeypatch.setattr("riskgrad.policy.gibbs.LARGEST_TEMPORARY", 50)
    np.testing.assert_array_equal(policy.probabilities(theta, states), table)
    np.testing.assert_allclose(policy.score_sum(theta, states, actions, scale), score, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: TabularGibbs(0, 2), "n_states must be an integer of at least 1, got 0"),
        (lambda: TabularGibbs(2, 2.0), "n_actions must be an integer of at least 1, got 2.0"),
        (lambda: TabularGibbs(2, 2).probabilities(np.zeros(3), 0), "theta must have shape (4,) or (P, 4)"),
        (lambda: TabularGibbs(2, 2).probabilities([0, 0, np.nan, 0], 0), "theta must be finite, got nan"),
        (lambda: TabularGibbs(2, 2).probabilities(np.zeros(4), 2), "observations must be states in 0..1, got 2"),
        (lambda: TabularGibbs(2, 2).probabilities(np.zeros(4), 0.5), "observations must be integer states"),
        (lambda: TabularGibbs(2, 2).probabilities(np.zeros(4), [[0]]), "observations must have 0 axes each"),
        (lambda: TabularGibbs(2, 2).log_prob(np.zeros(4), [0], [2]), "actions must be in 0..1, got 2"),
        (lambda: TabularGibbs(2, 2).log_prob(np.zeros(4), [0], [0, 1]), "actions must be integers of shape (1,)"),
        (lambda: TabularGibbs(2, 2).score_sum(np.zeros((1, 4)), [0], [0], [1]), "theta must be one vector"),
        (lambda: TabularGibbs(2, 2).score_sum(np.zeros(4), [0], [0], [1, 2]), "coefficients must have shape (1,)"),
        (lambda: LinearGibbs(np.zeros((2, 2))), "features must have shape [S, A, k]"),
        (lambda: LinearGibbs(np.full((1, 1, 1), np.inf)), "features must be finite, got inf"),
        (lambda: LinearGibbs(lambda o: np.zeros(3)), "features must return [A, k]"),
        (lambda: LinearGibbs(lambda o: np.outer([1, 2], o[:2])), "pass example="),
        (lambda: Gibbs(bend, 0), "dim must be an integer of at least 1, got 0"),
        (lambda: Gibbs(lambda theta, o: theta[0], 2), "preference must return one number per action"),
        (lambda: Gibbs(bend, 4, bounds=(1.0,)), "bounds must be two finite numbers"),
        (
            lambda: Gibbs(lambda theta, o: theta / o if o else theta, 2).probabilities([np.inf, 0.0], 1),
            "theta must be finite, got inf",
        ),
        (
            lambda: Gibbs(lambda theta, o: theta[: 2 - o], 2).probabilities([1.0, 0.0], 1),
            "preference must return 2 finite numbers",
        ),
        (
            lambda: Gibbs(bend, 4, lambda theta, o: np.zeros(4)).score_sum(np.zeros(4), [0], [0], [1.0]),
            "gradient must return shape (3, 4)",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(call, words):
    assert words in refusal(call)
