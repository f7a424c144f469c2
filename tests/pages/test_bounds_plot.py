import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.pages.plots import plot_bounds
from riskgrad.theory import BoundRow


def row(**numbers):
    return BoundRow(
        **{"symbol": "L", "meaning": "slope", "literal": 9.0, "sharp": 3.0, "measured": 1.0, "reading": "", **numbers}
    )


def test_every_finite_number_is_a_mark():
    rows = [row(), row(literal=None), row(measured=0.0), row(sharp=float("inf"))]
    (axis,) = plot_bounds(rows).axes
    assert [len(marks.get_offsets()) for marks in axis.collections] == [3, 3, 3]
    assert len(axis.get_yticks()) == 4
    assert axis.get_xscale() == "log"


def test_a_file_is_written(tmp_path):
    mdp = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 1.0, True)], [(1.0, 0, 0.0, True)]]], start=0, horizon=1)
    rows = rg.theory.bounds_table(mdp, rg.policy.TabularGibbs(1, 2), "dual-power:2", 100)
    plot_bounds(rows, tmp_path / "bounds.svg")
    text = (tmp_path / "bounds.svg").read_text()
    assert "longest gradient" in text
    assert "sharp" in text
    with pytest.raises(InputError, match="path must end in"):
        plot_bounds(rows, tmp_path / "bounds.txt")
