"""Where the paper's formulas mislead: every counterexample of docs/corrections.md about estimators, as numbers."""

from fractions import Fraction as F
from math import comb

import numpy as np
import pytest
from support.enumerate_samples import expectation, integral_form, samples, two_point

import riskgrad as rg

D, R = rg.distortion, rg.risk
LITERAL = R.Distortion(D.Identity(), estimator="paper")
NORMALIZED = R.Distortion(D.Identity())


def variance_of(estimator):
    """The estimated variance alone: mean minus (mean minus variance)."""

    def spread(values, weights):
        v, w = np.array(values, float), np.array(weights, float)
        return R.MeanVariance(0.0, estimator=estimator).estimate(v, w) - R.MeanVariance(
            1.0, estimator=estimator
        ).estimate(v, w)

    return spread


class TestOffPolicyMeanVariance:
    def test_constant_return_has_a_variance(self):
        """Return 1 always, b = (1/2, 1/2), pi = (3/4, 1/4): V = 0, but the literal form expects 0.25 for every m."""
        outcomes = [(F(1, 2), F(1), F(3, 2)), (F(1, 2), F(1), F(1, 2))]
        for m in (2, 3, 5):
            assert expectation(variance_of("paper"), outcomes, m) == pytest.approx(0.25, abs=1e-12)
            assert expectation(variance_of("unbiased"), outcomes, m) == pytest.approx(0.0, abs=1e-12)
            assert expectation(variance_of("self-normalized"), outcomes, m) == pytest.approx(0.0, abs=1e-12)

    @pytest.mark.parametrize(("pi", "literal"), [(F(1, 4), 0.0625), (F(3, 4), 0.5625)])
    def test_bias_of_either_sign(self, pi, literal):
        outcomes = [(F(1, 2), F(0), 2 * (1 - pi)), (F(1, 2), F(1), 2 * pi)]
        assert expectation(variance_of("paper"), outcomes, 3) == pytest.approx(literal, abs=1e-12)
        assert expectation(variance_of("unbiased"), outcomes, 3) == pytest.approx(0.1875, abs=1e-12)

    def test_not_shift_invariant(self):
        outcomes = [(F(1, 2), F(10), F(1, 2)), (F(1, 2), F(11), F(3, 2))]
        assert expectation(variance_of("paper"), outcomes, 2) == pytest.approx(33.0625, abs=1e-10)
        assert expectation(variance_of("unbiased"), outcomes, 2) == pytest.approx(0.1875, abs=1e-10)

    @pytest.mark.parametrize(("m", "fails"), [(542, False), (543, True), (1000, True)])
    def test_the_lemma_fails_from_543_episodes_on(self, m, fails):
        """R = 1 = M_r, M_s = 2, lambda = 1, pi -> (1, 0): MSE = 1 + 1/m + 2/(m (m - 1)) against 544/m."""
        heavy = np.arange(1, m + 1)  # no heavy sample at all has probability 2^-m
        masses = np.array([float(F(comb(m, k), 2**m)) for k in heavy])
        weights = np.where(np.arange(m) < heavy[:, None], 2.0, 0.0)
        estimates = R.MeanVariance(1.0, estimator="paper").estimate(np.ones(m), weights)
        error = float(np.sum(masses * (estimates - 1.0) ** 2))
        assert error == pytest.approx(1 + 1 / m + 2 / (m * (m - 1)), rel=1e-9)
        assert (error > 544 / m) is fails
        safe = R.MeanVariance(1.0, estimator="unbiased").estimate(np.ones(m), weights)
        assert float(np.sum(masses * (safe - 1.0) ** 2)) <= (np.sqrt(2) + np.sqrt(8) * 2) ** 2 / m

    @pytest.mark.parametrize(("m", "fails"), [(511, False), (512, True)])
    def test_the_variance_alone_fails_from_512_episodes_on(self, m, fails):
        """The same example as lambda grows: the squared error of the variance, 0 in truth, against 512/m."""
        heavy = np.arange(1, m + 1)
        masses = np.array([float(F(comb(m, k), 2**m)) for k in heavy])
        weights = np.where(np.arange(m) < heavy[:, None], 2.0, 0.0)
        spread = variance_of("paper")(np.ones(m), weights)
        assert (float(np.sum(masses * spread**2)) > 512 / m) is fails

    def test_also_fails_away_from_the_corner(self):
        m, pi = 1000, 0.999
        masses, values, _ = two_point(0.5, m)
        weights = np.where(values > 0, 2 * pi, 2 * (1 - pi))
        estimates = R.MeanVariance(1.0, estimator="paper").estimate(np.ones(m), weights)
        assert float(np.sum(masses * (estimates - 1.0) ** 2)) > 0.544

    def test_wrong_optimum(self):
        """Rewards (1, 1.1), b fair, lambda = 1: the second arm is best, the literal objective stays near b."""

        def objective(p, estimator):
            outcomes = [(F(1, 2), F(1), 2 * (1 - p)), (F(1, 2), F(11, 10), 2 * p)]
            measure = R.MeanVariance(1.0, estimator=estimator)
            return expectation(lambda v, w: measure.estimate(np.array(v, float), np.array(w, float)), outcomes, 2)

        at = F(43000, 88200)
        grid = [F(k, 1000) for k in range(1, 1000)]
        assert abs(max(grid, key=lambda p: objective(p, "paper")) - at) <= F(1, 1000)
        for step in (F(1, 10**4), -F(1, 10**4)):
            assert objective(at, "paper") > objective(at + step, "paper")
        assert float(at) == pytest.approx(0.4875, abs=5e-5)
        assert objective(at, "unbiased") == pytest.approx(1.04625, abs=1e-5)
        assert max(grid, key=lambda p: objective(p, "unbiased")) == F(999, 1000)
        assert objective(F(999999, 1000000), "unbiased") == pytest.approx(1.1, abs=1e-6)


class TestOffPolicyDistortion:
    def test_four_forms_of_one_sample(self):
        values, weights = np.array([0.0, 1.0]), np.array([0.5, 0.5])
        assert LITERAL.estimate(values, weights) == 0.75
        assert NORMALIZED.estimate(values, weights) == 0.5
        assert R.Mean(estimator="unbiased").estimate(values, weights) == 0.25
        for bound, integral in ((1, 0.75), (2, 1.25), (10, 5.25)):
            assert integral_form(lambda s: s, values, weights, bound) == pytest.approx(integral, abs=1e-14)

    def test_the_two_literal_forms_differ_by_the_missing_mass(self):
        rng = np.random.default_rng(0)
        for _ in range(200):
            values, weights = rng.normal(size=5), rng.exponential(scale=0.8, size=5)
            g = D.DualPower(3)
            gap = integral_form(g, values, weights, 10.0) - R.Distortion(g, estimator="paper").estimate(values, weights)
            assert gap == pytest.approx((10.0 - values.max()) * g(1 - min(1.0, weights.mean())), abs=1e-12)

    def test_avoiding_the_data_is_not_rewarded(self):
        """All returns -1, one of two actions logged: the integral form says 0 and 0.96, the default -1."""
        for pi, integral in ((0.25, 0.0), (0.01, 0.96)):
            values, weights = np.full(10, -1.0), np.full(10, pi / 0.5)
            assert integral_form(lambda s: s, values, weights, 1.0) == pytest.approx(integral, abs=1e-12)
            for text in ("mean", "cvar:0.1", "dual-power:2", "mean-variance:1", "dual-power:2:seeking"):
                assert R.parse(text).estimate(values, weights) == pytest.approx(-1.0, abs=1e-12)

    def test_literal_form_ignores_the_last_weight(self):
        outcomes = [(F(1, 2), F(0), F(1, 2)), (F(1, 2), F(1), F(3, 2))]
        alone = expectation(lambda v, w: LITERAL.estimate(np.array(v, float), np.array(w, float)), outcomes, 1)
        assert alone == 0.5  # E_b[R]; E_pi[R] is 0.75

    def test_top_samples_get_weight_zero(self):
        values, weights = np.array([0.0, 1.0]), np.array([2.5, 0.5])
        assert LITERAL.estimate(values, weights) == 0.0
        assert NORMALIZED.estimate(values, weights) == pytest.approx(1 / 6, abs=1e-15)

    def test_psi_belongs_to_its_return(self):
        values, weights = np.array([0.0, 1.0]), np.array([1.5, 0.5])
        for measure in (LITERAL, NORMALIZED):
            assert measure.estimate(values, weights) == pytest.approx(0.25, abs=1e-15)
            assert measure.estimate(values[::-1], weights[::-1]) == pytest.approx(0.25, abs=1e-15)
            assert measure.estimate(values, weights[::-1]) == pytest.approx(0.75, abs=1e-15)

    def test_what_the_literal_form_breaks(self):
        """Not the weighted mean at g = identity, not dual under R -> -R, and averse can exceed the mean."""
        values, weights = np.array([0.0, 1.0]), np.array([0.5, 0.5])
        averse = R.Distortion(D.DualPower(2), estimator="paper")
        seeking = R.Distortion(D.DualPower(2, attitude="seeking"), estimator="paper")
        assert LITERAL.estimate(values, weights) != pytest.approx(0.5)
        assert averse.estimate(values, weights) == pytest.approx(0.5625)
        assert averse.estimate(values, weights) > R.Mean().estimate(values, weights)
        assert seeking.estimate(-values, weights) != pytest.approx(-averse.estimate(values, weights))


class TestClipping:
    def test_clipped_law_is_biased(self):
        outcomes = [(F(1, 2), 0, F(3, 2)), (F(1, 2), 1, F(1, 2))]
        clipped = sum(
            p * min(F(1), sum(x for v, x in zip(r, w, strict=True) if v <= 0) / F(2))
            for p, r, w in samples(outcomes, 2)
        )
        assert clipped == F(5, 8)  # the truth is 3/4

    @pytest.mark.parametrize(
        ("truth", "m", "literal", "one", "ten", "normalized"),
        [
            (0.25, 2, 0.375, 0.375, 1.5, 0.375),
            (0.75, 2, 0.625, 0.75, 1.875, 0.625),
            (0.25, 40, 0.2507, 0.2507, 0.5328, 0.2548),
            (0.75, 40, 0.7500, 0.7500, 1.0321, 0.7452),
        ],
    )
    def test_means_of_four_forms(self, truth, m, literal, one, ten, normalized):
        masses, values, weights = two_point(truth, m)
        assert np.sum(masses * LITERAL.estimate(values, weights)) == pytest.approx(literal, abs=5e-5)
        assert np.sum(masses * NORMALIZED.estimate(values, weights)) == pytest.approx(normalized, abs=5e-5)
        for bound, mean in ((1.0, one), (10.0, ten)):
            integral = [integral_form(lambda s: s, v, w, bound) for v, w in zip(values, weights, strict=True)]
            assert np.sum(masses * integral) == pytest.approx(mean, abs=5e-5)

    def test_no_form_dominates(self):
        for truth, literal in ((0.75, 0.00156), (0.25, 0.01364)):
            masses, values, weights = two_point(truth, 40)
            errors = [np.sum(masses * (f.estimate(values, weights) - truth) ** 2) for f in (LITERAL, NORMALIZED)]
            assert errors[0] == pytest.approx(literal, abs=5e-6)
            assert errors[1] == pytest.approx(0.00372, abs=5e-6)

    def test_integral_form_is_biased_like_one_over_root_m(self):
        scaled = []
        for m in (64, 1024):
            masses, values, weights = two_point(0.25, m)
            kept = masses > 1e-18
            means = [integral_form(lambda s: s, v, w, 10.0) for v, w in zip(values[kept], weights[kept], strict=True)]
            scaled.append(np.sqrt(m) * (np.sum(masses[kept] * means) - 0.25))
        assert scaled[1] == pytest.approx(scaled[0], rel=0.02)


class TestSmallSamples:
    COIN = ((F(1, 2), F(0), F(1)), (F(1, 2), F(1), F(1)))

    def test_two_flips(self):
        seeking, averse = R.parse("dual-power:2:seeking"), R.parse("dual-power:2")
        assert expectation(lambda v, _: seeking.estimate(np.array(v, float)), list(self.COIN), 2) == 0.625  # truth 0.75
        assert expectation(lambda v, _: averse.estimate(np.array(v, float)), list(self.COIN), 2) == 0.375  # truth 0.25

    def test_one_episode_is_risk_neutral(self):
        for text in ("dual-power:7", "cvar:0.01", "exponential:9:seeking"):
            assert R.parse(text).estimate([3.25]) == 3.25

    @pytest.mark.parametrize("m", [1, 2, 3, 5])
    def test_bias_of_the_quadratic_row(self, m):
        """The bias is minus (lambda / m) times the integral of F (1 - F), exactly, for the literal (seeking) row."""
        outcomes = [(F(1, 5), F(-1), F(1)), (F(1, 2), F(0), F(1)), (F(3, 10), F(2), F(1))]
        integral = 1 * F(1, 5) * F(4, 5) + 2 * F(7, 10) * F(3, 10)
        law = rg.DiscreteLaw([-1, 0, 2], [0.2, 0.5, 0.3])
        measure = R.Distortion(D.Quadratic(0.5, attitude="seeking"))
        bias = expectation(lambda v, _: measure.estimate(np.array(v, float)), outcomes, m) - measure.value(law)
        assert bias == pytest.approx(-float(F(1, 2) / m * integral), abs=1e-12)


@pytest.mark.parametrize(("m", "error", "bound"), [(17, 0.24629, 0.2353), (64, 0.23497, 0.0625)])
def test_a_jump_of_g_breaks_the_error_bound(m, error, bound):
    """g(s) = 1/2 + s/2 for s > 0, g(0) = 0; R = 1 with probability 0.001: MSE above 16 M_r^2 M_g'^2 / m = 4 / m."""

    def g(s):
        return np.where(s > 0, 0.5 + s / 2, 0.0)

    ones = np.arange(m + 1)
    masses = np.array([comb(m, k) * 0.001**k * 0.999 ** (m - k) for k in ones])
    found = float(np.sum(masses * (g(ones / m) - g(0.001)) ** 2))
    assert found == pytest.approx(error, abs=5e-6)
    assert 4 / m == pytest.approx(bound, abs=5e-5)
    assert found > 4 / m
    with pytest.raises(ValueError, match="continuous"):
        D.Custom(g, attitude="seeking")


def test_exponential_utility_is_matched_at_twice_lambda():
    coin = rg.DiscreteLaw([0, 1], [0.5, 0.5])
    utility = -10 * np.log(0.5 + 0.5 * np.exp(-0.1))
    assert utility == pytest.approx(0.487505, abs=1e-6)
    assert R.MeanVariance(0.05).value(coin) == pytest.approx(0.4875, abs=1e-15)
    assert R.MeanVariance(0.1).value(coin) == pytest.approx(0.475, abs=1e-15)
