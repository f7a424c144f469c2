"""Options by search: Optuna tries steps and bonuses on the two roads, and stops trials that fall behind.

    pip install 'riskgrad[examples]'
    python examples/tuning.py

A trial is a training. After each iteration its callback reports the mean risk of the last five batches, and stops the
run if Optuna's median pruner says so: if at least half of the earlier trials were better at the same iteration. The
result of a trial is the risk by held-out episodes, which no step used. About 40 seconds on 2 cores.
"""

import argparse

import optuna

import riskgrad as rg

RISK = "cvar:0.1"


def train(trial: optuna.Trial, iterations: int) -> rg.Run:
    """Train with the options of a trial; stop when the pruner says so."""
    seen: list[float] = []

    def report(line: dict, theta: object) -> bool:
        del theta
        seen.append(line["risk"])
        trial.report(sum(seen[-5:]) / len(seen[-5:]), step=line["iteration"])
        return trial.should_prune()

    return rg.train(
        "two-roads",
        risk=RISK,
        algorithm="score:episodes=100",
        step_size=f"adam:{trial.suggest_float('step', 0.003, 1.0, log=True):.4g}",
        entropy=trial.suggest_float("entropy", 0.0, 1.0),
        iterations=iterations,
        seed=trial.number,
        callback=report,
        progress=False,
    )


def main() -> None:
    """Search, and print all trials and the best one."""
    options = argparse.ArgumentParser(description="Options by search.")
    options.add_argument("--trials", type=int, default=20)
    options.add_argument("--iterations", type=int, default=60)
    given = options.parse_args()

    def judge(trial: optuna.Trial) -> float:
        run = train(trial, given.iterations)
        told = f"trial {trial.number:2}  step {trial.params['step']:6.3f}  bonus {trial.params['entropy']:4.2f}"
        if not run.finished or run.held_out_risk is None:
            print(f"{told}  gave up after {len(run.history)} iterations", flush=True)
            raise optuna.TrialPruned
        print(f"{told}  {RISK} {run.held_out_risk:.3f}", flush=True)
        return float(f"{run.held_out_risk:.3f}")

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=given.iterations // 4)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0), pruner=pruner)
    study.optimize(judge, n_trials=given.trials)
    print(f"best: {RISK} {study.best_value:.3f} with step {study.best_params['step']:.3f}; no policy has more than -30")


if __name__ == "__main__":
    main()
