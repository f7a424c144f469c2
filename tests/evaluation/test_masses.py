"""Bins of returns: what they leave out, what they keep, and intervals beside those of every return by itself."""

import time

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.evaluation import bootstrap_intervals, table_of_returns
from riskgrad.evaluation import masses as bins_of
from riskgrad.evaluation.masses import MOST_ATOMS, count_atoms, put_in_bins

SIZE = 20_000
RISKS = ["mean", "cvar:0.01", "cvar:0.1", "dual-power:3", "mean-variance:0.5"]


def draw_laws(size):
    rng = np.random.default_rng(7)
    normal, rare = rng.normal(size=size), rng.random(size)
    return {
        "normal": normal,
        "uniform": rng.random(size),
        "exponential losses": -rng.exponential(size=size),
        "Cauchy": rng.standard_cauchy(size),
        "2% ruin": np.where(rare < 0.02, -50.0 + normal, normal),
        "0.1% ruin": np.where(rare < 0.001, -50.0 + normal, normal),
        "an atom of 30%": np.where(rare < 0.3, 0.0, normal),
        "one outlier": np.append(normal[1:], 1e9),
    }


LAWS = draw_laws(SIZE)


def share_left_out(values, risk):
    """The variance of the influence within bins, as a part of all of it, by the plain formula."""
    whole, bins = count_atoms(values), put_in_bins(count_atoms(values))
    edges = np.cumsum(bins.masses)
    where = np.searchsorted(edges, np.cumsum(whole.masses) - 0.5)
    influence = rg.risk.parse(risk).influence(whole.atoms, whole.masses)
    centered = influence - np.average(influence, weights=whole.masses)
    means = np.bincount(where, whole.masses * centered) / np.bincount(where, whole.masses)
    return 1.0 - np.sum(bins.masses * means**2) / np.sum(whole.masses * centered**2)


@pytest.mark.parametrize("name", LAWS)
def test_bins_leave_out_a_thousandth_of_the_variance_at_most(name):
    assert len(put_in_bins(count_atoms(LAWS[name])).atoms) < 500
    for risk in RISKS:
        assert share_left_out(LAWS[name], risk) <= 1e-3


@pytest.mark.parametrize("name", LAWS)
def test_bins_keep_the_mean_the_count_and_the_order(name):
    whole, bins = count_atoms(LAWS[name]), put_in_bins(count_atoms(LAWS[name]))
    assert np.sum(bins.masses) == np.sum(whole.masses) == SIZE
    np.testing.assert_allclose(np.sum(bins.masses * bins.atoms) / SIZE, np.mean(LAWS[name]), rtol=1e-9, atol=1e-12)
    assert np.all(np.diff(bins.atoms) > 0.0)


def test_a_return_that_many_episodes_have_is_alone_and_so_are_the_outermost():
    bins = put_in_bins(count_atoms(LAWS["an atom of 30%"]))
    assert bins.masses[bins.atoms == 0.0] == np.sum(LAWS["an atom of 30%"] == 0.0)
    ordered = np.sort(LAWS["normal"])
    bins = put_in_bins(count_atoms(LAWS["normal"]))
    np.testing.assert_allclose(bins.atoms[:30], ordered[:30], rtol=1e-12)
    np.testing.assert_allclose(bins.atoms[-30:], ordered[-30:], rtol=1e-12)


def test_few_atoms_are_left_as_they_are():
    masses = count_atoms(np.arange(float(MOST_ATOMS)))
    assert put_in_bins(masses) is masses


@pytest.mark.parametrize("name", ["normal", "exponential losses", "2% ruin"])
def test_intervals_agree_with_those_of_every_return_by_itself(monkeypatch, name):
    # an end of 2,000 resamples is uncertain by 1.5% of the width, the difference of two by 2.2%: 10% is beyond 4.5 of
    # these, once in 10^5 for each of the 24 ends
    values, measures = LAWS[name][:4000], [rg.risk.parse(risk) for risk in ("mean", "cvar:0.1", "dual-power:3")]
    binned = bootstrap_intervals(values, measures, resamples=2000, seed=1)
    monkeypatch.setattr(bins_of, "MOST_ATOMS", 1 << 30)
    exact = bootstrap_intervals(values, measures, resamples=2000, seed=2)
    for one, other in zip(binned, exact, strict=True):
        np.testing.assert_allclose(one.interval, other.interval, atol=0.1 * (other.interval[1] - other.interval[0]))
        assert one.flag == other.flag


def test_binned_intervals_cover_in_90_to_99_of_100_repetitions():
    # the exact bootstrap covers in 95%; a count of 300 leaves [90%, 99.4%] with probability below 0.1%
    rng, measure, truth, hits = np.random.default_rng(3), rg.risk.CVaR(0.1), -1.7549833193, 0
    for repetition in range(300):
        low, high = bootstrap_intervals(rng.normal(size=3000), [measure], seed=repetition, resamples=200)[0].interval
        hits += low <= truth <= high
    assert 270 <= hits <= 298


def test_a_million_returns_take_the_time_of_a_few_sorts():
    # 8 sorts, and 10 with a range (benchmarks/intervals.md); 6,000 when every return was resampled by itself
    values, measures = np.random.default_rng(0).normal(size=10**6), ["mean", "cvar:0.1", "dual-power:3"]
    table_of_returns(values[:3000], measures)

    def fastest(work):
        times = []
        for _ in range(5):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        return min(times)

    sort = fastest(lambda: np.sort(values))
    assert fastest(lambda: table_of_returns(values, measures)) < 15.0 * sort
    assert fastest(lambda: table_of_returns(values, measures, (-10.0, 10.0))) < 15.0 * sort


def test_the_number_of_resamples_is_an_argument():
    values = LAWS["normal"][:500]
    few, many = (table_of_returns(values, [rg.risk.Mean()], resamples=count)[0] for count in (50, 2000))
    assert few.value == many.value
    assert few.bootstrap != many.bootstrap
    with pytest.raises(InputError, match="resamples must be"):
        table_of_returns(values, [rg.risk.Mean()], resamples=0)
