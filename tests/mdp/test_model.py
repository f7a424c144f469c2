import itertools
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP, checks, outcomes


def arrays(n_states=3, n_actions=2):
    """A chain: action 0 moves on, action 1 stays or moves on; the last state is the end."""
    transition = np.zeros((n_states, n_actions, n_states))
    for s in range(n_states - 1):
        transition[s, 0, s + 1] = 1.0
        transition[s, 1, s] = 0.25
        transition[s, 1, s + 1] = 0.75
    reward = np.where(transition > 0.0, np.arange(n_states)[None, None, :] - 1.5, np.nan)
    return transition, reward


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_arrays_are_stored_sparsely_and_frozen():
    model = FiniteMDP(*arrays(), start=0, terminal=[2], horizon=8, discount=0.95)
    assert (model.n_states, model.n_actions, model.horizon, model.discount) == (3, 2, 8, 0.95)
    assert model.offsets.tolist() == [0, 1, 3, 4, 6, 6, 6]
    assert model.next_states.tolist() == [1, 0, 1, 2, 1, 2]
    assert model.probabilities.tolist() == [1.0, 0.25, 0.75, 1.0, 0.25, 0.75]
    assert model.rewards.tolist() == [-0.5, -1.5, -0.5, 0.5, -0.5, 0.5]
    assert model.ends.tolist() == [False, False, False, True, False, True]
    assert model.start.tolist() == [1.0, 0.0, 0.0]
    assert model.terminal.tolist() == [False, False, True]
    with pytest.raises(ValueError, match="read-only"):
        model.rewards[0] = 9.0
    with pytest.raises(AttributeError):
        model.horizon = 3
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - its own pickle, as worker processes use it
    assert again.rewards.tolist() == model.rewards.tolist()


def test_dense_gives_back_the_arrays():
    transition, reward = arrays()
    back, payoffs = FiniteMDP(transition, reward, start=0, terminal=[2], horizon=8).dense()
    np.testing.assert_array_equal(back, transition)
    np.testing.assert_array_equal(payoffs, np.nan_to_num(reward))


def test_one_transition_may_have_several_rewards_and_equal_outcomes_merge():
    lists = [[[(0.25, 0, -1.0, False), (0.5, 0, -100.0, False), (0.25, 0, -1.0, False)]]]
    model = FiniteMDP.from_outcomes(lists, start=0, horizon=3)
    assert model.rewards.tolist() == [-100.0, -1.0]
    assert model.probabilities.tolist() == [0.5, 0.5]
    assert model.dense()[1].tolist() == [[[-50.5]]]


def test_an_outcome_that_ends_the_episode_may_lead_anywhere():
    lists = {0: {0: [(0.5, 1, 1.0, False), (0.5, 1, 5.0, True)]}, 1: {0: [(1.0, 0, 0.0, False)]}}
    model = FiniteMDP.from_outcomes(lists, start=0, horizon=3)
    assert not model.terminal.any()
    assert model.ends.tolist() == [False, True, False]


def test_states_only_entered_at_the_end_are_terminal():
    lists = [[[(1.0, 1, 1.0, True)]], [[(1.0, 0, 7.0, False)]]]
    model = FiniteMDP.from_outcomes(lists, start=0, horizon=3)
    assert model.terminal.tolist() == [False, True]
    assert model.return_range == (1.0, 1.0)


def test_a_start_may_be_random_and_terminal_a_mask():
    transition, reward = arrays()
    mask = [False, False, True]
    model = FiniteMDP(transition, reward, start=[0.25, 0.75, 0.0], terminal=mask, horizon=2)
    assert model.start.tolist() == [0.25, 0.75, 0.0]
    assert model.terminal.tolist() == mask


def test_single_precision_rows_pass_and_are_normalized():
    transition = np.full((3, 1, 3), np.float32(1.0 / 3.0))
    model = FiniteMDP(transition, np.zeros((3, 1, 3)), start=0, terminal=[], horizon=2)
    np.testing.assert_allclose(np.add.reduceat(model.probabilities, model.offsets[:-1]), 1.0, rtol=0, atol=1e-15)


def test_rows_that_do_not_sum_to_one_name_the_pair_and_the_sum():
    transition, reward = arrays()
    transition[1, 1, 1] = 0.2
    message = refusal(lambda: FiniteMDP(transition, np.nan_to_num(reward), 0, [2], 8))
    assert "(state 1, action 1)" in message
    assert "0.95" in message


def test_a_missing_row_is_refused_where_an_episode_can_come():
    transition, reward = arrays()
    message = refusal(lambda: FiniteMDP(transition, reward, 0, [], 8))
    assert "(state 2, action 0)" in message
    assert "list it in terminal" in message


def test_a_missing_row_is_fine_where_no_episode_can_come():
    transition, reward = arrays(4)
    transition[1] = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    reward = np.zeros_like(transition)
    transition[2, 1] = 0.0
    model = FiniteMDP(transition, reward, 0, [3], 8)
    assert model.terminal.tolist() == [False, False, True, True]
    assert model.reachable.tolist() == [True, True, False, False]


@settings(deadline=None)  # the first search imports SciPy's
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
            st.lists(st.booleans(), min_size=n, max_size=n),
        )
    )
)
def test_few_edges_and_many_are_followed_to_the_same_states(case):
    edges, begins = np.array(sorted(case[0]), dtype=np.int64).reshape(-1, 2), np.array(case[1])
    reached = begins.copy()
    for _ in begins:  # plainly, as often as there are states
        reached[edges[reached[edges[:, 0]], 1]] = True
    ours = [checks._follow(edges[:, 0], edges[:, 1], begins)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "FEW_EDGES", -1)
        ours.append(checks._follow(edges[:, 0], edges[:, 1], begins))
    assert [one.tolist() for one in ours] == [reached.tolist()] * 2


KINDS = (float, int, bool, np.float64, np.float32, np.int8, np.bool_, Decimal, Fraction)


@given(st.lists(st.tuples(*[st.tuples(st.sampled_from(KINDS), st.integers(0, 1)) for _ in range(4)]), min_size=1))
def test_numbers_of_any_kind_are_read_alike(rows):
    flat = [tuple(kind(value) for kind, value in row) for row in rows]
    np.testing.assert_array_equal(outcomes._as_columns(flat), [[value for _, value in row] for row in rows])
    np.testing.assert_array_equal(outcomes._as_columns([list(row) for row in flat]), outcomes._as_columns(flat))


@pytest.mark.parametrize(
    "odd",
    [
        {0.5: 1, 2: 3, 4: 5, 6: 7},
        {1.0, 2.0, 3.0, 4.0},
        (1.0, 0, 1.0),
        (1.0, 0, 1.0, False, 0),
        (1.0, 0, "1", False),
        (1.0, 0, 1j, False),
        (1.0, 0, 10**400, False),
        (1.0, 0, np.ma.masked, False),
        np.ma.array([1.0, 0.0, 1.0, 0.0], mask=[False, False, True, False]),
        (1.0, 0, [1.0], False),
        "1010",
        7,
    ],
)
def test_what_is_no_outcome_is_refused(odd):
    message = refusal(lambda: FiniteMDP.from_outcomes([[[(1.0, 0, 1.0, True), odd]]], 0, horizon=3))
    assert "hold tuples (probability, next state, reward, ends)" in message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"horizon": 0}, "horizon must be an integer of at least 1, got 0"),
        ({"horizon": 2.5}, "horizon must be an integer"),
        ({"horizon": True}, "horizon must be an integer"),
        ({"discount": 0.0}, "discount must be in (0, 1], got 0.0"),
        ({"discount": 1.5}, "discount must be in (0, 1], got 1.5"),
        ({"discount": float("nan")}, "discount must be in (0, 1], got nan"),
        ({"start": 3}, "start must be a state in 0..2"),
        ({"start": -1}, "start must be a state in 0..2"),
        ({"start": 0.5}, "start must be a state in 0..2"),
        ({"start": 2}, "start must not be a terminal state, got 2"),
        ({"start": [0.5, 0.25, 0.25]}, "start must not be a terminal state, got 2"),
        ({"start": [0.5, 0.4, 0.0]}, "start must sum to 1, got 0.9"),
        ({"start": [1.5, -0.5, 0.0]}, "start must not be negative"),
        ({"start": [0.5, 0.5]}, "start must be a state, or a distribution of shape (3,)"),
        ({"terminal": [7]}, "terminal must hold states in 0..2, got 7"),
        ({"terminal": [True]}, "terminal must be a mask of shape (3,)"),
        ({"terminal": [0.5]}, "terminal must hold states"),
        ({"transition": np.ones((3, 2))}, "transition must have shape [S, A, S], got shape (3, 2)"),
        ({"reward": np.ones((3, 2))}, "repeat a reward [S, A]"),
        ({"reward": np.ones((2, 2, 3))}, "reward must have the shape of transition"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(change, words):
    transition, reward = arrays()
    good = {"transition": transition, "reward": reward, "start": 0, "terminal": [2], "horizon": 8, "discount": 0.9}
    assert words in refusal(lambda: FiniteMDP(**(good | change)))


def test_bad_entries_name_where_they_are():
    transition, reward = arrays()
    below = transition.copy()
    below[0, 1] = [1.25, -0.25, 0.0]
    assert "(state 0, action 1) to state 1 must be at least 0, got -0.25" in refusal(
        lambda: FiniteMDP(below, np.zeros_like(reward), 0, [2], 8)
    )
    endless = reward.copy()
    endless[1, 1, 2] = np.inf
    assert "reward of (state 1, action 1) to state 2 must be finite, got inf" in refusal(
        lambda: FiniteMDP(transition, endless, 0, [2], 8)
    )


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([], "outcomes must not be empty"),
        ([[[(1.0, 0, 0.0)]]], "hold tuples (probability, next state, reward, ends), got (1.0, 0, 0.0)"),
        ([[["no"]]], "hold tuples"),
        ([[[]]], "no outcome at all"),
        ([[[(1.0, 5, 0.0, False)]]], "next state of (state 0, action 0) must be in 0..0, got 5.0"),
        ([[[(1.0, 0.5, 0.0, False)]]], "next state of (state 0, action 0) must be in 0..0, got 0.5"),
        ([[[(1.0, 0, 0.0, False)]], []], "outcomes[1] must not be empty"),
        ([[[(1.0, 0, 0.0, False)]] * 2, [[(1.0, 0, 0.0, False)]]], "outcomes[1] must have 2 actions"),
        ({1: {0: [(1.0, 0, 0.0, False)]}}, "outcomes must have the keys 0..0"),
        ([[[(0.5, 0, 0.0, False)]]], "probabilities of (state 0, action 0) must sum to 1, got 0.5"),
    ],
)
def test_bad_outcomes_are_refused_in_one_line(lists, words):
    assert words in refusal(lambda: FiniteMDP.from_outcomes(lists, start=0, horizon=2))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), horizon=st.integers(1, 4), discount=st.sampled_from([1.0, 0.5, 0.9]))
def test_return_range_is_that_of_all_episodes(seed, horizon, discount):
    rng = np.random.default_rng(seed)
    transition = rng.multinomial(4, [0.4, 0.3, 0.3], size=(3, 2)) / 4.0
    model = FiniteMDP(transition, rng.integers(-5, 6, (3, 2, 3)), [0.5, 0.5, 0.0], [2], horizon, discount)

    def futures(state, steps):
        if steps == 0:
            return [0.0]
        rows = range(model.offsets[state * 2], model.offsets[state * 2 + 2])
        return [
            model.rewards[k] + discount * rest
            for k in rows
            for rest in ([0.0] if model.ends[k] else futures(model.next_states[k], steps - 1))
        ]

    returns = list(itertools.chain(futures(0, horizon), futures(1, horizon)))
    np.testing.assert_allclose(model.return_range, (min(returns), max(returns)), rtol=1e-14, atol=1e-14)


def test_a_model_of_the_size_of_an_intensive_care_unit_is_built_quickly():
    rng = np.random.default_rng(0)
    transition = np.zeros((716, 25, 716))
    for s in range(714):
        targets = rng.choice(716, size=(25, 12))
        for a in range(25):
            transition[s, a, targets[a]] = 1.0
    transition[:714] /= np.maximum(transition[:714].sum(axis=2, keepdims=True), 1.0)
    reward = np.zeros_like(transition)
    reward[:, :, 714], reward[:, :, 715] = 1.0, -1.0
    model = FiniteMDP(transition, reward, start=0, terminal=[714, 715], horizon=20, discount=0.99)
    assert len(model.rewards) == np.count_nonzero(transition[:714])
    assert model.return_range[0] < 0.0 < model.return_range[1]
