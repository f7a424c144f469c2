"""Environments of six packages, each trained, evaluated, reported and played with no argument but the environment.

    python benchmarks/any_environment.py [episodes]

Prints the table of benchmarks/any_environment.md. A package that is not installed is named and left out.
"""

import importlib.util
import os
import sys
import tempfile
import warnings
from pathlib import Path

import gymnasium
import numpy as np

import riskgrad as rg

EPISODES = 2000


def make_newsvendor():
    import or_gymnasium  # noqa: PLC0415

    return or_gymnasium.make("Newsvendor-v0")


def make_bottles():
    import mo_gymnasium  # noqa: PLC0415
    from mo_gymnasium.wrappers import LinearReward  # noqa: PLC0415

    return LinearReward(mo_gymnasium.make("breakable-bottles-v0"), weight=np.ones(3) / 3.0)


def make_counted_bottles():
    """What the refusal of the bottles asks for: a space that holds what they show, any number of bottles dropped."""
    env = make_bottles()
    parts = {**env.observation_space.spaces, "bottles_dropped": gymnasium.spaces.Box(0.0, np.inf, (3,))}
    return gymnasium.wrappers.TransformObservation(env, lambda seen: seen, gymnasium.spaces.Dict(parts))


def make_network():
    import nasim  # noqa: PLC0415

    return nasim.make_benchmark("small")


def make_luck():
    import pyRDDLGym  # noqa: PLC0415

    return pyRDDLGym.make("PushYourLuck_ippc2018", "1")


def make_room():
    import minigrid  # noqa: F401, PLC0415 - registers its environments

    return gymnasium.make("MiniGrid-Empty-5x5-v0")


# name: what is trained on, and the module that it needs
PROBLEMS = {
    "or-gymnasium Newsvendor": (make_newsvendor, "or_gymnasium"),
    "mo-gymnasium breakable-bottles": (make_bottles, "mo_gymnasium"),
    "mo-gymnasium breakable-bottles, in a space of its own": (make_counted_bottles, "mo_gymnasium"),
    "nasim small": (make_network, "nasim"),
    "pyRDDLGym PushYourLuck": (make_luck, "rddlrepository"),
    "MiniGrid-Empty-5x5": (make_room, "minigrid"),
    "Blackjack": ("Blackjack-v1", "gymnasium"),
    "Taxi": ("Taxi", "gymnasium"),
    "MountainCarContinuous": ("MountainCarContinuous-v0", "gymnasium"),
    "Pendulum": ("Pendulum-v1", "gymnasium"),
    "LunarLander, continuous": ("LunarLanderContinuous-v3", "Box2D"),
    "InvertedPendulum": ("InvertedPendulum-v5", "mujoco"),
}
# what is refused in a line that says what to do: this environment shows numbers that its own space does not hold
REFUSED = {
    "mo-gymnasium breakable-bottles": "'bottles_dropped': the observation 2.0 is not among the 2 states from 0; "
    "gymnasium.wrappers.TransformObservation gives it a space"
}


def is_there(module):
    return importlib.util.find_spec(module) is not None


def try_out(env, episodes, evaluated=200):
    """Train, evaluate, report and play; give the run, the table and what was earned in one episode."""
    run = rg.train(env, risk="cvar:0.1", max_episodes=episodes)
    table = rg.evaluate(run, env, episodes=evaluated)
    with tempfile.TemporaryDirectory() as folder:
        rg.report(run, Path(folder) / "page.html", env=env, episodes=evaluated)
    return run, table, play(run, env)


def play(run, env):
    """Play one episode of the real environment by `run.act`."""
    made = gymnasium.make(env) if isinstance(env, str) else env()
    seen, total, over, steps = made.reset(seed=1)[0], 0.0, False, 0
    while not over and steps < 1000:
        seen, reward, terminated, truncated, _ = made.step(run.act(seen))
        total, over, steps = total + float(reward), terminated or truncated, steps + 1
    made.close()
    return total


def processor_time():
    """Seconds of this process and of the workers that have ended."""
    return sum(os.times()[:4])


def main():
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES
    warnings.simplefilter("ignore")
    print("| environment | mean | CVaR(0.1) | an episode earned | processor time | notes of the run |")
    print("|---|---|---|---|---|---|")
    for name, (env, module) in PROBLEMS.items():
        if not is_there(module):
            print(f"| {name} | {module} is not installed | | | | |")
            continue
        begin = processor_time()
        try:
            run, table, earned = try_out(env, episodes)
        except rg.errors.RiskgradError as error:
            print(f"| {name} | {error} | | | | |", flush=True)
            continue
        notes = [note for note in run.notes if "cut after" in note or "reached" in note or "read" in note]
        cells = [f"{table['mean'].value:.4g}", f"{table['cvar:0.1'].value:.4g}", f"{earned:.4g}"]
        print(f"| {name} | {' | '.join(cells)} | {processor_time() - begin:.0f} s | {'; '.join(notes)} |", flush=True)


if __name__ == "__main__":
    main()
