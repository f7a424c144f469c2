"""The guarantee of the paper (`tm:sf`) on three finite MDPs, two measures, on and off policy, against exact gradients.

    python benchmarks/guarantee.py [--seeds 40] [--figure benchmarks/guarantee.svg]

(a) At a fixed theta, E||estimate - grad rho||^2 under the paper's schedule, as a slope in N over 16..1024.
(b) At N = 256, the mean over iterates of E||grad rho(theta_k)||^2, over that of exact-gradient ascent with equal steps.

Reward scales are fixed beforehand: two roads in units of ten minutes, the saver's and the gambler's as they are. OnP-SF
is run with common random numbers in each +- pair, riskgrad's default, and with the paper's independent pairs.
"""

import argparse
from dataclasses import replace
from functools import partial

import numpy as np

import riskgrad as rg
from riskgrad.pages.style import COLORS, make_figure, save_figure
from riskgrad.theory import schedule

SIZES = (16, 32, 64, 128, 256, 512, 1024)
MODELS = {
    "risky-safe": rg.mdp.risky_safe(),
    "two-roads / 10": rg.mdp.two_roads(0.9, 1.3, 0.04, 6.0, 0.5, 0.2),
    "ruin": rg.mdp.ruin(),
}
MEASURES = ("dual-power:2", "mean-variance:0.5")
ALGORITHMS = {
    "OnP-SF": rg.OnPSF(orthogonal=False),
    "OnP-SF, independent pairs": rg.OnPSF(orthogonal=False, common_random_numbers=False),
    "OffP-SF": rg.OffPSF(orthogonal=False, steps_per_batch=1, ess_floor=0.0),
}


class Case:
    """One model, measure and algorithm, at a fixed theta."""

    def __init__(self, model: str, risk: str, algorithm: str) -> None:
        self.mdp, self.risk = MODELS[model], rg.risk.parse(risk)
        self.source = rg.sources.TabularSource(self.mdp)
        self.policy = rg.policy.TabularGibbs(self.mdp.n_states, self.mdp.n_actions)
        self.theta = 0.5 * np.random.default_rng(1).normal(size=self.policy.dim)
        self.algorithm = ALGORITHMS[algorithm]

    def run(self, algorithm: rg.algorithms.Algorithm, **options) -> rg.Run:
        """Run an algorithm from theta, on the measure itself: no path, no bonus."""
        plain = {"policy": self.policy, "theta": self.theta, "held_out": 0, "risk_path": None, "entropy": 0.0}
        return rg.train(self.source, self.risk, algorithm=algorithm, **plain, **options)

    def exact(self, theta: np.ndarray) -> np.ndarray:
        """The exact gradient."""
        return rg.exact.gradient(self.mdp, self.policy, theta, self.risk).vector

    def errors(self, seeds: int) -> np.ndarray:
        """(a): mean squared error of the gradient for each N."""
        truth, found = self.exact(self.theta), []
        for size in SIZES:
            plan = schedule(size)
            numbers = {"smoothing": plan.smoothing, "directions": plan.directions, "episodes": plan.episodes}
            algorithm = replace(self.algorithm, **numbers)
            # one iteration with a step of 1 moves theta by the gradient estimate
            runs = (self.run(algorithm, iterations=1, step_size=1.0, seed=seed) for seed in range(seeds))
            found.append(np.mean([np.sum((run.last_theta - self.theta - truth) ** 2) for run in runs]))
        return np.array(found)

    def ratio(self, size: int, seeds: int) -> float:
        """(b): mean squared gradient along the run over that along exact ascent."""
        noisy, norms, theta = [], [], self.theta
        for seed in range(seeds):
            path = [self.theta]
            keep = partial(_keep, path)
            self.run(self.algorithm, iterations=size, schedule="paper", seed=seed, callback=keep)
            noisy += [np.sum(self.exact(iterate) ** 2) for iterate in path[:size:4]]
        for k in range(size):
            gradient = self.exact(theta)
            if k % 4 == 0:
                norms.append(np.sum(gradient**2))
            theta = theta + schedule(size).step_size * gradient
        return float(np.mean(noisy) / np.mean(norms))


def _keep(path: list[np.ndarray], line: dict, theta: np.ndarray) -> None:
    del line
    path.append(theta)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--figure", default="benchmarks/guarantee.svg")
    arguments = parser.parse_args()
    page, axes = make_figure(11.0, 6.5, rows=len(MEASURES), columns=len(MODELS))
    print(f"{arguments.seeds} seeds for (a), 4 for (b)\n")
    print("| model | measure | algorithm | slope in N (at most -0.4) | error at N = 1024 | (b) ratio (within 15%) |")
    print("|---|---|---|---|---|---|")
    for row, risk in enumerate(MEASURES):
        for column, model in enumerate(MODELS):
            axis = axes[row * len(MODELS) + column]
            for name, color in zip(ALGORITHMS, COLORS, strict=False):
                case = Case(model, risk, name)
                errors = case.errors(arguments.seeds)
                slope = np.polyfit(np.log(SIZES), np.log(errors), 1)[0]
                ratio = case.ratio(256, seeds=4)
                print(f"| {model} | {risk} | {name} | {slope:.2f} | {errors[-1]:.3g} | {ratio:.2f} |", flush=True)
                axis.loglog(SIZES, errors, marker="o", markersize=3, color=color, label=f"{name}: slope {slope:.2f}")
            axis.loglog(SIZES, errors[0] * (np.array(SIZES) / SIZES[0]) ** -0.5, "k:", linewidth=1, label="slope -0.5")
            axis.set_title(f"{model}, {risk}", loc="left", fontsize=10)
            axis.legend(frameon=False, fontsize=7)
            axis.set(xlabel="N", ylabel="E||estimate - gradient||²")
    save_figure(page, arguments.figure)


if __name__ == "__main__":
    main()
