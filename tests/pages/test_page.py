"""The page: whole, small, escaped, self-contained, and true to the runs."""

import dataclasses
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.pages.page import report
from riskgrad.pages.prose import certainty, percent, write, write_interval
from riskgrad.pages.repeat import say_how_to_repeat
from riskgrad.pages.run_figures import smooth_history
from riskgrad.pages.style import RUNS, VARIABLES
from riskgrad.paths import SquarePath
from riskgrad.risk import RiskMeasure

HOSTILE = '<script>alert("x")</script> & $\\frac{1}{2}$'  # the name of a run in conftest
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Tree(HTMLParser):
    """What is needed of the page: balanced tags, attributes, text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def tree(page):
    tree = Tree()
    tree.feed(page.read_text())
    assert tree.open == [], "every tag is closed"
    return tree


def test_four_runs_take_under_a_megabyte(page):
    assert 50_000 < page.stat().st_size < 1_000_000


def test_nothing_points_outside_and_nothing_runs(page, tree):
    text = page.read_text()
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    assert tree.all("script") == []
    assert not [name for _, attributes in tree.tags for name in attributes if name.startswith("on")]
    for _, attributes in tree.tags:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    (policy,) = [meta["content"] for meta in tree.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_identifiers_are_unique_and_references_lead_somewhere(tree):
    names = [attributes["id"] for _, attributes in tree.tags if "id" in attributes]
    assert len(names) == len(set(names))
    for _, attributes in tree.tags:
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in names
        for word in attributes.get("aria-labelledby", "").split():
            assert word in names
        for found in re.findall(r"url\(#([^)]+)\)", " ".join(filter(None, attributes.values()))):
            assert found in names


def test_every_figure_has_words_and_a_caption(tree):
    count = len(tree.all("figure"))
    assert count == len(tree.all("figcaption")) == len(tree.all("svg")) == 4 + 2 * 4 + 1  # weights for offp_sf alone
    images = [attributes for attributes in tree.all("div") if attributes.get("role") == "img"]
    assert len(images) == count
    assert all(len(image["aria-label"]) > 60 for image in images)


def test_landmarks_headers_and_keyboard(tree):
    names = [tag for tag, _ in tree.tags]
    assert [names.count(tag) for tag in ("header", "nav", "main", "footer", "h1")] == [1, 1, 1, 1, 1]
    assert all("scope" in header for header in tree.all("th"))
    scrolled = [attributes for attributes in tree.all("div") if attributes.get("class") == "scroll"]
    assert scrolled
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in scrolled)
    assert tree.all("html") == [{"lang": "en"}]


def test_names_of_users_are_escaped_and_never_mathematics(page, tree):
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert" in text
    assert any(HOSTILE in words for words in tree.text), "and shown as they are"


def test_colors_follow_the_scheme(page):
    """No color of a figure is fixed: each became a variable of the style sheet."""
    figures = "".join(re.findall(r"<svg.*?</svg>", page.read_text(), flags=re.S))
    assert "var(--run-0)" in figures
    assert "currentColor" in figures
    assert [color for color in VARIABLES if color in figures] == []
    assert set(re.findall(r"#[0-9a-f]{6}\b", figures)) <= {"#ffffff"}


def test_the_colors_of_runs_are_the_same_in_pages_docs_and_pictures(page):
    """Blue is neutral and orange averse everywhere, light and dark."""
    root = Path(__file__).parents[2] / "docs"
    wanted = re.findall(r"--run-\d: ?(#\w{6})", page.read_text())
    assert tuple(wanted[:6]) == RUNS
    for other in (root / "assets" / "site.css", root / "maze.svg", *(root / "pictures").glob("*.svg")):
        assert re.findall(r"--run-\d: ?(#\w{6})", other.read_text("utf-8")) == wanted, other.name


def luminance(color):
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(page, scheme):
    """WCAG AA: 4.5 for text. Colors of runs too: badges write the card's color on them."""
    block = re.findall(r":root \{(.*?)\n\s*\}", page.read_text(), flags=re.S)[scheme]
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    assert len(colors) == 13
    for ground in ("bg", "card"):
        for text in ("ink", "muted", "focus", *(f"run-{i}" for i in range(6))):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)


def test_it_says_what_was_bought(tree):
    text = " ".join(" ".join(tree.text).split())
    assert re.search(r"Compared with A \(neutral\), \w \(averse\) gives up 5\.\d+ of mean return and gains 3\d", text)
    assert "was trained on the mean of the worst 10% of episodes" in text
    assert "Exact values come from the model itself" in text
    assert f"riskgrad {rg.__version__}" in text or "riskgrad 0" in text
    assert f"numpy {np.__version__}" in text


def test_one_run_alone(runs, tmp_path):
    text = report({"alone": runs["averse"]}, tmp_path / "deep" / "one.html", episodes=200).read_text()
    assert "A trained policy on two-roads, and the same policy before training" in text
    assert "Compared with the untrained policy, A (alone) is" in text
    assert "Differences from the untrained policy" in text
    assert "mean, untrained" in text
    again = report({"alone": runs["averse"]}, tmp_path / "again.html", episodes=200).read_text()
    assert again == text, "no clock and no random identifiers"


def test_a_race_of_paths_has_no_weights_and_its_curve_says_where_its_path_ends(tmp_path):
    """The ascents of a race divide a batch among them: a quarter of it is no effective sample size."""
    run = rg.train("two-roads", "cvar:0.1", iterations=4, seed=0)
    assert {line["ess"] for line in run.history} != {400.0}
    text = report(run, tmp_path / "race.html", episodes=100).read_text()
    assert "What its weights were worth" not in text
    assert "What its guards did" not in text
    along = rg.train("two-roads", "cvar:0.1", algorithm="score:episodes=20", iterations=6, seed=0)
    rg.plot_run(along, tmp_path / "along.svg")
    for drawn in (report(along, tmp_path / "along.html", episodes=100), tmp_path / "along.svg"):
        assert "the path to the measure ends" in drawn.read_text()


def test_only_what_is_shown_is_explained(gym_page, alone_page):
    """Without a known range there are no certified intervals, and nothing says what they are."""
    for page, certified in ((gym_page, False), (alone_page, True)):
        text = page.read_text()
        assert (">certified</th>" in text) == certified
        assert ("Certified intervals hold" in text) == certified
        assert ("* marks those" in text) == (" *</td>" in text)


def test_a_constant_return_and_a_run_without_history(tmp_path):
    """Nothing to scale an axis by, and nothing learned."""
    still = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 2.0, True)], [(1.0, 0, 2.0, True)]]], start=0, horizon=1)
    run = rg.train(still, "cvar:0.1", iterations=1, callback=lambda line, theta: True)
    text = report({"still": run}, tmp_path / "still.html", still, episodes=50).read_text()
    assert "No iteration was recorded" not in text
    assert "the worst 2, the best 2" in text


def test_a_default_run_is_repeated_by_a_command(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = say_how_to_repeat(runs["averse"], "again")
    assert (found.language, found.missing) == ("sh", ())
    program, *words = shlex.split(found.text)
    assert program == "riskgrad"
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    capsys.readouterr()
    np.testing.assert_array_equal(rg.load("again").last_theta, runs["averse"].last_theta)


def test_the_command_names_what_differs_from_the_defaults(four):
    found = say_how_to_repeat(four["variance"], "again")
    assert found.text == (
        "riskgrad train two-roads --risk mean-variance:0.1 --algorithm critic --iterations 300 --seed 2 "
        "--risk-path none --entropy 0.0 --out again"
    )


@pytest.mark.parametrize(("path", "text"), [(0.25, "0.25"), (None, "none"), (SquarePath(0.4), "square:0.4")])
def test_another_path_is_repeated_by_the_command(path, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = rg.train("two-roads", "cvar:0.1", iterations=2, seed=4, risk_path=path)
    words = shlex.split(say_how_to_repeat(run, "x").text)
    assert words[words.index("--risk-path") + 1] == text
    with pytest.raises(SystemExit):
        main(words[1:])
    capsys.readouterr()
    np.testing.assert_array_equal(rg.load("x").last_theta, run.last_theta)


def test_a_start_of_ones_own_is_said_beside_code_that_runs(runs):
    theta = runs["averse"].theta
    run = rg.train("two-roads", "cvar:0.1", iterations=2, theta=theta, risk_path=SquarePath(0.4))
    found = say_how_to_repeat(run, "x")
    assert found.language == "python"
    assert found.missing == ("theta: parameters of your own to start from",)
    code = found.text.replace("\n)", "\n    theta=theta,\n)").replace("rg.train(", "again = rg.train(")
    names = {"theta": theta}
    exec(code, names)  # noqa: S102 - our own text
    np.testing.assert_array_equal(names["again"].last_theta, run.last_theta)


class Worst(RiskMeasure):
    """A measure of a user's own."""

    attitude = "averse"

    def estimate(self, values, weights=None):
        del weights
        return np.min(np.asarray(values), axis=-1)

    def value(self, law):
        return float(law.values[0])

    def __str__(self):
        return "the worst return"


def test_a_measure_of_ones_own_is_reported_where_it_is_given(tmp_path, capsys):
    run = rg.train("two-roads", Worst(), algorithm=rg.OnPSF(episodes=20), iterations=3, folder=tmp_path / "own")
    report({"own": run}, tmp_path / "own.html", episodes=200)
    assert "the worst return" in (tmp_path / "own.html").read_text()
    given = rg.load(tmp_path / "own", risk=Worst())
    assert rg.evaluate(given, "two-roads", episodes=100)["the worst return"].value == pytest.approx(-70.0, abs=60.0)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path / "own"), "--out", str(tmp_path / "x.html")])
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert "rg.load(path, risk=...)" in said
    assert len(said.splitlines()) == 1


def test_the_page_shows_the_versions_of_the_run(runs, tmp_path):
    old = dataclasses.replace(runs["averse"], versions={**runs["averse"].versions, "numpy": "1.99.1"})
    text = report({"old": old}, tmp_path / "old.html", episodes=100).read_text()
    assert "numpy 1.99.1" in text
    assert f"numpy {np.__version__}" in text, "and of what wrote it"


def test_curves_have_intervals_that_the_record_holds():
    errors = np.full(50, 2.0)
    middle, error = smooth_history(np.arange(50.0), errors)
    assert (middle[0], middle[10], middle[-1]) == (0.5, 10.0, 48.5)
    np.testing.assert_allclose(error[[0, 10]], [2.0 / np.sqrt(2.0), 2.0 / np.sqrt(3.0)])
    errors[20] = np.nan
    assert np.isnan(smooth_history(np.arange(50.0), errors)[1][[19, 20, 21]]).all()


def test_intervals_are_said_in_words(tree):
    (image,) = [a["aria-label"] for a in tree.all("div") if "Run B: How it learned" in a.get("aria-label", "")]
    assert re.search(
        r"cvar:0.1 from \N{MINUS SIGN}\d+\.?\d* \(\N{MINUS SIGN}[\d.]+ to \N{MINUS SIGN}[\d.]+\) to", image
    )


@pytest.mark.parametrize(
    ("value", "precision", "text"),
    [
        (-22.9593, None, "\N{MINUS SIGN}22.96"),
        (26398, None, "26,398"),
        (0.0, None, "0"),
        (-0.0, None, "0"),
        (5.0603, 0.65, "5.1"),
        (-65.76, 8.0, "\N{MINUS SIGN}66"),
        (-308_369_065.0, 2e7, "\N{MINUS SIGN}3.08e8"),
        (1234.5, 600.0, "1,200"),
        (1234.5, 40_000.0, "1,000"),
        (None, None, "\N{EN DASH}"),
        (float("inf"), None, "\N{INFINITY}"),
        (1e12, None, "1.000e12"),
        (-1e-12, None, "0"),
        (-13.0, 3e-9, "\N{MINUS SIGN}13"),
        (-13.123456789, 3e-9, "\N{MINUS SIGN}13.1235"),
        (1_234_567.25, 3e-9, "1,234,567"),
        (0.0, 3e-9, "0"),
        (-13.0, 0.003, "\N{MINUS SIGN}13.0000"),
    ],
)
def test_numbers(value, precision, text):
    assert write(value, precision) == text


def test_words():
    assert write_interval((-5.3918, -4.7395)) == "\N{MINUS SIGN}5.4 to \N{MINUS SIGN}4.7"
    assert write_interval((2.0, 2.0)) == "2 to 2"
    assert write_interval(None) == "none"
    assert percent(0.05) == "5%"
    assert [certainty(share, 1000) for share in (0.0, 0.5, 1.0)] == ["under 0.1%", "50%", "over 99.9%"]
    assert rg.risk.parse("cvar:0.1:seeking").meaning == "the mean of the best 10% of episodes"
    assert rg.risk.parse("mean-variance:0.5").meaning == "the mean return minus 0.5 times its variance"
    assert rg.risk.parse("dual-power:3").meaning == "a mean that gives bad episodes more weight (dual-power:3)"


def test_an_axis_of_returns_that_are_all_the_same_is_not_one_of_rounding(tmp_path):
    """A sure return of -13, whose CVaR is -13 but for the last digits of a sum."""
    sure = rg.mdp.FiniteMDP(
        np.array([[[0.0, 1.0]] * 2] * 2), np.full((2, 2, 2), -13.0), start=0, terminal=[1], horizon=1
    )
    runs = [rg.train(sure, risk, algorithm="score:episodes=20", iterations=2) for risk in ("mean", "cvar:0.1")]
    text = rg.report(runs, tmp_path / "page.html", sure).read_text()
    assert "Mean against risk" in text
    assert "1e" not in "".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
