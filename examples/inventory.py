"""A supply chain with slack years: how much stock a risk-neutral firm keeps, and how much a risk-averse one.

    pip install 'riskgrad[examples]'
    python examples/inventory.py

The environment is or-gymnasium's InvManagement-v1, a chain of three stocks with lead times of 3, 5 and 10 periods in
which unmet demand is lost. Mean demand is 20 a period, but in one year of ten it is 10, which is not known beforehand.
The policy is an order-up-to level for each stock, as firms use them; a wrapper makes these levels the action. A policy
trained on the mean keeps the stock that good years need; one trained on the mean of the worst tenth keeps less, does
not refill the plant, and makes a profit in slack years too. The policy is deterministic, so OnP-SF trains it. About
1 minute on 2 cores.
"""

import argparse

import gymnasium
import numpy as np

import riskgrad as rg

USUAL, SLACK, SLACK_YEARS = 20.0, 10.0, 0.1
LARGEST = np.array([200.0, 400.0, 800.0])  # of levels, which count a stock and all units downstream or on the way
RISK = "cvar:0.1"


class OrderUpTo(gymnasium.Wrapper):
    """Turns order-up-to levels into orders, and draws the demand of each year; the observation is a constant."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("or_gymnasium:InvManagement-v1", disable_env_checker=True))
        self.observation_space = gymnasium.spaces.Box(1.0, 1.0, (1,))
        self.action_space = gymnasium.spaces.Box(np.zeros(3), LARGEST, dtype=np.float64)
        self.constant = np.ones(1, dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        """Begin a year."""
        self.env.reset(seed=seed, options=options)
        chain = self.unwrapped
        mean = SLACK if chain.np_random.random() < SLACK_YEARS else USUAL
        chain.dist, chain.demand_dist = 5, chain.np_random.poisson(mean, chain.num_periods)  # 5: given by the user
        return self.constant, {}

    def step(self, action):
        """Order the units that are missing to each level."""
        chain = self.unwrapped
        position = np.cumsum(chain.I[chain.period] + chain.T[chain.period])
        orders = np.clip(action - position, 0, self.env.action_space.high)
        _, reward, terminated, truncated, info = self.env.step(orders.astype(np.int16))
        return self.constant, reward, terminated, truncated, info


def main() -> None:
    """Train a neutral and an averse firm, and say what stock they keep."""
    options = argparse.ArgumentParser(description="A supply chain with slack years.")
    options.add_argument("--iterations", type=int, default=40)
    options.add_argument("--episodes", type=int, default=1_000, help="of the evaluation")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()

    print("Profit of a year of 30 periods.\n")
    print(f"{'trained on':12}{'mean':>10}{RISK:>12}   orders up to: shop, warehouse, plant")
    for risk in ("mean", RISK):
        run = rg.train(
            OrderUpTo,
            risk=risk,
            policy="deterministic",
            horizon=30,
            iterations=given.iterations,
            algorithm=rg.OnPSF(directions=3, episodes=25),
            backend="processes:2",
            seed=given.seed,
        )
        table = rg.evaluate(run, OrderUpTo, risk=["mean", RISK], episodes=given.episodes)
        kept = ", ".join(f"{level:.0f}" for level in run.act(np.ones(1)))
        print(f"{risk:12}{table['mean'].value:10.1f}{table[RISK].value:12.1f}   {kept}", flush=True)


if __name__ == "__main__":
    main()
