"""Orthonormal rows: exact in every digit that can be, of the law of Haar, bit for bit those of plain Python."""

import numpy as np
import pytest
from scipy import stats

from riskgrad.kernels.orthogonal import orthonormal_rows


def plain_rows(vectors):
    """Modified Gram-Schmidt, twice, with sums from the first coordinate to the last."""
    columns = [list(column) for column in vectors.T]
    for _ in range(2):
        for i, one in enumerate(columns):
            square = in_order(one, one)
            for j in range(i + 1, len(columns)):
                share = in_order(one, columns[j]) / square
                columns[j] = [a - x * share for a, x in zip(columns[j], one, strict=True)]
    return np.array([[x / np.sqrt(in_order(one, one)) for x in one] for one in columns])


def in_order(one, other):
    total = 0.0
    for x, y in zip(one, other, strict=True):
        total += x * y
    return total


@pytest.mark.parametrize(("r", "d"), [(1, 1), (1, 7), (3, 3), (5, 9), (12, 30), (16, 16)])
def test_the_bits_are_those_of_plain_python(r, d):
    vectors = np.random.default_rng(d).standard_normal((d, r))
    assert np.array_equal(orthonormal_rows(vectors), plain_rows(vectors))


@pytest.mark.parametrize(("r", "d"), [(2, 2), (8, 8), (128, 128), (16, 1000)])
def test_rows_are_orthonormal_and_those_of_a_qr_factorization(r, d):
    vectors = np.random.default_rng(0).standard_normal((d, r))
    rows = orthonormal_rows(vectors)
    assert np.max(np.abs(rows @ rows.T - np.eye(r))) < 1e-14
    q, upper = np.linalg.qr(vectors)
    np.testing.assert_allclose(rows.T, q * np.sign(np.diagonal(upper)), rtol=0.0, atol=1e-12)


def test_vectors_that_are_close_lose_nothing():
    """Two vectors that differ in the ninth digit, and a third in their plane but for as much."""
    rng = np.random.default_rng(1)
    base = rng.standard_normal(50)
    vectors = np.stack([base + 1e-9 * rng.standard_normal(50) for _ in range(3)], axis=1)
    rows = orthonormal_rows(vectors)
    assert np.max(np.abs(rows @ rows.T - np.eye(3))) < 1e-14


def test_the_law_is_that_of_haar():
    """20,000 frames in three dimensions, with a fixed seed: each figure within 4 standard errors.

    Every entry is uniform on [-1, 1]; the moments are those of the orthogonal group, whose halves are equally likely.
    """
    rng, size = np.random.default_rng(2), 20_000
    frames = np.array([orthonormal_rows(rng.standard_normal((3, 3))) for _ in range(size)])
    for i in range(3):
        for j in range(3):
            assert stats.kstest(frames[:, i, j], stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-4
    squares = frames**2
    for found, expected in (
        (squares[:, 0, 0] * squares[:, 0, 1], 1 / 15),
        (squares[:, 0, 0] * squares[:, 1, 0], 1 / 15),
        (squares[:, 0, 0] * squares[:, 1, 1], 2 / 15),
        (frames[:, 0, 0] * frames[:, 0, 1] * frames[:, 1, 0] * frames[:, 1, 1], -1 / 30),
        (np.linalg.det(frames), 0.0),
    ):
        assert abs(np.mean(found) - expected) < 4.0 * np.std(found) / np.sqrt(size)
