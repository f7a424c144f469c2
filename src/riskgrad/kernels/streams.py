"""Random numbers of episodes, compiled: each episode has its own streams of SplitMix64.

    stream    an array of one 64-bit word, the state; drawing changes it

An episode has two streams, one for the actions of the policy and one for the environment, so that two policies with the
same key meet the same noise at the same step although they act differently. Where the streams begin is a function of
the pair's key and the episode alone (see `riskgrad.random`).

Normal numbers are drawn by the ziggurat of Marsaglia and Tsang with 256 layers of equal area under exp(-x^2 / 2): one
word and one product nearly always, without a logarithm, a root or a sine. The layer
takes 8 bits of the word, the position in the layer 53 others.
"""

import math

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import kernel
from riskgrad.kernels.elementary import exp, log
from riskgrad.random import ENVIRONMENT, FACTORS, GOLDEN
from riskgrad.types import FloatArray

Words = NDArray[np.uint64]

STEP = np.uint64(GOLDEN)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(FACTORS[0]), np.uint64(FACTORS[1])
OTHER = np.uint64(ENVIRONMENT)
ONE = np.uint64(1)
LAYER = np.uint64(255)
UNIT = 2.0**-53
LAYERS = 256
EXPONENT_OF_ONE = np.uint64(0x3FF0000000000000)
LAST_EDGE = 3.6541528853610088  # where the tail begins: from here 256 layers of equal area end at the density's top


def _layer_edges() -> FloatArray:
    """Give the right edges of the layers [257], from the bottom one, whose area includes the tail, to 0 at the top."""
    area = LAST_EDGE * math.exp(-0.5 * LAST_EDGE**2) + math.sqrt(math.pi / 2.0) * math.erfc(LAST_EDGE / math.sqrt(2.0))
    edges = np.zeros(LAYERS + 1)
    edges[0] = area / math.exp(-0.5 * LAST_EDGE**2)
    edges[1] = LAST_EDGE
    for i in range(2, LAYERS):
        edges[i] = math.sqrt(-2.0 * math.log(math.exp(-0.5 * edges[i - 1] ** 2) + area / edges[i - 1]))
    return edges


def _drop_last_bits(numbers: FloatArray) -> FloatArray:
    """Round numbers to multiples of 2^-40: in later bits the C libraries of different machines differ."""
    return np.round(numbers * 2.0**40) / 2.0**40


EDGES = _drop_last_bits(_layer_edges())
HEIGHTS = _drop_last_bits(np.exp(-0.5 * EDGES**2))


@kernel
def mix_word(word: np.uint64) -> np.uint64:
    """Mix the bits of a state into a random word: `riskgrad.random.mix` for one word."""
    word = (word ^ (word >> np.uint64(30))) * FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * SECOND_FACTOR
    return word ^ (word >> np.uint64(31))


@kernel
def first_words(key: np.uint64, episode: int) -> tuple[np.uint64, np.uint64]:
    """Give the words at which the policy's and the environment's stream of an episode begin."""
    start = mix_word(key + (np.uint64(episode) + ONE) * STEP)
    return start, mix_word(start ^ OTHER)


@kernel
def open_uniform(state: np.uint64) -> float:
    """Give a uniform number in (0, 1) for a state of the stream: the middle of one of 2^52 equal parts.

    The bits become the mantissa of a number in [1, 2): processors are slow at converting several integers to doubles.
    """
    return np.uint64((mix_word(state) >> np.uint64(12)) | EXPONENT_OF_ONE).view(np.float64) - (1.0 - UNIT)


@kernel
def draw_word(stream: Words) -> np.uint64:
    """Draw a word of 64 random bits."""
    stream[0] += STEP
    return mix_word(stream[0])


@kernel
def uniform(stream: Words) -> float:
    """Draw a uniform number in [0, 1), a multiple of 2^-53."""
    return np.float64(draw_word(stream) >> np.uint64(11)) * UNIT


@kernel
def fill_uniforms(states: Words, uniforms: FloatArray) -> None:
    """Fill uniforms [B, u] with numbers in [0, 1), u from each stream, and advance the states [B] of the streams."""
    for b in range(len(states)):
        for c in range(uniforms.shape[1]):
            states[b] += STEP
            uniforms[b, c] = np.float64(mix_word(states[b]) >> np.uint64(11)) * UNIT


@kernel
def exponential(stream: Words) -> float:
    """Draw an exponential number of mean 1."""
    return -log(1.0 - uniform(stream))


@kernel
def normal(stream: Words) -> float:
    """Draw a standard normal number."""
    while True:
        bits = draw_word(stream)
        layer = np.int64(bits & LAYER)
        position = 2.0 * UNIT * np.float64(bits >> np.uint64(11)) - 1.0
        x = position * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        if layer == 0:
            # beyond the last edge: draw exponential numbers until one passes Marsaglia's test for the tail
            while True:
                beyond = exponential(stream) / LAST_EDGE
                if 2.0 * exponential(stream) > beyond * beyond:
                    return LAST_EDGE + beyond if position > 0.0 else -(LAST_EDGE + beyond)
        low = HEIGHTS[layer]
        if low + uniform(stream) * (HEIGHTS[layer + 1] - low) < exp(-0.5 * x * x):
            return x
