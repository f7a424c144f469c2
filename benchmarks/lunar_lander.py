"""LunarLander-v3 in wind: training on CVaR(0.1) against training on the mean, at equal episodes.

    pip install "riskgrad[box2d]"
    python benchmarks/lunar_lander.py

The engines are continuous and the policy is linear and deterministic on normalized observations, 18 parameters, trained
by OnP-SF in two parts; see `two_parts`. The wind has its default power and turbulence. An episode ends after 300 steps,
so that hovering ends.
"""

import argparse

from two_parts import Study, compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first", type=int, default=8_000, help="episodes of learning to fly, on the mean")
    parser.add_argument("--then", type=int, default=4_000, help="episodes of going on with each measure")
    given = parser.parse_args()
    wind = {"continuous": True, "enable_wind": True}
    study = Study("LunarLander-v3", "LunarLander-v3", wind, 300, given.first, given.then, {"normalize": True})
    compare([study], given.seeds, given.workers)


if __name__ == "__main__":
    main()
