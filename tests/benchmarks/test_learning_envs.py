"""The environments of the learning study: their rules, in both forms."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support.studies import load_study

import riskgrad as rg
from riskgrad.policy import MLP
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource

learning_envs, risky_problems = load_study("learning_envs"), load_study("risky_problems")
GAMES = {game: getattr(learning_envs, game.upper()) for game in ("Trading", "Wheel", "Stakes")}
FINITE = {each.name: each for each in (*risky_problems.CHOSEN, *risky_problems.SET_ASIDE)}


def uniform_returns(env, native, episodes):
    source = GymnasiumSource(env, native=native)
    assert source.native == native
    policy = MLP(3, source.takes.n, ())
    return source.returns(policy, np.zeros((1, policy.dim)), episodes, Stream(1, Purpose.EXAMPLE)).values[0]


@pytest.mark.filterwarnings("ignore:.*A Box observation space")
@pytest.mark.parametrize("env", GAMES.values(), ids=list(GAMES))
def test_single_form_is_a_gymnasium_environment(env):
    check_env(gymnasium.make(env).unwrapped)


@pytest.mark.parametrize("env", GAMES.values(), ids=list(GAMES))
def test_both_forms_play_the_same_game(env):
    single, vector = gymnasium.make(env), gymnasium.make_vec(env, 1, "vector_entry_point")
    one, many = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    over = False
    for _ in range(single.spec.max_episode_steps):
        assert not over
        np.testing.assert_array_equal(one, many[0])
        one, reward, over, _, _ = single.step(2)
        many, rewards, ends, cuts, _ = vector.step(np.array([2]))
        assert (reward, over) == (rewards[0], ends[0])
        assert not cuts[0]
    assert over


def test_trading_pays_as_published():
    game = learning_envs.Trading(3)
    game.reset(seed=0)
    game.price[:] = (1.0, 0.5, 2.0)
    seen, rewards, over, _, _ = game.step(np.array([0, 10, 20]))  # sells 2, nothing, buys 2
    np.testing.assert_allclose(rewards, [2.0 - 0.02, 0.0, -4.0 - 0.02])
    np.testing.assert_allclose(seen[:, 1:], [[-2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    assert not over.any()
    game.age[:] = 9
    price = game.price.copy()
    seen, rewards, over, _, _ = game.step(np.array([10, 11, 0]))
    assert over.all()
    held, bought = np.array([-2.0, 0.2, 0.0]), np.array([0.0, 0.2, -2.0])
    np.testing.assert_allclose(seen[:, 1], held, atol=1e-12)
    np.testing.assert_allclose(
        rewards, -price * bought - 0.005 * bought**2 + held * seen[:, 0] - 0.5 * held**2, atol=1e-12
    )


def test_the_price_comes_back():
    game = learning_envs.Trading(100_000)
    game.reset(seed=0)
    prices = [game.step(np.full(100_000, 10))[0][:, 0] for _ in range(10)]
    assert np.mean(prices[-1]) == pytest.approx(1.0, abs=0.01)
    # sigma^2 (1 - exp(-2k)) / 2k after all steps
    assert np.var(prices[-1]) == pytest.approx((1.0 - np.exp(-4.0)) / 4.0, rel=0.02)
    slope = np.cov(prices[3], prices[4])[0, 1] / np.var(prices[3])
    assert slope == pytest.approx(np.exp(-0.2), abs=0.01)


@pytest.mark.parametrize("name", ["wheel", "stakes"])
def test_betting_is_the_finite_model(name):
    game, mdp = getattr(learning_envs, name.title())(20_000), FINITE[name].make()
    size = game.cap + 1
    purses = np.random.default_rng(0).integers(0, size, game.num_envs)
    for action in range(mdp.n_actions):
        game.reset(seed=action)
        game.purse[:] = purses
        _, rewards, _, _, _ = game.step(np.full(len(purses), action))
        found = set(zip(purses.tolist(), rewards.tolist(), strict=True))
        possible = set()
        for purse in set(purses.tolist()):
            row = (3 * size + purse) * mdp.n_actions + action
            some = slice(mdp.offsets[row], mdp.offsets[row + 1])
            assert set(mdp.next_states[some] - 4 * size - purse) == set(mdp.rewards[some])
            possible |= {(purse, won) for won in mdp.rewards[some].tolist()}
        assert found <= possible
        assert len(found) > 0.98 * len(possible)


@pytest.mark.parametrize("name", ["wheel", "stakes"])
def test_betting_at_random_is_worth_what_it_is_in_the_finite_model(name):
    mdp = FINITE[name].make()
    law = rg.exact.return_law(mdp, np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions))
    values = uniform_returns(GAMES[name.title()], True, 100_000)
    assert np.mean(values) == pytest.approx(law.mean, abs=5.0 * np.std(values) / np.sqrt(len(values)))
    assert rg.risk.parse(FINITE[name].risk).estimate(values) == pytest.approx(FINITE[name].uniform, rel=0.01)
