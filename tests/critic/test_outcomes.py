"""Counts of what followed what: a function of the steps, whatever the hash; they converge to the truth."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.critics import make_random_model, play_block, true_model
from support.memory import with_time

import riskgrad as rg
from riskgrad.critic import outcomes
from riskgrad.critic.log import LogBlock
from riskgrad.critic.outcomes import OutcomeCounts
from riskgrad.mdp.models import inventory
from riskgrad.policy import TabularGibbs

EPISODES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([0.0, -0.0, 0.1, -2.5])), min_size=1),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def block_from(episodes):
    states, actions, rewards = zip(*(step for steps, _ in episodes for step in steps), strict=True)
    return LogBlock(
        lengths=np.array([len(steps) for steps, _ in episodes], dtype=np.int32),
        ended=np.array([ended for _, ended in episodes]),
        states=np.array(states, dtype=np.int32),
        actions=np.array(actions, dtype=np.int32),
        rewards=np.array(rewards),
    )


def count(counts, block, sign=1):
    counts.count(sign, block.offsets, block.ended, block.states, block.actions, block.rewards)


def counted(n_states, n_actions, *blocks, horizon=0):
    counts = OutcomeCounts(n_states, n_actions, horizon)
    for block in blocks:
        count(counts, block)
    return counts


def same_models(one, other):
    for name, array in asdict(one).items():
        np.testing.assert_array_equal(array, getattr(other, name), err_msg=name)


def plainly(block, n_states):
    """Count outcomes in a dictionary: {(state, action): {(reward, next): how often}}."""
    found, cut, place = {}, {}, 0
    for length, ended in zip(block.lengths, block.ended, strict=True):
        for k in range(place, place + length):
            key, last = (int(block.states[k]), int(block.actions[k])), k + 1 == place + length
            after = (n_states if last else int(block.states[k + 1])) if ended or not last else None
            table, after = (cut, n_states) if after is None else (found, after)
            row = table.setdefault(key, {})
            row[float(block.rewards[k]), after] = row.get((float(block.rewards[k]), after), 0) + 1
        place += length
    known = {state for state, _ in found}
    return found | {key: row for key, row in cut.items() if key[0] not in known}


@settings(max_examples=60, deadline=None)
@given(EPISODES)
def test_the_model_is_what_was_counted(episodes):
    block = block_from(episodes)
    model, expected = counted(3, 2, block).model(), plainly(block, 3)
    for pair in range(6):
        row, found = expected.get(divmod(pair, 2), {}), {}
        for k in range(model.groups[pair], model.groups[pair + 1]):
            for o in range(model.firsts[k], model.firsts[k + 1]):
                found[float(model.group_rewards[k]), int(model.nexts[o])] = model.chances[o]
        total = sum(row.values())
        assert model.counts.ravel()[pair] == total
        assert found == pytest.approx({key: met / total for key, met in row.items()})
    np.testing.assert_allclose(model.starts, np.bincount(block.states[block.offsets[:-1]], minlength=3) / len(episodes))


@settings(max_examples=40, deadline=None)
@given(EPISODES, EPISODES)
def test_what_is_taken_back_was_never_there(first, second):
    kept, lost = block_from(first), block_from(second)
    counts = counted(3, 2, lost, kept)
    count(counts, lost, -1)
    same_models(counts.model(), counted(3, 2, kept).model())
    count(counts, lost)
    same_models(counts.model(), counted(3, 2, kept, lost).model())


def test_the_size_of_the_hash_does_not_matter(monkeypatch):
    mdp = inventory()
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    blocks = [play_block(mdp, policy, np.zeros(policy.dim), 50, seed) for seed in range(4)]
    plain = counted(mdp.n_states, mdp.n_actions, *blocks)
    for size in (2, 1 << 16):
        monkeypatch.setattr(outcomes, "SMALLEST", size)
        other = counted(mdp.n_states, mdp.n_actions, *blocks)
        assert len(other._slots) != len(plain._slots) or size == 2
        for name in ("_pairs", "_nexts", "_rewards", "_counts"):  # in the order in which they were met
            np.testing.assert_array_equal(getattr(other, name)[: other._used], getattr(plain, name)[: plain._used])
        same_models(other.model(), plain.model())
    same_models(counted(mdp.n_states, mdp.n_actions, *blocks[::-1]).model(), plain.model())


@pytest.mark.parametrize("seed", [1, 2])
def test_counts_converge_to_the_truth(seed):
    """Steps at the horizon are left out, whether the environment ended there or not; else ends would look likelier."""
    mdp = make_random_model(seed)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    block = play_block(mdp, policy, np.zeros(policy.dim), 20_000)
    found = counted(4, 3, block, horizon=mdp.horizon).model()
    truth = true_model(mdp)
    for name in ("groups", "group_rewards", "firsts", "nexts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(truth, name))
    met = np.repeat(np.repeat(found.counts.ravel(), np.diff(found.groups)), np.diff(found.firsts))
    errors = np.sqrt(truth.chances * (1.0 - truth.chances) / met)
    # 5 standard errors for each of about 35 chances: a false alarm in 50,000
    assert np.all(np.abs(found.chances - truth.chances) <= 5.0 * errors + 1e-12)
    np.testing.assert_allclose(found.starts, truth.starts, atol=5.0 * 0.5 / np.sqrt(20_000))


def test_rewards_of_steps_that_only_the_horizon_ends_are_learned():
    """With time in the state nothing is ever seen to follow the last states, whose rewards count all the same."""
    coin = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 0.0, False)], [(1.0, 0, 1.0, False)]]], start=0, horizon=1)
    model = counted(1, 2, play_block(coin, TabularGibbs(1, 2), np.zeros(2))).model()
    np.testing.assert_array_equal(model.group_rewards, [0.0, 1.0])
    np.testing.assert_array_equal(model.nexts, [1, 1])
    mdp = with_time(inventory(capacity=2, weeks=3, start=1))
    block = play_block(mdp, TabularGibbs(mdp.n_states, 3), np.zeros(3 * mdp.n_states), 5000)
    assert np.all(counted(mdp.n_states, 3, block).model().counts[np.unique(block.states)] > 0.0)
