import numpy as np

from riskgrad.weights import ratios_from_logs, worth


def test_weights_that_overflow_keep_their_shares():
    logs = np.array([[1000.0, 1000.0 + np.log(3.0)], [0.0, np.log(2.0)]])
    psi = ratios_from_logs(logs)
    assert np.all(np.isfinite(psi))
    np.testing.assert_allclose(psi[0, 1] / psi[0, 0], 3.0)
    np.testing.assert_allclose(psi[1], [1.0, 2.0])
    np.testing.assert_allclose(worth(logs), [16 / 10, 9 / 5])


def test_equal_tiny_weights_are_worth_little():
    np.testing.assert_allclose(worth(np.full((1, 50), np.log(0.01))), [0.5])
    np.testing.assert_allclose(worth(np.zeros((1, 50))), [50.0])
