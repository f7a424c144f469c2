"""A race of ascents: who is replaced by what was climbed again, and where threads come from."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.kernels import compile as compiling
from riskgrad.mdp.models import two_roads
from riskgrad.training import race
from riskgrad.training.race import NO_PATH, Race

OPTIONS = {"algorithm": rg.Critic(episodes=24), "iterations": 10, "held_out": 0, "seed": 2}


@pytest.mark.parametrize("without", [True, False])
def test_what_was_climbed_again_takes_the_place_of_the_ascent_without_a_path_or_of_the_last(monkeypatch, without):
    found, restart = [], Race.restart

    def watch(self):
        if without:
            self.arms = {name: arm for name, arm in self.arms.items() if name != NO_PATH}
        before = dict(self.arms)
        restart(self)
        changed = [name for name, arm in self.arms.items() if arm is not before[name]]
        if changed:
            found.append((list(before), changed))

    special = np.full(two_roads().n_states * 2, 0.125)
    monkeypatch.setattr(Race, "restart", watch)
    monkeypatch.setattr(Race, "_climb_alone", lambda *_: special)
    monkeypatch.setattr(race, "FINALISTS", 3)
    risk = Race._risk_in_model
    monkeypatch.setattr(
        Race, "_risk_in_model", lambda self, sweeper, theta: np.inf if theta is special else risk(self, sweeper, theta)
    )
    rg.train(two_roads(), "cvar:0.1", **OPTIONS)
    assert found
    for names, changed in found:
        assert changed == [names[-1] if without else NO_PATH]
        assert len(names) > 1


def test_what_is_climbed_again_is_taken_only_if_it_is_better(monkeypatch):
    arms, restart = [], Race.restart

    def watch(self):
        before = dict(self.arms)
        restart(self)
        arms.append(all(arm is before[name] for name, arm in self.arms.items()))

    monkeypatch.setattr(Race, "restart", watch)
    worst = np.tile([60.0, -60.0], two_roads().n_states)  # always the pass: the worst tail
    monkeypatch.setattr(Race, "_climb_alone", lambda *_: worst)
    rg.train(two_roads(), "cvar:0.1", **OPTIONS, entropy=0.0)
    assert arms == [True] * OPTIONS["iterations"]


@pytest.mark.parametrize("threads", [1, 2])
def test_sweeps_use_the_threads_that_were_given(monkeypatch, threads):
    asked = []

    def watch(work, items, count):
        asked.append(count)
        return compiling.in_threads(work, items, 1)

    monkeypatch.setattr(race, "in_threads", watch)
    monkeypatch.setattr(race, "WORTH_THREADS", 0)
    rg.train(two_roads(), "cvar:0.1", **{**OPTIONS, "iterations": 2}, threads=threads)
    assert set(asked) == {threads}


def test_a_model_with_a_single_return_has_a_mean_minus_variance():
    """Every episode returns 1: a sample of one return has no variance, while this law has the variance 0."""
    next_state, reward = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    next_state[:, :, 1], reward[0, :, 1] = 1.0, 1.0
    certain = rg.mdp.FiniteMDP(next_state, reward, start=0, terminal=[1], horizon=3)
    run = rg.train(certain, "mean-variance:0.5", algorithm="critic", iterations=3, seed=0)
    assert run.finished
    assert run.history[-1]["risk"] == 1.0
