import numpy as np
import pytest
from support.training import train_plainly

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.gradient import sphere
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource

MDP = rg.mdp.two_roads()
SOURCE = TabularSource(MDP, threads=1)
POLICY = rg.policy.TabularGibbs(MDP.n_states, MDP.n_actions)


def train(risk="dual-power:2", **options):
    return train_plainly(rg.OnPSF, SOURCE, POLICY, risk, **{"iterations": 3, "held_out": 0, **options})


def test_one_iteration_is_the_pseudocode():
    theta, rho = np.linspace(-1.0, 1.0, 8), rg.risk.parse("dual-power:2")
    run = train(
        iterations=1, theta=theta, step_size=0.02, smoothing=0.3, directions=5, episodes=40, orthogonal=False, seed=9
    )
    directions = sphere(Stream(9, Purpose.DIRECTIONS, 0).generator(), 5, 8)
    gradient = np.zeros(8)
    for i, v in enumerate(directions):
        plus, minus = (
            rho.estimate(
                SOURCE.returns(
                    POLICY, (theta + sign * 0.3 * v)[None], 40, Stream(9, Purpose.TRAINING, 0), np.array([i])
                ).values[0]
            )
            for sign in (1, -1)
        )
        gradient += 8 / 5 * (plus - minus) / 0.6 * v
    np.testing.assert_allclose(run.last_theta, theta + 0.02 * gradient, rtol=0, atol=1e-12)
    assert run.history[0]["gradient_norm"] == pytest.approx(np.linalg.norm(gradient))


def test_every_episode_is_counted():
    run = train(directions=4, episodes=10, held_out=25)
    assert run.held_out_episodes == 4 * 25
    assert run.episodes_used == 3 * 2 * 4 * 10 + 100
    assert train(directions=4, episodes=10, entropy=0.1).episodes_used == 3 * (80 + 10)


def test_the_papers_schedule():
    run = train(iterations=10, schedule="paper")
    plan = rg.theory.schedule(10)
    assert run.episodes_used == plan.onp_sf_episodes
    assert run.settings.step_size == f"constant:{plan.step_size}"
    assert (run.settings.own["smoothing"], run.settings.own["orthogonal"]) == (plan.smoothing, False)
    assert run.notes == ()


def test_same_seed_same_bits_on_one_or_two_threads():
    # enough steps that the work is cut into blocks
    options = {"iterations": 3, "directions": 8, "episodes": 8000, "held_out": 30_000, "seed": 4}
    one, two = (
        train_plainly(rg.OnPSF, TabularSource(MDP, threads), POLICY, "cvar:0.1", **options) for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.last_theta, two.last_theta)
    assert one.history == two.history
    assert np.any(
        one.last_theta != train_plainly(rg.OnPSF, SOURCE, POLICY, "cvar:0.1", **{**options, "seed": 5}).last_theta
    )


def test_common_random_numbers_take_noise_out_of_the_gradient():
    # mean squared norm of the gradient over 40 seeds at a flat point: theta far out, where nothing changes any more
    theta = np.tile([8.0, -8.0], 4)
    norms = {
        common: np.mean(
            [
                train(iterations=1, theta=theta, seed=s, common_random_numbers=common).history[0]["gradient_norm"] ** 2
                for s in range(40)
            ]
        )
        for common in (True, False)
    }
    assert norms[True] < 0.05 * norms[False]


def test_the_practical_steps_do_not_depend_on_the_scale_of_rewards():
    k = 2.0**10
    large = rg.mdp.two_roads(9.0 * k, 13.0 * k, 0.04, 60.0 * k, 5.0 * k, 2.0 * k)
    runs = [
        train_plainly(rg.OnPSF, TabularSource(mdp, 1), POLICY, "cvar:0.1", iterations=5, entropy=0.1)
        for mdp in (MDP, large)
    ]
    np.testing.assert_allclose(runs[0].last_theta, runs[1].last_theta, atol=1e-9)


def test_error_of_a_full_finite_difference_comes_from_the_episodes():
    run = train(directions=8, orthogonal=True, episodes=100, iterations=2)
    for line in run.history:
        assert 0.0 < line["gradient_error"] < 10 * line["gradient_norm"]


def test_it_learns_to_avoid_the_tail():
    rho = rg.risk.CVaR(0.1)
    run = train_plainly(rg.OnPSF, SOURCE, POLICY, rho, iterations=100, seed=1)
    # exact: -66 for the best mean, -30 for the best tail, -52 at the start
    assert rg.exact.value(MDP, POLICY, run.theta, rho) > -33.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "iterations must be an integer of at least 1, got 0"),
        ({"step_size": -0.1}, "step_size must be positive and finite, got -0.1"),
        ({"smoothing": 1.5}, r"smoothing must be in \(0, 1\], got 1.5"),
        ({"smoothing": 0.0}, r"smoothing must be in \(0, 1\], got 0.0"),
        ({"directions": 0}, "directions must be an integer of at least 1"),
        ({"episodes": 2.5}, "episodes must be an integer of at least 1"),
        ({"theta": [np.nan] * 8}, "theta must be finite, got nan"),
        ({"theta": np.zeros(3)}, r"theta must have shape \(8,\)"),
        ({"risk_path": 0.0}, "risk_path must be a part of the run"),
        ({"entropy": -1.0}, "entropy must be finite and not negative"),
        ({"held_out": -1}, "held_out must be an integer of at least 0"),
        ({"seed": -1}, "seed must be a non-negative integer"),
    ],
)
def test_bad_input_gets_one_line(options, message):
    with pytest.raises(InputError, match=message) as caught:
        train(**options)
    assert "\n" not in str(caught.value)


def test_unknown_names_list_what_there_is():
    with pytest.raises(UnknownNameError, match="did you mean 'cvar'"):
        train("cvr:0.1")
    with pytest.raises(UnknownNameError, match="schedule must be one of paper, practical"):
        train(schedule="theory")
    with pytest.raises(
        InputError, match="one of deterministic, linear, mlp, shared-table, table, got 'gibbs'; or, in Python, a policy"
    ):
        train_plainly(rg.OnPSF, SOURCE, "gibbs", "mean", iterations=1)
    with pytest.raises(TypeError, match="speed"):
        train(speed=1)


def test_an_ascent_can_be_given():
    assert train(step_size=Adam(0.3, clip=5.0)).settings.step_size == "adam:0.3,clip=5.0"
