"""The problems of the learning study that are no tables: what is stored of them is what they are."""

import gymnasium
import numpy as np
import pytest
from support.studies import load_study

import riskgrad as rg
from riskgrad.sources.resolve import resolve_source
from riskgrad.types import States

aside, problems = load_study("learning_aside"), load_study("learning_problems")
PROBLEMS = {problem.name: problem for problem in (*problems.CHOSEN, *problems.SET_ASIDE)}
GAMES = {
    "hedge": aside.Hedge,
    "store": aside.Store,
    "passage": aside.Passage,
    "dosing, in parts": aside.Dosing,
    "quote": aside.Quote,
    "reservoir": aside.Reservoir,
}


def play(game, choose, lanes):
    """Returns [L] of a game, an episode in each lane."""
    played, returns, busy = game(lanes), np.zeros(lanes), np.ones(lanes, dtype=bool)
    played.action_space.seed(7)  # not the seed of the game, whose random numbers would be the same
    seen, _ = played.reset(seed=3)
    while busy.any():
        seen, rewards, over, cut, _ = played.step(choose(played, seen))
        returns[busy] += rewards[busy]
        busy &= ~(over | cut)
    return returns


@pytest.mark.parametrize("name", GAMES)
def test_rule_and_random_play_are_worth_what_is_stored(name):
    problem, game = PROBLEMS[name], GAMES[name]
    rho = rg.risk.parse(problem.risk)
    lanes = 400_000 if name == "quote" else 20_000
    within = 0.03 * (problem.aim - problem.start)
    ruled = play(game, lambda _, seen: game.rule(seen), lanes)
    assert rho.estimate(ruled) == pytest.approx(problem.aim, abs=within)
    at_random = play(game, lambda played, _: played.action_space.sample(), lanes)
    assert rho.estimate(at_random) == pytest.approx(problem.start, abs=within)
    assert problem.share(problem.start) == 0.0
    assert problem.share(problem.aim) == 1.0


def test_the_ford_is_better_in_the_mean_and_the_bridge_in_the_tail():
    tail = rg.risk.CVaR(0.1)
    ford = play(aside.Passage, lambda _, seen: np.stack([np.ones(len(seen)), -seen[:, 1]], axis=1), 20_000)
    bridge = play(aside.Passage, lambda _, seen: aside.Passage.rule(seen), 20_000)
    assert np.mean(ford) > np.mean(bridge) + 0.5
    assert tail.estimate(ford) < tail.estimate(bridge) - 10.0


@pytest.mark.filterwarnings("ignore:builtin type")  # an error in the import of Box2D ends the process
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_can_be_played_by_a_network(name):
    problem = PROBLEMS[name]
    rg.risk.parse(problem.risk)
    assert problem.start < problem.aim
    if not problem.playable:
        pytest.skip(f"{problem.needs} is not installed")
    source = resolve_source(problem.env)
    assert not isinstance(source.gives, States)
    if name in GAMES:
        assert source.native == (name != "dosing, in parts")


def test_parts_of_the_dosing_are_what_is_seen_whole():
    env, whole = gymnasium.make(aside.DOSING), aside.Dosing(1)
    seen, first = env.reset(seed=5)[0], whole.reset(seed=5)[0][0]
    assert env.observation_space.contains(seen)
    np.testing.assert_array_equal(np.eye(3)[seen["kind"]], first[:3])
    np.testing.assert_array_equal(seen["levels"], first[3:5])


def test_no_name_is_given_twice_and_lists_share_no_environment():
    assert len(PROBLEMS) == len(problems.CHOSEN) + len(problems.SET_ASIDE)
    assert not {problem.env for problem in problems.CHOSEN} & {problem.env for problem in problems.SET_ASIDE}
    assert len(problems.SET_ASIDE) >= 6


def test_the_best_on_the_lake_is_what_is_stored():
    mdp = rg.mdp.from_gymnasium("FrozenLake-v1", horizon=100)
    actions = mdp.n_actions
    worth = np.zeros(mdp.n_states)
    for _ in range(mdp.horizon):
        then = mdp.probabilities * (mdp.rewards + np.where(mdp.ends, 0.0, worth[mdp.next_states]))
        sums = np.concatenate([[0.0], np.cumsum(then)])
        worth = np.max(np.diff(sums[mdp.offsets]).reshape(-1, actions), axis=1)
    assert mdp.start @ worth == pytest.approx(PROBLEMS["lake, one-hot"].aim, abs=1e-4)


def test_trading_can_be_worth_what_is_stored():
    best = load_study("trading_best")
    assert best.best_mean() == pytest.approx(PROBLEMS["Trading"].aim, abs=0.005)
    plan = best.best_tail(0.5)
    assert plan.value == pytest.approx(0.47, abs=0.01)
    assert rg.risk.CVaR(0.5).estimate(plan.play(100_000, seed=0)) == pytest.approx(plan.value, abs=0.03)
    # at alpha = 1 the measure is the mean: two programs, one answer
    assert best.best_tail(1.0).value == pytest.approx(best.best_mean(), abs=0.02)
