"""Landing in wind: a policy that lands well on average, and one trained on its worst landings.

    pip install 'riskgrad[examples]'
    python examples/lunar_lander_wind.py
    python examples/lunar_lander_wind.py --film landing.gif     the averse policy's first test flight, as a film

The environment is Gymnasium's LunarLander-v3 with continuous engines and wind, played in two processes. While a lander
always crashes, it learns little from a tail measure, so it first learns to fly, on the mean. From that policy one
training goes on with the mean and one with the mean of the worst tenth, with equally many episodes. The policies are
deterministic and linear in normalized observations, with 18 parameters, and OnP-SF trains them. About 5 minutes on 2
cores.
"""

import argparse
from functools import partial

import numpy as np

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.random import Purpose, Stream
from riskgrad.sources.gymnasium.film import frames, save_gif

RISK = "cvar:0.1"
WIND = {"continuous": True, "enable_wind": True}
CRASH = 0.0  # a flight that returns less counts as failed


def main() -> None:
    """Learn to fly, go on with each measure, and compare their test flights."""
    options = argparse.ArgumentParser(description="Landing in wind, on the mean and on the worst tenth.")
    options.add_argument("--first", type=int, default=8_000, help="episodes of learning to fly")
    options.add_argument("--then", type=int, default=4_000, help="episodes of going on with each measure")
    options.add_argument("--episodes", type=int, default=300, help="test flights of each policy")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--film", help="where to write a film of the averse policy, a name that ends in .gif")
    given = options.parse_args()

    with rg.backend.Processes(2) as processes:
        lander = rg.sources.GymnasiumSource("LunarLander-v3", horizon=300, env_options=WIND, backend=processes)
        learn = partial(rg.train, lander, seed=given.seed)
        first = {"policy": "deterministic", "normalize": True, "held_out": 20}
        flying = learn("mean", max_episodes=given.first, **first)
        more = {"algorithm": rg.OnPSF(directions=4, episodes=10), "step_size": Adam(0.05), "risk_path": None}
        more["held_out"] = given.then // 20
        go_on = partial(learn, policy=flying.policy, theta=flying.theta, max_episodes=given.then, **more)

        print(f"{'trained on':20}{'episodes':>10}{'mean':>8}{RISK:>12}{'failed':>9}")
        report("the mean, at first", lander, flying, given.episodes)
        report("the mean, further", lander, go_on("mean"), given.episodes)
        averse = go_on(RISK)
        report(f"{RISK}, further", lander, averse, given.episodes)
        if given.film:
            shots = frames(lander, averse.policy, averse.theta, Stream(0, Purpose.EVALUATION))
            save_gif(given.film, shots)
            print(f"\nThe film is {given.film}, {len(shots)} frames.")


def report(name: str, lander: rg.sources.GymnasiumSource, run: rg.Run, flights: int) -> None:
    """Print the results of a policy on test flights, which are the same for each policy."""
    returns = lander.returns(run.policy, run.theta[None], flights, Stream(0, Purpose.EVALUATION)).values[0]
    tail, failed = rg.risk.parse(RISK).estimate(returns), np.mean(returns < CRASH)
    print(f"{name:20}{run.episodes_used:10,}{np.mean(returns):8.1f}{tail:12.1f}{failed:9.1%}", flush=True)


if __name__ == "__main__":
    main()
