"""The study of what any learner can have of `ruin`: its parts against the exact law and by hand, and its page."""

import numpy as np
import pytest
from support.studies import FOLDER, load_study

import riskgrad as rg

study = load_study("ruin_limit")


def table_of(bold):
    """Give the policy table [S, 2] of chances to be bold [capitals]."""
    table = np.zeros((study.MODEL.n_states, 2))
    table[:, 0] = 1.0
    table[study.CAPITALS, 0], table[study.CAPITALS, 1] = 1.0 - bold, bold
    return table


def test_means_are_exact():
    policies = np.random.default_rng(0).uniform(size=(5, len(study.CAPITALS)))
    truth = [rg.exact.return_law(study.MODEL, table_of(bold)).mean for bold in policies]
    assert study.means(policies, study.TRUE) == pytest.approx(truth, abs=1e-12)
    changed = rg.mdp.models.ruin(chance=0.55)
    truth = [rg.exact.return_law(changed, table_of(bold)).mean for bold in policies]
    assert study.means(policies, np.full_like(study.TRUE, 0.55)) == pytest.approx(truth, abs=1e-12)


def test_no_policy_but_the_best_one_and_its_like_has_a_share_of_99_percent():
    shares = study.shares(study.DETERMINISTIC, study.TRUE)
    order = np.argsort(-shares)
    assert shares[order[:2]] == pytest.approx(1.0, abs=1e-12)  # at a capital of 7, which the best one never has, two do
    assert shares[order[2]] == pytest.approx(study.shares(study.bold_at(study.SECOND), study.TRUE)[0], abs=1e-12)
    assert shares[order[2]] < study.REACHED


def test_the_most_of_rewards_is_what_its_visits_bring():
    ones = np.ones_like(study.TRUE)
    length, visits = study.most(ones)
    assert length == pytest.approx(np.sum(visits), abs=1e-12)
    assert length <= study.MODEL.horizon
    rewards = np.random.default_rng(1).uniform(size=ones.shape)
    found, visits = study.most(rewards)
    assert found == pytest.approx(np.sum(rewards * visits), abs=1e-12)
    assert found >= np.sum(rewards * study.most(ones)[1])


def test_no_other_way_of_playing_knows_the_difference_better():
    visits = study.best_visits()
    noise = study.slopes() ** 2 * study.TRUE * (1.0 - study.TRUE)
    # the error is convex: no direction lowers it by more than this
    assert study.most(noise / visits**2)[0] <= 1.001 * np.sum(noise / visits)


def test_two_models_are_told_apart_no_better_than_they_diverge():
    assert study.told_apart(0.5) == 0.0
    assert study.told_apart(0.1) == pytest.approx(0.8 * np.log(9.0), abs=1e-12)
    assert study.least_failing(study.told_apart(0.1)) == pytest.approx(0.1, abs=1e-9)
    assert study.divergence(study.TRUE) == 0.0
    assert study.both_reached(study.TRUE) == pytest.approx(1.0, abs=1e-12)


def test_the_page_has_what_the_script_prints(capsys):
    study.print_limit()
    page = (FOLDER / "learning.md").read_text()
    for table in capsys.readouterr().out.strip().split("\n\n"):
        assert table in page
