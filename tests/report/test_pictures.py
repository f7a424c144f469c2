"""Figures are written, carry their labels, and are the same bytes each time."""

import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.report.demo import draw, risk_table, trained


def test_plot_distortions(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    page = rg.plot_distortions(path=first)
    rg.plot_distortions(path=second)
    text = first.read_text()
    assert text == second.read_text(), "no clock and no random identifiers"
    for word in (
        "averse",
        "seeking",
        "dual-power:3",
        "quadratic:1",
        "exponential:3",
        "square-root:20",
        "logarithmic:20",
    ):
        assert word in text
    assert len(page.axes) == 4
    rg.plot_distortions([rg.distortion.LowerTail(0.1)], path=tmp_path / "tail.png")
    assert (tmp_path / "tail.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_format(tmp_path):
    with pytest.raises(InputError, match=r"path must end in \.svg, \.png, \.pdf"):
        rg.plot_distortions(path=tmp_path / "figure.bmp")


def test_the_demonstration_tells_the_two_policies_apart(tmp_path):
    outcomes = trained(seed=3)
    rows = {name: (neutral, averse) for name, neutral, averse in risk_table(outcomes)}
    assert rows["mean"][0] == pytest.approx(-22.8, abs=0.1)
    assert rows["cvar:0.1"][1] == pytest.approx(-30.0, abs=0.2)
    assert rows["cvar:0.1"][0] < -60
    assert "averse (cvar:0.1)" in draw(outcomes, tmp_path / "two-roads.svg").read_text()
