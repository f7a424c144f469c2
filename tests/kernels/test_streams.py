"""Random numbers of compiled environments: their laws, and where their streams begin."""

import numpy as np
from scipy import stats

from riskgrad.kernels import streams
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.formulas import exp_of, log_of
from riskgrad.kernels.lane_choice import activate_lanes
from riskgrad.random import ENVIRONMENT, GOLDEN, Purpose, Stream, mix

SIZE = 400_000


@kernel
def many(kind, size):
    stream, found = np.array([np.uint64(12345)]), np.empty(size)
    for i in range(size):
        found[i] = (
            streams.uniform(stream)
            if kind == 0
            else streams.normal(stream)
            if kind == 1
            else streams.exponential(stream)
        )
    return found


def test_kernel_and_numpy_mix_alike():
    words = np.random.default_rng(0).integers(0, 2**64, size=200, dtype=np.uint64)
    assert [int(streams.mix_word(word)) for word in words] == [int(word) for word in mix(words)]


def test_layers_of_the_ziggurat_have_one_area_and_end_at_the_top():
    heights, edges = streams.HEIGHTS, streams.EDGES
    areas = edges[1:-1] * np.diff(heights)[1:]
    base = streams.LAST_EDGE * heights[1] + np.sqrt(2.0 * np.pi) * stats.norm.sf(streams.LAST_EDGE)
    assert np.allclose(areas, base, rtol=1e-9)
    assert edges[-1] == 0.0
    assert np.all(np.diff(edges) < 0.0)


def test_laws():
    """Kolmogorov-Smirnov at a false-alarm rate of 1e-4 each, with a fixed seed."""
    for kind, law in enumerate((stats.uniform, stats.norm, stats.expon)):
        assert stats.kstest(many(kind, SIZE), law.cdf).pvalue > 1e-4


def plain_normals(size):
    """The ziggurat in plain Python, and how many of its numbers came from a wedge or the tail."""
    with np.errstate(over="ignore"):
        words = mix(np.uint64(12345) + np.arange(1, 2 * size, dtype=np.uint64) * np.uint64(GOLDEN))
    stream, found, wedges, tails = (int(word) for word in words), [], 0, 0

    def uniform():
        return (next(stream) >> 11) * 2.0**-53

    def exponential():
        return -float(log_of(1.0 - uniform()))

    while len(found) < size:
        bits = next(stream)
        layer, position = bits % 256, 2.0 * 2.0**-53 * (bits >> 11) - 1.0
        x = position * streams.EDGES[layer]
        if abs(x) < streams.EDGES[layer + 1]:
            found.append(x)
        elif layer == 0:
            beyond = exponential() / streams.LAST_EDGE
            while 2.0 * exponential() <= beyond * beyond:
                beyond = exponential() / streams.LAST_EDGE
            found.append(np.copysign(streams.LAST_EDGE + beyond, position))
            tails += 1
        else:
            low, high = streams.HEIGHTS[layer : layer + 2]
            if low + uniform() * (high - low) < exp_of(-0.5 * x * x):
                found.append(x)
                wedges += 1
    return found, wedges, tails


def test_normal_and_exponential_numbers_are_those_of_plain_python():
    expected, wedges, tails = plain_normals(30_000)
    assert min(wedges, tails) > 3
    assert many(1, 30_000).tolist() == expected
    assert np.array_equal(many(2, 1000), -log_of(1.0 - many(0, 1000)))


def test_normal_tail_and_moments():
    """Each figure within 4 standard errors: a false-alarm rate of 6e-5 each, with a fixed seed."""
    found = many(1, SIZE)
    for power in (1, 2, 3, 4, 6):
        expected, spread = stats.norm.moment(power), np.sqrt(stats.norm.moment(2 * power))
        assert abs(np.mean(found**power) - expected) < 4.0 * spread / np.sqrt(SIZE)
    for edge in (3.0, streams.LAST_EDGE, 4.0):
        chance = 2.0 * stats.norm.sf(edge)
        assert abs(np.mean(np.abs(found) > edge) - chance) < 4.0 * np.sqrt(chance / SIZE)
    beyond = found[np.abs(found) > streams.LAST_EDGE]
    assert len(beyond) > 50
    assert abs(np.mean(beyond > 0.0) - 0.5) < 4.0 * 0.5 / np.sqrt(len(beyond))


def test_uniforms_of_many_streams():
    words = np.random.default_rng(1).integers(2**64, size=20, dtype=np.uint64)
    states, found = words.copy(), np.empty((20, 3))
    streams.fill_uniforms(states, found)
    with np.errstate(over="ignore"):
        steps = words[:, None] + np.arange(1, 4, dtype=np.uint64) * np.uint64(GOLDEN)
    assert np.array_equal(found, (mix(steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
    assert np.array_equal(states, steps[:, -1])


def test_streams_begin_where_the_keys_say():
    key = Stream(3, Purpose.EXAMPLE).keys(np.array([5]))[0]
    actions, stream = (np.array([word], dtype=np.uint64) for word in streams.first_words(key, 7))
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        start = mix(np.array([key + np.uint64(8) * golden]))[0]
        first = mix(np.array([start + golden]))[0]
    assert actions[0] == start
    assert stream[0] == mix(np.array([start ^ np.uint64(ENVIRONMENT)]))[0]
    assert streams.uniform(actions) == float(first >> np.uint64(11)) * 2.0**-53


def test_fractions_are_the_middles_of_equal_parts():
    words = np.random.default_rng(0).integers(2**64, size=1000, dtype=np.uint64)
    found = [streams.open_uniform(word) for word in words]
    assert found == [float(word >> np.uint64(12)) * 2.0**-52 + 2.0**-53 for word in mix(words)]


@kernel
def bent(units, count):
    activate_lanes(units, 1, 0, count, False)


def test_the_activation_is_tanh():
    x = np.concatenate([np.linspace(-30.0, 30.0, 2001), np.logspace(-20.0, 2.0, 100)])
    units = np.stack([x, x])[:, None]
    bent(units, len(x))
    assert np.max(np.abs(units[1, 0] - np.tanh(x))) < 3.5e-16
    assert np.array_equal(units[0, 0], x)
