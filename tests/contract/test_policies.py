"""Every policy passes the contract that users run on their own; a broken one does not; nothing is left out."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad import policy as policies
from riskgrad.errors import ContractError, InputError
from riskgrad.policy import POLICIES
from riskgrad.sources import make_policy, resolve_source
from riskgrad.testing import check_policy
from riskgrad.types import Both, Choice, Choices, Numbers, States, Vectors

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
    "Factored": (policies.Factored(policies.MLP(3, (2, 3), (5,)), policies.Gaussian(3, [-1.0], [2.0], (4,))), VECTORS),
    "Deterministic": (policies.Deterministic(3, 4), VECTORS),
    "Deterministic, numbers": (policies.Deterministic(3, low=[-1.0], high=[1.0]), VECTORS),
    "Greedy": (policies.Greedy(policies.MLP(3, 4, ())), VECTORS),
    "Normalized": (
        policies.Normalized(policies.MLP(3, 4, (5,)), policies.ObservationStatistics.of(3.0 + 2.0 * VECTORS)),
        VECTORS,
    ),
}


NUMBERS = Numbers((-1.0, -np.inf), (2.0, np.inf))
KINDS = [
    (gives, takes)
    for gives in (States(3), Vectors(3), Vectors(3, one_hot=True))
    for takes in (Choice(4), Choices((2, 3)), NUMBERS, Both(Choices((2, 3)), NUMBERS))
]


def fitted():
    """Give what each policy with a name is for each kind of observation and action, where it is something."""
    for name, kind in POLICIES.by_name().items():
        for gives, takes in KINDS:
            try:
                policy = kind.fit(gives, takes)
            except InputError:
                continue
            yield pytest.param(policy, STATES if isinstance(gives, States) else VECTORS, id=f"{name}, {gives}, {takes}")


@pytest.mark.parametrize(("policy", "observations"), list(fitted()))
def test_contract_by_name(policy, observations):
    check_policy(policy, observations)


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
    """The torch adapter has tests of its own, since it needs an extra."""
    named = set(POLICIES.by_name().values())
    for kind in POLICIES.parts():
        assert getattr(policies, kind.__name__) is kind
        assert kind.__name__ in policies.__all__
        checked = kind in named or kind.__name__ in {type(policy).__name__ for policy, _ in CASES.values()}
        assert checked or kind.__name__ == "TorchModule", "give it a name and fit, or a case above"


def test_a_registered_policy_is_found_by_its_name():
    class Halves(rg.policy.Policy):
        """A table that is called otherwise."""

        name = "halves"
        dim = probabilities = log_prob = score_sum = None  # pyright: ignore[reportAssignmentType]

        @classmethod
        def fit(cls, gives, takes):
            return rg.policy.TabularGibbs.fit(gives, takes)

    POLICIES.register(Halves)
    try:
        source = resolve_source(rg.mdp.two_roads())
        assert repr(make_policy(source, "halves")) == repr(make_policy(source))
        assert {"deterministic", "halves", "linear", "mlp", "shared-table", "table"} <= set(POLICIES.by_name())
        with pytest.raises(InputError, match=f"policy must be one of {', '.join(sorted(POLICIES.by_name()))}, got"):
            make_policy(source, "halve")
    finally:
        POLICIES.forget(Halves)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("reads", (Vectors(4),), "it reads what it declares"),
        ("acts", Choice(2), "it acts as it declares"),
        ("recipe", lambda: {"inputs": 3, "n_actions": 5}, "from_recipe makes what recipe tells"),
    ],
)
def test_a_false_declaration_is_caught(name, value, words):
    policy = Broken(3, 4, (5,))
    setattr(policy, name, value)
    with pytest.raises(ContractError, match=words):
        check_policy(policy, VECTORS)
