"""What the defaults of `rg.train` learn, in exact values, with a third of the default number of episodes."""

import numpy as np
import pytest
from support.best import best_laws
from support.training import train_briefly

import riskgrad as rg
from riskgrad.mdp.models import inventory, ruin, slippery_grid, two_roads

TAIL = rg.risk.CVaR(0.1)
SEEDS, BUDGET = (0, 1), 30_000


def law_of(mdp, run):
    return rg.exact.return_law(mdp, run.policy.probabilities(run.theta, np.arange(mdp.n_states)))


@pytest.mark.parametrize("build", [two_roads, inventory])
def test_averse_and_neutral_training_each_reach_their_own_optimum(build):
    mdp = build()
    neutral, averse = best_laws(build).values()
    low, high = TAIL.value(neutral), TAIL.value(averse)
    assert high - low > 0.15 * abs(low)
    for seed in SEEDS:
        careful = law_of(mdp, rg.train(mdp, risk="cvar:0.1", max_episodes=BUDGET, seed=seed))
        assert TAIL.value(careful) > low + 0.5 * (high - low)
        # what a learner may settle for: going on with the first action, which in `inventory` is to order nothing
        first = np.tile(np.eye(mdp.n_actions)[0], (mdp.n_states, 1))
        assert TAIL.value(careful) > TAIL.value(rg.exact.return_law(mdp, first))
        bold = law_of(mdp, rg.train(mdp, risk="mean", max_episodes=BUDGET, seed=seed))
        assert bold.mean > neutral.mean - 0.02 * abs(neutral.mean)


@pytest.mark.parametrize("build", [ruin, slippery_grid])
def test_the_defaults_leave_the_plateaus_on_which_a_tail_measure_stands_still(build):
    mdp = build()
    policy = rg.policy.TabularGibbs(mdp.n_states, mdp.n_actions)
    start, best = rg.exact.value(mdp, policy, np.zeros(policy.dim), TAIL), TAIL.value(best_laws(build)["cvar:0.1"])
    options = {"risk": "cvar:0.1", "max_episodes": BUDGET, "seed": 0}
    reached = TAIL.value(law_of(mdp, rg.train(mdp, **options)))
    assert reached > start + 0.9 * (best - start)
    alone = TAIL.value(law_of(mdp, rg.train(mdp, risk_path=None, entropy=0.0, **options)))
    assert alone < start + 0.8 * (best - start)


def test_a_network_takes_shorter_steps_and_learns():
    mdp, options = inventory(), {"risk": "cvar:0.1", "policy": "mlp", "algorithm": "score", "max_episodes": 30_000}
    low, high = (TAIL.value(law) for law in best_laws(inventory).values())

    def gap_closed(**more):
        return (TAIL.value(law_of(mdp, rg.train(mdp, **options, **more))) - low) / (high - low)

    assert min(gap_closed(seed=seed) for seed in (0, 3)) > 0.85
    # the step of tables and linear policies undoes what was learned
    assert gap_closed(seed=3, step_size="adam:0.1") < 0.7


def test_the_guarded_maze_is_walked_around_the_guard():
    run = rg.train("riskgrad/GuardedMaze-v0", risk="cvar:0.05", max_episodes=50_000, seed=0)
    table = rg.evaluate(run, "riskgrad/GuardedMaze-v0", risk=["mean", "cvar:0.05"], episodes=4000)
    mean, tail = (row.value for row in table)
    # standing still is worth -32, the way past the guard -60
    assert mean > 0.0
    assert tail > -12.0


@pytest.mark.parametrize("algorithm", ["score", "offp-sf", "onp-sf"])
@pytest.mark.parametrize("factor", [10.0, 0.1])
def test_the_scale_of_rewards_does_not_matter(algorithm, factor):
    options = {"risk": "cvar:0.1", "algorithm": algorithm, "iterations": 12, "episodes": 100, "seed": 3}
    prices = {"price": 12.0, "cost": 4.0, "holding": 2.0, "stock_out": 25.0}
    plain = train_briefly(inventory(**prices), **options)
    scaled = train_briefly(inventory(**{name: factor * price for name, price in prices.items()}), **options)
    np.testing.assert_allclose(scaled.last_theta, plain.last_theta, rtol=0.0, atol=1e-8)
    assert np.max(np.abs(plain.last_theta)) > 0.1
