"""Every public function with arguments that it takes, and values that nobody should give in the place of one of them.

An entry of `list_calls` is a function and the arguments of a call that works. In `try_strange` one argument after the
other is replaced by one strange value after the other: the call may work, or be refused in one printable line.
"""

import contextlib
import datetime as dt
import fractions
import inspect
import signal
import sys
import types
import unittest.mock
import warnings
import zlib
from collections import Counter
from pathlib import Path

import gymnasium
import numpy as np
from numpy.random import default_rng

import riskgrad as rg
from riskgrad.errors import RiskgradError
from support.fuzz import written_log

SECONDS = 60.0  # after which a call hangs
LONGEST_LINE = 1000
AS_ASKED = {("theory.bounds_table", "effort")}  # as much work as the user asks for
# what algorithms, policies and sources are made of, and is given what riskgrad itself made
INNER = (
    *("backend.Serial", "policy.TorchModule", "random.Purpose", "risk.builders"),
    *("errors.as_printable", "errors.find_nearest", "errors.in_one_line", "errors.refuse_unknown_keyword"),
    *("evaluation.bootstrap_intervals", "evaluation.certified_intervals", "evaluation.law_band"),
    *("evaluation.improvement_probability", "evaluation.interquartile_mean"),
    *(
        "gradient.around",
        "gradient.batch_error",
        "gradient.smoothed_difference",
        "gradient.with_batch_error",
        "training.Climb",
        "training.Problem",
    ),
    *(
        "policy.Normalized",
        "random.changed_versions",
        "random.current_versions",
        "random.environment_seeds",
        "random.episode_words",
        "random.mix",
    ),
    *(
        "settings.Rule",
        "settings.check_options",
        "settings.default_of",
    ),
    *("settings.facts_of", "settings.option", "settings.read_options"),
    *(
        "sources.LoggedEpisodes",
        "sources.check_fit",
        "sources.closing",
        "sources.open_source",
        "types.describe",
        "types.digest",
        "types.freeze",
    ),
    *("types.as_json", "types.round_trip"),
    *("weights.ratios_from_logs", "weights.weigh_around", "weights.worth", "weights.worth_at"),
)


class Anything:
    """Can be called with anything, and is nothing that is asked for."""

    def __init__(self, *args, **options):
        del args, options


STRANGE = {
    "None": None,
    "True": True,
    "zero": 0,
    "minus one": -1,
    "five": 5,
    "a part": 0.3,
    "nan": float("nan"),
    "inf": float("inf"),
    "huge": 10**400,
    "too large": 2**63,
    "complex": 1 + 2j,
    "a fraction": fractions.Fraction(1, 3),
    "a date": dt.date(2020, 1, 1),
    "empty text": "",
    "text": "[/b]a\nb\x1b[31m",
    "digits": "12",
    "a surrogate": "\ud800",
    "bytes": b"x",
    "an empty list": [],
    "a list": [1, "a", None],
    "ragged": [[1.0], [1.0, 2.0]],
    "a tuple": (1, 2, 3),
    "a dictionary": {"a": 1},
    "odd keys": {1: 2},
    "a set": {1},
    "an object": object(),
    "a class": Anything,
    "a function": lambda *args, **options: None,
    "a module": types,
    "an array of text": np.array(["a"]),
    "an array of objects": np.array([object()]),
    "a masked array": np.ma.array([1.0, 2.0], mask=[True, False]),
    "an array of dates": np.array(["2020-01-01"], dtype="M8[D]"),
    "an array of nan": np.array([np.nan, 1.0]),
    "an empty array": np.zeros((0, 3)),
    "an array of axes": np.zeros((2, 1, 2)),
}


def stop(line, theta):
    """End a training after its first iteration."""
    del line, theta
    return True


def make_tracker(to):
    """Make a tracker, with a stand-in for the one that is not installed."""
    stand_in = types.ModuleType("wandb")
    stand_in.init = lambda: types.SimpleNamespace(log=None, finish=None)
    with unittest.mock.patch.dict(sys.modules, {"wandb": stand_in}):
        return rg.run.Tracker(to)


class Prepared:
    """What the calls need: a model, a run, a log.

    Args:
        folder: where files may be written.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.mdp = rg.mdp.two_roads()
        self.pi = rg.policy.TabularGibbs(self.mdp.n_states, self.mdp.n_actions)
        self.theta = np.zeros(self.pi.dim)
        self.rho = rg.risk.CVaR(0.5)
        self.brief = {"algorithm": "offp-sf:episodes=4", "iterations": 1, "held_out": 4}
        self.run = rg.train("two-roads", "cvar:0.5", folder=self.folder / "run", **self.brief)
        written_log(self.folder / "log.parquet")
        self.source = rg.sources.TabularSource(self.mdp)
        self.stream = rg.random.Stream(0, rg.random.Purpose.TRAINING)
        self.batch = self.source.record(self.pi, self.theta, 6, self.stream)
        self.directions = rg.gradient.sphere(default_rng(0), 3, self.pi.dim)
        self.constants = rg.theory.constants(self.mdp, self.pi)
        self.law = rg.DiscreteLaw([1.0, 2.0], [0.5, 0.5])
        rows = {"episode_id": [0, 0, 1], "t": [0, 1, 0], "action": [0, 1, 0], "reward": [1.0, 2.0, 3.0]}
        self.columns = {**rows, "behavior_prob": [0.5, 0.5, 0.5], "state": [0, 1, 0]}
        self.log = rg.LoggedEpisodes.from_arrays(**self.columns)
        self.cart = gymnasium.make("CartPole-v1")
        self.frontier = rg.frontier("two-roads", levels=[0.5], episodes=40, **self.brief)
        self.experiment = rg.experiment("two-roads", ["mean"], 2, episodes=40, **self.brief)
        self.bounds = rg.theory.bounds_table(self.mdp, self.pi, "mean", 10)
        self.player = self.run.player()
        self.player.reset()


def list_calls(p):
    """Give what can be called, by its public name, with arguments by name that work."""
    values, state = [1.0, 2.0, 4.0], {"policy": p.pi, "theta": p.theta}
    model = {"transition": [[[0.5, 0.5]], [[0.0, 1.0]]], "reward": [[[1.0, 0.0]], [[0.0, 0.0]]]}
    end = {"start": 0, "terminal": [1], "horizon": 3, "discount": 0.9}
    outcomes = [[[(0.5, 0, 1.0, False), (0.5, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]
    trained = {"callback": stop, "progress": False, **p.brief}
    paths = {"risk_path": 0.5, "risk": p.rho, "schedule": "practical"}
    return {
        "train": (rg.train, {"env": "two-roads", "risk": "cvar:0.5", **trained}),
        "evaluate": (rg.evaluate, {"run": p.run, "env": "two-roads", "risk": ["mean"], "episodes": 20}),
        "compare": (rg.compare, {"runs": [p.run, p.run], "env": "two-roads", "risk": ["mean"], "episodes": 20}),
        "report": (rg.report, {"runs": p.run, "path": p.folder / "page.html", "env": "two-roads", "episodes": 20}),
        "frontier": (rg.frontier, {"env": "two-roads", "levels": [0.5], "episodes": 20, **p.brief}),
        "experiment": (
            rg.experiment,
            {"env": "two-roads", "risks": ["mean"], "seeds": 1, "episodes": 20, **p.brief},
        ),
        "experiments.Experiment.report": (p.experiment.report, {"path": p.folder / "seeds.html"}),
        "experiments.Experiment.scores_of": (p.experiment.scores_of, {"trained_on": "mean", "risk": "mean"}),
        "load": (rg.load, {"path": p.folder / "run"}),
        "register": (rg.register, {"part": type("Own", (rg.policy.TabularGibbs.__base__,), {"name": "own"})}),
        "plot_run": (rg.plot_run, {"run": p.run}),
        "plot_frontier": (rg.plot_frontier, {"found": p.frontier}),
        "plot_bounds": (rg.plot_bounds, {"rows": p.bounds}),
        "plot_distortions": (rg.plot_distortions, {"distortions": [rg.distortion.DualPower(2.0)]}),
        "Run.act": (p.run.act, {"obs": 0}),
        "Run.player": (p.run.player, {}),
        "Run.save": (p.run.save, {"path": p.folder / "saved.rg"}),
        "Run.export": (p.run.export, {"path": p.folder / "policy.npz"}),
        "Run.plot": (p.run.plot, {}),
        "Run.report": (p.run.report, {"path": p.folder / "own.html", "episodes": 20}),
        "run.RunPlayer.act": (p.player.act, {"obs": 0}),
        "Score": (rg.Score, {"episodes": 4}),
        "OnPSF": (rg.OnPSF, {"episodes": 4}),
        "OffPSF": (rg.OffPSF, {"episodes": 4}),
        "Critic": (rg.Critic, {"episodes": 8}),
        "LoggedEpisodes.from_arrays": (rg.LoggedEpisodes.from_arrays, p.columns),
        "LoggedEpisodes.from_batches": (rg.LoggedEpisodes.from_batches, {"batches": [p.columns]}),
        "LoggedEpisodes.from_parquet": (rg.LoggedEpisodes.from_parquet, {"path": p.folder / "log.parquet"}),
        "DiscreteLaw": (rg.DiscreteLaw, {"values": [1.0, 2.0], "probabilities": [0.5, 0.5]}),
        "ascent.Adam": (rg.ascent.Adam, {"step_size": 0.1}),
        "ascent.ConstantStep": (rg.ascent.ConstantStep, {"step_size": 0.1}),
        "ascent.parse_ascent": (rg.ascent.parse_ascent, {"step_size": "adam:0.1"}),
        "backend.Processes": (rg.backend.Processes, {"workers": 2}),
        "backend.Ray": (rg.backend.Ray, {"workers": 2, "address": "auto", "retries": 1}),
        "backend.Patient": (rg.backend.Patient, {"workers": 2}),
        "backend.parse_backend": (rg.backend.parse_backend, {"text": "processes:2"}),
        "distortion.Custom": (rg.distortion.Custom, {"g": lambda s: s * s}),
        **{
            f"distortion.{one.__name__}": (one, {"lam": 0.5})
            for one in (rg.distortion.Quadratic, rg.distortion.Exponential, rg.distortion.SquareRoot)
        },
        "distortion.DualPower": (rg.distortion.DualPower, {"lam": 2.0}),
        "distortion.DualPower.__call__": (rg.distortion.DualPower(2.0), {"s": [0.5]}),
        "distortion.DualPower.derivative": (rg.distortion.DualPower(2.0).derivative, {"s": [0.5]}),
        "distortion.Logarithmic": (rg.distortion.Logarithmic, {"lam": 2.0}),
        "distortion.LowerTail": (rg.distortion.LowerTail, {"alpha": 0.1}),
        "distortion.SmoothLowerTail": (rg.distortion.SmoothLowerTail, {"alpha": 0.1}),
        "distortion.Mixture": (rg.distortion.Mixture, {"g": rg.distortion.DualPower(2.0), "weight": 0.5}),
        "envs.compiled_twin": (rg.envs.compiled_twin, {"identifier": "CartPole-v1"}),
        "envs.GuardedMaze": (rg.envs.GuardedMaze, {}),
        "evaluation.table_of_returns": (rg.evaluation.table_of_returns, {"values": values, "measures": ["mean"]}),
        "evaluation.aggregate_seeds": (rg.evaluation.aggregate_seeds, {"scores": values, "resamples": 50}),
        "evaluation.compare_seeds": (
            rg.evaluation.compare_seeds,
            {"scores": values, "other": values, "resamples": 50},
        ),
        "exact.return_law": (
            rg.exact.return_law,
            {"mdp": p.mdp, "policy_table": p.pi.probabilities(p.theta, np.arange(p.mdp.n_states))},
        ),
        "exact.value": (rg.exact.value, {"mdp": p.mdp, **state, "rho": p.rho}),
        "exact.gradient": (rg.exact.gradient, {"mdp": p.mdp, **state, "rho": p.rho}),
        "exact.best_deterministic": (rg.exact.best_deterministic, {"mdp": p.mdp, "rho": p.rho}),
        "gradient.sphere": (rg.gradient.sphere, {"rng": default_rng(0), "n": 2, "d": 3}),
        "gradient.smoothed": (
            rg.gradient.smoothed,
            {
                "objective": lambda thetas: thetas.sum(axis=1),
                "theta": p.theta,
                "directions": p.directions,
                "smoothing": 0.1,
            },
        ),
        "gradient.score": (rg.gradient.score, {"risk": p.rho, **state, "batch": p.batch}),
        "mdp.FiniteMDP": (rg.mdp.FiniteMDP, {**model, **end}),
        "mdp.FiniteMDP.from_outcomes": (
            rg.mdp.FiniteMDP.from_outcomes,
            {"outcomes": outcomes, "start": 0, "horizon": 3},
        ),
        "mdp.from_gymnasium": (rg.mdp.from_gymnasium, {"env": "CliffWalking-v1", "horizon": 5}),
        **{
            f"mdp.{one.__name__}": (one, {})
            for one in (rg.mdp.two_roads, rg.mdp.inventory, rg.mdp.ruin, rg.mdp.risky_safe, rg.mdp.slippery_grid)
        },
        "paths.SquarePath": (rg.paths.SquarePath, {"part": 0.5}),
        "paths.LevelPath": (rg.paths.LevelPath, {"part": 0.5}),
        "paths.choose_path": (rg.paths.choose_path, paths),
        "paths.choose_paths": (rg.paths.choose_paths, paths),
        "policy.TabularGibbs": (rg.policy.TabularGibbs, {"n_states": 3, "n_actions": 2}),
        "policy.TabularGibbs.probabilities": (p.pi.probabilities, {"theta": p.theta, "observations": 0}),
        "policy.TabularGibbs.log_prob": (p.pi.log_prob, {"theta": p.theta, "observations": [0], "actions": [0]}),
        "policy.TabularGibbs.initial_theta": (p.pi.initial_theta, {"generator": default_rng(0)}),
        "policy.SharedTable": (rg.policy.SharedTable, {"n_states": 3, "n_actions": 2}),
        "policy.LinearGibbs": (rg.policy.LinearGibbs, {"features": np.ones((3, 2, 1))}),
        "policy.LinearSoftmax": (rg.policy.LinearSoftmax, {"n_features": 3, "n_actions": 2}),
        "policy.Gibbs": (rg.policy.Gibbs, {"preference": lambda theta, obs: theta, "dim": 2}),
        "policy.MLP": (rg.policy.MLP, {"inputs": 3, "n_actions": 2, "hidden": (4,)}),
        "policy.Gaussian": (rg.policy.Gaussian, {"inputs": 3, "low": [-1.0], "high": [1.0]}),
        "policy.Deterministic": (rg.policy.Deterministic, {"inputs": 3, "n_actions": 2}),
        "policy.Greedy": (rg.policy.Greedy, {"policy": p.pi}),
        "policy.Factored": (
            rg.policy.Factored,
            {"choices": rg.policy.MLP(3, (2, 2), (4,)), "numbers": rg.policy.Gaussian(3, [-1.0], [1.0])},
        ),
        "random.Stream": (rg.random.Stream, {"seed": 0, "purpose": rg.random.Purpose.TRAINING}),
        "risk.parse": (rg.risk.parse, {"risk": "cvar:0.1"}),
        "risk.CVaR": (rg.risk.CVaR, {"alpha": 0.1}),
        "risk.SmoothCVaR": (rg.risk.SmoothCVaR, {"alpha": 0.1}),
        "risk.Mean": (rg.risk.Mean, {}),
        "risk.MeanVariance": (rg.risk.MeanVariance, {"lam": 0.5}),
        "risk.Distortion": (rg.risk.Distortion, {"g": rg.distortion.DualPower(2.0)}),
        "risk.Blend": (rg.risk.Blend, {"measure": p.rho, "weight": 0.5}),
        "risk.CVaR.estimate": (p.rho.estimate, {"values": values, "weights": [1.0, 1.0, 2.0]}),
        "risk.CVaR.value": (p.rho.value, {"law": p.law}),
        "risk.CVaR.influence": (p.rho.influence, {"values": values}),
        "risk.check_sample": (rg.risk.check_sample, {"values": values, "weights": [1.0, 1.0, 2.0]}),
        "run.TensorBoard": (rg.run.TensorBoard, {"folder": p.folder / "board"}),
        "run.Tracker": (make_tracker, {"to": "wandb"}),
        "sources.SharedSource": (rg.sources.SharedSource, {"source": p.source, "backend": "serial"}),
        "sources.TabularSource": (rg.sources.TabularSource, {"mdp": p.mdp}),
        "sources.TabularSource.returns": (
            p.source.returns,
            {"policy": p.pi, "thetas": p.theta[None], "episodes": 3, "stream": p.stream},
        ),
        "sources.TabularSource.record": (p.source.record, {**state, "episodes": 3, "stream": p.stream}),
        "sources.TabularSource.record_steps": (p.source.record_steps, {**state, "episodes": 3, "stream": p.stream}),
        "sources.CompiledSource": (rg.sources.CompiledSource, {"env": rg.envs.compiled_twin("CartPole-v1")}),
        "sources.GymnasiumSource": (rg.sources.GymnasiumSource, {"env": "CartPole-v1"}),
        "sources.resolve_source": (rg.sources.resolve_source, {"env": "two-roads"}),
        "sources.choose_policy": (rg.sources.choose_policy, {"source": p.source, "given": "table"}),
        "sources.make_policy": (rg.sources.make_policy, {"source": p.source}),
        "testing.check_policy": (rg.testing.check_policy, {"policy": p.pi, "observations": [0, 1, 2]}),
        "testing.check_risk_measure": (rg.testing.check_risk_measure, {"measure": p.rho}),
        "testing.check_source": (rg.testing.check_source, {"source": p.source, "policy": p.pi, "episodes": 20}),
        "theory.schedule": (rg.theory.schedule, {"iterations": 10}),
        "theory.thrifty_schedule": (rg.theory.thrifty_schedule, {"iterations": 10}),
        "theory.constants": (rg.theory.constants, {"mdp": p.mdp, "policy": p.pi}),
        "theory.bound": (rg.theory.bound, {"risk": "mean", "constants": p.constants, "iterations": 10}),
        "theory.bounds_table": (
            rg.theory.bounds_table,
            {"mdp": p.mdp, "policy": p.pi, "risk": "mean", "iterations": 10},
        ),
        "theory.gradient_bounds": (
            rg.theory.gradient_bounds,
            {
                "measure": rg.risk.Mean().smoothness(p.constants),
                "dim": 3,
                "smoothing": 0.1,
                "directions": 2,
                "episodes": 10,
            },
        ),
        "theory.guarantee": (rg.theory.guarantee, {"risk": "mean", "constants": p.constants, "iterations": 10}),
        "theory.iterations_for": (
            rg.theory.iterations_for,
            {"eps": 1e6, "risk": "mean", "constants": p.constants},
        ),
        "weights.log_ratios": (rg.weights.log_ratios, {"policy": p.pi, "thetas": p.theta[None], "batch": p.batch}),
        "weights.normalized_weights": (rg.weights.normalized_weights, {"log_ratios": [0.0, -1.0]}),
        "weights.raw_weights": (rg.weights.raw_weights, {"log_ratios": [0.0, -1.0]}),
        "weights.diagnose": (rg.weights.diagnose, {"log_ratios": [0.0, -1.0]}),
    }


class HangError(BaseException):
    """A call did not end in time."""


@contextlib.contextmanager
def within(seconds):
    """Raise where what is done takes too long."""

    def ring(number, frame):
        del number, frame
        raise HangError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def try_strange(name, call, given, every=1):
    """Give how the trials of a call ended, and the faults: (argument, value, what was raised), each argument in turn.

    Args:
        name: of the call.
        call: the function.
        given: arguments that work.
        every: how many of the strange values one is taken from; which ones depends on the argument.
    """
    ended, faults = Counter(), []
    own = [one.name for one in inspect.signature(call).parameters.values() if one.kind is not one.VAR_KEYWORD]
    for argument in [one for one in dict.fromkeys([*own, *given]) if (name, one) not in AS_ASKED]:
        first = zlib.crc32(f"{name} {argument}".encode()) % every
        for kind, value in list(STRANGE.items())[first::every]:
            try:
                with warnings.catch_warnings(), within(SECONDS):
                    warnings.simplefilter("ignore")
                    call(**{**given, argument: value})
                ended["taken"] += 1
            except RiskgradError as error:
                ended["refused"] += 1
                if not str(error).isprintable() or len(str(error)) > LONGEST_LINE:
                    faults.append((argument, kind, f"not a line: {str(error)[:200]!r}"))
            except (HangError, Exception) as error:
                faults.append((argument, kind, f"{type(error).__name__}: {error}"))
    return ended, faults
