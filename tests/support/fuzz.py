"""Inputs that nobody should give, for every parser: each trial is a function of its seed.

A trial ends in one of three ways: the input is taken, it is refused by an error of the project in one printable line,
or something else is raised, which is a fault.
"""

import contextlib
import datetime as dt
import decimal
import fractions
import io
import json
import sys
import tempfile
import traceback
import unittest.mock
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer.main

import riskgrad as rg
from riskgrad._evaluate import find_env
from riskgrad.cli import app, main
from riskgrad.cli.config import read_config
from riskgrad.cli.train import config_keys
from riskgrad.errors import RiskgradError
from riskgrad.experiments.record import CHECK, RECORD, checksum_of
from riskgrad.mdp import FiniteMDP
from riskgrad.pages.played import name_runs
from riskgrad.run.container import read_container, write_container
from riskgrad.settings import read_options

EVIL = "evil_module"
HARMLESS = "this"  # of Python itself; nothing that is read has a reason to import it
COMMAND_LINE = typer.main.get_command(app)
RISKS = ["mean", "cvar:0.1", "smooth-cvar:0.1", "mean-variance:0.5", "dual-power:2:seeking", "exponential:3", "wang"]
WORDS = [
    *(
        "two-roads",
        "CartPole-v1",
        f"{EVIL}:Foo-v0",
        f".{EVIL}:Foo",
        f"{HARMLESS}:Foo-v0",
        ":",
        "..",
        "[red]x[/red]",
        "[/]",
        "\x1b[31m",
        "a\nb",
    ),
    *(
        "\x00",
        "\u202e",
        "\ud800",
        "é",
        "10" * 200,
        "1e400",
        "-1",
        "0",
        "nan",
        "inf",
        "true",
        "{}",
        "[1, 2",
        '"',
        "=",
        ",",
    ),
    *("--", "-h", "x" * 300, "/proc/nothing/x", "/dev/null", ".", "", " ", "None", "auto", "adam:0.1", "mlp:8", *RISKS),
    *("score:episodes=20", "onp-sf:smoothing=a", "processes:2", "paper", "0.5", "3", "time", "both"),
]
FLAGS = [
    *("--risk", "--iterations", "--episodes", "--seed", "--policy", "--algorithm", "--step-size", "--risk-path"),
    *("--horizon", "--discount", "--env-option", "--memory", "--held-out", "--out", "--resume", "--json", "--config"),
    *("--levels", "--confidence", "--title", "--env", "--processes", "--smoothing", "--directions", "--schedule"),
    *("--threads", "--backend", "--greedy", "--off-policy", "--plot", "--against", "--nonsense", "--max-episodes"),
]
COMMANDS = [
    *("train", "evaluate", "compare", "frontier", "experiment", "report", "bounds", "demo", "trian", "--debug"),
]
ALONE = ("--json", "--greedy", "--off-policy", "--resume", "--debug", "--")  # flags that no word belongs to


class Watch:
    """Stands first in the line of importers, and notes what strange modules are asked for."""

    def __init__(self):
        self.asked = []

    def find_spec(self, name, path=None, target=None):
        del path, target
        if EVIL in name or name.partition(".")[0] == HARMLESS:
            self.asked.append(name)


def imports_named(words):
    """Give the modules that a command line itself names, as the environment: in its place, or after --env."""
    found, flag = set(), ""  # a flag takes the next word, whatever that looks like
    for word in words:
        named = word if flag == "--env" else "" if flag else word.removeprefix("--env=")
        is_flag = not flag and word.startswith("-") and word not in ALONE and "=" not in word
        flag = word if is_flag else ""
        parts = named.rpartition(":")[0].split(".")
        found |= {".".join(parts[: k + 1]) for k in range(len(parts))}
    return found - {""}


def changed_bytes(content, rng):
    """Change some bytes: flip bits, overwrite, cut, insert, repeat."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place, size = int(rng.integers(len(found) + 1)), int(rng.integers(1, 20))
        kind = rng.integers(6)
        if kind == 0 and place < len(found):
            found[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            found[place : place + size] = rng.bytes(size)
        elif kind == 2:
            del found[place : place + size]
        elif kind == 3:
            found[place:place] = rng.bytes(size)
        elif kind == 4:
            del found[place:]
        else:
            found[place:place] = found[: size * 10]
    return bytes(found)


def changed_text(text, rng):
    """Change a text: digits, characters, parts, words that mean something."""
    if rng.random() < 0.4:
        return "".join(str(rng.integers(10)) if one.isdigit() and rng.random() < 0.5 else one for one in text)
    for _ in range(rng.integers(1, 4)):
        place, size = int(rng.integers(len(text) + 1)), int(rng.integers(0, 6))
        word = WORDS[rng.integers(len(WORDS))] if rng.random() < 0.6 else chr(int(rng.integers(1, 0x2FFF)))
        text = text[:place] + word + text[place + size :]
    return text


def strange_value(rng, depth=0):
    """Give a value of any kind that Python, NumPy or JSON has."""
    kind = int(rng.integers(24 if depth < 3 else 18))
    n = int(rng.integers(0, 5))
    plain = [
        lambda: None,
        lambda: bool(rng.integers(2)),
        lambda: int(rng.integers(-3, 4)),
        lambda: float(rng.normal()),
        lambda: [float("nan"), float("inf"), -0.0, 1e308, -1.7e308, 5e-324][rng.integers(6)],
        lambda: [10**400, -(2**63), 2**64, 10**5000][rng.integers(4)],
        lambda: WORDS[rng.integers(len(WORDS))],
        lambda: rng.bytes(4),
        lambda: complex(1, 2),
        lambda: dt.date(2020, 1, 1),
        lambda: decimal.Decimal("1.5"),
        lambda: fractions.Fraction(1, 3),
        lambda: np.float32(rng.normal()),
        lambda: np.datetime64("2020-01-01"),
        object,
        lambda: np.ma.masked,
        lambda: rng.normal(size=n),
        lambda: rng.integers(0, 3, size=n),
    ]
    if kind < 18:
        return plain[kind]()
    inner = [strange_value(rng, depth + 1) for _ in range(n)]
    nested = [
        lambda: inner,
        lambda: tuple(inner),
        lambda: {str(i): one for i, one in enumerate(inner)},
        lambda: np.ma.array(rng.normal(size=3), mask=[False, True, False]),
        lambda: np.array([1, 2, 3]).astype(["M8[D]", "m8[s]", "U3", "S3", "c16", "O", "f2", "g"][rng.integers(8)]),
        lambda: rng.uniform(-1, 1, size=(2, n)) * 10.0 ** rng.integers(0, 309),
    ]
    return nested[kind - 18]()


def maybe(value, rng, chance=0.3):
    """Give the value, or sometimes a strange one, or one with a strange part."""
    draw = rng.random()
    if draw < chance:
        return strange_value(rng)
    if draw < 2 * chance and isinstance(value, list) and value:
        value = list(value)
        value[rng.integers(len(value))] = strange_value(rng)
    return value


def in_json(value):
    """Give a strange value as JSON can hold it."""
    try:
        return json.loads(json.dumps(value, default=str))
    except (ValueError, TypeError):
        return str(type(value))


def changed_facts(value, rng):
    """Change one fact somewhere inside, or a few."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: changed_facts(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.integers(len(value))
        return [changed_facts(one, rng) if i == place else one for i, one in enumerate(value)]
    return in_json(strange_value(rng))


class Trials:
    """The parsers; a method is given a generator and does one trial.

    Args:
        folder: where files may be written.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        options = {"iterations": 3, "held_out": 20, "seed": 2}
        self.run_folder = self.folder / "run"
        algorithm = "offp-sf:episodes=20"
        run = rg.train("two-roads", "cvar:0.1", algorithm=algorithm, folder=self.run_folder, **options)
        run.save(self.folder / "run.rg")
        self.arrays, self.facts = read_container(self.folder / "run.rg")
        self.content = (self.folder / "run.rg").read_bytes()
        self.toml = (self.run_folder / "config.toml").read_text()
        self.keys = config_keys()
        self.parquet = written_log(self.folder / "log.parquet")
        self.words, self.places = [], self._write_evil()
        few = {"algorithm": "score:episodes=4", "iterations": 1, "held_out": 4, "episodes": 20, "seeds": 1}
        self.study = {"env": "two-roads", "risks": ["mean"], **few}
        rg.experiment(**self.study, folder=self.folder / "study")
        self.record = json.loads((self.folder / "study" / RECORD).read_bytes())

    def _write_evil(self):
        """Write a run and a configuration whose environment is in the evil module; give where they are."""
        settings = {**self.facts["settings"], "env": f"{EVIL}:Foo-v0"}
        write_container(self.folder / "evil.rg", self.arrays, {**self.facts, "settings": settings})
        (self.folder / "evil.toml").write_text(f'env = "{EVIL}:Foo-v0"\n')
        return [str(self.folder / name) for name in ("evil.rg", "evil.toml", "run", "run.rg", "study")]

    def risk_strings(self, rng):
        text = strange_value(rng) if rng.random() < 0.1 else changed_text(RISKS[rng.integers(len(RISKS))], rng)
        measure = rg.risk.parse(text)
        assert rg.risk.parse(str(measure)) == measure

    def configurations(self, rng):
        path = self.folder / "fuzz.toml"
        text = self.toml if rng.random() < 0.5 else 'env = "two-roads"\nrisk = "cvar:0.1"\n[env-option]\na = 1\n'
        if rng.random() < 0.3:
            path.write_bytes(changed_bytes(text.encode(), rng))
        else:
            path.write_text(changed_text(text, rng), encoding="utf-8", errors="surrogatepass")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it says that the file was changed
            read_config(path, self.keys)

    def command_lines(self, rng):
        words = [COMMANDS[rng.integers(len(COMMANDS))]]
        for _ in range(rng.integers(0, 7)):
            from_flags = rng.random() < 0.5
            word = FLAGS[rng.integers(len(FLAGS))] if from_flags else WORDS[rng.integers(len(WORDS))]
            words.append(changed_text(word, rng) if rng.random() < 0.1 else word)
        if rng.random() < 0.5:
            words[1:1] = [self.places[rng.integers(len(self.places))]]
        if rng.random() < 0.1:
            words = ["train", "--config", self.places[1], *words[2 : 2 + rng.integers(3)]]
        self.words = words
        code, _, said = call(words)
        if code:
            raise RiskgradError(said)

    def run_files(self, rng):
        path = self.folder / "fuzz.rg"
        if rng.random() < 0.3:
            path.write_bytes(changed_bytes(self.content, rng))
        else:
            arrays, facts = dict(self.arrays), self.facts
            if rng.random() < 0.8:
                facts = changed_facts(facts, rng)
            else:
                arrays[list(arrays)[rng.integers(len(arrays))]] = strange_array(rng)
            with contextlib.suppress(ValueError):  # NaN, which JSON has not
                write_container(path, arrays, facts if isinstance(facts, dict) else {})
        use_run(rg.load(path))

    def experiments(self, rng):
        path = self.folder / "study" / RECORD
        if rng.random() < 0.5:
            path.write_bytes(changed_bytes(json.dumps(self.record).encode(), rng))
        else:
            facts = changed_facts({name: one for name, one in self.record.items() if name != CHECK}, rng)
            facts = facts if isinstance(facts, dict) else {"facts": facts}
            path.write_text(json.dumps({**facts, CHECK: checksum_of(facts)}))
        rg.experiment(**self.study, resume=self.folder / "study")

    def logs(self, rng):
        n = 4
        columns = {
            "episode_id": maybe([0, 0, 1, 1], rng, 0.1),
            "t": maybe([0, 1, 0, 1], rng, 0.1),
            "action": maybe([0, 1, 0, 1], rng, 0.1),
            "reward": maybe([1.0, 2.0, 3.0, 4.0], rng),
            "behavior_prob": maybe([0.5] * n, rng, 0.1),
            "state": maybe([0, 1, 0, 1], rng, 0.1),
        }
        options = {"discount": maybe(0.9, rng, 0.05), "n_actions": maybe(2, rng, 0.05)}
        log = rg.LoggedEpisodes.from_arrays(**columns, return_range=maybe(None, rng, 0.1), **options)
        assert np.isfinite(log.batch.values).all()

    def models(self, rng):
        rows = [[[(0.5, 0, 1.0, False), (0.5, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]
        for _ in range(rng.integers(1, 3)):
            state, part = rng.integers(2), rng.integers(4)
            old = [0.5, 0, 1.0, False]
            old[part] = strange_value(rng)
            rows[state][0][0] = maybe(tuple(old), rng, 0.1)
        common = {"start": maybe(0, rng, 0.1), "horizon": maybe(3, rng, 0.1), "discount": maybe(0.9, rng, 0.1)}
        if rng.random() < 0.5:
            FiniteMDP.from_outcomes(maybe(rows, rng, 0.05), **common)
        else:
            arrays = [maybe([[[0.5, 0.5]], [[0.0, 1.0]]], rng), maybe([[[0.0, 1.0]], [[0.0, 0.0]]], rng)]
            FiniteMDP(*arrays, terminal=maybe([1], rng, 0.1), **common)

    def arrays_of_returns(self, rng):
        measure = rg.risk.parse(RISKS[rng.integers(len(RISKS) - 1)])
        values = maybe([1.0, 2.0, 3.0], rng, 0.45)
        kind = rng.integers(20)
        if kind < 14:
            found = measure.estimate(values, maybe([1.0, 0.5, 2.0], rng) if rng.random() < 0.5 else None)
        elif kind < 19:
            law = rg.DiscreteLaw(values, maybe([0.2, 0.3, 0.5], rng, 0.2))
            found = measure.value(law)
        else:
            table = rg.evaluation.table_of_returns(values, [measure], maybe(None, rng), maybe(0.95, rng, 0.1))
            found = table.rows[0].value
        assert np.all(np.isfinite(found)), found

    def parquet_files(self, rng):
        path = self.folder / "fuzz.parquet"
        path.write_bytes(changed_bytes(self.parquet, rng))
        rg.LoggedEpisodes.from_parquet(path)


PARSERS = {
    "risk strings": Trials.risk_strings,
    "TOML": Trials.configurations,
    "command lines": Trials.command_lines,
    "run files": Trials.run_files,
    "experiments": Trials.experiments,
    "logs": Trials.logs,
    "models": Trials.models,
    "arrays": Trials.arrays_of_returns,
    "Parquet files": Trials.parquet_files,
}


def strange_array(rng):
    kinds = [
        lambda: np.zeros(0),
        lambda: np.array(float("nan")),
        lambda: rng.normal(size=(2, 3)),
        lambda: np.array(["a", "b"]),
        lambda: np.array([1 + 2j]),
        lambda: np.array([True, False]),
        lambda: np.full(8, np.inf),
        lambda: rng.normal(size=7),
    ]
    return kinds[rng.integers(len(kinds))]()


def use_run(run):
    """Ask a run all that it tells."""
    _ = repr(run), run.notes, run.risk, run.held_out_interval, run.held_out_error, run.env_options
    policy = run.policy
    assert policy.dim == run.theta.size


def written_log(path):
    """Write a log as Parquet, with all kinds of columns, and give its bytes."""
    rng = np.random.default_rng(0)
    n = 200
    columns = {
        "episode_id": np.repeat(np.arange(n // 4), 4),
        "t": np.tile(np.arange(4), n // 4),
        "action": rng.integers(0, 3, n),
        "reward": rng.normal(size=n),
        "behavior_prob": rng.uniform(0.1, 1.0, n),
        "obs_0": rng.normal(size=n),
        "obs_1": rng.normal(size=n).astype(np.float32),
    }
    pq.write_table(pa.table(columns), path)
    return Path(path).read_bytes()


def stop_at_page(runs, *given, env=None, trust=False, **_):
    """Stand for what plays runs: find what they are played on, as that does first, and end there."""
    named = {"": runs} if isinstance(runs, rg.Run) else name_runs(runs)
    places = [one for one in given if isinstance(one, str)]  # of a page the path is no string
    find = places[0] if places else env
    rg.sources.resolve_source(find_env(named, trust=trust) if find is None else find).close()
    raise SystemExit(0)


def stop_at_work(env, risk="mean", **options):
    """Stand for the training: read what `rg.train` reads first, and end there."""
    options.pop("callback", None)
    given = read_options(options)
    rg.risk.parse(risk)
    rg.sources.resolve_source(env, given.horizon, given.discount, env_options=given.env_options).close()
    raise SystemExit(0)


def end(*_, **__):
    raise SystemExit(0)


def call(words):
    """Call the command line in this process, without the work that it would do; give the code and what it said."""
    out, err = io.StringIO(), io.StringIO()
    # the command line is built once: that takes longer than to read the words
    works = {
        "typer.main.get_command": lambda _: COMMAND_LINE,
        "riskgrad._train.train": stop_at_work,
        "riskgrad.experiments.study.experiment": end,
        "riskgrad._evaluate.evaluate": stop_at_page,
        "riskgrad.pages.page.report": stop_at_page,
        "riskgrad.pages.comparison.compare": stop_at_page,
        "riskgrad.pages.family.frontier": end,
        "riskgrad.theory.bounds_table": end,
        "riskgrad.pages.demo.train_both": end,
    }
    with contextlib.ExitStack() as stack:
        for place, stub in works.items():
            stack.enter_context(unittest.mock.patch(place, stub))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code
        except RiskgradError:
            if "--debug" not in words:
                raise AssertionError("an error came through the command line") from None
            code = 2
        else:
            code = 0
    assert code in (0, 2), (code, words)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert "\x1b" not in out.getvalue() + err.getvalue(), words
    assert err.getvalue().count("\n") == 1 or not err.getvalue().startswith("riskgrad:"), err.getvalue()
    return code, out.getvalue(), err.getvalue()


def fuzz(trials, parser, count, seed=0):
    """Do trials of one parser; give how they ended, and the faults: seed of the trial, and what was raised."""
    ended, faults = Counter(), []
    watch = Watch()
    sys.meta_path.insert(0, watch)
    try:
        for index in range(count):
            rng = np.random.default_rng([seed, list(PARSERS).index(parser), index])
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", RuntimeWarning)
                    PARSERS[parser](trials, rng)
                ended["taken"] += 1
            except RiskgradError as error:
                text = str(error)
                ended["refused"] += 1
                if not text.isprintable():
                    faults.append((index, f"not one printable line: {text!r}"))
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                place = traceback.extract_tb(error.__traceback__)[-1]
                faults.append((index, f"{type(error).__name__}: {error} at {Path(place.filename).name}:{place.lineno}"))
            named = imports_named(trials.words) if parser == "command lines" else set()
            faults += [(index, f"{name} was imported") for name in watch.asked if name not in named]
            watch.asked.clear()
    finally:
        sys.meta_path.remove(watch)
    return ended, faults


if __name__ == "__main__":
    import time

    with tempfile.TemporaryDirectory() as place:
        trials = Trials(place)
        for name in sys.argv[2:] or PARSERS:
            begin = time.process_time()
            ended, faults = fuzz(trials, name, int(sys.argv[1]))
            print(name, dict(ended), len(faults), "faults", round(time.process_time() - begin, 2), "s")  # noqa: T201
            for kind, many in Counter(text[:150] for _, text in faults).most_common(12):
                first = next(index for index, text in faults if text[:150] == kind)
                print("   ", many, first, kind)  # noqa: T201
