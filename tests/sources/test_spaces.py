"""Every space that is read or written, and environments with odd habits."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array
from support.environments import Odd, Spaced

from riskgrad.errors import EpisodeError, InputError
from riskgrad.policy import MLP, Deterministic, Gaussian, TabularGibbs
from riskgrad.random import Purpose, Stream, environment_seeds, episode_words
from riskgrad.sources import GymnasiumSource
from riskgrad.sources.gymnasium import player
from riskgrad.sources.gymnasium.spaces import batch_reader, observation_reader
from riskgrad.types import States, Vectors

STREAM = Stream(2, Purpose.TRAINING)
PLAIN = spaces.Box(-1.0, 1.0, (2,), np.float32)
TWO = spaces.Discrete(2)

OBSERVATIONS = {
    "discrete": (spaces.Discrete(4, start=-1), np.int64(1), [0.0, 0.0, 1.0, 0.0]),
    "box": (PLAIN, np.array([0.5, -0.5], dtype=np.float32), [0.5, -0.5]),
    "unbounded box": (spaces.Box(-np.inf, np.inf, (2,), np.float64), np.array([1e300, -2.0]), [1e300, -2.0]),
    "integer box": (spaces.Box(-9, 9, (2,), np.int32), np.array([-3, 7], dtype=np.int32), [-3, 7]),
    "image": (spaces.Box(0, 255, (1, 2, 2), np.uint8), np.array([[[1, 2], [3, 4]]], dtype=np.uint8), [1, 2, 3, 4]),
    "scalar": (spaces.Box(-1.0, 1.0, (), np.float64), np.float64(0.25), [0.25]),
    "many binaries": (spaces.MultiBinary(15), np.eye(1, 15, dtype=np.int8)[0], [1] + [0] * 14),
    "many binaries, two axes": (spaces.MultiBinary((15, 1)), np.eye(15, 1, dtype=np.int8), [1] + [0] * 14),
    "many choices": (
        spaces.MultiDiscrete([[200], [100]], start=[[5], [0]]),
        np.array([[6], [0]]),
        [0, 1] + [0] * 198 + [1] + [0] * 99,
    ),
    "tuple": (spaces.Tuple((spaces.Discrete(2), PLAIN)), (1, np.array([0.5, 1.0], dtype=np.float32)), [0, 1, 0.5, 1.0]),
    "dict": (
        spaces.Dict({"b": spaces.Discrete(3), "a": spaces.Dict({"x": PLAIN})}),
        {"b": 2, "a": {"x": np.array([0.5, 1.0], dtype=np.float32)}},
        [0.5, 1.0, 0, 0, 1],
    ),
    "dict of a tuple": (
        spaces.Dict({"a": spaces.Tuple((spaces.MultiBinary(2), spaces.Discrete(2, start=3))), "b": PLAIN}),
        {"a": (np.array([0, 1], dtype=np.int8), 3), "b": np.array([0.5, 1.0], dtype=np.float32)},
        [0, 1, 1, 0, 0.5, 1.0],
    ),
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations(name):
    space, shown, expected = OBSERVATIONS[name]
    source = GymnasiumSource(Spaced(space, TWO, shown), horizon=10)
    assert source.gives == (States(4) if name == "discrete" else Vectors(len(expected)))
    policy = MLP(len(expected), 2, (3,))
    batch = source.record(policy, np.random.default_rng(0).normal(size=policy.dim), 2, STREAM)
    if name == "discrete":
        np.testing.assert_array_equal(batch.observations, [2] * 6)
        table = source.record(TabularGibbs(4, 2), np.zeros(8), 2, STREAM)
        np.testing.assert_array_equal(table.observations, [2] * 6)
    else:
        np.testing.assert_array_equal(batch.observations, np.tile(expected, (6, 1)))


HAND = spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), TWO))
PRODUCTS = {
    "multi-discrete": (spaces.MultiDiscrete([2, 3]), np.array([1, 2]), 6, 5),
    "multi-discrete, two axes": (spaces.MultiDiscrete([[2], [3]]), np.array([[1], [0]]), 6, 3),
    "multi-discrete from 5": (spaces.MultiDiscrete([2, 2], start=[5, 0]), np.array([6, 0]), 4, 2),
    "multi-binary": (spaces.MultiBinary(3), np.array([1, 0, 1], dtype=np.int8), 8, 5),
    "multi-binary, two axes": (spaces.MultiBinary((2, 1)), np.array([[1], [0]], dtype=np.int8), 4, 2),
    "most": (spaces.MultiBinary(14), np.ones(14, dtype=np.int8), 16_384, 16_383),
    "list": (spaces.MultiBinary(2), [True, False], 4, 2),
    "floats": (spaces.MultiDiscrete([2, 3]), np.array([1.0, 2.0]), 6, 5),
    "hand": (HAND, (20, 10, 1), 704, (20 * 11 + 10) * 2 + 1),
    "hand of other types": (HAND, (np.int32(20), 10.0, np.True_), 704, (20 * 11 + 10) * 2 + 1),
    "hand of arrays": (HAND, (np.array([20]), np.array(10), True), 704, (20 * 11 + 10) * 2 + 1),
    "dict of a tuple": (
        spaces.Dict({"b": spaces.Discrete(3, start=-1), "a": spaces.Tuple((spaces.MultiBinary(2), TWO))}),
        {"b": 1, "a": (np.array([0, 1], dtype=np.int8), 1)},
        24,
        (0b011) * 3 + 2,
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_combinations_of_discrete_parts_are_states(name):
    space, shown, n, state = PRODUCTS[name]
    source = GymnasiumSource(lambda: Spaced(space, TWO, shown), horizon=3, lanes=2)
    assert source.gives == States(n)
    table = source.record(TabularGibbs(n, 2), np.zeros(2 * n), 3, STREAM)
    np.testing.assert_array_equal(table.observations, [state] * 9)
    network = source.record(MLP(n, 2, (3,)), np.zeros(MLP(n, 2, (3,)).dim), 2, STREAM)
    np.testing.assert_array_equal(network.observations, [state] * 6)


@pytest.mark.parametrize("name", ["multi-discrete, two axes", "multi-discrete from 5", "hand", "dict of a tuple"])
def test_every_combination_is_a_state_of_its_own_one_by_one_and_in_batches(name):
    space, _, n, _ = PRODUCTS[name]
    space.seed(3)
    samples = [space.sample() for _ in range(200)]
    reader, read_batch = observation_reader(space), batch_reader(space)
    alone = [reader.read(each) for each in samples]
    together = reader.allocate(len(samples))
    assert reader.together(samples, together)
    batch = concatenate(space, samples, create_empty_array(space, len(samples)))
    assert read_batch is not None
    for found in (together, read_batch(batch)):
        np.testing.assert_array_equal(found, alone)
    assert 0 <= min(alone) <= max(alone) < n
    assert len(set(alone)) == len({str(each) for each in samples})


def test_a_part_that_is_not_of_its_space_is_named():
    space = spaces.Dict({"at": TWO, "inner": spaces.Dict({"dropped": spaces.MultiBinary(2)})})
    reader = observation_reader(space)
    assert reader.read({"at": 1, "inner": {"dropped": [1, 0]}}) == 6
    with pytest.raises(ValueError, match=r"^'inner': 'dropped': the observation 2\.0 is not among the 2 "):
        reader.read({"at": 1, "inner": {"dropped": [1, 2]}})


def test_combinations_are_a_vector_where_no_table_can_act():
    reader = observation_reader(HAND, counts=False)
    assert reader.gives == Vectors(45)
    assert np.flatnonzero(reader.read((3, 2, 1))).tolist() == [3, 32 + 2, 43 + 1]
    assert batch_reader(HAND, counts=False) is None
    vector = Vectors(45)
    for actions, gives in ((TWO, States(704)), (spaces.MultiDiscrete([2, 3]), vector), (spaces.Box(0, 1), vector)):
        assert GymnasiumSource(lambda a=actions: Spaced(HAND, a, (3, 2, 1)), horizon=3).gives == gives


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((32, 1, 0), "the observation 32 is not among the 32 states from 0"),
        ((0, -1, 0), "the observation -1 is not among the 11 states from 0"),
        ((0, 0.5, 0), "the observation 0.5 is not among the 11 states from 0"),
        ((0, np.nan, 0), "cannot convert float NaN to integer"),
        ((0, "ace", 0), "a number was expected, got 'ace'"),
        ((0, [1, 2], 0), "a number was expected"),
        ((0, 1), "the observation has 2 parts, its space has 3"),
        (7, "has no len"),
    ],
)
@pytest.mark.parametrize("lanes", [1, 3])
def test_a_combination_that_is_none_is_caught(given, reason, lanes):
    class Later(Spaced):
        def reset(self, **_):
            return (0, 0, 0), {}

    source = GymnasiumSource(lambda: Later(HAND, TWO, given), horizon=3, lanes=lanes)
    with pytest.raises(EpisodeError, match=rf"at step 1 of .*{reason}") as caught:
        source.returns(TabularGibbs(704, 2), np.zeros((3, 1408)), 1, STREAM)
    assert "\n" not in str(caught.value)


def test_a_batch_with_a_combination_that_is_none_is_refused():
    read_batch = batch_reader(HAND)
    assert read_batch is not None
    with pytest.raises(ValueError, match="an observation is not among the 704 states"):
        read_batch((np.array([0, 32]), np.array([0, 0]), np.array([0, 1])))


def actions_of(space, policy, theta):
    env = Spaced(PLAIN, space, np.zeros(2, dtype=np.float32))
    GymnasiumSource(env, horizon=10).returns(policy, theta[None], 2, STREAM)
    return env.given


def test_actions_are_of_the_space():
    chosen = actions_of(spaces.Discrete(3, start=5), MLP(2, 3, ()), np.array([0.0] * 6 + [0.0, 9.0, 0.0]))
    assert chosen == [6] * 6
    assert all(type(action) is int for action in chosen)
    several = actions_of(spaces.MultiDiscrete([2, 3]), MLP(2, (2, 3), ()), np.array([0.0] * 10 + [9, 0, 0, 0, 9.0]))
    assert all(action.dtype == np.int64 for action in several)
    np.testing.assert_array_equal(several, [[0, 2]] * 6)
    grid = actions_of(spaces.MultiDiscrete(np.array([[2], [3]])), MLP(2, (2, 3), ()), np.zeros(15))
    assert all(action.shape == (2, 1) for action in grid)


@pytest.mark.parametrize(
    ("space", "theta", "expected"),
    [
        (spaces.Box(np.array([-1.0, 0.0]), np.array([3.0, 5.0]), dtype=np.float64), [0.5, 9.0], [2.0, 5.0]),
        (spaces.Box(-np.inf, np.inf, (2,), np.float32), [0.1, -7.0], np.float32([0.1, -7.0])),
        (spaces.Box(-1.0, 1.0, (2, 1), np.float32), [0.1, -7.0], np.float32([[0.1], [-1.0]])),
        (spaces.Box(0, 10, (2,), np.int32), [0.09, 3.0], [5, 10]),
        (spaces.Box(0.0, np.inf, (2,), np.float32), [-0.5, 7.0], [0.0, 7.0]),
    ],
)
def test_numbers_are_clipped_cast_and_shaped(space, theta, expected):
    low, high = space.low.ravel(), space.high.ravel()
    given = actions_of(space, Deterministic(2, low=low, high=high), np.array([0.0] * 4 + theta))
    assert given[0].dtype == space.dtype
    np.testing.assert_array_equal(given, [expected] * 6)
    noisy = Gaussian(2, low, high, initial_std=5.0)
    assert len(actions_of(space, noisy, np.zeros(noisy.dim))) == 6  # each is in the space, or the environment objects


@pytest.mark.parametrize(
    ("observations", "actions", "message"),
    [
        (
            spaces.Text(5),
            TWO,
            "observation space must be made of Discrete, Box, .* got 'Text'; .*TransformObservation makes numbers",
        ),
        (
            spaces.Tuple((TWO, spaces.Sequence(TWO))),
            TWO,
            "got 'Sequence'; .*TransformObservation pads it to one length",
        ),
        (spaces.Graph(PLAIN, None), TWO, "got 'Graph'"),
        (spaces.Dict({"a": spaces.OneOf((TWO, PLAIN))}), TWO, "got 'OneOf'"),
        (PLAIN, spaces.OneOf((TWO, PLAIN)), "action space must be Discrete, .* got 'OneOf'; .*TransformAction"),
        (PLAIN, spaces.Dict({"a": spaces.Text(5)}), "got 'Text'"),
    ],
)
def test_other_spaces_are_refused_by_name(observations, actions, message):
    with pytest.raises(InputError, match=message):
        GymnasiumSource(Spaced(observations, actions, None), horizon=3)


@pytest.mark.parametrize("oddity", ["integer", "int64", "float32", "array", "bool", "lists", "none"])
def test_odd_but_usable(oddity):
    played = GymnasiumSource(lambda: Odd(oddity), horizon=10).returns(MLP(2, 2, ()), np.zeros((2, 6)), 3, STREAM)
    np.testing.assert_array_equal(played.values, np.full((2, 3), 4.0))


def test_environments_that_take_long_to_make_are_fewer_and_change_no_number(monkeypatch):
    made = []

    def build():
        made.append(Odd("none"))
        return made[-1]

    def returns():
        made.clear()
        return GymnasiumSource(build, horizon=10).returns(MLP(2, 2, ()), np.zeros((2, 6)), 8, STREAM).values

    usual = returns()
    assert len(made) >= 16
    monkeypatch.setattr(player, "MAKING", 0.0)
    np.testing.assert_array_equal(returns(), usual)
    assert len(made) <= 3


@pytest.mark.parametrize(
    ("oddity", "reason"),
    [
        ("raises", "at step 2 of .* RuntimeError: the simulator fell over"),
        ("nan", "the reward is not finite"),
        ("nan at first", "at step 0 of .* the observation is not finite"),
        ("nan seen", "at step 1 of .* the observation is not finite"),
        ("text", "at step 0 of .* TypeError: a number was expected"),
        ("four", "at step 0 of .* not enough values to unpack"),
    ],
)
def test_failures_name_environment_policy_seed_and_step(oddity, reason):
    thetas = np.zeros((3, 6))
    source = GymnasiumSource(lambda: Odd(oddity), horizon=10, lanes=2)
    with pytest.raises(EpisodeError, match=reason) as caught:
        source.returns(MLP(2, 2, ()), thetas, 1, STREAM)
    seeds = environment_seeds(episode_words(STREAM.keys(np.arange(3)), 1))[:, 0]
    text = str(caught.value)
    assert text.startswith("Odd failed at step")
    assert any(f"with seed {seeds[row]}, played by policy row {row}:" in text for row in range(2))
    assert "\n" not in text


class Seen(Odd):
    """Shows the wanted in reset, and from the second step on what is given."""

    def __init__(self, given):
        super().__init__("none")
        self.given = given

    def step(self, action):
        seen, *rest = super().step(action)
        return (self.given if self.age > 1 else seen), *rest


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (np.zeros(3), r"is float64 of shape \(3,\), its space has shape \(2,\)"),
        (np.zeros((1, 2)), r"of shape \(1, 2\)"),
        (np.float32(0.5), r"of shape \(\)"),
        ([0.0], r"of shape \(1,\)"),
        (np.array(["0", "1"]), "is <U1 of shape"),
        (None, "is object of shape"),
        ({"x": 1.0}, "is object of shape"),
        (np.array([0.0, np.inf]), "the observation is not finite"),
    ],
)
@pytest.mark.parametrize("lanes", [1, 3])
def test_an_observation_of_another_shape_or_type_in_a_step_is_caught(given, reason, lanes):
    source = GymnasiumSource(lambda: Seen(given), horizon=10, lanes=lanes)
    with pytest.raises(EpisodeError, match=rf"^Seen failed at step 2 of .* by policy row 0: .*{reason}") as caught:
        source.returns(MLP(2, 2, ()), np.zeros((3, 6)), 1, STREAM)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given", [np.array([3, 4], dtype=np.uint8), [3, 4], np.array([3.0, 4.0]), (3.0, np.float32(4))]
)
@pytest.mark.parametrize("lanes", [1, 3])
def test_an_observation_of_another_type_is_read_as_numbers(given, lanes):
    source = GymnasiumSource(lambda: Seen(given), horizon=10, lanes=lanes)
    batch = source.record(MLP(2, 2, ()), np.zeros(6), 3, STREAM)
    np.testing.assert_array_equal(batch.observations, np.tile([[0, 0], [0, 0], [3, 4], [3, 4]], (3, 1)))


class Paid(Odd):
    """Pays the given, one after the other; says nothing else."""

    def __init__(self, *rewards):
        super().__init__("none")
        self.rewards = rewards

    def reset(self, seed=None):
        return super().reset(seed)[0], None

    def step(self, action):
        seen, _, terminated, truncated, _ = super().step(action)  # pyright: ignore[reportAssignmentType]
        return seen, self.rewards[self.age % len(self.rewards)], terminated, truncated, None


@pytest.mark.parametrize("lanes", [1, 3])
def test_rewards_of_mixed_types_and_no_info(lanes):
    rewards = 0.1, np.float32(0.5), np.array([2.0]), np.array(3)
    source = GymnasiumSource(lambda: Paid(*rewards), horizon=10, lanes=lanes)
    played = source.returns(MLP(2, 2, ()), np.zeros((2, 6)), 2, STREAM)
    np.testing.assert_allclose(played.values, np.full((2, 2), 5.6), rtol=1e-15)
    # lanes at different steps give a float and an array in one turn
    cut = GymnasiumSource(lambda: Paid(*rewards), horizon=3, lanes=lanes, discount=0.5)
    np.testing.assert_allclose(cut.returns(MLP(2, 2, ()), np.zeros((2, 6)), 2, STREAM).values, 0.5 + 1.0 + 0.75)


@pytest.mark.parametrize("reward", [None, "1.0", np.array([1.0, 2.0]), 1j, [1.0, 2.0]])
@pytest.mark.parametrize("lanes", [1, 3])
def test_a_reward_that_is_no_number_is_caught(reward, lanes):
    source = GymnasiumSource(lambda: Paid(1.0, reward), horizon=10, lanes=lanes)
    with pytest.raises(
        EpisodeError, match=r"^Paid failed at step 0 of .* by policy row 0: TypeError: (a number was|the reward has 2)"
    ):
        source.returns(MLP(2, 2, ()), np.zeros((3, 6)), 1, STREAM)


@pytest.mark.parametrize("state", [0, 5, 2.5, "two", np.array([1, 2])])
def test_a_state_that_is_none_is_caught(state):
    """The states are 1 to 4: no policy is asked about another, which would read beyond its table."""
    env = Spaced(spaces.Discrete(4, start=1), TWO, state)
    with pytest.raises(EpisodeError, match=r"is not among the 4 states from 1|a number was expected"):
        GymnasiumSource(env, horizon=3).returns(TabularGibbs(4, 2), np.zeros((1, 8)), 1, STREAM)

    class Later(Spaced):
        def reset(self, **_):
            return 1, {}

    source = GymnasiumSource(lambda: Later(env.observation_space, TWO, state), horizon=3, lanes=3)
    with pytest.raises(EpisodeError, match=r"at step 1 of .*(is not among the 4 states from 1|a number was expected)"):
        source.returns(TabularGibbs(4, 2), np.zeros((3, 8)), 1, STREAM)


PARTS = spaces.Dict({"a": PLAIN, "b": spaces.Tuple((spaces.Discrete(3, start=2), spaces.MultiDiscrete([2, 2])))})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"a": [0.5], "b": (2, [0, 0])}, r"of shape \(1,\), its space has shape \(2,\)"),
        ({"a": 0.5, "b": (2, [0, 0])}, r"of shape \(\), its space has shape \(2,\)"),
        ({"a": [0.5, 0.5], "b": (0, [0, 0])}, "the observation 0 is not among the 3 states from 2"),
        ({"a": [0.5, 0.5], "b": (2, [0, 2])}, "the observation 2.0 is not among the 2 states from 0"),
        ({"a": [0.5, 0.5], "b": (2,)}, "has 1 parts, its space has 2"),
        ({"a": [0.5, 0.5]}, r"has the keys \['a'\], its space has \['a', 'b'\]"),
    ],
)
def test_every_part_of_an_observation_is_checked(given, reason):
    source = GymnasiumSource(Spaced(PARTS, TWO, given), horizon=3)
    with pytest.raises(EpisodeError, match=rf"at step 0 of .*{reason}") as caught:
        source.returns(MLP(9, 2, ()), np.zeros((1, 20)), 1, STREAM)
    assert "\n" not in str(caught.value)


def test_large_observations_are_finite():
    env = Spaced(spaces.Box(-np.inf, np.inf, (2,), np.float64), TWO, np.array([1e308, 1.7e308]))
    played = GymnasiumSource(env, horizon=10).returns(MLP(2, 2, ()), np.zeros((1, 6)), 1, STREAM)
    assert played.values[0, 0] == 3.0


def test_a_wrong_shape_and_a_reset_without_seed_are_caught():
    with pytest.raises(
        EpisodeError, match=r"ValueError in reset: the observation is float64 of shape \(3,\), its space"
    ):
        _plays(Spaced(PLAIN, TWO, np.zeros(3)))

    class Seedless(Odd):
        def reset(self):
            return np.zeros(2), {}

    with pytest.raises(
        EpisodeError, match=r"TypeError in reset: .*'seed'; its `reset` has to take `seed`, as that of "
    ):
        _plays(Seedless("none"))


def _plays(env: gymnasium.Env):
    return GymnasiumSource(env, horizon=3).returns(MLP(2, 2, ()), np.zeros((1, 6)), 1, STREAM)
