"""The study of reach by the number of parameters: its problems are of one difficulty, and the docs quote its page."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.studies import FOLDER, load_study

study = load_study("reach")
DOCS = Path(__file__).parents[2] / "docs" / "practical.md"


def table_by_kind(d, bold):
    """The policy that takes the bold action of each kind with these chances [5]."""
    model, n = study.situations(d), d // 2 - 1
    table = np.full((n + 1, 2), 0.5)
    for i in range(n):
        cells = [(1 + i) * 2, (1 + i) * 2 + 1]
        sizes = [model.offsets[cell + 1] - model.offsets[cell] for cell in cells]
        action = int(sizes[1] > sizes[0])  # the bold one has two outcomes
        table[1 + i, action], table[1 + i, 1 - action] = bold[i % 5], 1.0 - bold[i % 5]
    return table


def test_no_mixture_of_actions_is_better_than_the_best_policy():
    low, high = study.ends()
    values = {bold: study.value(12, table_by_kind(12, bold)) for bold in product((0.0, 0.5, 1.0), repeat=5)}
    assert max(values, key=lambda bold: values[bold]) == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert max(values.values()) == pytest.approx(high, abs=1e-12)
    assert values[(0.5,) * 5] == pytest.approx(low, abs=1e-12)


def test_all_sizes_are_worth_the_same():
    low, high = study.ends()
    assert study.situations(102).n_states == 51
    assert study.value(102, np.full((51, 2), 0.5)) == pytest.approx(low, abs=1e-9)
    assert study.value(102, table_by_kind(102, (1.0, 0.0, 0.0, 0.0, 0.0))) == pytest.approx(high, abs=1e-9)


def test_the_docs_quote_the_page():
    page = (FOLDER / "reach.md").read_text().splitlines()
    table = [line for line in page if line.startswith("|")]
    assert len(table) == 2 + len(study.NAMES)
    assert "\n".join(table) in DOCS.read_text()
