"""A player does what the source does: the same actions by the same numbers, with memory and without."""

import gymnasium
import numpy as np
import pytest
from support.environments import Countdown, Spaced
from support.memory import Walked

import riskgrad as rg
from riskgrad.errors import InputError, KeywordError
from riskgrad.policy import MLP, Gaussian, TabularGibbs
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.random import Purpose, Stream, environment_seeds, episode_words
from riskgrad.run import RunPlayer
from riskgrad.sources import GymnasiumSource
from riskgrad.types import States, Vectors

EPISODES = 12


def play(player, env, horizon, discount, seed=0):
    """Play episodes of a player with the seeds of the source's environments; give their returns."""
    words = episode_words(Stream(seed, Purpose.EVALUATION).keys(np.zeros(1, dtype=np.int64)), EPISODES)[0]
    returns = []
    for each in environment_seeds(words).tolist():
        player.reset()
        obs, _ = env.reset(seed=each)
        total, factor = 0.0, 1.0
        for _ in range(horizon):
            obs, reward, terminated, truncated, _ = env.step(player.act(obs))
            player.observe(reward)
            total += factor * float(reward)
            factor *= discount
            if terminated or truncated:
                break
        returns.append(total)
    return returns


CASES = {
    "vectors": (Countdown, MLP(2, 2, (3,)), None),
    "vectors with memory": (Countdown, MLP(2, 2, (3,)), Memory("both", Vectors(2), 6, 0.5, center=1.0, spread=2.0)),
    "linear with bumps": (Countdown, MLP(2, 2, ()), Memory("return", Vectors(2), 6, 0.5, bumps=True)),
    "states with memory": (
        lambda: Walked(rg.mdp.inventory()),
        TabularGibbs(5, 5),
        Memory("both", States(5), 6, 0.5, edges=(-10.0, 0.0, 7.0)),
    ),
    "numbers with memory": (
        lambda: gymnasium.make("Pendulum-v1").unwrapped,
        Gaussian(3, [-2.0], [2.0]),
        Memory("both", Vectors(3), 6, 0.5, center=-3.0, spread=5.0, bumps=True),
    ),
}


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize(("make", "plain", "memory"), CASES.values(), ids=CASES.keys())
def test_it_plays_the_episodes_that_an_evaluation_counts(make, plain, memory, greedy):
    policy = plain if memory is None else with_memory(plain, memory)
    theta = np.random.default_rng(4).normal(size=policy.dim)
    source = GymnasiumSource(make, horizon=6, discount=0.5, greedy=greedy)
    expected = source.returns(policy, theta[None], EPISODES, Stream(0, Purpose.EVALUATION)).values[0]
    player = RunPlayer(policy, theta, greedy=greedy, env=make())
    assert play(player, make(), 6, 0.5) == pytest.approx(expected.tolist(), rel=1e-14)


def test_a_run_gives_a_player_that_survives_a_file(tmp_path):
    run = rg.train(rg.mdp.inventory(), "cvar:0.1", memory="both", iterations=3)
    run.save(tmp_path / "run.rg")
    env = Walked(rg.mdp.inventory())
    first, again = (play(one.player(seed=3), env, 4, 1.0, 3) for one in (run, rg.load(tmp_path / "run.rg")))
    assert first == again
    assert len(set(first)) > 3


def test_another_seed_draws_other_actions():
    run = rg.train(rg.mdp.inventory(), "mean", iterations=1)
    drawn = []
    for seed in (0, 0, 1):
        player = run.player(seed=seed)
        player.reset()
        drawn.append([player.act(2) for _ in range(30)])  # without memory no reward is needed
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(type(action) is int for action in drawn[0])


def test_the_spaces_of_an_environment_say_how_it_is_spoken_to():
    env = Spaced(gymnasium.spaces.Discrete(3, start=5), gymnasium.spaces.Discrete(2, start=-1), 7)
    player = RunPlayer(TabularGibbs(3, 2), np.zeros(6), env=env)
    player.reset()
    assert {player.act(7) for _ in range(30)} == {-1, 0}


def test_what_breaks_the_order_or_is_no_observation_is_refused():
    policy = with_memory(TabularGibbs(5, 5), Memory("both", States(5), 4, 1.0))
    player = RunPlayer(policy, np.zeros(policy.dim))
    with pytest.raises(InputError, match=r"^player must be reset before it acts"):
        player.act(0)
    player.reset()
    with pytest.raises(InputError, match=r"^player must act before it is told a reward"):
        player.observe(1.0)
    player.act(0)
    with pytest.raises(InputError, match=r"^player must be told the reward of its last action"):
        player.act(0)
    with pytest.raises(InputError, match=r"^reward must be finite, got nan"):
        player.observe(float("nan"))
    for bad in ("x", None, [1.0, 2.0], 10**400):
        with pytest.raises(InputError, match=r"^reward must be a number, got"):
            player.observe(bad)
    misspelled = {"rewrd": 1.0}
    with pytest.raises(
        KeywordError, match=r"^rg\.run\.RunPlayer\.observe has no keyword 'rewrd'; did you mean 'reward'"
    ):
        player.observe(**misspelled)
    player.observe(np.float32(1.0))
    for bad in (5, -1, [0.0, 1.0], 2.0):
        with pytest.raises(InputError, match=r"^obs must be one of 5 states, got"):
            player.act(bad)
    vectors = RunPlayer(MLP(3, 2, ()), np.zeros(8))
    vectors.reset()
    for bad in ([1.0, 2.0], [1.0, 2.0, np.inf]):
        with pytest.raises(InputError, match=r"^obs must be 3 finite numbers, got"):
            vectors.act(bad)
