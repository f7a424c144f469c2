"""The log of steps: blocks as bytes and back, damage that is told, the cap, and taking back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from riskgrad.critic.log import HEAD, LogBlock, StepLog, read_blocks
from riskgrad.errors import DamagedFileError


@st.composite
def blocks(draw):
    lengths = np.array(draw(st.lists(st.integers(1, 5), min_size=1, max_size=5)), dtype=np.int32)
    steps = int(np.sum(lengths))
    return LogBlock(
        lengths=lengths,
        ended=draw(hn.arrays(np.bool_, len(lengths))),
        states=draw(hn.arrays(np.int32, steps, elements=st.integers(0, 4))),
        actions=draw(hn.arrays(np.int32, steps, elements=st.integers(0, 2))),
        rewards=draw(hn.arrays(np.float64, steps, elements=st.floats(-1e300, 1e300))),
    )


def columns(block):
    return block.lengths, block.ended, block.states, block.actions, block.rewards


def same_blocks(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        for a, b in zip(columns(one), columns(other), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))  # to the bit, -0.0 among them


def small_block(seed, episodes=3):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 4, size=episodes).astype(np.int32)
    steps = int(np.sum(lengths))
    return LogBlock(
        lengths=lengths,
        ended=rng.random(episodes) < 0.5,
        states=rng.integers(5, size=steps).astype(np.int32),
        actions=rng.integers(3, size=steps).astype(np.int32),
        rewards=rng.integers(-2, 3, size=steps).astype(np.float64),
    )


def same_logs(one, other):
    same_blocks(one.blocks, other.blocks)
    assert one.length == other.length
    found, expected = one.counts.model(), other.counts.model()
    for name in ("groups", "group_rewards", "firsts", "nexts", "chances", "starts", "counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def filled(*some, cap=1 << 28):
    log = StepLog(5, 3, cap=cap)
    for block in some:
        log.append(block)
    return log


@settings(max_examples=50, deadline=None)
@given(st.lists(blocks(), max_size=4))
def test_blocks_are_read_as_they_were_written(some):
    same_blocks(read_blocks(b"".join(block.encode() for block in some), "steps.log"), some)


def test_each_flipped_bit_is_refused_by_the_name_of_the_file_and_the_block():
    parts = [small_block(seed).encode() for seed in range(2)]
    content = b"".join(parts)
    for place in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        number = int(place // 8 >= len(parts[0]))
        with pytest.raises(DamagedFileError) as caught:
            read_blocks(bytes(damaged), "runs/x/steps.log")
        assert str(caught.value).startswith("runs/x/steps.log is damaged: ")
        assert f"block {number} " in str(caught.value)
        assert "\n" not in str(caught.value)


def test_each_cut_is_refused():
    first, second = (small_block(seed).encode() for seed in range(2))
    for length in range(1, len(second)):
        word = "is cut short" if length < HEAD.size else "does not match"
        with pytest.raises(DamagedFileError, match=f"^steps.log is damaged: .*block 1 {word}$"):
            read_blocks(first + second[:length], "steps.log")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=8), st.integers(1, 600))
def test_beyond_the_cap_the_oldest_blocks_and_what_they_taught_are_forgotten(seeds, cap):
    some = [small_block(seed) for seed in seeds]
    log = filled(*some, cap=cap)
    assert log.length == len(some)
    assert sum(block.size for block in log.blocks) <= cap or len(log.blocks) == 1
    fewest = len(log.blocks)
    same_blocks(log.blocks, some[-fewest:])
    assert fewest == len(some) or sum(block.size for block in some[-fewest - 1 :]) > cap
    fresh = filled(*log.blocks)
    fresh.length = log.length
    same_logs(log, fresh)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_what_is_cut_was_never_appended(length):
    some = [small_block(seed) for seed in range(4)]
    log = filled(*some)
    log.cut(length)
    same_logs(log, filled(*some[:length]))
    for block in some[length:]:
        log.append(block)
    same_logs(log, filled(*some))


def test_a_cut_of_more_than_is_kept_leaves_nothing():
    some = [small_block(seed) for seed in range(6)]
    log = filled(*some, cap=some[-1].size + some[-2].size)
    kept = len(log.blocks)
    assert kept < 4
    log.cut(1)
    assert (log.blocks, log.length) == ([], 1)
