"""`run.act` speaks the environment's own language, and does what the policy does."""

import dataclasses
import json
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from support.environments import Spaced

import riskgrad as rg
from riskgrad.descriptions import describe_space, read_space
from riskgrad.errors import DamagedFileError, InputError
from riskgrad.policy import MLP, Gaussian, TabularGibbs
from riskgrad.run import container
from riskgrad.run.acting import Actor
from riskgrad.run.translation import Translator

SPACES = {
    "discrete": spaces.Discrete(4, start=-2),
    "several": spaces.MultiDiscrete([3, 2], start=[1, -1]),
    "table": spaces.MultiDiscrete(np.array([[3, 2], [2, 2]], dtype=np.int32), np.int32),
    "bits": spaces.MultiBinary((2, 3)),
    "box": spaces.Box(np.array([-1.0, -np.inf], dtype=np.float32), np.array([0.1, 2.0], dtype=np.float32)),
    "image": spaces.Box(0, 255, (4, 4, 3), np.uint8),
    "whole": spaces.Box(-(2**62) - 1, 2**62 + 1, (2,), np.int64),
    "dict": spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Tuple([spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,))])}),
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES.keys())
def test_a_description_makes_the_same_space_again(space):
    again = read_space(json.loads(json.dumps(describe_space(space), allow_nan=False)))
    assert again == space
    assert again.dtype == space.dtype
    assert describe_space(spaces.Text(3)) is None
    assert describe_space(spaces.Tuple([spaces.Text(3)])) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "Discrete"},
        {"kind": "Sphere", "n": 3},
        {"kind": "Discrete", "n": -1, "start": 0},
        {"kind": "Box", "low": 0.0, "high": 1.0, "shape": [1 << 20, 1 << 20], "dtype": "float64"},
        {"kind": "Box", "low": "a", "high": 1.0, "shape": [1], "dtype": "float64"},
        {"kind": "Tuple", "parts": 3},
    ],
)
def test_what_describes_no_space_is_refused(facts):
    with pytest.raises(InputError, match=r"^spaces must describe spaces of an environment"):
        read_space(facts)


def actor_of(policy, seen, taken, theta=None):
    theta = np.random.default_rng(1).normal(size=policy.dim) if theta is None else theta
    return Actor(policy, theta, Translator(seen, taken), 0), theta


def test_states_and_choices_begin_where_their_spaces_do():
    actor, theta = actor_of(TabularGibbs(4, 3), spaces.Discrete(4, start=10), spaces.Discrete(3, start=5))
    best = 5 + np.argmax(theta.reshape(4, 3), axis=1)
    assert [actor.act(state, greedy=True) for state in range(10, 14)] == best.tolist()
    assert type(actor.act(np.int64(11), None)) is int
    together = actor.act(np.arange(10, 14), greedy=True)
    assert together.tolist() == best.tolist()
    for bad in (9, 14, [9, 10], 1.5, "a"):
        with pytest.raises(InputError, match=r"^obs must be of Discrete\(4, start=10\), or a batch of such"):
            actor.act(bad, None)


def test_actions_are_drawn_as_often_as_the_policy_says():
    """Shares of 4,000 draws are within 4.5 standard errors: a false alarm in 1 of 100,000 seeds."""
    actor, theta = actor_of(TabularGibbs(2, 3), spaces.Discrete(2), spaces.Discrete(3))
    chances = TabularGibbs(2, 3).probabilities(theta, 1)
    shares = np.bincount(actor.act(np.ones(4000, dtype=int), None), minlength=3) / 4000
    assert np.all(np.abs(shares - chances) < 4.5 * np.sqrt(chances * (1 - chances) / 4000))
    again, _ = actor_of(TabularGibbs(2, 3), spaces.Discrete(2), spaces.Discrete(3))
    other, _ = actor_of(TabularGibbs(2, 3), spaces.Discrete(2), spaces.Discrete(3))
    assert [again.act(1, None) for _ in range(40)] == [other.act(1, False) for _ in range(40)]


def test_numbers_have_the_type_the_shape_and_the_bounds_of_their_box():
    taken = spaces.Box(np.array([[0.0], [-3.0]], dtype=np.float32), np.array([[1.0], [5.0]], dtype=np.float32))
    seen = spaces.Box(-1.0, 1.0, (2, 2))
    actor, theta = actor_of(Gaussian(4, [0.0, -3.0], [1.0, 5.0]), seen, taken)
    obs = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2, 2))
    mean = Gaussian(4, [0.0, -3.0], [1.0, 5.0]).mean(theta, obs.reshape(3, 4))
    expected = np.clip([0.5, 1.0] + mean * [0.5, 4.0], [0.0, -3.0], [1.0, 5.0])
    together = actor.act(obs, greedy=True)
    assert together.shape == (3, 2, 1)
    assert together.dtype == np.float32
    assert together.reshape(3, 2) == pytest.approx(expected, abs=1e-6)
    assert actor.act(obs[1], greedy=True) == pytest.approx(together[1])
    assert all(taken.contains(actor.act(obs[0], None)) for _ in range(50))
    with pytest.raises(InputError, match=r"^obs must be finite"):
        actor.act(np.full((2, 2), np.nan), None)


def test_parts_are_read_one_by_one_in_lists_and_as_vector_environments_give_them():
    seen = spaces.Dict({"card": spaces.Discrete(3), "coins": spaces.Box(0.0, 9.0, (2,))})
    actor, _ = actor_of(MLP(5, [3, 2], ()), seen, spaces.MultiDiscrete([3, 2], start=[1, 0]))
    obs = [{"card": card, "coins": np.array([card, 1.0])} for card in (0, 2)]
    alone = [actor.act(one, greedy=True).tolist() for one in obs]
    assert actor.act(obs, greedy=True).tolist() == alone
    columns = {"coins": np.array([[0.0, 1.0], [2.0, 1.0]]), "card": np.array([0, 2])}
    assert actor.act(columns, greedy=True).tolist() == alone
    blackjack = spaces.Tuple([spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2)])
    table, theta = actor_of(TabularGibbs(704, 2), blackjack, spaces.Discrete(2))
    best = int(np.argmax(theta.reshape(32, 11, 2, 2)[13, 4, 1]))
    assert table.act((13, 4, 1), greedy=True) == best
    assert table.act((np.array([13]), np.array([4]), np.array([1])), greedy=True).tolist() == [best]
    three = [(13, 4, 1), (20, 10, 0), (5, 1, 0)]
    assert table.act(np.array(three), greedy=True).tolist() == table.act(three, greedy=True).tolist()
    assert actor.act(np.array(obs), greedy=True).tolist() == alone


@pytest.mark.parametrize(
    ("obs", "why"),
    [
        ({"card": 1}, "it has no 'coins'"),
        ({"card": np.array([0, 2]), "coins": np.zeros((3, 2))}, "its parts are of 2 and 3 observations"),
        ({"card": np.array([0, 2]), "coins": np.zeros(2)}, "its parts are of 2 and one observations"),
        (
            ({"card": 1, "coins": np.zeros(2)}, {}),
            r"all that env\.reset\(\) or env\.step\(\) gives: give its first part",
        ),
    ],
)
def test_parts_that_do_not_fit_are_named(obs, why):
    seen = spaces.Dict({"card": spaces.Discrete(3), "coins": spaces.Box(0.0, 9.0, (2,))})
    actor, _ = actor_of(MLP(5, 2, ()), seen, spaces.Discrete(2))
    with pytest.raises(InputError, match=rf"^obs must be of Dict.*; .*{why}"):
        actor.act(obs, None)


def test_text_beside_a_batch_is_not_read():
    seen = spaces.Dict({"card": spaces.Discrete(3)})  # of a run whose environment also shows a mission
    actor, _ = actor_of(TabularGibbs(3, 2), seen, spaces.Discrete(2))
    each = [actor.act({"card": card, "mission": "win"}, greedy=True) for card in range(3)]
    assert actor.act({"card": np.arange(3), "mission": ("win",) * 3}, greedy=True).tolist() == each


def test_what_is_neither_true_nor_false_is_not_greedy():
    run = rg.train("two-roads", "mean", iterations=1, algorithm="score:episodes=20", held_out=0)
    assert run.act(0, greedy=np.True_) == run.act(0, greedy=True)
    evaluate = partial(rg.evaluate, run, episodes=20)
    for call in (partial(run.act, 0), run.player, evaluate):
        with pytest.raises(InputError, match=r"^greedy must be True or False, got 'no'"):
            call(greedy="no")
    with pytest.raises(InputError, match=r"^trust must be True or False, got 'no'"):
        rg.evaluate(dataclasses.replace(run, given_env=None), trust="no")


def test_a_policy_with_memory_is_sent_to_its_player():
    run = rg.train("two-roads", "cvar:0.1", memory="both", iterations=2, algorithm="score:episodes=20")
    with pytest.raises(InputError, match=r"^policy must have no memory for run\.act.*run\.player\(\)"):
        run.act(0)


def test_a_run_keeps_its_spaces_and_a_file_with_others_is_refused(tmp_path):
    env = Spaced(spaces.Discrete(3, start=5), spaces.Discrete(2, start=-1), 7)
    run = rg.train(env, "mean", horizon=3, iterations=2, algorithm="score:episodes=10")
    run.save(tmp_path / "run.rg")
    loaded = rg.load(tmp_path / "run.rg")
    drawn = [loaded.act(7) for _ in range(20)]
    assert drawn == [run.act(7) for _ in range(20)]
    assert set(drawn) == {-1, 0}
    player = loaded.player()
    player.reset()
    assert player.act(7) in (-1, 0)
    with pytest.raises(InputError, match=r"^obs must be one observation"):
        player.act([6, 7])
    arrays, facts = container.read_container(tmp_path / "run.rg")
    facts["settings"]["spaces"]["action"] = {"kind": "Discrete", "n": 0, "start": 0}
    container.write_container(tmp_path / "bad.rg", arrays, facts)
    with pytest.raises(DamagedFileError, match=r"bad\.rg does not say what its environment shows and takes"):
        rg.load(tmp_path / "bad.rg")


def test_a_source_that_says_nothing_asks_for_its_environment():
    with pytest.raises(InputError, match=r"^run must say what its environment shows and takes.*run\.player\(env="):
        Translator.of_facts(None)


def test_it_acts_as_an_evaluation_of_the_likeliest_actions_does():
    """The same returns as `rg.evaluate(..., greedy=True)` on the same starts."""
    run = rg.train(gymnasium.make("CartPole-v1"), "mean", horizon=30, iterations=2, algorithm="score:episodes=10")
    table = rg.evaluate(run, gymnasium.make("CartPole-v1"), "mean", episodes=5, greedy=True)
    player, env, total = run.player(greedy=True), gymnasium.make("CartPole-v1"), 0.0
    obs, _ = env.reset(seed=3)
    player.reset()
    for _ in range(5):
        assert run.act(obs, greedy=True) == player.act(obs)
        obs, reward, *_ = env.step(run.act(obs, greedy=True))
        player.observe(reward)
        total += reward
    assert total == 5.0 <= table["mean"].value
