import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError, TooLargeError
from riskgrad.exact import return_law
from riskgrad.mdp import FiniteMDP, from_gymnasium, inventory, slippery_grid
from riskgrad.risk import parse

MONOTONE = [parse(name) for name in ("mean", "cvar:0.1", "dual-power:2", "exponential:1")]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), horizon=st.integers(1, 4))
def test_the_law_is_that_of_all_episodes(enumeration, make_model, discount, seed, horizon):
    model, table = make_model(seed, discount, horizon)
    law = return_law(model, table)
    values, masses = enumeration(model, table, discount).law()
    # equal lengths: exactly the returns that are equal on paper have merged
    np.testing.assert_allclose(law.values, values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(law.probabilities, masses, rtol=1e-12, atol=1e-15)


def test_returns_equal_on_paper_merge_although_their_bits_differ():
    pay = [[[(0.5, 0, 0.1, False), (0.5, 0, 0.3, False)]]]
    model = FiniteMDP.from_outcomes(pay, start=0, horizon=30)
    law = return_law(model, [[1.0]])
    np.testing.assert_allclose(law.values, 3.0 + 0.2 * np.arange(31), rtol=1e-14)
    drawn = np.cumsum(np.random.default_rng(0).choice([0.1, 0.3], size=(1000, 30)), axis=1)[:, -1]
    assert len(np.unique(drawn)) > 31


def test_integer_rewards_at_discount_one_are_exact():
    model = from_gymnasium("CliffWalking-v1", horizon=100, is_slippery=True)
    law = return_law(model, np.full((48, 4), 0.25))
    assert len(law) == 3929
    np.testing.assert_array_equal(law.values, np.round(law.values))
    assert law.values[0] == model.return_range[0] == -10_000.0
    assert law.values[-1] == model.return_range[1] == -13.0
    assert abs(np.sum(law.probabilities) - 1.0) < 1e-12


def simulated(table, env, horizon, episodes, seed):
    """Returns of a policy on a Gymnasium table, by a plain vectorized walk over the environment's own lists."""
    base = gymnasium.make(env[0], **env[1]).unwrapped
    n_states, n_actions = len(base.P), len(base.P[0])
    chances, targets, rewards, ends = (np.zeros((n_states, n_actions, 3)) for _ in range(4))
    for s in range(n_states):
        for a in range(n_actions):
            for k, (chance, target, reward, end) in enumerate(base.P[s][a]):
                chances[s, a, k], targets[s, a, k], rewards[s, a, k], ends[s, a, k] = chance, target, reward, end
    joint = np.cumsum((table[:, :, None] * chances).reshape(n_states, -1), axis=1)
    joint /= joint[:, -1:]
    # one draw decides action and outcome: its place among the thresholds of all states, laid end to end
    ladder = (np.arange(n_states)[:, None] + joint).ravel()
    targets, rewards, going = targets.ravel().astype(int), rewards.ravel(), ends.ravel() == 0.0
    rng, found = np.random.default_rng(seed), np.zeros(episodes)
    for begin in range(0, episodes, 20_000):
        alive = np.arange(begin, min(begin + 20_000, episodes))
        state = np.full(len(alive), int(np.argmax(base.initial_state_distrib)))
        for _ in range(horizon):
            drawn = np.searchsorted(ladder, state + rng.random(len(alive)), side="right")
            found[alive] += rewards[drawn]
            still = going[drawn]
            alive, state = alive[still], targets[drawn[still]]
    return found


@pytest.mark.parametrize(
    ("env", "horizon", "episodes"),
    [
        (("CliffWalking-v1", {"is_slippery": True}), 100, 1_000_000),
        (("FrozenLake-v1", {"map_name": "8x8"}), 100, 1_000_000),
    ],
)
@pytest.mark.no_cover
def test_the_law_is_that_of_a_million_simulated_episodes(env, horizon, episodes):
    model = from_gymnasium(env[0], horizon=horizon, **env[1])
    rng = np.random.default_rng(5)
    table = rng.dirichlet(np.full(model.n_actions, 2.0), size=model.n_states)
    law = return_law(model, table)
    returns = simulated(table, env, horizon, episodes, seed=6)
    # Dvoretzky-Kiefer-Wolfowitz with Massart's constant: a false alarm has probability at most 1e-6
    empirical = np.searchsorted(np.sort(returns), law.values, side="right") / episodes
    assert np.max(np.abs(empirical - law.cdf(law.values))) < np.sqrt(np.log(2e6) / (2.0 * episodes))
    # five standard errors: a false alarm has probability about 6e-7
    assert abs(returns.mean() - law.mean) < 5.0 * np.sqrt(law.variance / episodes)
    assert np.all(np.isin(returns, law.values))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([0.01, 0.3, 1.0, 5.0]))
def test_a_grid_brackets_the_law(make_model, discount, seed, width):
    model, table = make_model(seed, discount, horizon=4)
    law = return_law(model, table)
    lower, upper = return_law(model, table, grid=width)
    points = np.concatenate([law.values, lower.values, upper.values])
    slack = 1e-12 * max(1.0, np.abs(points).max())
    assert np.all(lower.cdf(points + slack) >= law.cdf(points) - 1e-12)
    assert np.all(law.cdf(points + slack) >= upper.cdf(points) - 1e-12)
    # a return moves by at most the width in each of its steps, and once more at the end
    reach = (model.horizon + 1) * width + slack
    assert np.all(law.cdf(points + reach) >= lower.cdf(points) - 1e-12)
    assert np.all(upper.cdf(points + reach) >= law.cdf(points) - 1e-12)
    for rho in MONOTONE:
        assert rho.value(lower) - slack <= rho.value(law) <= rho.value(upper) + slack


def test_a_grid_below_the_gaps_changes_nothing():
    model = inventory()
    table = np.full((5, 5), 0.2)
    law = return_law(model, table)
    for bracket in return_law(model, table, grid=0.5):
        np.testing.assert_array_equal(bracket.values, law.values)
        np.testing.assert_allclose(bracket.probabilities, law.probabilities, rtol=1e-12)


def test_a_grid_narrows_with_its_width():
    model = from_gymnasium("CliffWalking-v1", horizon=30, discount=0.99, is_slippery=True)
    gaps = []
    for width in (8.0, 1.0, 0.125):
        lower, upper = return_law(model, np.full((48, 4), 0.25), grid=width)
        gaps.append(upper.mean - lower.mean)
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2] > 0.0


def test_too_many_atoms_are_refused_with_the_size_and_the_remedy():
    model = from_gymnasium("CliffWalking-v1", horizon=100, discount=0.99, is_slippery=True)
    with pytest.raises(TooLargeError) as caught:
        return_law(model, np.full((48, 4), 0.25), max_atoms=50_000)
    message = str(caught.value)
    assert "\n" not in message
    assert "at most 50,000 atoms (state, return), got " in message
    assert " of 100 steps" in message
    assert "grid=0.6" in message
    lower, upper = return_law(model, np.full((48, 4), 0.25), grid=20.0)
    assert lower.mean < upper.mean


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.full((5, 4), 0.25), "policy_table must have shape (5, 5), got shape (5, 4)"),
        (np.zeros((5, 5)), "probabilities of state 0 in policy_table must sum to 1, got 0.0"),
        (np.eye(5) * [1, 1, 0.5, 1, 1], "probabilities of state 2 in policy_table must sum to 1, got 0.5"),
        (
            np.eye(5) + np.outer([0, 1, 0, 0, 0], [1, -1, 0, 0, 0]) * 1.5,
            "row 1 of policy_table must not be negative or NaN",
        ),
        (np.full((5, 5), np.nan), "row 0 of policy_table must not be negative or NaN"),
    ],
)
def test_bad_tables_are_refused_in_one_line(table, words):
    with pytest.raises(InputError) as caught:
        return_law(inventory(), table)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("grid", [0.0, -1.0, float("nan"), True, "fine"])
def test_a_grid_must_be_a_positive_number(grid):
    with pytest.raises(InputError, match="grid must be a positive number"):
        return_law(inventory(), np.full((5, 5), 0.2), grid=grid)


def test_rows_of_terminal_states_are_ignored():
    model = slippery_grid()
    table = np.full((12, 3), 1.0 / 3.0)
    law = return_law(model, table)
    table[model.terminal] = 0.0
    np.testing.assert_array_equal(return_law(model, table).probabilities, law.probabilities)
