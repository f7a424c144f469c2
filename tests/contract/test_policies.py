"""Every policy passes the contract that users run on their own; a broken one does not; nothing is left unexported."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from riskgrad import policy as policies
from riskgrad.errors import ContractError
from riskgrad.policy import Policy
from riskgrad.testing import check_policy

RNG = np.random.default_rng(8)
VECTORS = RNG.normal(size=(5, 3))
STATES = np.array([0, 2, 1, 1])
FEATURES = RNG.normal(size=(4, 3, 2))


def preference(theta, observation):
    return np.tanh(theta[:3] * observation[0] + theta[3] * observation[1:].sum() * np.arange(3))


CASES = {
    "TabularGibbs": (policies.TabularGibbs(3, 4), STATES),
    "LinearGibbs": (policies.LinearGibbs(FEATURES), STATES),
    "Gibbs": (policies.Gibbs(preference, 4, example=VECTORS[0]), VECTORS),
    "LinearSoftmax": (policies.LinearSoftmax(3, 4), VECTORS),
    "MLP": (policies.MLP(3, 4, (5, 6)), VECTORS),
    "MLP, relu": (policies.MLP(3, 2, 7, "relu"), VECTORS),
    "MLP, components": (policies.MLP(3, (2, 3), (5,)), VECTORS),
    "Gaussian": (policies.Gaussian(3, [-1.0, -np.inf], [2.0, np.inf]), VECTORS),
    "Gaussian, network": (policies.Gaussian(3, [-1.0, 0.0], [2.0, 1.0], (4,), squashed=True), VECTORS),
    "Deterministic": (policies.Deterministic(3, 4), VECTORS),
    "Deterministic, numbers": (policies.Deterministic(3, low=[-1.0], high=[1.0]), VECTORS),
    "Greedy": (policies.Greedy(policies.MLP(3, 4, ())), VECTORS),
    "Normalized": (
        policies.Normalized(policies.MLP(3, 4, (5,)), policies.ObservationStatistics.of(3.0 + 2.0 * VECTORS)),
        VECTORS,
    ),
}


@pytest.mark.parametrize(("policy", "observations"), CASES.values(), ids=CASES.keys())
def test_contract(policy, observations):
    check_policy(policy, observations)


class Broken(policies.MLP):  # pyright: ignore[reportGeneralTypeIssues]
    """A network of which a method is put wrong below."""


def chosen_by_another(self, thetas, rows, observations, uniforms):
    return policies.MLP.act(self, 2.0 * thetas, rows, observations, uniforms)


def unstable(self, thetas, rows, observations, uniforms):
    return policies.MLP.act(self, thetas, np.zeros_like(rows), observations, uniforms)


@pytest.mark.parametrize(
    ("name", "method", "words"),
    [
        ("act", chosen_by_another, "drawn from the density"),
        ("act", unstable, "does not depend on what acts beside it"),
        (
            "score_sum",
            lambda self, t, o, a, c: -policies.MLP.score_sum(self, t, o, a, c),
            "score_sum is the derivative",
        ),
        ("entropy_sum", lambda self, t, o, c: np.zeros(self.dim), "entropy_sum is the derivative"),
        ("initial_theta", lambda self, generator: np.zeros(self.dim + 1), "d finite numbers"),
        ("probabilities", lambda self, t, o: 2.0 * policies.MLP.probabilities(self, t, o), "sum to 1"),
        ("log_prob", lambda self, t, o, a: np.zeros((*np.shape(t)[:-1], len(a))), "must be a ValueError"),
    ],
)
def test_broken_policies_are_caught(name, method, words):
    broken = type("Broken", (Broken,), {name: method})(3, 4, (5,))
    with pytest.raises(ContractError) as caught:
        check_policy(broken, VECTORS)
    assert words in str(caught.value)


def test_every_policy_is_exported_and_in_the_contract():
    """The torch adapter stands apart: it is an extra, loaded by name, with tests of its own."""
    found = set()
    for module in pkgutil.iter_modules(policies.__path__):
        if module.name == "torch_module":
            continue
        for name, thing in vars(importlib.import_module(f"riskgrad.policy.{module.name}")).items():
            if isinstance(thing, type) and issubclass(thing, Policy) and not inspect.isabstract(thing):
                found.add(name)
    assert found <= set(policies.__all__), "one export line is missing"
    assert found <= {type(policy).__name__ for policy, _ in CASES.values()}, "one case above is missing"
