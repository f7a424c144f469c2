"""How many episodes it takes to tell the best policy of `ruin` for the mean from the next one, whoever learns.

Who is not told the rules has to find out by playing how likely a stake is to be won at each capital. The two best
policies differ little in their means, and which one is better depends on these chances. Two answers:

- The least standard error. A way of playing that makes a stake v times an episode knows its chance after n episodes to
  sqrt(p (1 - p) / (n v)), and by its slopes in these chances the difference of the two means. The error is convex in
  the visits, so that a search that adds, step by step, the policy that lowers it most ends at the least there is. That
  policy is found by dynamic programming, by someone who knows everything but the answer.
- Two models. In another model, whose chances are a little different, other policies have 0.99 of the gap from uniform
  play to the best one. Who is to have 0.99 in both has to tell them apart. If that fails with a chance of at most x in
  either, then n D >= (1 - 2 x) log((1 - x) / x), where D is the most that the models can diverge in an episode, which
  dynamic programming finds as well. This holds for every learner, whatever it plays and whenever it decides.

No policy has 0.99 in both if, for some weight w, none has 0.99 in w share_1 + (1 - w) share_2. The best policy of such
a sum is searched for from all deterministic ones, one capital at a time, by steps of 0.05 in the chance to be bold.
"""

from functools import cache
from itertools import product
from math import erf, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.mdp.models import ruin

Floats = NDArray[np.float64]

EPISODES: Final = 50_000
REACHED: Final = 0.99  # of the gap
MODEL: Final = ruin()
CAPITALS: Final = np.flatnonzero(~MODEL.terminal)
STAKES: Final = ("cautious", "bold")
# what follows each stake, lost or won [capitals, 2 stakes, 2]
NEXT: Final = MODEL.next_states.reshape(-1, 2, 2)
REWARD: Final = MODEL.rewards.reshape(-1, 2, 2)
TRUE: Final = MODEL.probabilities.reshape(-1, 2, 2)[:, :, 1]  # chance to win each stake [capitals, 2]
BEST, SECOND = (5, 6, 8), (5, 7)  # where the two best policies are bold
DETERMINISTIC: Final = np.array([[0.0, *bold, 0.0] for bold in product((0.0, 1.0), repeat=len(CAPITALS) - 2)])
PARTS: Final = np.linspace(0.0, 1.0, 21)


def bold_at(capitals: tuple[int, ...]) -> Floats:
    """Give the policy that is bold at some capitals, as chances to be bold [1, capitals]."""
    return np.isin(CAPITALS, capitals).astype(np.float64)[None]


def means(policies: Floats, chances: Floats) -> Floats:
    """Give the exact mean return [K] of policies [K, capitals] in the model with these chances [capitals, 2]."""
    values = np.zeros((len(policies), MODEL.n_states))
    lost, won = (REWARD[:, :, i] for i in (0, 1))
    for _ in range(MODEL.horizon):
        after = (1.0 - chances) * (lost + values[:, NEXT[:, :, 0]]) + chances * (won + values[:, NEXT[:, :, 1]])
        values[:, CAPITALS] = (1.0 - policies) * after[:, :, 0] + policies * after[:, :, 1]
    return values[:, int(np.argmax(MODEL.start))]


def gap(chances: Floats) -> float:
    """Give how much better the best policy is than the second one."""
    return float(means(bold_at(BEST), chances)[0] - means(bold_at(SECOND), chances)[0])


@cache
def slopes() -> Floats:
    """Give how the gap changes with each chance [capitals, 2], 0 where it does not matter."""
    found, step = np.zeros_like(TRUE), 1e-5
    for cell in np.ndindex(*TRUE.shape):
        moved = np.zeros_like(TRUE)
        moved[cell] = step
        found[cell] = (gap(TRUE + moved) - gap(TRUE - moved)) / (2.0 * step)
    return np.where(np.abs(found) > 1e-9, found, 0.0)


def most(rewards: Floats) -> tuple[float, Floats]:
    """Give the most that an episode can bring of rewards for stakes [capitals, 2], and how often each is made then."""
    values = np.zeros((MODEL.horizon + 1, MODEL.n_states))
    choices = np.zeros((MODEL.horizon, len(CAPITALS)), dtype=np.int64)
    for t in reversed(range(MODEL.horizon)):
        after = rewards + (1.0 - TRUE) * values[t + 1][NEXT[:, :, 0]] + TRUE * values[t + 1][NEXT[:, :, 1]]
        choices[t], values[t, CAPITALS] = np.argmax(after, axis=1), np.max(after, axis=1)
    visits, here = np.zeros_like(TRUE), MODEL.start.copy()
    for chosen in choices:
        then = np.zeros(MODEL.n_states)
        for i, capital in enumerate(CAPITALS):
            a = chosen[i]
            visits[i, a] += here[capital]
            then[NEXT[i, a]] += here[capital] * np.array([1.0 - TRUE[i, a], TRUE[i, a]])
        here = then
    return float(values[0] @ MODEL.start), visits


def best_visits(steps: int = 5_000) -> Floats:
    """Give how often the stakes are made in an episode [capitals, 2] by which the gap is known best."""
    noise = slopes() ** 2 * TRUE * (1.0 - TRUE)
    sought = np.eye(noise.size).reshape(-1, *noise.shape)
    visits = np.mean([most(stake)[1] for stake in sought], axis=0)  # each stake is sought as often as any other
    for k in range(steps):
        _, better = most(noise / visits**2)
        visits += 2.0 / (k + 40.0) * (better - visits)
    return visits


def error_after(visits: Floats, episodes: int) -> float:
    """Give the standard error of the gap after so many episodes with such visits."""
    return float(np.sqrt(np.sum(slopes() ** 2 * TRUE * (1.0 - TRUE) / visits) / episodes))


def shares(policies: Floats, chances: Floats) -> Floats:
    """Give the share of the gap from uniform play to the best policy [K]."""
    low, high = means(np.full((1, len(CAPITALS)), 0.5), chances)[0], np.max(means(DETERMINISTIC, chances))
    return (means(policies, chances) - low) / (high - low)


def best_weighted(weight: float, other: Floats) -> float:
    """Give the most of weight times the share in the true model and 1 - weight times that in another one."""
    policies, found, before = DETERMINISTIC.copy(), 0.0, -1.0
    while found - before > 1e-9:
        before = found
        for i in range(1, len(CAPITALS) - 1):
            tried = np.repeat(policies, len(PARTS), axis=0)
            tried[:, i] = np.tile(PARTS, len(policies))
            worth = (weight * shares(tried, TRUE) + (1.0 - weight) * shares(tried, other)).reshape(len(policies), -1)
            policies[:, i], found = PARTS[np.argmax(worth, axis=1)], float(np.max(worth))
    return found


def both_reached(other: Floats) -> float:
    """Give a share that no policy exceeds in both models."""
    return min(best_weighted(weight, other) for weight in np.linspace(0.3, 0.9, 13))


def divergence(other: Floats) -> float:
    """Give the most that the other model can diverge from the true one in an episode."""
    return most(TRUE * np.log(TRUE / other) + (1.0 - TRUE) * np.log((1.0 - TRUE) / (1.0 - other)))[0]


def other_model(visits: Floats) -> Floats:
    """Give the chances of a model near the true one in which other policies have 0.99 of the gap.

    It lies where the gap falls fastest for what it diverges, and as near as can be, to three digits.
    """
    direction = slopes() * TRUE * (1.0 - TRUE) / visits
    near, far = 0.0, 0.01
    while far - near > 1e-3 * far:
        middle = 0.5 * (near + far)
        if both_reached(TRUE - middle * direction) < REACHED:
            far = middle
        else:
            near = middle
    return TRUE - far * direction


def told_apart(failing: float) -> float:
    """Give the divergence by which two models are told apart but for this chance to fail in either."""
    return (1.0 - 2.0 * failing) * log((1.0 - failing) / failing)


def least_failing(divergent: float) -> float:
    """Give the least chance to fail in one of two models that diverge so much in all episodes together."""
    low, high = 1e-12, 0.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if told_apart(middle) > divergent else (low, middle)
    return high


def print_limit() -> None:
    """Print which chances decide, and how many episodes they take."""
    visits, difference = best_visits(), gap(TRUE)
    print("| capital | stake | slope of the difference in its chance | times in an episode, at best |")
    print("|---|---|---|---|")
    for i, a in zip(*np.nonzero(slopes()), strict=True):
        print(f"| {CAPITALS[i]} | {STAKES[a]} | {slopes()[i, a]:.3f} | {visits[i, a]:.3f} |")
    error = error_after(visits, EPISODES)
    right = 0.5 * (1.0 + erf(difference / error / sqrt(2.0)))
    enough = [EPISODES * (quantile * error / difference) ** 2 for quantile in (1.645, 2.326)]
    other = other_model(visits)
    diverging = divergence(other)
    needed = [told_apart(failing) / diverging for failing in (0.05, 0.1)]
    print("\n| of the two best policies | |")
    print("|---|---|")
    print(f"| share of the gap that the second one has | {shares(bold_at(SECOND), TRUE)[0]:.3f} |")
    print(f"| difference of their means | {difference:.4f} |")
    print(f"| its least standard error after {EPISODES:,} episodes | {error:.4f} |")
    print(f"| runs in which the better one is picked, then | {right:.0%} |")
    print(f"| episodes until it is picked in 95% of runs | {round(enough[0], -3):,.0f} |")
    print(f"| in 99% | {round(enough[1], -3):,.0f} |")
    moved = float(np.max(np.abs(other - TRUE)))
    print(f"| largest change of a chance in a model without a policy of {REACHED} in common | {moved:.4f} |")
    print(f"| episodes that {REACHED} in both takes at least, in 95% of runs | {round(needed[0], -3):,.0f} |")
    print(f"| in 90% | {round(needed[1], -3):,.0f} |")
    failing = least_failing(EPISODES * diverging)
    print(f"| runs that miss {REACHED} in one of both, at least, after {EPISODES:,} episodes | {failing:.0%} |")
