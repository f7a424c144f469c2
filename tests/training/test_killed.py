"""A run that is killed with SIGKILL at random moments, ten times, ends bit-identical to one that was not."""

import multiprocessing
import time

import numpy as np
from support.training import train_plainly

import riskgrad as rg
from riskgrad.run.store import HISTORY

ITERATIONS = 250
KILLS = 10
OPTIONS = {
    "iterations": ITERATIONS,
    "episodes": 60,
    "held_out": 50,
    "seed": 5,
    "risk_path": 0.5,
    "entropy": 0.1,
    "steps_per_batch": 2,
    "checkpoint_seconds": 0.004,
}


def lines(folder):
    path = folder / HISTORY
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed_ten_times_and_resumed_ends_as_if_never_killed(tmp_path):
    # a server that has imported riskgrad forks the processes, so that each begins at once
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["riskgrad.algorithms"])
    mdp, folder, moments = rg.mdp.two_roads(), tmp_path / "killed", np.random.default_rng(8)
    problem = (
        rg.sources.TabularSource(mdp, threads=1),
        rg.policy.TabularGibbs(mdp.n_states, mdp.n_actions),
        "cvar:0.1",
    )
    for _ in range(KILLS):
        process = context.Process(
            target=train_plainly, args=(rg.OffPSF, *problem), kwargs={**OPTIONS, "resume": folder}
        )
        before = lines(folder)
        process.start()
        wanted = before + moments.integers(1, 11)
        while process.is_alive() and lines(folder) < wanted:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.01))
        assert process.is_alive(), "the run ended before it could be killed"
        process.kill()
        process.join()
    killed = train_plainly(rg.OffPSF, *problem, **OPTIONS, resume=folder)
    never = train_plainly(rg.OffPSF, *problem, **OPTIONS, folder=tmp_path / "whole")
    assert killed.finished
    assert len(never.history) == ITERATIONS
    assert (folder / HISTORY).read_bytes() == (tmp_path / "whole" / HISTORY).read_bytes()
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(killed, name), getattr(never, name))
    assert killed.episodes_used == never.episodes_used
