"""A torch module as a policy agrees with the same network written out; skipped without torch."""

import pickle

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.policy import MLP, Gaussian
from riskgrad.testing import check_policy

torch = pytest.importorskip("torch")

from riskgrad.policy.torch_module import TorchModule  # noqa: E402

RNG = np.random.default_rng(0)
SEEN = RNG.normal(size=(6, 3))


def network(outputs):
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, outputs))


def as_mlp(vector, outputs):
    """torch keeps weights [out, in]; ours are [in, out]."""
    w1, b1, w2, b2, rest = np.split(vector, np.cumsum([15, 5, 5 * outputs, outputs]))
    return np.concatenate([w1.reshape(5, 3).T.ravel(), b1, w2.reshape(outputs, 5).T.ravel(), b2, rest])


@pytest.mark.parametrize("bounds", [{}, {"low": [-1.0, 0.0], "high": [1.0, 2.0]}])
def test_contract(bounds):
    check_policy(TorchModule(network(2), 3, **bounds), SEEN)


@pytest.mark.parametrize("continuous", [False, True])
def test_agrees_with_the_network_written_out(continuous):
    bounds = {"low": [-1.0, 0.0], "high": [1.0, 2.0]} if continuous else {}
    ours = Gaussian(3, bounds["low"], bounds["high"], (5,)) if continuous else MLP(3, 2, (5,))
    policy = TorchModule(network(2), 3, **bounds)
    assert policy.dim == ours.dim
    thetas = RNG.normal(size=(3, policy.dim))
    same = np.stack([as_mlp(theta, 2) for theta in thetas])
    rows, uniforms = np.array([0, 2, 1, 1, 0, 2]), RNG.random((6, policy.noise_size))
    actions = policy.act(thetas, rows, SEEN, uniforms)
    np.testing.assert_allclose(actions, ours.act(same, rows, SEEN, uniforms), atol=1e-12)
    np.testing.assert_allclose(
        policy.log_prob(thetas, SEEN, actions), ours.log_prob(same, SEEN, actions), rtol=1e-10, atol=1e-12
    )
    scale = RNG.normal(size=6)
    for name, extra in (("score_sum", (actions, scale)), ("entropy_sum", (scale,))):
        found = as_mlp(getattr(policy, name)(thetas[0], SEEN, *extra), 2)
        np.testing.assert_allclose(found, getattr(ours, name)(same[0], SEEN, *extra), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(policy.execute(actions), ours.execute(actions), atol=1e-15)


def test_starts_from_the_module_and_leaves_it_alone():
    module = network(2)
    before = [tensor.detach().clone() for tensor in module.parameters()]
    policy = TorchModule(module, 3)
    theta = policy.initial_theta(np.random.default_rng(0))
    outputs = module.double()(torch.from_numpy(SEEN)).detach().numpy()
    chances = np.exp(outputs) / np.sum(np.exp(outputs), axis=1, keepdims=True)
    np.testing.assert_allclose(policy.probabilities(theta, SEEN), chances, rtol=1e-12)
    assert all(torch.equal(a.double(), b) for a, b in zip(before, module.parameters(), strict=True))
    again = pickle.loads(pickle.dumps(policy))  # noqa: S301
    np.testing.assert_array_equal(again.probabilities(theta, SEEN), policy.probabilities(theta, SEEN))


class Counting(torch.nn.Linear):
    """Divides by how often it was called, which it keeps in a buffer."""

    def __init__(self):
        super().__init__(3, 2)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, seen):
        self.calls += 1
        return super().forward(seen) / self.calls


def test_buffers_stay():
    policy = TorchModule(Counting(), 3)
    theta = policy.initial_theta(np.random.default_rng(0))
    np.testing.assert_array_equal(policy.probabilities(theta, SEEN), policy.probabilities(theta, SEEN))
    actions, ones = np.zeros(6, dtype=np.int64), np.ones(6)
    np.testing.assert_array_equal(
        policy.score_sum(theta, SEEN, actions, ones), policy.score_sum(theta, SEEN, actions, ones)
    )


class Single(torch.nn.Linear):
    def forward(self, seen):
        return super().forward(seen.float())


class Chancy(torch.nn.Linear):
    def forward(self, seen):
        return torch.nn.functional.dropout(super().forward(seen))


class Pair(torch.nn.Linear):
    def forward(self, seen):
        return super().forward(seen), seen


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TorchModule(network(2), 4), r"module must map \[B, 4\] to \[B, outputs\], got RuntimeError"),
        (lambda: TorchModule(Single(3, 2), 3), "it is called in double precision"),
        (lambda: TorchModule(Chancy(3, 2), 3), "must draw no random numbers"),
        (lambda: TorchModule(Pair(3, 2), 3), r"module must map \[B, k\] to one tensor, got 'tuple'"),
        (lambda: TorchModule(network(2), 3, low=[0.0, 0.0]), "low and high must be given together"),
        (
            lambda: TorchModule(network(1), 3, low=[0.0], high=[1.0], initial_std=-1.0),
            "initial_std must be positive and finite, got -1.0",
        ),
    ],
)
def test_refuses_a_module_that_cannot_act(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_refuses_in_one_line():
    with pytest.raises(InputError, match="module must map"):
        TorchModule(torch.nn.Flatten(0), 3)
    with pytest.raises(InputError, match="low and high must have the module's 2 outputs"):
        TorchModule(network(2), 3, low=[0.0], high=[1.0])
    with pytest.raises(InputError, match="observations must be vectors of 3 numbers"):
        TorchModule(network(2), 3).probabilities(np.zeros(32), np.zeros((2, 4)))


def test_the_critic_trains_it():
    torch.manual_seed(0)
    policy = TorchModule(
        torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)), 3, low=-2.0, high=2.0
    )
    options = {"policy": policy, "iterations": 3, "horizon": 20, "held_out": 8, "seed": 0}
    run = rg.train("Pendulum-v1", "cvar:0.25", algorithm=rg.Critic(episodes=8), **options)
    assert run.settings.normalize
    assert run.history[-1]["steps"] > 0
    assert np.all(np.isfinite(run.last_theta))
    assert not np.array_equal(run.last_theta, policy.first_theta(None, 0))
