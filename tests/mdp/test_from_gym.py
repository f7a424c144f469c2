import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text import FrozenLakeEnv

from riskgrad.errors import InputError
from riskgrad.mdp import from_gymnasium
from riskgrad.policy import TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource, resolve_source


def test_the_two_names_of_the_large_lake_have_two_horizons():
    by_map, by_name = from_gymnasium("FrozenLake-v1", map_name="8x8"), from_gymnasium("FrozenLake8x8-v1")
    assert (by_map.horizon, by_name.horizon) == (100, 200)
    assert by_map.n_states == by_name.n_states == 64
    np.testing.assert_array_equal(by_map.probabilities, by_name.probabilities)
    assert from_gymnasium("FrozenLake8x8-v1", horizon=7).horizon == 7
    assert from_gymnasium("FrozenLake-v1", max_episode_steps=9).horizon == 9


def test_on_the_lake_holes_and_goal_are_terminal_and_only_the_goal_pays():
    model = from_gymnasium("FrozenLake-v1")
    assert np.flatnonzero(model.terminal).tolist() == [5, 7, 11, 12, 15]
    assert set(model.next_states[model.rewards > 0.0].tolist()) == {15}
    assert model.return_range == (0.0, 1.0)


def test_on_the_slippery_cliff_one_move_has_two_rewards():
    model = from_gymnasium("CliffWalking-v1", horizon=100, is_slippery=True)
    right = slice(model.offsets[36 * 4 + 1], model.offsets[36 * 4 + 2])
    assert model.next_states[right].tolist() == [24, 36, 36]
    assert model.rewards[right].tolist() == [-1.0, -100.0, -1.0]
    assert model.ends[model.next_states == 47].all()
    assert np.flatnonzero(model.terminal).tolist() == [47]
    still = from_gymnasium("CliffWalking-v1", horizon=100, is_slippery=False)
    assert len(still.rewards) == 47 * 4


@pytest.mark.parametrize("rain", [False, True])
def test_taxi_starts_at_random_and_ends_on_delivery(rain):
    model = from_gymnasium("Taxi-v4", is_rainy=rain)
    assert (model.n_states, model.n_actions, model.horizon) == (500, 6, 200)
    assert np.count_nonzero(model.start) == 300
    sources = np.repeat(np.arange(500 * 6), np.diff(model.offsets)) // 6
    assert set(model.rewards[model.ends & model.reachable[sources]].tolist()) == {20.0}
    assert (len(model.rewards) > 496 * 6) == rain


class Tiring(FrozenLakeEnv):
    """A lake on which every step costs something, of which its table knows nothing."""

    def step(self, a):
        seen, reward, *rest = super().step(a)
        return seen, float(reward) - 1.0, *rest


def test_a_class_with_steps_of_its_own_is_played():
    source = resolve_source(Tiring, horizon=9)
    assert isinstance(source, GymnasiumSource)
    played = source.returns(TabularGibbs(16, 4), np.zeros((1, 64)), 20, Stream(0, Purpose.EXAMPLE))
    assert np.all(played.values <= 1.0 - played.lengths)


def test_an_environment_keeps_its_own_limit():
    env = gymnasium.make("FrozenLake-v1", map_name="4x4", max_episode_steps=13)
    assert from_gymnasium(env, discount=0.9).horizon == 13
    bare = gymnasium.make("CliffWalking-v1").unwrapped
    limited = gymnasium.wrappers.TimeLimit
    assert from_gymnasium(limited(bare, 7)).horizon == 7
    assert from_gymnasium(limited(gymnasium.make("FrozenLake-v1"), 500)).horizon == 100
    assert from_gymnasium(bare, horizon=5).horizon == 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: from_gymnasium("CliffWalking-v1"), "horizon must be given, since CliffWalking-v1 has no step limit"),
        (lambda: from_gymnasium("CliffWalking-v1", horizon=0), "horizon must be an integer of at least 1, got 0"),
        (lambda: from_gymnasium("CartPole-v1"), "env must have a table of outcomes"),
        (lambda: from_gymnasium("Blackjack-v1", horizon=9), "env must have a table of outcomes"),
        (lambda: from_gymnasium("FrozenPond-v1"), "env must be an environment that can be built"),
        (lambda: from_gymnasium("FrozenLake-v1", cold=True), "unexpected keyword argument 'cold'"),
        (lambda: from_gymnasium(gymnasium.make("FrozenLake-v1"), is_slippery=True), "options must come with an id"),
        (lambda: from_gymnasium("Taxi-v4", fickle_passenger=True), "fickle_passenger must be False"),
        (lambda: from_gymnasium(Tiring(), horizon=9), "env must step and reset as its table of outcomes says"),
        (
            lambda: from_gymnasium(gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), float)),
            "got 'TransformReward'; pass FrozenLake-v1 without it",
        ),
    ],
)
def test_what_has_no_faithful_table_is_refused_in_one_line(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
