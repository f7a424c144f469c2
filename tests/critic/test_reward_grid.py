"""Rewards from a continuum are counted on a grid that keeps their mean, in bounded memory."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.critic.log import LogBlock, StepLog, read_blocks
from riskgrad.critic.reward_grid import MOST_REWARDS, make_grid
from riskgrad.run.store import LOG

LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.normal(size=n)),
    "far from zero": lambda rng, n: 1e3 + rng.random(n),
}


def make_block(rewards):
    """Give episodes of two steps, from state 0 by either action to state 1."""
    episodes = len(rewards) // 2
    return LogBlock(
        lengths=np.full(episodes, 2, dtype=np.int32),
        ended=np.ones(episodes, dtype=bool),
        states=np.tile(np.array([0, 1], dtype=np.int32), episodes),
        actions=(np.arange(len(rewards)) // 2 % 2).astype(np.int32),
        rewards=rewards,
    )


def mean_rewards(model):
    """Give the mean reward of each state and action [S * A] in a model."""
    groups = np.add.reduceat(model.chances, model.firsts[:-1]) * model.group_rewards
    return np.add.reduceat(groups, model.groups[:-1])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(LAWS)))
def test_the_mean_is_kept(seed, law):
    rewards = LAWS[law](np.random.default_rng(seed), 5000)
    grid = make_grid(rewards)
    low, high, share = grid.split(rewards)
    scale = np.max(np.abs(rewards))
    assert 2 <= len(grid.values) <= MOST_REWARDS
    assert np.all((share >= 0.0) & (share <= 1.0))
    np.testing.assert_allclose((1.0 - share) * low + share * high, rewards, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize("law", LAWS)
def test_a_model_of_very_many_rewards_is_small_and_has_their_means(law):
    rng, log = np.random.default_rng(1), StepLog(2, 2, horizon=5)
    blocks = [make_block(LAWS[law](rng, 2000)) for _ in range(30)]
    for block in blocks:
        log.append(block)
    model = log.counts.model()
    assert np.all(np.diff(model.groups) <= MOST_REWARDS)
    assert len(model.nexts) <= 4 * MOST_REWARDS
    columns = [np.concatenate([getattr(b, name) for b in blocks]) for name in ("states", "actions", "rewards")]
    met = [columns[2][(columns[0] == s) & (columns[1] == a)] for s in (0, 1) for a in (0, 1)]
    scale = np.max(np.abs(columns[2]))
    np.testing.assert_allclose(mean_rewards(model), [np.mean(r) for r in met], rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(model.counts.ravel(), [len(r) for r in met], rtol=1e-12)


def test_it_is_a_function_of_the_log():
    blocks = [make_block(LAWS["normal"](np.random.default_rng(k), 1500)) for k in range(8)]
    once, back = StepLog(2, 2), StepLog(2, 2)
    for block in blocks[:5]:
        once.append(block)
    for block in blocks:
        back.append(block)
    back.cut(5)
    for name, array in vars(once.counts.model()).items():
        np.testing.assert_array_equal(array, getattr(back.counts.model(), name), err_msg=name)


def test_what_is_forgotten_leaves_no_outcome():
    blocks = [make_block(LAWS["normal"](np.random.default_rng(k), 4000)) for k in range(9)]
    log = StepLog(2, 2, cap=3 * blocks[0].size)
    for block in blocks:
        log.append(block)
    kept = np.concatenate([block.rewards for block in log.blocks])
    assert len(log.blocks) == 3
    model = log.counts.model()
    np.testing.assert_allclose(np.sum(model.counts), len(kept), rtol=1e-12)
    np.testing.assert_allclose(
        np.sum(model.counts.ravel() * mean_rewards(model)) / len(kept), np.mean(kept), atol=1e-12
    )
    assert np.min(model.chances) > 1e-9


class Noisy(gymnasium.Env):
    """Three steps with rewards from a continuum; the first action earns more on average, and less in its tail."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        reward = self.np_random.normal(1.0, 3.0) if action == 0 else self.np_random.normal(0.0, 0.1)
        return self.steps % 2, float(reward), self.steps == 3, False, {}


@pytest.mark.parametrize(("risk", "action"), [("mean", 0), ("cvar:0.1", 1)])
def test_an_environment_with_rewards_from_a_continuum_is_trained_in_bounded_memory(tmp_path, risk, action):
    run = rg.train(Noisy, risk, algorithm="critic", horizon=3, max_episodes=4000, folder=tmp_path)
    log = StepLog(2, 2, horizon=3)
    for block in read_blocks((tmp_path / LOG).read_bytes(), LOG):
        log.append(block)
    steps = sum(len(block.states) for block in log.blocks)
    assert len(log.counts.model().group_rewards) <= 4 * MOST_REWARDS < steps
    assert np.all(run.policy.probabilities(run.theta, np.arange(2))[:, action] > 0.9)
