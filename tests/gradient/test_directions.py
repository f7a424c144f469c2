import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.gradient import sphere


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 12), st.booleans(), st.integers(0, 2**32 - 1))
def test_rows_are_unit_vectors_and_blocks_are_orthogonal(n, d, orthogonal, seed):
    rows = sphere(np.random.default_rng(seed), n, d, orthogonal)
    assert rows.shape == (n, d)
    np.testing.assert_allclose(np.sum(rows**2, axis=1), 1.0, rtol=1e-12)
    if orthogonal:
        for start in range(0, n, d):
            block = rows[start : start + d]
            np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_every_row_is_uniform_on_the_sphere(orthogonal):
    # moments of each row over 6 000 draws; sphere in d = 3: mean 0, E v v' = I / 3, E v_1^4 = 1 / 5.
    # the tolerances are 5 standard errors: a false alarm below 1e-5 per row and moment
    draws = np.stack([sphere(np.random.default_rng(seed), 4, 3, orthogonal) for seed in range(6_000)])
    root = np.sqrt(len(draws))
    for row in range(4):
        v = draws[:, row]
        np.testing.assert_allclose(v.mean(axis=0), 0.0, atol=5 * np.sqrt(1 / 3) / root)
        np.testing.assert_allclose(v.T @ v / len(v), np.eye(3) / 3, atol=5 * np.sqrt(1 / 5 - 1 / 9) / root)
        np.testing.assert_allclose((v**4).mean(axis=0), 1 / 5, atol=5 * np.sqrt(1 / 9 - 1 / 25) / root)


def test_directions_are_a_function_of_the_generator():
    for orthogonal in (False, True):
        first, again = (sphere(np.random.default_rng(7), 9, 4, orthogonal) for _ in range(2))
        np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(("n", "d"), [(0, 3), (3, 0), (-1, 3), (2.0, 3), (True, 3)])
def test_bad_sizes_get_one_line(n, d):
    with pytest.raises(InputError, match="must be a positive integer"):
        sphere(np.random.default_rng(0), n, d)
