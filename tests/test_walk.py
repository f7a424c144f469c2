"""Everyday calls walk through few files, and change folder seldom: what a reader follows stays together.

A walk is the functions of riskgrad in the order of their first visit. A change of folder is counted between two that
follow one another; files at the root and compiled code count as no folder. A fresh process walks, so that what is
imported on the way counts in the same place each time.
"""

import json
import subprocess
import sys
from textwrap import dedent

import pytest

WALK = """
    import json, os, sys, tempfile
    import numpy as np
    import riskgrad as rg
    from riskgrad.cli import main

    ROOT = os.path.dirname(rg.__file__)

    def walk(call):
        seen = {}

        def note(frame, event, _):
            file, name = frame.f_code.co_filename, frame.f_code.co_qualname
            if event == "call" and file.startswith(ROOT) and "<" not in frame.f_code.co_name:
                seen.setdefault((os.path.relpath(file, ROOT), name))

        sys.setprofile(note)
        try:
            call()
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
        parts = [file.split(os.sep) for file, _ in seen]
        folders = [part[0] for part in parts if len(part) > 1 and part[0] != "kernels"]
        changes = sum(a != b for a, b in zip(folders, folders[1:]))
        return len({file for file, _ in seen}), changes

    def train(env, **options):
        return rg.train(env, "cvar:0.1", **{"algorithm": "score", "iterations": 2, **options})

    roads = rg.mdp.two_roads()
    run = train(roads)
    found = {"train": walk(lambda: train(roads))}
    found["evaluate"] = walk(lambda: rg.evaluate(run, roads, risk=["mean", "cvar:0.1"], episodes=500))
    found["compiled"] = walk(lambda: train("CartPole-v1"))
    found["processes"] = walk(lambda: train("Pendulum-v1", iterations=1, backend="processes:2"))
    rng, steps = np.random.default_rng(0), 2_000
    columns = {
        "episode_id": np.repeat(np.arange(steps // 2), 2),
        "t": np.tile([0, 1], steps // 2),
        "action": rng.integers(0, roads.n_actions, steps),
        "reward": rng.normal(size=steps),
        "state": np.tile([0, 1], steps // 2),
        "behavior_prob": np.full(steps, 1.0 / roads.n_actions),
    }
    log = rg.LoggedEpisodes.from_arrays(**columns, n_actions=roads.n_actions)
    policy = rg.policy.TabularGibbs(roads.n_states, roads.n_actions)
    found["log"] = walk(lambda: train(log, policy=policy, algorithm="offp-sf"))
    with tempfile.TemporaryDirectory() as place:
        train("two-roads", folder=os.path.join(place, "run"))
        page = ["--episodes", "200", "--out", os.path.join(place, "page.html")]
        sys.argv = ["riskgrad", "report", os.path.join(place, "run"), *page]
        found["report"] = walk(main)
    print(json.dumps(found))
"""

MOST_CHANGES = {"train": 40, "evaluate": 18, "compiled": 49, "processes": 48, "log": 30, "report": 47}
MOST_FILES = 40  # of a training on a finite model


@pytest.fixture(scope="module")
def walks():
    done = subprocess.run([sys.executable, "-c", dedent(WALK)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("call", MOST_CHANGES)
def test_a_call_changes_folder_seldom(walks, call):
    assert walks[call][1] <= MOST_CHANGES[call]


def test_a_training_visits_few_files(walks):
    assert walks["train"][0] <= MOST_FILES
