"""Ranges and windows of returns so far against sets of all that can be reached."""

import numpy as np
import pytest
from support.critics import make_random_model, true_graph, true_model

from riskgrad.kernels.value_layout import NEARLY, find_ranges, find_windows
from riskgrad.policy import TabularGibbs

CASES = {
    "exact": {"discount": 1.0, "horizon": 3},
    "one step": {"discount": 1.0, "horizon": 1},
    "between knots": {"discount": 0.9, "horizon": 8, "unit": 0.37},
}


def steps_from(model, s, n_actions):
    """Give (reward, next state) of every outcome of a state."""
    for k in range(model.groups[s * n_actions], model.groups[(s + 1) * n_actions]):
        for o in range(model.firsts[k], model.firsts[k + 1]):
            yield model.group_rewards[k], int(model.nexts[o])


def ranges_plainly(model, powers, n_states, n_actions):
    here, ended, found = {(s, 0.0) for s in range(n_states) if model.starts[s] > 0.0}, set(), [{0.0}]
    for power in powers:
        then = {(n, y + power * r) for s, y in here for r, n in steps_from(model, s, n_actions)}
        ended |= {y for n, y in then if n == n_states}
        here = {(n, y) for n, y in then if n < n_states}
        found.append({y for _, y in here})
    found[-1] |= ended
    return [min(part, default=np.inf) for part in found], [max(part, default=-np.inf) for part in found]


def ranges(model, powers, n_states, n_actions):
    parts = model.groups, model.group_rewards, model.firsts, model.nexts, model.starts
    return find_ranges(len(powers), n_states, n_actions, powers, *parts)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("horizon", "discount"), [(1, 1.0), (4, 1.0), (4, 0.7)])
def test_ranges_are_the_ends_of_all_sums(seed, horizon, discount):
    mdp = make_random_model(seed, discount, horizon, n_states=3, n_actions=2)
    model, powers = true_model(mdp), discount ** np.arange(horizon)
    low, high = ranges(model, powers, 3, 2)
    least, most = ranges_plainly(model, powers, 3, 2)
    assert low.tolist() == least
    assert high.tolist() == most


def test_where_every_episode_is_over_nothing_is_reached():
    model = true_model(make_random_model(0, n_states=3, n_actions=2))
    model.nexts[:] = 3
    low, high = ranges(model, np.ones(4), 3, 2)
    assert (low.tolist(), high.tolist()) == ranges_plainly(model, np.ones(4), 3, 2)
    assert np.all(np.isinf(low[1:-1]))


def windows_plainly(layout):
    """The first and the last knot of each (time, state) on which a step from any knot of a window may land."""
    size = layout.horizon * layout.n_states
    lo, hi = np.full(size, len(layout.knots)), np.full(size, -1)
    lo[: layout.n_states][layout.starts > 0.0] = hi[: layout.n_states][layout.starts > 0.0] = 0
    for t in range(layout.horizon - 1):
        now, then = (layout.knots[layout.knot_offsets[i] : layout.knot_offsets[i + 1]] for i in (t, t + 1))
        for s in range(layout.n_states):
            q = t * layout.n_states + s
            for reward, n in steps_from(layout, s, layout.n_actions):
                if n == layout.n_states:
                    continue
                place = (t + 1) * layout.n_states + n
                for y in now[lo[q] : hi[q] + 1] + layout.powers[t] * reward:
                    i = max(int(np.searchsorted(then, y, side="right")) - 1, 0)
                    part = (y - then[i]) / (then[i + 1] - then[i]) if i + 1 < len(then) else 0.0
                    lo[place] = min(lo[place], i + (part > 1.0 - NEARLY))
                    hi[place] = max(hi[place], i + (part > NEARLY))
    return lo, hi


@pytest.mark.parametrize("starts", ["all", "one"])
@pytest.mark.parametrize("name", CASES)
def test_windows_hold_the_knots_on_which_a_step_may_land(name, starts):
    mdp, policy = make_random_model(7, n_states=3, n_actions=2, **CASES[name]), TabularGibbs(3, 2)
    layout = true_graph(mdp, policy, np.zeros(policy.dim)).layout
    lo, hi = np.full_like(layout.lo, len(layout.knots)), np.full_like(layout.hi, -1)
    layout = layout._replace(lo=lo, hi=hi, starts=layout.starts if starts == "all" else np.array([0.0, 1.0, 0.0]))
    find_windows(layout)
    expected_lo, expected_hi = windows_plainly(layout)
    assert np.array_equal(lo, expected_lo)
    assert np.array_equal(hi, expected_hi)
    assert starts == "all" or hi[0] == -1
