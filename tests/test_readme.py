"""The front door: exactly two commands, in the words that the gate runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_readme_opens_with_a_sentence_a_picture_and_exactly_two_commands():
    text = (ROOT / "README.md").read_text()
    title, sentence, picture = [block for block in text.split("\n\n") if block][:3]
    assert title == "# riskgrad"
    assert re.fullmatch(r"[A-Z][^.!]*\.", sentence), "one sentence"
    assert re.fullmatch(r"!\[.*\]\(docs/maze\.svg\)", picture)
    commands = re.findall(r"^python3 -m venv \.venv.*$", text, flags=re.M)
    assert len(commands) == 2
    demo, tests = commands
    assert demo.endswith(".venv/bin/riskgrad demo")
    assert "[test]" in tests
    assert "pytest" in tests
    assert all("activate" not in command for command in commands)
    assert text.index(tests) < 700, "they stand at the top"


def test_the_gate_runs_the_readme():
    gate = (ROOT / ".ci" / "run").read_text()
    assert "README.md" in gate
    assert "pytest" not in gate, "the gate takes the test command from the README"


def test_the_picture_shows_what_the_readme_says():
    """It is the maze.svg that `riskgrad demo` writes."""
    text, picture = (ROOT / "README.md").read_text(), (ROOT / "docs" / "maze.svg").read_text()
    assert "](docs/maze.svg)" in text
    assert len(picture) < 200_000
    shown = re.findall(r"mean (\S+) · worst 5%: (\S+) ·", picture.replace("\N{MINUS SIGN}", "-"))
    assert len(shown) == 2
    for mean, worst in shown:
        assert f"mean {mean}, worst 5% {worst}" in text
        assert re.search(rf"{mean} on average,\s(?:and )?{worst}\b", text)
