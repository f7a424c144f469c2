"""Streams are functions of their key, and different keys are independent."""

import itertools

import numpy as np
import pytest

from riskgrad.errors import InputError
from riskgrad.random import GOLDEN, Purpose, Stream, mix


def test_equal_keys_equal_numbers():
    for pair, episode in ((0, 0), (3, 7)):
        first = Stream(5, Purpose.TRAINING, 2).generator(pair, episode).random(4)
        assert np.array_equal(first, Stream(5, Purpose.TRAINING, 2).generator(pair, episode).random(4))
    keys = Stream(5, Purpose.TRAINING, 2).keys(np.arange(6))
    assert np.array_equal(keys[[4, 1]], Stream(5, Purpose.TRAINING, 2).keys(np.array([4, 1]))), "rows are independent"


def test_every_part_of_the_key_matters():
    seeds, purposes, iterations, pairs = (0, 1, 2**70), (Purpose.TRAINING, Purpose.HELD_OUT), (0, 1), np.arange(50)
    keys = [Stream(s, p, k).keys(pairs) for s, p, k in itertools.product(seeds, purposes, iterations)]
    assert len(np.unique(np.concatenate(keys))) == 3 * 2 * 2 * 50
    draws = {
        Stream(s, p, k).generator(i, e).integers(2**63)
        for s, p, k, i, e in itertools.product(seeds, purposes, iterations, (0, 1), (0, 1))
    }
    assert len(draws) == 3 * 2 * 2 * 2 * 2


def test_mix_is_splitmix64():
    """The first outputs of SplitMix64 from state 0 (Steele, Lea and Flood), written down from the reference."""
    states = (np.arange(1, 4, dtype=np.uint64)) * np.uint64(GOLDEN)
    assert [hex(int(x)) for x in mix(states)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


def test_purposes_never_share_a_value():
    assert len({int(purpose) for purpose in Purpose}) == len(Purpose)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_bad_seed(seed):
    with pytest.raises(InputError, match="seed must be a non-negative integer"):
        Stream(seed, Purpose.TRAINING)
