"""Two roads to work: a short one with a rare disaster, and a long safe one."""

from riskgrad.kinds import checks_kinds
from riskgrad.mdp.model import FiniteMDP

PASS, VALLEY = 0, 1
HOME, ON_PASS, IN_VALLEY, WORK = 0, 1, 2, 3


@checks_kinds
def two_roads(
    short: float = 9.0,
    long: float = 13.0,
    rockfall: float = 0.04,
    delay: float = 60.0,
    crossing: float = 5.0,
    red_light: float = 2.0,
    discount: float = 1.0,
) -> FiniteMDP:
    """Build the model of a commuter who drives over a pass or through a valley.

    Either road has two legs, with a link between the roads halfway. A leg over the pass is quick, but with
    probability 0.04 a rock blocks it and an hour is lost. A leg through the valley takes a little longer and has a
    traffic light. The pass is faster on average; the valley has the better bad tail. Rewards are minus minutes.

    States: 0 home, 1 halfway on the pass, 2 halfway in the valley, 3 work (the end). Actions: 0 pass, 1 valley.

        policy with the best        from home    mean      CVaR(0.1)
        mean                        pass         -22.800   -66.000
        CVaR(0.1)                   valley       -28.000   -30.000

    Args:
        short: minutes of a leg over the pass.
        long: minutes of a leg through the valley, without the red light.
        rockfall: chance of a rockfall on a leg over the pass.
        delay: minutes lost to a rockfall.
        crossing: minutes of the link between the roads.
        red_light: minutes lost at the light, which is red every second time.
        discount: in (0, 1].
    """

    def leg(road: int, to: int, extra: float = 0.0) -> list[tuple[float, int, float, bool]]:
        if road == PASS:
            minutes = -(short + extra)
            return [(1.0 - rockfall, to, minutes, False), (rockfall, to, minutes - delay, False)]
        minutes = -(long + extra)
        return [(0.5, to, minutes, False), (0.5, to, minutes - red_light, False)]

    outcomes: list[list[list[tuple[float, int, float, bool]]]] = [
        [leg(PASS, ON_PASS), leg(VALLEY, IN_VALLEY)],
        [leg(PASS, WORK), leg(VALLEY, WORK, crossing)],
        [leg(PASS, WORK, crossing), leg(VALLEY, WORK)],
        [[], []],
    ]
    return FiniteMDP.from_outcomes(outcomes, start=HOME, horizon=2, discount=discount, terminal=[WORK])
