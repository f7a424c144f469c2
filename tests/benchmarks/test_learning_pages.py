"""The page of the learning study: its figures are what is asked of the defaults, and the overview quotes them."""

import re
from statistics import median

import pytest
from support.studies import FOLDER, load_study

PAGE = (FOLDER / "learning.md").read_text()
OVERVIEW = (FOLDER / "README.md").read_text()
problems = load_study("learning_problems")
risky = load_study("risky_problems")


def number(cell):
    """Give the first number of a cell."""
    return float(re.search(r"-?[\d,]*\.?\d+", cell)[0].replace(",", ""))


def rows_after(command):
    """Give the cells of the first table after a command of the page."""
    text = PAGE.split(f"    python benchmarks/learning.py {command}".rstrip() + "\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", text, flags=re.M)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def by_seed(name):
    """Give what each seed of an environment reached, by measure, and the episodes until its level."""
    line = re.search(rf"^- {re.escape(name)}: (.*)$", PAGE, flags=re.M)[1]
    parts, _, level = line.partition("; 475 first in a batch after ")
    values = {}
    for part in parts.split("; "):
        risk, listed = part.split(" ", 1)
        values[risk] = [float(each) for each in listed.split(", ")]
    return values, [int(each) for each in level.removesuffix(" episodes").split(", ")] if level else []


def told(question):
    """Give the answer and the comparison of a row of the overview."""
    line = next(line for line in OVERVIEW.splitlines() if line.startswith(f"| {question} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:3]


ENVIRONMENTS = {(row[0], row[1]): row for row in rows_after("environments")}
ASIDE = {row[0]: row for row in rows_after("set-aside")}
CHOSEN = {(row[0], row[1]): row for row in rows_after("chosen")}


@pytest.mark.parametrize(
    ("name", "risk", "least", "seeds"),
    [
        ("CartPole-v1", "mean", 500.0, 5),
        ("Pendulum-v1", "mean", -180.0, 5),
        ("Pendulum-v1, averse", "cvar:0.1", -350.0, 5),
        ("MiniGrid-Empty-5x5", "mean", 0.9, 5),
        ("MountainCarContinuous-v0", "mean", 90.0, 4),
        ("LunarLander-v3", "mean", 200.0, 4),
        ("betting, wheel", "cvar:0.2", 0.8, 5),
        ("betting, stakes", "cvar:0.2", 0.8, 5),
        ("Trading", "mean", 1.38, 5),
        ("Trading, averse", "cvar:0.5", 0.18, 3),
    ],
)
def test_environments_reach_what_is_asked_of_them(name, risk, least, seeds):
    found, _ = by_seed(name)
    values = found[risk]
    assert len(values) == 5
    row, problem = ENVIRONMENTS[name, risk], next(one for one in problems.CHOSEN if one.name == name)
    assert number(row[4]) == pytest.approx(median(values), rel=1e-3)
    assert number(row[5]) == pytest.approx(min(values), rel=1e-3)
    assert number(row[6]) == pytest.approx(problem.share(median(values)), abs=0.006)
    reached = [problem.share(value) for value in values] if name.startswith("betting") else values
    assert sum(value >= least for value in reached) >= seeds, reached


def test_the_pole_is_up_soon_and_an_averse_pendulum_has_the_better_tail():
    _, first = by_seed("CartPole-v1")
    assert median(first) <= 300
    assert median(by_seed("Pendulum-v1, averse")[0]["cvar:0.1"]) > median(by_seed("Pendulum-v1")[0]["cvar:0.1"])


def test_problems_that_were_set_aside_are_solved():
    assert set(ASIDE) == {problem.name for problem in risky.SET_ASIDE}
    means = [float(row[4]) for row in ASIDE.values()]
    assert median(means) >= 0.95
    assert min(means) >= 0.75
    assert float(ASIDE["wheel"][5]) >= 0.8


def test_shipped_models_are_solved_but_for_the_one_that_nobody_can_solve_so_soon():
    shipped = {(name, risk) for name in load_study("learning").MODELS for risk in ("mean", "cvar:0.1")}
    assert set(CHOSEN) == {(problem.name, problem.risk) for problem in risky.CHOSEN} | shipped
    short = {which for which in shipped if float(CHOSEN[which][5]) < 0.99}
    assert short == {("ruin", "mean")}


def test_with_enough_episodes_ruin_is_solved_too():
    rows = {row[0]: [float(share) for share in row[1].split(", ")] for row in rows_after("ruin")}
    assert all(len(shares) == 5 for shares in rows.values())
    assert min(rows["50,000"]) == float(CHOSEN["ruin", "mean"][5])
    assert min(rows["2,000,000"]) >= 0.99


def test_a_batch_at_the_end_takes_at_most_three_of_the_score_algorithm():
    rows = rows_after("batches --other ../earlier/src")
    assert len(rows) == 10
    for _, _, critic, score, before, ratio in rows:
        assert float(critic) <= 3.0 * min(float(score), float(before))
        assert float(ratio) == pytest.approx(float(critic) / float(before), abs=0.05)


def test_memory_pays_and_the_best_there_is_is_not_exceeded():
    rows = {(row[0], row[1]): row[2:] for row in rows_after("memory")}
    for which, asked in {("inventory", "cvar:0.1"): 3.6, ("risky-safe", "mean-variance:0.1"): 5.2}.items():
        plain, most, seeds, least, _ = rows[which]
        values = [float(value) for value in seeds.split(", ")]
        assert len(values) == 5
        assert min(values) == float(least)
        assert max(float(plain), asked) < float(least)
        assert max(values) <= float(most)


def test_the_maze_beats_what_is_published():
    rows = rows_after("maze")
    assert len(rows) == 10
    for _, _, _, mean, tenth, twentieth in rows:
        assert float(mean) > 2.0
        assert float(tenth) > -4.6
        assert float(twentieth) > -6.7


def test_processor_time_is_short():
    rows = rows_after("times")
    assert len(rows) == 10
    for env, _, _, _, seconds in rows:
        assert float(seconds) < {"CartPole-v1": 10.0, "Pendulum-v1": 60.0}[env]


def test_the_overview_quotes_the_page():
    middles = {name: float(row[4]) for (name, _), row in ENVIRONMENTS.items()}
    pole = median(by_seed("CartPole-v1")[1])
    answer, others = told("Does it learn where there is no table?")
    assert answer == (
        f"CartPole: 475 after {pole:.0f} episodes; Pendulum, 1,000 episodes: {middles['Pendulum-v1']:.0f}, "
        f"CVaR(0.1) {middles['Pendulum-v1, averse']:.0f}; Trading: CVaR(0.5) {middles['Trading, averse']:.2f}, "
        f"mean {middles['Trading']:.2f}"
    )
    theirs = [ENVIRONMENTS[name][10] for name in (("Pendulum-v1", "mean"), ("Pendulum-v1, averse", "cvar:0.1"))]
    firsts = [int(row[5].split()[0]) for row in peers() if row[0] == "CartPole-v1"]
    assert others.startswith(f"PPO: {median(firsts):.0f}; {float(theirs[0]):.0f}, {float(theirs[1]):.0f};")
    maze = [[float(cell) for cell in row[3:]] for row in rows_after("maze")]
    means, tails = [row[0] for row in maze], [row[2] for row in maze]
    answer, _ = told("Is it better than a method made for CVaR?")
    spans = f"mean {min(means):.2f} to {max(means):.2f}, CVaR(0.05) {min(tails):.1f} to {max(tails):.1f}"
    assert answer == f"{spans} in ten of ten seeds"
    shares = [float(row[4]) for row in ASIDE.values()]
    score = [float(row[7]) for row in ASIDE.values()]
    answer, others = told("Does it find the averse policy?")
    assert answer.endswith(
        f"; on eight problems set aside {median(shares):.3f} of the gap in the median, {min(shares):.2f} at least"
    )
    assert others == f'the exact optimum; `"score"`: {median(score):.2f} and {min(score):.2f}'


def peers():
    """Give the rows of PPO."""
    text = PAGE.split("### PPO\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", text, flags=re.M)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_overview_quotes_reach():
    lines = [line for line in (FOLDER / "reach.md").read_text().splitlines() if line.startswith("|")]
    cells = {line.split("|")[1].strip(): [cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines}
    head = next(iter(cells.values()))
    place = head.index("$d = 1{,}002$")
    answer, others = told("How many parameters can it have?")
    assert answer.startswith(
        f"{cells['critic'][place]} of the way at $d = 1{{,}}002$ after 20,000 episodes by the critic"
    )
    assert others.startswith(f'{cells["score"][place]} by `"score"`, {cells["OffP-SF"][place]} by OffP-SF')
