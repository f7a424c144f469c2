"""The plain algorithms of the paper in one call: no path, no bonus, one step per batch, unless a test asks for more."""

from dataclasses import fields

import riskgrad as rg


def train_plainly(kind, source, policy, risk, **options):
    """Train with an algorithm of the kind; options of its own and of `rg.train` are told apart by their names."""
    names = {field.name for field in fields(kind)}
    own = {name: options.pop(name) for name in list(options) if name in names}
    if "steps_per_batch" in names:
        own.setdefault("steps_per_batch", 1)
    options = {"risk_path": None, "entropy": 0.0, **options}
    return rg.train(source, risk, policy=policy, algorithm=kind(**own), **options)
