"""Short ways to train: an algorithm's own options beside those of `rg.train`, as tests like to write them."""

import riskgrad as rg
from riskgrad.algorithms import ALGORITHMS
from riskgrad.settings import facts_of


def train_plainly(kind, source, policy, risk, **options):
    """Train with an algorithm of the kind as the paper has it: no path, no bonus, one step per batch, unless given."""
    own = {name: options.pop(name) for name in facts_of(kind) if name in options}
    if "steps_per_batch" in facts_of(kind):
        own.setdefault("steps_per_batch", 1)
    options = {"risk_path": None, "entropy": 0.0, **options}
    return rg.train(source, risk, policy=policy, algorithm=kind(**own), **options)


def train_briefly(env, risk, algorithm="auto", **options):
    """Train by the name of an algorithm; its own options are put into the string, as the command line does."""
    names = {name for kind in ALGORITHMS.parts() for name in facts_of(kind)}
    own = {name: options.pop(name) for name in list(options) if name in names}
    words = [f"{name}={str(value).lower()}" for name, value in own.items() if value is not None]
    return rg.train(env, risk, algorithm=f"{algorithm}:{','.join(words)}" if words else algorithm, **options)


def log_of(batch, n_actions=2):
    """Give a recorded batch as a log."""
    return rg.LoggedEpisodes(batch=batch, n_actions=n_actions, discount=1.0)
