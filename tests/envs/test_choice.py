"""Actions that lanes draw: the rough exponential never decides what the good one would decide otherwise."""

import numpy as np
import pytest

from riskgrad.compiled import uncached
from riskgrad.envs import draws
from riskgrad.envs._choice import ZERO, draw_of_two
from riskgrad.envs._lanes import LANES


@uncached
def draw(units, choices, actions):
    draw_of_two(units, ZERO, len(actions), choices, actions)


def drawn(x, words):
    """Actions for differences x of logits, at the numbers that follow the words, all in one call."""
    units, choices, actions = np.zeros((2, 1, len(x))), words.copy(), np.full(len(x), 7)
    units[0, 0] = x
    draw(units, choices, actions)
    assert np.array_equal(choices, words + draws.STEP)
    return actions


def words_and_borders():
    """Words, and the differences of logits from which on the second action is drawn."""
    words = np.random.default_rng(0).integers(0, 2**63, size=LANES).astype(np.uint64)
    u = np.array([draws.fraction(word) for word in words + draws.STEP])
    return words, np.log1p(-u) - np.log(u)


@pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 3e-5, 1e-4, 3e-4, 1e-2, 1.0, 50.0, 1e9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_border_is_where_it_is(distance, sign):
    words, border = words_and_borders()
    assert np.all(drawn(border + sign * distance, words) == (sign > 0))


def test_neighbours_do_not_matter():
    """One lane at the border makes all lanes take the good exponential: none of them changes its mind."""
    words, border = words_and_borders()
    x = np.random.default_rng(1).normal(size=LANES)
    near = np.where(np.arange(LANES) == 5, border, x)
    assert np.array_equal(np.delete(drawn(near, words), 5), np.delete(drawn(x, words), 5))
    for i in (0, 5, 100):
        assert drawn(x[i : i + 1], words[i : i + 1])[0] == drawn(x, words)[i]
