"""Logs: what they become, and what is refused with the row that breaks the rule."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.sources.logged.columns import parquet_batches
from riskgrad.sources.logged.episodes import LoggedEpisodes
from riskgrad.weights import log_ratios

# two episodes: "7" of three steps and "3" of one, given out of order
LOG = {
    "episode_id": [7, 3, 7, 7],
    "t": [0, 0, 2, 1],
    "action": [1, 0, 2, 1],
    "reward": [1.0, -5.0, 4.0, 2.0],
    "behavior_prob": [0.5, 1.0, 0.25, 0.125],
    "state": [4, 0, 6, 5],
}


def changed(**columns):
    return {**LOG, **columns}


def without(*names):
    return {name: column for name, column in LOG.items() if name not in names}


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_becomes_visits_sorted_by_episode_and_step():
    log = LoggedEpisodes.from_arrays(**LOG, discount=0.5)
    batch = log.batch
    assert len(log) == 2
    np.testing.assert_array_equal(batch.values, [-5.0, 1.0 + 0.5 * 2.0 + 0.25 * 4.0])
    np.testing.assert_array_equal(batch.lengths, [1, 3])
    np.testing.assert_array_equal(batch.offsets, [0, 1, 4])
    np.testing.assert_array_equal(batch.observations, [0, 4, 5, 6])
    np.testing.assert_array_equal(batch.actions, [0, 1, 1, 2])
    np.testing.assert_array_equal(batch.counts, [1, 1, 1, 1])
    np.testing.assert_allclose(np.exp(batch.log_behavior), [1.0, 0.5, 0.125, 0.25], rtol=1e-15)
    assert (log.n_actions, log.discount, log.return_range) == (3, 0.5, None)


def test_discount_zero_keeps_the_first_reward():
    np.testing.assert_array_equal(LoggedEpisodes.from_arrays(**LOG, discount=0.0).batch.values, [-5.0, 1.0])


def test_log_probabilities_and_vector_observations():
    obs = np.arange(8.0).reshape(4, 2)
    log = LoggedEpisodes.from_arrays(
        **without("behavior_prob", "state"), behavior_logp=np.log(LOG["behavior_prob"]), obs=obs
    )
    np.testing.assert_array_equal(log.batch.observations, obs[[1, 0, 3, 2]])
    np.testing.assert_array_equal(log.batch.log_behavior, np.log([1.0, 0.5, 0.125, 0.25]))


def test_batch_is_frozen_and_the_input_is_not():
    rewards = np.array(LOG["reward"])
    batch = LoggedEpisodes.from_arrays(**changed(reward=rewards)).batch
    with pytest.raises(ValueError, match="read-only"):
        batch.values[0] = 0.0
    rewards[0] = 9.0


def test_parquet_equals_arrays_and_reads_in_pieces(tmp_path):
    table = without("state") | {"obs_0": [0.0, 1.0, 2.0, 3.0], "obs_1": [4.0, 5.0, 6.0, 7.0], "comment": list("abcd")}
    path = write(tmp_path / "log.parquet", table)
    obs = np.array([[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    expected = LoggedEpisodes.from_arrays(**without("state"), obs=obs, discount=0.9).batch
    pieces = list(parquet_batches(path, rows=3))
    assert [len(piece["t"]) for piece in pieces] == [3, 1]
    assert "comment" not in pieces[0]
    for batch in (
        LoggedEpisodes.from_parquet(path, discount=0.9).batch,
        LoggedEpisodes.from_batches(pieces, discount=0.9).batch,
    ):
        for name in ("values", "lengths", "offsets", "observations", "actions", "counts", "log_behavior"):
            np.testing.assert_array_equal(getattr(batch, name), getattr(expected, name))


def test_eleven_observation_columns_keep_their_numeric_order(tmp_path):
    table = without("state") | {f"obs_{k}": [float(k)] * 4 for k in reversed(range(11))}
    log = LoggedEpisodes.from_parquet(write(tmp_path / "wide.parquet", table))
    np.testing.assert_array_equal(log.batch.observations[0], np.arange(11.0))


def test_string_ids_and_narrow_types_from_parquet(tmp_path):
    table = pa.table(
        changed(
            episode_id=["b", "a", "b", "b"],
            t=pa.array([0, 0, 2, 1], pa.int8()),
            action=pa.array([1, 0, 2, 1], pa.uint8()),
            reward=pa.array([1.0, -5.0, 4.0, 2.0], pa.float32()),
        )
    )
    pq.write_table(table, tmp_path / "log.parquet")
    log = LoggedEpisodes.from_parquet(tmp_path / "log.parquet")
    np.testing.assert_array_equal(log.batch.values, [-5.0, 7.0])
    assert log.batch.actions.dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (changed(t=[0, 0, 3, 1]), r"t in row 2 .* must be 2 next in episode 7.*, got 3"),
        (changed(t=[0, 1, 2, 1]), r"t in row 1 .* must be 0 next in episode 3.*, got 1"),
        (changed(t=[0, 0, 1, 1]), r"t in row 3 .* must be 2 next in episode 7.*, got 1"),
        (changed(t=[0, -1, 2, 1]), r"t in row 1 .* must be an integer from 0, got -1"),
        (changed(t=[0.0, 0.0, 2.0, 1.0]), "column t must hold integers, got 'float64'"),
        (changed(behavior_prob=[0.5, 0.0, 1.0, 1.0]), r"behavior_prob in row 1 .* must be in \(0, 1\], got 0.0"),
        (changed(behavior_prob=[0.5, 1.0, 1.1, 1.0]), r"behavior_prob in row 2 .* must be in \(0, 1\], got 1.1"),
        (changed(behavior_prob=[np.nan, 1.0, 1.0, 1.0]), r"behavior_prob in row 0 .* got nan"),
        (changed(reward=[0.0, 0.0, 0.0, np.inf]), r"reward in row 3 .* must be finite, got inf"),
        (changed(reward=["1", "2", "3", "4"]), "column reward must hold numbers"),
        (changed(action=[1, 0, -2, 1]), r"action in row 2 .* must be an integer from 0, got -2"),
        (changed(action=[1, 0, 4, 1]), r"action in row 2 .* must be one of 0 .. 3, got 4"),
        (changed(state=[4, 0, -6, 5]), r"state in row 2 .* must be an integer from 0, got -6"),
        (changed(episode_id=[0.5, 1, 1, 1]), "column episode_id must hold integers or strings"),
        (changed(reward=[1.0, 2.0]), "must have one entry for each of the 2 steps"),
        (without("reward"), "a log must have the column reward"),
        (without("behavior_prob"), "a log must have one of behavior_prob and behavior_logp"),
        (changed(behavior_logp=[0.0] * 4), "a log must have one of behavior_prob and behavior_logp, not both"),
        (without("state"), "a log must have either state or obs_0 .. obs_k"),
        (without("state") | {"obs_0": [0.0] * 4, "obs_2": [0.0] * 4}, "must be obs_0, obs_1, ... without gaps"),
        (without("state") | {"obs_0": [0.0, 0.0, np.nan, 0.0]}, r"obs in row 2 .* must be finite"),
        (without("behavior_prob") | {"behavior_logp": [0.0, 0.1, 0.0, 0.0]}, r"behavior_logp in row 1 .* got 0.1"),
        (without("behavior_prob") | {"behavior_logp": [0.0, 0.0, -np.inf, 0.0]}, r"behavior_logp in row 2"),
        ({name: [] for name in LOG}, "a log must hold at least one step"),
    ],
)
def test_refuses_a_bad_log_in_one_line(columns, message):
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    with pytest.raises(InputError, match=message) as caught:
        LoggedEpisodes.from_batches([arrays], n_actions=4)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 1.5}, "discount must be in"),
        ({"n_actions": 0}, "n_actions must be an integer of at least 1"),
        ({"n_actions": 10**5000}, "n_actions must fit into 64 bits"),
        ({"return_range": (-1.0, 10.0)}, "return_range must (hold every logged return|be two finite numbers)"),
        ({"return_range": (-np.inf, 10.0)}, "return_range must (hold every logged return|be two finite numbers)"),
    ],
)
def test_refuses_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        LoggedEpisodes.from_arrays(**LOG, **options)


def test_a_given_range_is_kept():
    assert LoggedEpisodes.from_arrays(**LOG, return_range=(-5, 10)).return_range == (-5.0, 10.0)


def test_missing_entries_and_files_are_named(tmp_path):
    path = write(tmp_path / "null.parquet", changed(reward=[1.0, 2.0, None, 4.0]), row_group_size=2)
    with pytest.raises(InputError, match=r"reward in row 2 .* must not be missing"):
        LoggedEpisodes.from_parquet(path)
    with pytest.raises(InputError, match="no such file"):
        LoggedEpisodes.from_parquet(tmp_path / "none.parquet")
    (tmp_path / "junk.parquet").write_bytes(b"not a table at all")
    with pytest.raises(InputError, match="must be a whole Parquet file"):
        LoggedEpisodes.from_parquet(tmp_path / "junk.parquet")


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=8),
    discount=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_batch_does_not_depend_on_the_order_of_rows(lengths, discount, seed):
    rng = np.random.default_rng(seed)
    ids = np.repeat(rng.permutation(len(lengths)), lengths)
    times = np.concatenate([np.arange(length) for length in lengths])
    columns = {
        "episode_id": ids,
        "t": times,
        "action": rng.integers(0, 3, len(ids)),
        "reward": rng.normal(size=len(ids)),
        "behavior_prob": rng.uniform(0.1, 1.0, len(ids)),
        "state": rng.integers(0, 5, len(ids)),
    }
    shuffle = rng.permutation(len(ids))
    straight = LoggedEpisodes.from_arrays(**columns, discount=discount).batch
    shuffled = LoggedEpisodes.from_arrays(
        **{name: column[shuffle] for name, column in columns.items()}, discount=discount
    ).batch
    for name in ("values", "lengths", "offsets", "observations", "actions", "log_behavior"):
        np.testing.assert_array_equal(getattr(straight, name), getattr(shuffled, name))
    for episode in range(len(lengths)):
        rewards = columns["reward"][ids == episode]
        expected = np.sum(rewards * discount ** np.arange(len(rewards)))
        np.testing.assert_allclose(straight.values[episode], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "risk",
    [
        "mean",
        "cvar:0.1",
        "smooth-cvar:0.1",
        "mean-variance:0.5",
        "dual-power:2",
        "dual-power:2:seeking",
        "exponential:1",
    ],
)
@pytest.mark.parametrize("chance", [0.5, 0.25, 0.01, 1e-9])
def test_avoiding_every_logged_action_is_not_scored_well(risk, chance):
    # every logged episode took action 0 and ended at -1; the policy gives that action less and less
    log = LoggedEpisodes.from_arrays(
        np.arange(20), np.zeros(20, int), np.zeros(20, int), -np.ones(20),
        behavior_prob=np.full(20, 0.5), state=np.zeros(20, int), n_actions=2,
    )  # fmt: skip
    policy = rg.policy.TabularGibbs(1, 2)
    theta = np.array([np.log(chance), np.log1p(-chance)])
    batch = log.batch
    weights = np.exp(log_ratios(policy, theta[None], batch)[0])
    np.testing.assert_allclose(weights, chance / 0.5, rtol=1e-12)
    # the integral form eq:hat_rho_H puts the missing mass at the best conceivable return, here 1: 0.96 at chance 0.01
    literal = -weights.mean() + (1.0 - weights.mean())
    assert literal == pytest.approx(1.0 - 4.0 * chance)
    assert rg.risk.parse(risk).estimate(batch.values, weights) == pytest.approx(-1.0, abs=1e-12)
