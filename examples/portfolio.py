"""A portfolio, bought once and held: what to buy for the best mean, and for the best worst tenth.

    pip install 'riskgrad[examples]'
    python examples/portfolio.py

The environment is or-gymnasium's PortfolioOpt-v0, ten periods with three assets and costs of buying, with other prices:
the more an asset is expected to earn, the more its price varies; a price that falls below 0 is 0 from then on. A
wrapper reduces the ten periods to one decision, the share of the money for each asset. A policy trained on the mean
puts everything into the boldest asset; one trained on the mean of the worst tenth puts most into the calm one, and
gains a little even in the worst tenth. The policy is deterministic, so OnP-SF trains it. About 20 seconds on 2 cores.
"""

import argparse

import gymnasium
import numpy as np

import riskgrad as rg

RISK = "cvar:0.1"
FIRST, LAST = np.full(3, 10.0), np.array([16.0, 13.0, 11.0])  # expected prices: bold, balanced, calm
STRAY = np.array([6.0, 2.0, 0.3])  # standard deviation of the last price


class BuyAndHold(gymnasium.Wrapper):
    """Spends shares of the cash on the three assets and holds them to the end; the reward is the gain."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("or_gymnasium:PortfolioOpt-v0", disable_env_checker=True))
        market = self.unwrapped
        market.asset_price_means = np.linspace(FIRST, LAST, market.step_limit, axis=1)
        market.asset_price_var = np.linspace(np.zeros(3), STRAY, market.step_limit, axis=1)  # taken for a deviation
        self.observation_space = gymnasium.spaces.Box(1.0, 1.0, (1,))
        self.action_space = gymnasium.spaces.Box(-5.0, 5.0, (3,))
        self.constant = np.ones(1, dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        """Begin with cash; the observation is a constant."""
        self.env.reset(seed=seed, options=options)
        return self.constant, {}

    def step(self, action):
        """Buy the assets by their shares, then wait until the end."""
        market = self.unwrapped
        orders = portfolio(action) * market.cash / (FIRST * (1.0 + market.buy_cost))
        wealth, over = 0.0, False
        while not over:
            _, wealth, _, over, _ = self.env.step(orders.astype(np.float32))
            orders = np.zeros(3)
        return self.constant, wealth - market.initial_cash, True, False, {}


def portfolio(action):
    """Give each asset's share of the money: a softmax in which cash has the preference 0."""
    return np.exp(action) / (1.0 + np.sum(np.exp(action)))


def main() -> None:
    """Train a neutral and an averse investor, and say what they buy."""
    options = argparse.ArgumentParser(description="A portfolio, bought once and held.")
    options.add_argument("--iterations", type=int, default=40)
    options.add_argument("--episodes", type=int, default=4_000, help="of the evaluation")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()

    print("Gain on 100, and the shares of the money.\n")
    print(f"{'trained on':12}{'mean':>8}{RISK:>12}{'bold':>10}{'balanced':>10}{'calm':>10}{'cash':>10}")
    for risk in ("mean", RISK):
        run = rg.train(
            BuyAndHold,
            risk=risk,
            policy="deterministic",
            horizon=1,
            iterations=given.iterations,
            algorithm=rg.OnPSF(directions=4, episodes=30),
            risk_path=None,  # a milder measure at first would mislead, and the first portfolio has a tail to learn from
            seed=given.seed,
        )
        table = rg.evaluate(run, BuyAndHold, risk=["mean", RISK], episodes=given.episodes)
        shares = portfolio(run.act(np.ones(1)))
        bought = "".join(f"{share:10.0%}" for share in (*shares, 1.0 - np.sum(shares)))
        print(f"{risk:12}{table['mean'].value:8.1f}{table[RISK].value:12.1f}{bought}", flush=True)


if __name__ == "__main__":
    main()
