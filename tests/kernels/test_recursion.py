"""The recursions over accumulated returns against dictionaries and loops in plain Python."""

from collections import defaultdict

import numpy as np
import pytest

from riskgrad.kernels.recursion import advance_mass, merge_atoms, pull_adjoints_back


def graph(rng, nodes, edges):
    """Random edges, sorted by the node that they lead into; rewards are whole, so that returns meet."""
    target = np.sort(rng.integers(0, nodes, size=edges))
    incoming = np.searchsorted(target, np.arange(nodes + 1))
    return (
        incoming,
        rng.integers(0, nodes, size=edges),
        rng.integers(-2, 3, size=edges).astype(float),
        rng.uniform(size=edges),
        target,
    )


def layer(rng, nodes):
    atoms = [np.unique(rng.integers(-5, 6, size=rng.integers(0, 6))).astype(float) for _ in range(nodes)]
    begin = np.concatenate([[0], np.cumsum([len(part) for part in atoms])])
    return np.concatenate(atoms), rng.uniform(size=int(begin[-1])), begin


@pytest.mark.parametrize("seed", range(5))
def test_mass_moves_along_the_edges_and_adjoints_come_back(seed):
    rng, nodes = np.random.default_rng(seed), 6
    incoming, source, shift, weight, target = graph(rng, nodes, 20)
    values, masses, begin = layer(rng, nodes)
    found, mass, ends = advance_mass(values, masses, begin, incoming, source, shift, weight, 0.0, 10**6)
    expected = defaultdict(float)
    for edge in range(len(source)):
        for at in range(begin[source[edge]], begin[source[edge] + 1]):
            expected[int(target[edge]), values[at] + shift[edge]] += masses[at] * weight[edge]
    keys = sorted(expected)
    assert [(j, value) for j in range(nodes) for value in found[ends[j] : ends[j + 1]]] == keys
    np.testing.assert_allclose(mass, [expected[key] for key in keys], rtol=1e-14)

    influence, totals = rng.normal(size=len(found)), np.zeros(len(source))
    adjoint = pull_adjoints_back(values, masses, begin, found, influence, ends, incoming, source, shift, weight, totals)
    plain, plain_totals, place = np.zeros(len(values)), np.zeros(len(source)), {key: i for i, key in enumerate(keys)}
    for edge in range(len(source)):
        for at in range(begin[source[edge]], begin[source[edge] + 1]):
            after = influence[place[int(target[edge]), values[at] + shift[edge]]]
            plain[at] += weight[edge] * after
            plain_totals[edge] += masses[at] * after
    assert np.array_equal(adjoint, plain)
    assert np.array_equal(totals, plain_totals)


def test_a_layer_that_grows_too_large_is_cut_short():
    rng = np.random.default_rng(0)
    incoming, source, shift, weight, _ = graph(rng, 6, 20)
    found = advance_mass(*layer(rng, 6), incoming, source, shift, weight, 0.0, 3)[0]
    assert len(found) > 3


@pytest.mark.parametrize("width", [0.0, 0.1, 10.0])
def test_atoms_close_to_the_first_of_a_cluster_join_it(width):
    rng = np.random.default_rng(1)
    values, masses = np.sort(rng.uniform(size=50)), rng.uniform(size=50)
    clusters: list[list[float]] = []
    for value, mass in zip(values, masses, strict=True):
        if clusters and value - clusters[-1][0] <= width:
            clusters[-1][1] += mass
        else:
            clusters.append([value, mass])
    found = np.stack(merge_atoms(values, masses, width), axis=1)
    assert np.array_equal(found, np.array(clusters))


@pytest.mark.parametrize("width", [0.05, 0.5, 100.0])
def test_returns_within_a_width_of_the_first_move_together_and_come_back_from_there(width):
    rng, nodes = np.random.default_rng(2), 6
    incoming, source, _, weight, _ = graph(rng, nodes, 20)
    shift, (values, masses, begin) = rng.normal(size=20), layer(rng, nodes)
    found, mass, ends = advance_mass(values, masses, begin, incoming, source, shift, weight, width, 10**6)
    clusters, place = [], {}
    for j in range(nodes):
        edges = range(incoming[j], incoming[j + 1])
        came = [(values[k] + shift[e], e, k) for e in edges for k in range(begin[source[e]], begin[source[e] + 1])]
        assert ends[j] == len(clusters)
        for value, e, k in sorted(came):
            if len(clusters) == ends[j] or value - clusters[-1][0] > width:
                clusters.append([value, 0.0])
            clusters[-1][1] += masses[k] * weight[e]
            place[e, k] = len(clusters) - 1
    assert np.array_equal(np.stack([found, mass], axis=1), clusters)

    influence, totals = rng.normal(size=len(found)), np.zeros(20)
    adjoint = pull_adjoints_back(values, masses, begin, found, influence, ends, incoming, source, shift, weight, totals)
    plain, plain_totals = np.zeros(len(values)), np.zeros(20)
    for e, k in sorted(place):
        plain[k] += weight[e] * influence[place[e, k]]
        plain_totals[e] += masses[k] * influence[place[e, k]]
    assert np.array_equal(adjoint, plain)
    assert np.array_equal(totals, plain_totals)


def test_where_nothing_is_nothing_moves():
    none, edges = np.zeros(0), np.zeros(1, dtype=np.int64)
    begin, incoming = np.zeros(3, dtype=np.int64), np.array([0, 1, 1])
    found, mass, ends = advance_mass(none, none, begin, incoming, edges, np.ones(1), np.ones(1), 0.0, 10)
    assert len(found) == len(mass) == 0
    assert np.array_equal(ends, begin)
    assert all(len(part) == 0 for part in merge_atoms(none, none, 0.0))
