"""Figures are written, carry their labels, and are the same bytes each time."""

import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.report.demo import draw, risk_table, samples


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


def test_demo_samples_have_one_mean_and_different_risk(tmp_path):
    drawn = samples(seed=3)
    rows = {name: (safe, skewed) for name, safe, skewed in risk_table(drawn)}
    assert rows["mean"][0] == pytest.approx(rows["mean"][1], abs=1e-9)
    assert rows["cvar:0.1"][0] > rows["cvar:0.1"][1] + 5
    assert "safe" in draw(drawn, tmp_path / "risk.svg").read_text()
