"""How often intervals cover, and how wide they are against the DKW closed form, on named laws.

    python benchmarks/intervals.py [repetitions]
    python benchmarks/intervals.py time

Prints the table of benchmarks/intervals.md. Columns: coverage of the certified interval, of the percentile
bootstrap (the one in use) and of the bias-corrected accelerated one (BCa), the share of bootstrap intervals that were
flagged, and the median width of the certified interval divided by that of DKW alone and by that of the bootstrap.
With "time" it prints how long the table of a million returns takes, in sorts of them.
"""

import sys
import time

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

import riskgrad as rg
from riskgrad.evaluation import bootstrap_intervals, certified_intervals, table_of_returns
from riskgrad.types import DiscreteLaw

SAFE = np.linspace(0.0, 2.0, 9)
LEVELS = (np.arange(1000) + 0.5) / 1000
FINE = (np.arange(100_000) + 0.5) / 100_000  # so many returns that they are resampled in bins


def ruin(chance):
    return DiscreteLaw(np.append(-50.0, SAFE), np.append(chance, np.full(9, (1.0 - chance) / 9)))


# name: law, range, episodes
LAWS = {
    "coin": (DiscreteLaw([0.0, 1.0], [0.5, 0.5]), (0.0, 1.0), 200),
    "binomial(10, 0.4)": (DiscreteLaw(np.arange(11.0), binom.pmf(np.arange(11), 10, 0.4)), (0.0, 10.0), 4000),
    "normal": (DiscreteLaw(norm.ppf(LEVELS), np.full(1000, 0.001)), (-5.0, 5.0), 1000),
    "exponential losses": (DiscreteLaw(np.log(LEVELS), np.full(1000, 0.001)), (-10.0, 0.0), 1000),
    "normal, in bins": (DiscreteLaw(norm.ppf(FINE), np.full(100_000, 1e-5)), (-5.0, 5.0), 4000),
    "exponential losses, in bins": (DiscreteLaw(np.log(FINE), np.full(100_000, 1e-5)), (-13.0, 0.0), 4000),
    "tail filled by one atom": (DiscreteLaw([-10.0, 0.0, 1.0], [0.05, 0.55, 0.4]), (-10.0, 1.0), 1000),
    "2% ruin": (ruin(0.02), (-50.0, 2.0), 2000),
    "1% ruin": (ruin(0.01), (-50.0, 2.0), 2000),
    "0.1% ruin, m = 10,000": (ruin(0.001), (-50.0, 2.0), 10_000),
    "0.1% ruin, m = 1,000": (ruin(0.001), (-50.0, 2.0), 1000),
}
RISKS = ["mean", "cvar:0.05", "cvar:0.1", "dual-power:3", "mean-variance:0.5"]
RESAMPLES = 400


def dkw_width(values, measure, return_range):
    size = len(values)
    eps = np.sqrt(np.log(2.0 / 0.05) / (2.0 * size))
    ordered = np.sort(values)
    heads = np.clip(np.arange(1, size + 1) / size - eps, 0.0, 1.0)
    best = DiscreteLaw(np.append(ordered, return_range[1]), np.diff(heads, prepend=0.0, append=1.0))
    tails = np.clip(np.arange(size) / size + eps, 0.0, 1.0)
    worst = DiscreteLaw(np.append(return_range[0], ordered), np.diff(tails, prepend=0.0, append=1.0))
    return measure.value(best) - measure.value(worst)


def bca(values, measure, rng):
    atoms, counts = np.unique(values, return_counts=True)
    results = measure.estimate_counts(atoms, rng.multinomial(len(values), counts / len(values), size=RESAMPLES))
    value = float(measure.estimate(values))
    below = np.mean(results < value - 1e-12) + 0.5 * np.mean(np.abs(results - value) <= 1e-12)
    bias = ndtri(np.clip(below, 0.5 / RESAMPLES, 1.0 - 0.5 / RESAMPLES))
    influence = measure.influence(atoms, counts)
    centered = influence - np.sum(counts * influence) / len(values)
    second = np.sum(counts * centered**2)
    bend = np.sum(counts * centered**3) / (6.0 * second**1.5) if second > 0.0 else 0.0
    z = bias + ndtri(np.array([0.025, 0.975]))
    return np.quantile(results, ndtr(bias + z / (1.0 - bend * z)))


def study(law, return_range, size, repetitions, rng):
    measures = [rg.risk.parse(risk) for risk in RISKS]
    counts = np.zeros((len(measures), 4))
    widths = np.zeros((repetitions, len(measures), 2))
    for repetition in range(repetitions):
        values = rng.choice(law.values, size=size, p=law.probabilities / law.probabilities.sum())
        certified = certified_intervals(values, measures, return_range)
        bootstrap = bootstrap_intervals(values, measures, return_range, seed=repetition, resamples=RESAMPLES)
        for row, measure in enumerate(measures):
            truth = measure.value(law)
            intervals = [certified[row].interval, bootstrap[row].interval, bca(values, measure, rng)]
            counts[row, :3] += [low - 1e-9 <= truth <= high + 1e-9 for low, high in intervals]
            counts[row, 3] += bootstrap[row].flag is not None
            width = intervals[0][1] - intervals[0][0]
            spread = intervals[1][1] - intervals[1][0]
            dkw = np.nan if row == len(measures) - 1 else dkw_width(values, measure, return_range)
            widths[repetition, row] = [width / dkw if dkw else np.nan, width / spread if spread else np.nan]
    return counts / repetitions, np.median(widths, axis=0)


def format_ratio(ratio):
    return "-" if np.isnan(ratio) else f"{ratio:.2f}"


def fastest(work):
    times = []
    for _ in range(7):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def print_times(size=10**6):
    values = np.random.default_rng(0).normal(size=size)
    measures = [rg.risk.parse(risk) for risk in ("mean", "cvar:0.1", "dual-power:3")]
    table_of_returns(values[:3000], measures)
    sort = fastest(lambda: np.sort(values))
    plain = fastest(lambda: table_of_returns(values, measures))
    ranged = fastest(lambda: table_of_returns(values, measures, (-10.0, 10.0)))
    print("| returns | sort | table of three measures | with a range, hence certified intervals |")
    print("|---|---|---|---|")
    print(f"| {size:,} | {1e3 * sort:.1f} ms | {plain / sort:.1f} sorts | {ranged / sort:.1f} sorts |")


def main():
    if sys.argv[1:] == ["time"]:
        print_times()
        return
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{repetitions} repetitions, 95% confidence, {RESAMPLES} resamples\n")
    print("| law | m | risk | certified | percentile | BCa | flagged | width / DKW | width / bootstrap |")
    print("|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(2024)
    for name, (law, return_range, size) in LAWS.items():
        shares, ratios = study(law, return_range, size, repetitions, rng)
        for risk, share, ratio in zip(RISKS, shares, ratios, strict=True):
            cells = [name, f"{size:,}", risk, *(f"{100 * part:.1f}%" for part in share), *map(format_ratio, ratio)]
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
