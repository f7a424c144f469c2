"""Exported files say what the policy says: by onnx's reference evaluator, and by the reader of the docs."""

import ast
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from support.environments import Spaced

import riskgrad as rg
from riskgrad.descriptions import read_space
from riskgrad.errors import InputError
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    Gibbs,
    Greedy,
    LinearGibbs,
    LinearSoftmax,
    Normalized,
    ObservationStatistics,
    SharedTable,
    TabularGibbs,
)
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.run.export import export_policy
from riskgrad.run.translation import Translator
from riskgrad.types import Numbers, States, Vectors

SHORT: dict[str, Any] = {"horizon": 2, "iterations": 1, "algorithm": "score:episodes=10", "held_out": 0}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use.md"
SEEN = ObservationStatistics(50.0, np.array([1.0, -2.0, 0.5]), np.array([200.0, 3.0, 50.0]))
FEATURES = np.random.default_rng(2).normal(size=(5, 3, 4))
CELLS = Memory("both", States(5), 6, 0.5, edges=(-10.0, 0.0, 7.0))
BUMPS = Memory("both", Vectors(3), 6, 0.5, center=-3.0, spread=5.0, bumps=True)
POLICIES = {
    "table": (TabularGibbs(5, 3), States(5)),
    "features": (LinearGibbs(FEATURES), States(5)),
    "network of states": (MLP(5, 3, (4,)), States(5)),
    "numbers of states": (Gaussian(5, [-1.0], [3.0], (4,)), States(5)),
    "linear": (LinearSoftmax(3, 4), Vectors(3)),
    "network": (MLP(3, 4, (5, 4), "relu"), Vectors(3)),
    "components": (MLP(3, [2, 3], (5,)), Vectors(3)),
    "normalized": (Normalized(MLP(3, 2, (5,)), SEEN, 1.5), Vectors(3)),
    "likeliest": (Greedy(Normalized(MLP(3, 4, (5,)), SEEN)), Vectors(3)),
    "numbers": (Normalized(Gaussian(3, [-2.0, -np.inf], [2.0, 1.0], (4,)), SEEN), Vectors(3)),
    "squashed": (Gaussian(3, [-2.0, 0.0], [2.0, 1.0], squashed=True), Vectors(3)),
    "function": (Deterministic(3, low=[-2.0], high=[2.0], hidden=(4,)), Vectors(3)),
    "largest": (Deterministic(3, 4), Vectors(3)),
    "table with memory": (with_memory(TabularGibbs(5, 3), CELLS), States(5)),
    "shared table with memory": (with_memory(SharedTable(5, 3), CELLS), States(5)),
    "time alone": (with_memory(TabularGibbs(5, 3), Memory("time", States(5), 90, 1.0)), States(5)),
    "network with memory": (with_memory(MLP(3, 2, (4,)), BUMPS), Vectors(3)),
    "numbers with memory": (with_memory(Gaussian(3, [-2.0], [2.0]), BUMPS), Vectors(3)),
    "return alone": (with_memory(MLP(3, 2, (4,)), Memory("return", Vectors(3), 6, 0.5)), Vectors(3)),
}
CASES = pytest.mark.parametrize(("policy", "gives"), POLICIES.values(), ids=POLICIES.keys())


def reader():
    """The functions that the page shows."""
    found: dict[str, Any] = {"np": np}
    for block in PAGE.read_text().split("```python\n")[1:]:
        for node in ast.parse(block.split("```")[0]).body:
            if isinstance(node, ast.FunctionDef):
                exec(compile(ast.Module([node], []), str(PAGE), "exec"), found)  # noqa: S102 - the docs are ours
    return found["read_policy"], found["see"]


def asked(policy, gives):
    """A theta, some observations with times and returns, and what the policy sees of them."""
    rng = np.random.default_rng(3)
    theta = rng.normal(size=policy.dim)
    obs = rng.integers(5, size=12) if isinstance(gives, States) else 2.0 * rng.normal(size=(12, 3))
    times, returns = rng.integers(8, size=12), 8.0 * rng.normal(size=12)
    seen = obs if policy.memory is None else policy.memory.extend(obs, times, returns)
    return theta, obs, times, returns, seen


def said(policy, theta, seen):
    """What the policy says: probabilities, or means; and the likeliest actions as they are executed."""
    core = policy
    while core.inner is not None:
        core = core.inner
    rows = np.zeros(len(seen), dtype=np.int64)
    raw = policy.act(theta[None], rows, seen, None)
    if not isinstance(policy.acts, Numbers):
        return policy.probabilities(theta, seen), policy.execute(raw)
    return raw, policy.execute(raw)


def write(policy, theta, gives, path):
    acts = policy.acts
    return export_policy(policy, theta, Translator(read_space(gives.description), read_space(acts.description)), path)


@CASES
def test_the_model_says_what_the_policy_says(policy, gives, tmp_path):
    pytest.importorskip("onnx")
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    theta, obs, times, returns, seen = asked(policy, gives)
    expected, executed = said(policy, theta, seen)
    model = evaluator(str(write(policy, theta, gives, tmp_path / "policy.onnx")))
    given = {"observation": obs} | ({} if policy.memory is None else {"time": times, "return": returns})
    found = dict(zip(model.output_names, model.run(None, given), strict=True))
    assert found["action"] == pytest.approx(executed, abs=1e-12)
    first = found["mean"] if "mean" in found else found["probabilities"]
    assert first == pytest.approx(expected, abs=1e-12)
    if "mean" in found:
        core = policy if policy.inner is None else policy.inner
        spread = core.std(theta) if policy.has_density else np.zeros(policy.acts.size)
        assert found["spread"] == pytest.approx(spread, abs=1e-12)


@CASES
def test_the_reader_of_the_docs_reads_the_arrays(policy, gives, tmp_path):
    read_policy, see = reader()
    theta, obs, times, returns, seen = asked(policy, gives)
    expected, executed = said(policy, theta, seen)
    f, answer = read_policy(write(policy, theta, gives, tmp_path / "policy.npz"))
    for place in range(len(obs)):
        one = obs[place]
        shown = one if policy.memory is None else see(f, one, times[place], returns[place])
        found = answer(shown)
        if "spread" in f:
            bent = np.tanh(found) if f["squashed"] else found
            assert np.clip(f["center"] + f["half"] * bent, f["low"], f["high"]) == pytest.approx(executed[place])
        if f["sure"] and "spread" not in f:
            assert np.argmax(found) + f["first_action"][0] == executed[place]
        else:
            assert found == pytest.approx(expected[place], abs=1e-12)


def test_the_reader_has_ten_lines():
    text = PAGE.read_text()
    body = text[text.index("def read_policy") : text.index("    return f, answer")]
    assert len([line for line in body.splitlines()[1:] if line.strip()]) <= 11


def test_states_and_choices_count_as_their_environment_does(tmp_path):
    from gymnasium import spaces  # noqa: PLC0415

    policy, theta = TabularGibbs(3, 2), np.array([0.0, 1.0, 2.0, 0.0, 0.0, 3.0])
    between = Translator(spaces.Discrete(3, start=4), spaces.Discrete(2, start=-1))
    read_policy, _ = reader()
    f, answer = read_policy(export_policy(policy, theta, between, tmp_path / "p.npz"))
    assert [int(np.argmax(answer(s)) + f["first_action"][0]) for s in (4, 5, 6)] == [0, -1, 0]
    pytest.importorskip("onnx")
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    model = evaluator(str(export_policy(policy, theta, between, tmp_path / "p.onnx")))
    assert model.run(["action"], {"observation": np.array([4, 5, 6])})[0].tolist() == [0, -1, 0]


def test_what_cannot_be_exported_is_refused_in_one_line(tmp_path, monkeypatch):
    run = rg.train("two-roads", "mean", algorithm="score:episodes=10", iterations=1)
    with pytest.raises(InputError, match=r"^path must end in \.npz or \.onnx"):
        run.export(tmp_path / "policy.pt")
    own = Gibbs(lambda theta, obs: theta * obs[0], 2, example=np.zeros(2))
    with pytest.raises(InputError, match=r"^policy must be a table or a network to be exported"):
        write(own, np.zeros(2), Vectors(2), tmp_path / "p.npz")
    real = importlib.import_module

    def missing(name, *more):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'riskgrad\[onnx\]'"):
        run.export(tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


def test_choices_of_parts_begin_where_their_spaces_do(tmp_path):
    parts = {"a": spaces.Discrete(3, start=2), "b": spaces.MultiDiscrete([2, 2], start=[5, -1])}
    taken = spaces.Dict({**parts, "c": spaces.MultiBinary(2)})
    run = rg.train(Spaced(spaces.Box(-1.0, 1.0, (2,)), taken, np.ones(2, dtype=np.float32)), "mean", **SHORT)
    assert np.load(run.export(tmp_path / "policy.npz"))["first_action"].tolist() == [2, 5, -1, 0, 0]
    pytest.importorskip("onnx")
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    seen = np.array([[0.3, -0.4]])
    found = evaluator(str(run.export(tmp_path / "policy.onnx"))).run(["action"], {"observation": seen})[0]
    action = run.act(seen[0], greedy=True)
    assert found[0].tolist() == [action["a"], *action["b"], *action["c"]]
