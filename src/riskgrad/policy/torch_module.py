"""A user's torch module as a policy: its parameters become one flat vector, and it is called as a function of them.

    P policies at once   B observations   k inputs   A actions   n coordinates   d parameters

The module maps observations [B, k] to preferences [B, A], or to means [B, n] of normal actions. The flat vector holds
the module's parameters in the order of `named_parameters()`, each row by row; for normal actions n numbers for the
spread follow, as in `gaussian`. Buffers stay as they are, and the module is put into evaluation mode.

Everything is computed in double precision on the CPU. torch may add in another order when more or fewer observations
are given at once, so that here, unlike elsewhere, the last digits of a probability may depend on the size of a batch.

It needs the extra `torch`: pip install riskgrad[torch].
"""

# torch is optional and may not be installed, so that its types are not checked in this file
# pyright: basic, reportMissingImports=false

import copy
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_actions, check_coefficients, check_theta, check_thetas
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import exp_of, log_of, log_softmax, softmax
from riskgrad.policy.base import Policy, choose_actions, drop_axes
from riskgrad.policy.bounds import Bounds
from riskgrad.policy.gaussian import HALF_LOG_TWO_PI, standard_normal
from riskgrad.policy.network import one_hot
from riskgrad.types import Choice, FloatArray, IntArray, States, Vectors

if TYPE_CHECKING:
    import torch


@final
class TorchModule(Policy):
    """A policy whose preferences or means are the outputs of a torch module.

    Args:
        module: an `nn.Module` from observations [B, k] to [B, outputs]; copied, so that it is never changed.
        inputs: length k of an observation; or the number of states, which are then one-hot.
        low: smallest value of each coordinate of an action [n], for continuous actions; None for discrete ones.
        high: largest value of each coordinate [n].
        squashed: bring actions within the bounds by tanh rather than by clipping; needs finite bounds.
        initial_std: spread of continuous actions where the last n parameters are 0, in units of half the range.
    """

    def __init__(
        self,
        module: "torch.nn.Module",
        inputs: int,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        squashed: bool = False,
        initial_std: float = 0.5,
    ) -> None:
        self._module = copy.deepcopy(module).double().cpu().eval().requires_grad_(False)
        self._parameters = {name: tensor.detach().clone() for name, tensor in self._module.named_parameters()}
        self._sizes = [tensor.numel() for tensor in self._parameters.values()]
        self.inputs = int(inputs)
        outputs = self._call_once()
        if outputs.ndim != 2 or len(outputs) != 1:
            raise InputError("module", "map [B, k] to [B, outputs]", f"an output of shape {tuple(outputs.shape)}")
        self._outputs = int(outputs.shape[1])
        if (low is None) != (high is None):
            raise InputError("low and high", "be given together, or neither for discrete actions", (low, high))
        if not 0.0 < initial_std < np.inf:
            raise InputError("initial_std", "be positive and finite", initial_std)
        self._bounds = None if low is None or high is None else Bounds.of(low, high, squashed)
        if self._bounds is not None and self._bounds.size != self._outputs:
            raise InputError("low and high", f"have the module's {self._outputs} outputs", self._bounds.size)
        self.n_actions = self._outputs if self._bounds is None else None
        self.initial_std = float(initial_std)
        self.reads = Vectors(self.inputs), States(self.inputs)
        self.acts = Choice(self._outputs) if self._bounds is None else self._bounds.numbers
        self.layered = True  # assumed, since what a module does with its parameters is not known
        self.noise_size = 1 if self._bounds is None else self._outputs

    @property
    def dim(self) -> int:
        """Number of parameters d: those of the module, and n for the spread of continuous actions."""
        return sum(self._sizes) + (0 if self._bounds is None else self._outputs)

    @property
    def action_bounds(self) -> Bounds | None:
        """The bounds within which continuous actions are executed; None for discrete ones."""
        return self._bounds

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) [B, A]; see `Policy.probabilities`. Refuse where actions are continuous."""
        if self._bounds is not None:
            raise InputError("policy", "have finitely many actions for probabilities", self, "use log_prob")
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self._check_inputs(observations)
        return drop_axes(softmax(self._apply(thetas, inputs)), flat, single)

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B]; see `Policy.log_prob`."""
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self._check_inputs(observations)
        outputs = self._apply(thetas, inputs)
        given = self._check_actions(actions, len(inputs))
        if self._bounds is None:
            return drop_axes(log_softmax(outputs)[:, np.arange(len(inputs)), given], flat, single)
        std = self._std(thetas)[:, None, :]
        z = (given - outputs) / std
        return drop_axes(np.sum(-0.5 * z * z - log_of(std) - HALF_LOG_TWO_PI, axis=-1), flat, single)

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d], by torch's automatic differentiation."""
        vector = check_theta(theta, self.dim)
        inputs, _ = self._check_inputs(observations)
        given = self._check_actions(actions, len(inputs))
        scale = check_coefficients(coefficients, len(inputs))[:, None]
        outputs = self._apply(vector[None], inputs)[0]
        if self._bounds is None:
            cotangents = -scale * softmax(outputs)
            cotangents[np.arange(len(inputs)), given] += scale[:, 0]
            return self._pullback(vector, inputs, cotangents)
        std = self._std(vector[None])[0]
        z = (given - outputs) / std
        total = self._pullback(vector, inputs, scale * z / std)
        total[sum(self._sizes) :] = np.sum(scale * (z * z - 1.0), axis=0)
        return total

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give sum_b c_b grad H [d]; see `Policy.entropy_sum`."""
        vector = check_theta(theta, self.dim)
        inputs, _ = self._check_inputs(observations)
        scale = check_coefficients(coefficients, len(inputs))
        if self._bounds is None:
            logs = log_softmax(self._apply(vector[None], inputs)[0])
            chances = exp_of(logs)
            slopes = -chances * (logs - np.sum(chances * logs, axis=-1, keepdims=True))
            return self._pullback(vector, inputs, scale[:, None] * slopes)
        total = np.zeros(self.dim)
        total[sum(self._sizes) :] = np.sum(scale)
        return total

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose an action for each observation, [B] or [B, n]; see `Policy.act`."""
        inputs, _ = self._check_inputs(observations)
        outputs = np.empty((len(rows), self._outputs))
        for row in np.unique(rows):
            mine = np.flatnonzero(rows == row)
            outputs[mine] = self._apply(thetas[row : row + 1], inputs[mine])[0]
        if self._bounds is None:
            return choose_actions(softmax(outputs), None if uniforms is None else uniforms[:, 0])
        return outputs if uniforms is None else outputs + self._std(thetas)[rows] * standard_normal(uniforms)

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions within the bounds of the environment."""
        return actions if self._bounds is None else self._bounds.apply(actions)

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Give the module's own parameters, and the initial spread for continuous actions [d]."""
        del generator
        parts = [tensor.numpy().ravel() for tensor in self._parameters.values()]
        return np.concatenate([*parts, np.zeros(self.dim - sum(self._sizes))])

    def _call_once(self) -> "torch.Tensor":
        """Call the module once, as later calls do, and give its outputs; refuse a module for which that fails."""
        import torch  # noqa: PLC0415 - an extra
        from torch.func import vmap  # noqa: PLC0415 - an extra

        given, named = torch.zeros((1, self.inputs), dtype=torch.float64), self._parameters
        try:
            with torch.no_grad():
                found: Any = vmap(lambda named: self._call(named, given), randomness="error")(
                    {name: tensor[None] for name, tensor in named.items()}
                )
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            advice = "it is called in double precision, and must draw no random numbers"
            raise InputError("module", f"map [B, {self.inputs}] to [B, outputs]", words, advice) from error
        if not isinstance(found, torch.Tensor):
            raise InputError("module", "map [B, k] to one tensor", type(found).__name__)
        return found[0]

    def _call(self, named: "dict[str, torch.Tensor]", inputs: "torch.Tensor") -> Any:
        """Call the module with the given parameters and copies of its buffers, which stay as they are."""
        from torch.func import functional_call  # noqa: PLC0415 - an extra

        buffers = {name: tensor.clone() for name, tensor in self._module.named_buffers()}
        return functional_call(self._module, {**buffers, **named}, (inputs,))

    def _apply(self, thetas: FloatArray, inputs: FloatArray) -> FloatArray:
        """Give the module's outputs [P, B, outputs]."""
        import torch  # noqa: PLC0415 - an extra
        from torch.func import vmap  # noqa: PLC0415 - an extra

        with torch.no_grad():
            named = self._cut(torch.from_numpy(thetas))
            given = torch.from_numpy(inputs)
            found = vmap(lambda named: self._call(named, given), randomness="error")(named)
        return np.asarray(found.numpy(), dtype=np.float64)

    def _pullback(self, theta: FloatArray, inputs: FloatArray, cotangents: FloatArray) -> FloatArray:
        import torch  # noqa: PLC0415 - an extra

        flat = torch.from_numpy(theta.copy()).requires_grad_(True)
        named = {name: tensor[0] for name, tensor in self._cut(flat[None]).items()}
        outputs = self._call(named, torch.from_numpy(inputs))
        outputs.backward(torch.from_numpy(np.ascontiguousarray(cotangents)))
        found = flat.grad
        return np.zeros(self.dim) if found is None else np.asarray(found.numpy(), dtype=np.float64)

    def _cut(self, thetas: "torch.Tensor") -> "dict[str, torch.Tensor]":
        """Cut flat vectors [P, d] into the module's parameters, each with the axis P in front."""
        import torch  # noqa: PLC0415 - an extra

        pieces = torch.split(thetas[:, : sum(self._sizes)], self._sizes, dim=1)
        return {
            name: piece.reshape(len(thetas), *tensor.shape)
            for (name, tensor), piece in zip(self._parameters.items(), pieces, strict=True)
        }

    def _std(self, thetas: FloatArray) -> FloatArray:
        return self.initial_std * exp_of(thetas[:, sum(self._sizes) :])

    def _check_inputs(self, observations: ArrayLike) -> tuple[FloatArray, bool]:
        batch = np.asarray(observations)
        if batch.ndim < 2 and batch.dtype.kind in "iu":
            return one_hot(np.atleast_1d(batch), self.inputs), batch.ndim == 0
        if batch.ndim not in (1, 2) or batch.shape[-1] != self.inputs:
            raise InputError("observations", f"be vectors of {self.inputs} numbers", f"shape {batch.shape}")
        return np.atleast_2d(np.require(batch, np.float64, ["C", "W"])), batch.ndim == 1

    def _check_actions(self, actions: ArrayLike, size: int) -> NDArray[Any]:
        if self._bounds is None:
            return check_actions(actions, size, self._outputs)
        given = np.asarray(actions, dtype=np.float64)
        if given.size != size * self._outputs:
            raise InputError("actions", f"have shape ({size}, {self._outputs})", f"shape {given.shape}")
        return given.reshape(size, self._outputs)

    def __repr__(self) -> str:
        what = f"{self._outputs} actions" if self._bounds is None else f"{self._bounds}"
        return f"TorchModule({type(self._module).__name__}, {self.inputs}, {what}, {self.dim} parameters)"
