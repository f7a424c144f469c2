"""Critics that know the truth, and every episode of a small model, for tests of the critic."""

import numpy as np

import riskgrad as rg
from riskgrad.critic.graph import Sweeper, ValueGraph
from riskgrad.critic.log import LogBlock
from riskgrad.critic.outcomes import OutcomeModel
from riskgrad.mdp import FiniteMDP
from riskgrad.random import Purpose, Stream
from riskgrad.training.race import block_of
from riskgrad.types import Steps

MANY = 1e14  # how often each action was met: no doubt is left


def true_model(mdp: FiniteMDP) -> OutcomeModel:
    """Give the model that endless counting would make of a finite model."""
    pairs = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    nexts = np.where(mdp.ends, mdp.n_states, mdp.next_states)
    order = np.lexsort((nexts, mdp.rewards, pairs))
    pairs, nexts, rewards = pairs[order], nexts[order], mdp.rewards[order] + 0.0
    new = np.concatenate([[True], (np.diff(pairs) != 0) | (np.diff(rewards) != 0.0)])
    groups = np.zeros(mdp.n_states * mdp.n_actions + 1, dtype=np.int64)
    groups[1:] = np.cumsum(np.bincount(pairs[new], minlength=len(groups) - 1))
    met = np.diff(mdp.offsets).reshape(mdp.n_states, mdp.n_actions) > 0
    return OutcomeModel(
        groups=groups,
        group_rewards=rewards[new],
        firsts=np.append(np.flatnonzero(new), len(pairs)),
        nexts=nexts,
        chances=mdp.probabilities[order],
        starts=mdp.start.copy(),
        counts=np.where(met, MANY, 0.0),
    )


def play_block(mdp: FiniteMDP, policy, theta, episodes=200, seed=0) -> LogBlock:
    """Give a batch of a policy as the log keeps it."""
    return block_of(play_steps(mdp, policy, theta, episodes, seed), policy.memory)


def play_steps(mdp: FiniteMDP, policy, theta, episodes=200, seed=0) -> Steps:
    """Give a batch of a policy as it saw it."""
    source = rg.sources.TabularSource(mdp, threads=1)
    return source.record_steps(policy, theta, episodes, Stream(seed, Purpose.TRAINING, 0))


def true_graph(mdp: FiniteMDP, policy, theta, straight=False) -> ValueGraph:
    """Give the graph of the true model, with the knots that a batch of the policy asks for."""
    recent = [play_block(mdp, policy, theta)]
    return ValueGraph(true_model(mdp), mdp.horizon, mdp.discount, recent, straight, policy)


def law_in(graph: ValueGraph, policy, theta) -> tuple[np.ndarray, np.ndarray]:
    """Give the final knots that have a chance under a policy, and the chances."""
    law = Sweeper(graph).law(policy.probabilities(theta, np.arange(len(graph.known))))
    return graph.ends[law > 0.0], law[law > 0.0]


def enumerate_episodes(mdp: FiniteMDP, table) -> list[tuple[float, float, list[tuple[int, int, float]], bool]]:
    """Give (chance, return, [(state, action, reward), ...], ended) of every episode under chances of actions [S, A]."""
    found = []

    def walk(state, t, chance, total, steps):
        for action in range(mdp.n_actions):
            row = state * mdp.n_actions + action
            for k in range(mdp.offsets[row], mdp.offsets[row + 1]):
                mass = chance * table[state, action] * mdp.probabilities[k]
                value = total + mdp.discount**t * mdp.rewards[k]
                seen = [*steps, (state, action, float(mdp.rewards[k]))]
                if mdp.ends[k] or t + 1 == mdp.horizon:
                    found.append((mass, value, seen, bool(mdp.ends[k])))
                else:
                    walk(int(mdp.next_states[k]), t + 1, mass, value, seen)

    for state in np.flatnonzero(mdp.start):
        walk(int(state), 0, float(mdp.start[state]), 0.0, [])
    return found


def steps_of(episodes: list[tuple[float, list[tuple[int, int, float]], bool]]) -> Steps:
    """Give episodes (return, steps, ended) as a batch."""
    lengths = [len(steps) for _, steps, _ in episodes]
    states, actions, rewards = zip(*(step for _, steps, _ in episodes for step in steps), strict=True)
    return Steps(
        values=np.array([value for value, _, _ in episodes]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        ended=np.array([ended for _, _, ended in episodes]),
        observations=np.array(states),
        actions=np.array(actions),
        rewards=np.array(rewards),
    )


def make_random_model(seed: int, discount=1.0, horizon=4, n_states=4, n_actions=3, unit=0.5) -> FiniteMDP:
    """Give a small model with random outcomes, some of which end the episode, and a random start."""
    rng = np.random.default_rng(seed)

    def row():
        chances = rng.dirichlet(np.ones(3))
        return [
            (chance, int(rng.integers(n_states)), unit * float(rng.integers(-3, 4)), bool(rng.random() < 0.2))
            for chance in chances
        ]

    outcomes = [[row() for _ in range(n_actions)] for _ in range(n_states)]
    start = rng.dirichlet(np.ones(n_states))
    return FiniteMDP.from_outcomes(outcomes, start, horizon=horizon, discount=discount)
