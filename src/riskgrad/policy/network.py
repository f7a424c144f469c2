"""A feed-forward network whose weights are in a flat vector, shared by the MLP, Gaussian and deterministic policies.

    P parameter vectors   B observations   k inputs   n outputs   d parameters

The layout of the vector is described at the top of `mlp`. An observation is a vector of k numbers, or an integer state,
which stands for the one-hot vector of length k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_count, check_states, check_word
from riskgrad.errors import InputError
from riskgrad.kernels import batch_passes, network_passes
from riskgrad.kernels.compile import as_contiguous, cores, in_blocks
from riskgrad.types import FloatArray, IntArray

Activation = Literal["tanh", "relu"]
TOGETHER: Final = 4096  # observations of one backward pass, which keeps the values of all units in memory


@dataclass(frozen=True)
class Network:
    """Layers of weights and biases with an activation between them; without hidden layers the network is linear.

    Attributes:
        inputs: number of inputs, k.
        hidden: units of each hidden layer.
        outputs: number of outputs, n.
        activation: "tanh" or "relu".
        sizes: units of each layer, as `widths`, in an array that compiled code reads.
    """

    inputs: int
    hidden: tuple[int, ...]
    outputs: int
    activation: Activation = "tanh"
    sizes: IntArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, value in (("inputs", self.inputs), *(("hidden", units) for units in self.hidden)):
            check_count(name, value)
        check_word("activation", self.activation, ["tanh", "relu"])
        object.__setattr__(self, "sizes", np.array(self.widths, dtype=np.int64))

    @property
    def relu(self) -> bool:
        """Whether the activation is relu; otherwise it is tanh."""
        return self.activation == "relu"

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer, the inputs first and the outputs last."""
        return self.inputs, *self.hidden, self.outputs

    @property
    def dim(self) -> int:
        """Number of parameters d: the sum over layers of (inputs + 1) * outputs."""
        return int(np.sum((self.sizes[:-1] + 1) * self.sizes[1:]))

    @property
    def last_layer(self) -> slice:
        """The part of the flat vector that holds the last layer."""
        return slice(self.dim - (self.widths[-2] + 1) * self.outputs, self.dim)

    def recipe(self) -> dict[str, Any]:
        """Give the entries of a policy's recipe for its network, without the outputs."""
        return {"inputs": self.inputs, "hidden": list(self.hidden), "activation": self.activation}

    def cut(self, theta: FloatArray) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Give the weights [inputs, outputs] and the biases [outputs] of each layer; theta may be longer than dim."""
        weights, biases, at = list[FloatArray](), list[FloatArray](), 0
        for n_in, n_out in pairwise(self.widths):
            weights.append(theta[at : at + n_in * n_out].reshape(n_in, n_out))
            biases.append(theta[at + n_in * n_out : at + (n_in + 1) * n_out])
            at += (n_in + 1) * n_out
        return tuple(weights), tuple(biases)

    def apply(self, thetas: FloatArray, rows: IntArray, inputs: FloatArray) -> FloatArray:
        """Give the outputs [B, n] of inputs [B, k], the b-th with thetas[rows[b]]; thetas may be longer than dim."""
        outputs = np.empty((len(rows), self.outputs))
        network_passes.forward(thetas, rows, inputs, self.sizes, self.relu, outputs)
        return outputs

    def apply_all(self, thetas: FloatArray, inputs: FloatArray) -> FloatArray:
        """Give the outputs [P, B, n] of the same inputs [B, k] with each of thetas [P, d]."""
        found = np.empty((len(thetas), len(inputs), self.outputs))
        rows, relu = as_contiguous(thetas, np.float64), self.relu
        in_blocks(
            lambda begin, end: network_passes.forward_all(begin, end, rows, inputs, self.sizes, relu, found),
            len(inputs),
            cores(),
        )
        return found

    def pullback(self, theta: FloatArray, inputs: FloatArray, cotangents: FloatArray) -> FloatArray:
        """Give the sum over b of cotangents[b] . d outputs[b] / d theta, a vector as long as theta.

        Inputs are [B, k], cotangents [B, n].
        """
        vector, gradient = as_contiguous(theta, np.float64), np.zeros(len(theta))
        for begin in range(0, len(inputs), TOGETHER):
            piece = slice(begin, begin + TOGETHER)
            # the slopes of a single layer do not depend on its outputs, which are left unset
            kept = self._keep(vector, inputs[piece]) if self.hidden else self._empty_units(len(inputs[piece]))
            slopes = as_contiguous(cotangents[piece], np.float64)
            batch_passes.pull_back_kept(vector, inputs[piece], self.sizes, self.relu, kept, slopes, gradient)
        return gradient

    def linearize(
        self, theta: FloatArray, inputs: FloatArray
    ) -> tuple[FloatArray, Callable[[FloatArray, FloatArray], None]]:
        """Give the outputs [B, n], and a function that adds the pullback of cotangents [B, n] to a gradient."""
        vector, size = as_contiguous(theta, np.float64), len(inputs)
        kept = self._keep(vector, inputs)

        def pull(cotangents: FloatArray, gradient: FloatArray) -> None:
            slopes = as_contiguous(cotangents, np.float64)
            batch_passes.pull_back_kept(vector, inputs, self.sizes, self.relu, kept, slopes, gradient)

        return kept[len(kept) - size * self.outputs :].reshape(size, self.outputs), pull

    def _keep(self, theta: FloatArray, inputs: FloatArray) -> FloatArray:
        """Give the units of all layers for inputs [B, k], flat."""
        kept = self._empty_units(len(inputs))
        batch_passes.forward_and_keep(theta, inputs, self.sizes, self.relu, kept)
        return kept

    def _empty_units(self, count: int) -> FloatArray:
        return np.empty(count * int(np.sum(self.sizes[1:])))

    def check_inputs(self, observations: ArrayLike) -> tuple[FloatArray, bool]:
        """Give inputs [B, k], and whether the caller gave a single observation; states become one-hot vectors."""
        batch = np.asarray(observations)
        if batch.ndim < 2 and batch.dtype.kind in "iu":
            states, single = check_states(batch, self.inputs)
            return one_hot(states, self.inputs), single
        if batch.ndim not in (1, 2) or batch.shape[-1] != self.inputs or batch.dtype.kind not in "iufb":
            rule = f"be vectors of {self.inputs} numbers or integer states"
            raise InputError("observations", rule, f"{batch.dtype} of shape {batch.shape}")
        return np.atleast_2d(as_contiguous(batch, np.float64)), batch.ndim == 1

    def inputs_as_given(self, observations: NDArray[Any]) -> FloatArray:
        """Give inputs [B, k] from observations that a source of episodes has checked."""
        if observations.ndim == 1 and observations.dtype.kind in "iu":
            return one_hot(observations, self.inputs)
        # sources usually give this layout, and this check is faster than a conversion that changes nothing
        if observations.dtype == np.float64 and observations.flags.carray:
            return observations
        return as_contiguous(observations, np.float64)

    def draw_start(self, generator: np.random.Generator, last: float) -> FloatArray:
        """Draw initial parameters [d], with biases 0.

        Weights of a hidden layer have variance 1 / inputs of the layer (2 / inputs for relu), those of the last layer
        last^2 / inputs.
        """
        gain = 2.0 if self.activation == "relu" else 1.0
        parts: list[FloatArray] = []
        for layer in range(len(self.sizes) - 1):
            n_in, n_out = int(self.sizes[layer]), int(self.sizes[layer + 1])
            scale = last * np.sqrt(1.0 / n_in) if layer == len(self.sizes) - 2 else np.sqrt(gain / n_in)
            parts += [scale * generator.standard_normal(n_in * n_out), np.zeros(n_out)]
        return np.concatenate(parts)


def one_hot(states: NDArray[Any], size: int) -> FloatArray:
    """Give the one-hot vectors [B, size] of states [B]."""
    found = np.zeros((len(states), size))
    found[np.arange(len(states)), states] = 1.0
    return found


def check_hidden(hidden: Sequence[int] | int) -> tuple[int, ...]:
    """Give the units of the hidden layers as a tuple; a single number stands for one layer."""
    return (hidden,) if isinstance(hidden, int) else tuple(hidden)


class PlainLayers(NamedTuple):
    """A policy at one theta as plain arrays, for files that other programs read.

    The outputs are the preferences of discrete actions, or the means of continuous ones.

    Attributes:
        weights: the weights of each layer [inputs, outputs].
        biases: the biases of each layer [outputs].
        relu: whether the activation between layers is relu; otherwise it is tanh.
        spread: the standard deviation of normal actions [n]; None for discrete or deterministic actions.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]
    relu: bool
    spread: FloatArray | None = None
