"""The page: whole, small, escaped, self-contained, and true to the runs."""

import ast
import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pytest

import riskgrad
import riskgrad as rg
from riskgrad.algorithms import SquarePath
from riskgrad.cli import main
from riskgrad.report.page import write_report
from riskgrad.report.repeat import recipe
from riskgrad.report.theme import VARIABLES
from riskgrad.report.words import certainty, interval, meaning, number, percent

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


def test_colours_follow_the_scheme(page):
    """No colour of a figure is fixed: each became a variable of the style sheet."""
    figures = "".join(re.findall(r"<svg.*?</svg>", page.read_text(), flags=re.S))
    assert "var(--run-0)" in figures
    assert "currentColor" in figures
    assert [colour for colour in VARIABLES if colour in figures] == []
    assert set(re.findall(r"#[0-9a-f]{6}\b", figures)) <= {"#ffffff"}


def luminance(colour):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(page, scheme):
    """WCAG AA: 4.5 for text. Colours of runs too: badges write the card's colour on them."""
    block = re.findall(r":root \{(.*?)\n\s*\}", page.read_text(), flags=re.S)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    assert len(colours) == 13
    for ground in ("bg", "card"):
        for text in ("ink", "muted", "focus", *(f"run-{i}" for i in range(6))):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_it_says_what_was_bought(tree):
    text = " ".join(" ".join(tree.text).split())
    assert re.search(r"Compared with A \(neutral\), \w \(averse\) gives up 5\.\d+ of mean return and gains 3\d", text)
    assert "was trained on the mean of the worst 10% of episodes" in text
    assert "Exact values come from the model itself" in text
    assert f"riskgrad {rg.__version__}" in text or "riskgrad 0" in text
    assert f"numpy {np.__version__}" in text


def test_one_run_alone(runs, tmp_path):
    text = write_report({"alone": runs["averse"]}, tmp_path / "deep" / "one.html", episodes=200).read_text()
    assert "1 trained policy on two-roads" in text
    assert "Compared with" not in text
    assert "probability of being better" not in text
    again = write_report({"alone": runs["averse"]}, tmp_path / "again.html", episodes=200).read_text()
    assert again == text, "no clock and no random identifiers"


def test_a_constant_return_and_a_run_without_history(tmp_path):
    """Nothing to scale an axis by, and nothing learned."""
    still = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 2.0, True)], [(1.0, 0, 2.0, True)]]], start=0, horizon=1)
    run = rg.train(still, "cvar:0.1", iterations=1, callback=lambda line, theta: True)
    text = write_report({"still": run}, tmp_path / "still.html", still, episodes=50).read_text()
    assert "No iteration was recorded" not in text
    assert "the worst 2, the best 2" in text


def test_a_default_run_is_repeated_by_a_command(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = recipe(runs["averse"], "again")
    assert (found.language, found.missing) == ("sh", ())
    program, *words = shlex.split(found.text)
    assert program == "riskgrad"
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    capsys.readouterr()
    np.testing.assert_array_equal(rg.load("again").last_theta, runs["averse"].last_theta)


def test_another_run_is_repeated_from_python(four):
    found = recipe(four["variance"], "again")
    assert found.language == "python"
    tree = ast.parse(found.text)
    given = {word.arg: ast.literal_eval(word.value) for word in ast.walk(tree) if isinstance(word, ast.keyword)}
    assert given == {
        "risk": "mean-variance:0.1",
        "algorithm": "score",
        "iterations": 300,
        "seed": 2,
        "risk_path": None,
        "entropy": 0.0,
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (0.25, "risk_path=0.25,"),
        (None, "risk_path=None,"),
        (SquarePath(0.4), "risk_path=riskgrad.algorithms.SquarePath(0.4)"),
    ],
)
def test_another_path_is_repeated_by_code_that_runs(path, text):
    run = rg.train("two-roads", "cvar:0.1", iterations=2, seed=4, risk_path=path)
    found = recipe(run, "x").text
    assert text in found
    again = eval(found[found.index("rg.train(") :], {"rg": rg, "riskgrad": riskgrad})  # noqa: S307 - our own text
    np.testing.assert_array_equal(again.last_theta, run.last_theta)


def test_a_start_of_ones_own_is_said(runs):
    run = rg.train("two-roads", "mean", iterations=1, theta=runs["averse"].theta)
    assert "theta=" in recipe(run, "x").missing[0]


@pytest.mark.parametrize(
    ("value", "precision", "text"),
    [
        (-22.9593, None, "\N{MINUS SIGN}22.96"),
        (26398, None, "26,398"),
        (0.0, None, "0"),
        (-0.0, None, "0"),
        (5.0603, 0.65, "5.06"),
        (None, None, "\N{EN DASH}"),
        (float("inf"), None, "\N{INFINITY}"),
        (1e12, None, "1.000e+12"),
        (-1e-12, None, "0"),
    ],
)
def test_numbers(value, precision, text):
    assert number(value, precision) == text


def test_words():
    assert interval((-5.3918, -4.7395)) == "\N{MINUS SIGN}5.39 to \N{MINUS SIGN}4.74"
    assert interval((2.0, 2.0)) == "2 to 2"
    assert interval(None) == "none"
    assert percent(0.05) == "5%"
    assert [certainty(share, 1000) for share in (0.0, 0.5, 1.0)] == ["under 0.1%", "50%", "over 99.9%"]
    assert meaning(rg.risk.parse("cvar:0.1:seeking")) == "the mean of the best 10% of episodes"
    assert meaning(rg.risk.parse("mean-variance:0.5")) == "the mean return minus 0.5 times its variance"
    assert meaning(rg.risk.parse("dual-power:3")) == "a mean that gives bad episodes more weight (dual-power:3)"
