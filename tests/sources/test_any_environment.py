"""Environments as others write them: limits in odd places, actions of parts, text, images, several rewards."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import riskgrad as rg
from riskgrad.errors import EpisodeError, InputError
from riskgrad.making import find_limit
from riskgrad.policy import MLP, Factored
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource, make_policy, resolve_source
from riskgrad.types import Both, Choices, Numbers, Vectors

STREAM = Stream(3, Purpose.EXAMPLE)
PLAIN, TWO = spaces.Box(-1.0, 1.0, (2,)), spaces.Discrete(2)


class Room(gymnasium.Env):
    """Ends after some steps of its own, or never; what it shows and takes is told, and kept."""

    def __init__(self, shown=PLAIN, takes=TWO, ends=None, reward=1.0, **named):
        self.observation_space, self.action_space, self.ends, self.reward = shown, takes, ends, reward
        self.taken = []
        vars(self).update(named)

    def reset(self, *, seed=None, options=None):
        gymnasium.Env.reset(self, seed=seed, options=options)
        self.observation_space.seed(seed)
        self.age = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.taken.append(action)
        self.age += 1
        return self.observation_space.sample(), self.reward, self.age == self.ends, False, {}


@pytest.mark.parametrize("name", ["max_episode_steps", "_max_episode_steps", "max_steps", "step_limit", "horizon"])
def test_a_limit_is_found_under_its_usual_names_and_noted(name):
    found = find_limit(Room(**{name: 12}), None)
    assert (found.steps, found.is_default) == (12, False)
    assert found.note == f"episodes are cut after 12 steps, the environment's {name}"
    assert find_limit(gymnasium.wrappers.TimeLimit(Room(**{name: 12}), 7), None).steps == 7
    assert find_limit(Room(**{name: 12}), 5).steps == 5


@pytest.mark.parametrize("value", [None, True, 0, -3, 2.5, np.inf, "100", 10**9])
def test_what_is_no_limit_is_not_taken_for_one(value):
    assert find_limit(Room(max_steps=value), None).steps == 1000


def test_a_wrapper_may_have_the_limit():
    class Cutting(gymnasium.Wrapper):
        def __init__(self, env):
            gymnasium.Wrapper.__init__(self, env)
            self.max_steps = np.int64(9)

    assert find_limit(Cutting(Room(max_steps=12)), None).steps == 9


def test_the_default_is_a_thousand_steps_and_reaching_it_is_noted():
    short, endless = resolve_source(lambda: Room(ends=3)), resolve_source(Room)
    policy = make_policy(short, "linear")
    for source in (short, endless):
        assert source.horizon == 1000
        assert source.notes[0].startswith("episodes are cut after 1,000 steps, since the environment has no limit")
        source.returns(policy, np.zeros((1, policy.dim)), 2, STREAM)
    assert len(short.notes) == 1
    assert endless.notes[1] == "episodes reached the 1,000 steps after which they are cut by default; give horizon="
    assert resolve_source(Room, horizon=7).notes == ()


def test_a_run_keeps_the_notes_and_a_finite_model_has_them_too():
    run = rg.train(lambda: Room(ends=3), "mean", iterations=2, algorithm="score", max_episodes=None, held_out=0)
    assert [note for note in run.notes if "cut after" in note]
    assert not [note for note in run.notes if "reached" in note]
    cliff = rg.train("CliffWalking-v1", "mean", iterations=1, algorithm=rg.Score(episodes=5), held_out=0)
    assert [note for note in cliff.notes if "1,000 steps, since" in note]
    assert [note for note in cliff.notes if "reached the 1,000 steps" in note]


PARTS = {
    "choices": (
        spaces.Dict({"b": spaces.Discrete(3, start=1), "a": spaces.Tuple((spaces.MultiBinary(2), spaces.Discrete(2)))}),
        Choices((2, 2, 2, 3)),
    ),
    "numbers": (
        spaces.Tuple((spaces.Box(-1.0, 2.0, (2,)), spaces.Box(0.0, 1.0, (1, 1)))),
        Numbers((-1.0, -1.0, 0.0), (2.0, 2.0, 1.0)),
    ),
    "both": (
        spaces.Dict({"go": spaces.Box(-1.0, 1.0, (2,)), "say": spaces.MultiDiscrete([2, 4])}),
        Both(Choices((2, 4)), Numbers((-1.0, -1.0), (1.0, 1.0))),
    ),
}


@pytest.mark.parametrize(("space", "kind"), PARTS.values(), ids=list(PARTS))
def test_actions_of_parts_are_played_part_by_part(space, kind):
    room = Room(takes=space, ends=4)
    source = GymnasiumSource(room)
    assert source.takes == kind
    policy = make_policy(source)
    values = source.returns(policy, np.zeros((1, policy.dim)), 6, STREAM).values
    np.testing.assert_array_equal(values, 4.0)
    assert len(room.taken) == 24  # each was in the space, or the room objects


@pytest.mark.parametrize(("space", "kind"), PARTS.values(), ids=list(PARTS))
def test_actions_of_parts_are_trained(space, kind):
    run = rg.train(lambda: Room(takes=space, ends=4), "cvar:0.1", max_episodes=150)
    assert run.policy.acts == kind
    env = Room(takes=space, ends=4)
    seen = env.reset(seed=0)[0]
    env.step(run.act(seen))
    for action in run.act(np.array([seen, seen])):
        assert space.contains(action)


def test_a_factored_policy_learns_both_parts():
    class Both2(Room):
        def step(self, action):
            seen, _, over, cut, info = Room.step(self, action)
            return seen, float(action["say"]) - float((action["go"][0] - 0.5) ** 2), over, cut, info

    space = spaces.Dict({"go": spaces.Box(-1.0, 1.0, (1,)), "say": spaces.Discrete(2)})
    run = rg.train(lambda: Both2(takes=space, ends=1), "mean", iterations=60, algorithm=rg.Score(episodes=60), seed=0)
    assert isinstance(run.policy, Factored)
    assert run.history[-1]["mean"] > 0.8  # 0.4 is what it starts with, 1 the most
    assert rg.policy.Factored.from_recipe(run.policy.recipe()).recipe() == run.policy.recipe()


def test_factored_parts_must_fit():
    with pytest.raises(InputError, match="numbers must read what the policy of the choices reads"):
        Factored(MLP(3, (2, 2), ()), rg.policy.Gaussian(2, [0.0], [1.0]))
    with pytest.raises(InputError, match="choices must have several components"):
        Factored(MLP(3, 2, ()), rg.policy.Gaussian(3, [0.0], [1.0]))
    policy = MLP(2, (2, 4), ())
    with pytest.raises(InputError, match=r"policy must have actions of 2 choices and 2 numbers.*rg\.policy\.Factored"):
        GymnasiumSource(Room(takes=PARTS["both"][0]), 3).returns(policy, np.zeros((1, policy.dim)), 1, STREAM)


def test_text_in_a_dict_is_left_out_with_a_note():
    shown = spaces.Dict(
        {"at": PLAIN, "mission": spaces.Text(9), "more": spaces.Dict({"said": spaces.Text(3), "n": PLAIN})}
    )
    source = GymnasiumSource(Room(shown, ends=2))
    assert source.gives == Vectors(4)
    assert source.notes[-1] == "the policy does not read 'mission', 'more.said' of the observations, which is text"
    policy = make_policy(source)
    np.testing.assert_array_equal(source.returns(policy, np.zeros((1, policy.dim)), 3, STREAM).values, 2.0)
    run = rg.train(lambda: Room(shown, ends=2), "mean", iterations=1, algorithm=rg.Score(episodes=2), held_out=0)
    assert run.act(Room(shown).reset(seed=0)[0]) in (0, 1)


def test_images_are_noted_and_huge_ones_need_a_policy_by_name():
    small = GymnasiumSource(Room(spaces.Box(0, 255, (32, 32, 3), np.uint8), ends=1))
    assert small.notes[-1].startswith("observations are images of 32 x 32 x 3, read as 3,072 numbers without a sense")
    assert "ResizeObservation" in small.notes[-1]
    huge = Room(spaces.Box(0, 255, (210, 160, 3), np.uint8), ends=1)
    with pytest.raises(InputError, match="got 100,800 numbers in an observation; images: shrink them by gymnasium"):
        rg.train(huge, "mean", iterations=1)
    run = rg.train(huge, "mean", iterations=1, policy="linear", algorithm=rg.Score(episodes=2), held_out=0)
    assert run.policy.dim == 2 * 100_801


def test_an_environment_that_shows_nothing_is_refused():
    with pytest.raises(InputError, match=r"^observation space must have at least one number, got Box.*show a constant"):
        rg.train(Room(spaces.Box(0.0, 1.0, (0,)), ends=1), "mean", iterations=1)


@pytest.mark.parametrize("reward", [[1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0])])
def test_a_reward_of_several_numbers_names_the_wrapper(reward):
    source = GymnasiumSource(Room(reward=reward, ends=1))
    policy = make_policy(source)
    with pytest.raises(EpisodeError, match=r"the reward has 3 numbers, .*LinearReward or gymnasium.*TransformReward"):
        source.returns(policy, np.zeros((1, policy.dim)), 2, STREAM)
