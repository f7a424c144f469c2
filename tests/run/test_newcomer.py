"""What a newcomer writes: train, plot, act in the real environment, save, load in another process, act.

For a tabular, a compiled, a Gymnasium discrete and a Gymnasium continuous environment; the model in ONNX says the same.
"""

import importlib
import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import riskgrad as rg

SMALL = {"algorithm": "score:episodes=20", "iterations": 3, "seed": 0}
ENVIRONMENTS = {
    "tabular": ("FrozenLake-v1", {"horizon": 30}),
    "compiled": ("CartPole-v1", {"horizon": 30}),
    "discrete": ("Acrobot-v1", {"horizon": 10, "backend": "serial"}),
    "continuous": ("Pendulum-v1", {"horizon": 10, "normalize": True, "backend": "serial"}),
}
LATER = """
import json, sys
import numpy as np, riskgrad as rg
for path, seen in json.load(sys.stdin):
    run = rg.load(path)
    print(json.dumps([np.asarray(run.act(seen[0])).tolist(), run.act(seen, greedy=True).tolist()]))
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of each kind, its file, and what was seen while it acted."""
    folder, found = tmp_path_factory.mktemp("runs"), {}
    for kind, (name, options) in ENVIRONMENTS.items():
        given = gymnasium.make(name) if kind == "discrete" else name  # by its id it would be compiled
        run = rg.train(given, "cvar:0.2", **SMALL, **options)
        run.plot(folder / f"{kind}.svg")
        env, seen = gymnasium.make(name), []
        obs, _ = env.reset(seed=1)
        for _ in range(8):
            action = run.act(obs)
            assert env.action_space.contains(action)
            seen.append(obs)
            obs, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                obs, _ = env.reset()
        run.save(folder / f"{kind}.rg")
        found[kind] = (run, folder / f"{kind}.rg", np.array(seen))
    return found


def test_another_process_acts_alike(trained):
    asked = json.dumps([[str(path), seen.tolist()] for _, path, seen in trained.values()])
    done = subprocess.run([sys.executable, "-c", LATER], input=asked, capture_output=True, text=True, check=True)
    for line, (run, path, seen) in zip(done.stdout.splitlines(), trained.values(), strict=True):
        drawn, together = json.loads(line)
        assert together == run.act(seen, greedy=True).tolist()
        assert drawn == np.asarray(rg.load(path).act(seen[0])).tolist(), "a run that was just loaded draws the same"
        assert (path.parent / f"{path.stem}.svg").exists()


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_the_model_says_what_the_run_says(trained, kind):
    pytest.importorskip("onnx")
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    run, path, seen = trained[kind]
    model = evaluator(str(run.export(path.with_suffix(".onnx"))))
    given = seen if kind == "tabular" else seen.astype(np.float64)
    found = dict(zip(model.output_names, model.run(None, {"observation": given}), strict=True))
    if kind == "continuous":
        normal = run.policy.inner
        assert found["mean"] == pytest.approx(normal.mean(run.theta, run.policy.rescale(given)), abs=1e-6)
        assert found["spread"] == pytest.approx(normal.std(run.theta), abs=1e-6)
    else:
        assert found["probabilities"] == pytest.approx(run.policy.probabilities(run.theta, given), abs=1e-6)
    assert found["action"] == pytest.approx(run.act(seen, greedy=True), abs=1e-6)
