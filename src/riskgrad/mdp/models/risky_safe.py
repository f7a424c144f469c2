"""A safe and a risky investment: two states and two actions, and each attitude to risk leads to another policy."""

from riskgrad.kinds import checks_kinds
from riskgrad.mdp.model import FiniteMDP

SAFE, RISKY = 0, 1


@checks_kinds
def risky_safe(
    years: int = 4, interest: float = 1.0, gain: float = 4.0, loss: float = 4.0, discount: float = 1.0
) -> FiniteMDP:
    """Build the model of a saver who each year puts money into a bond or into shares.

    The bond always pays interest. In a calm market shares rise with probability 0.8 and fall otherwise; after a fall
    the market is nervous and shares rise with probability 0.5. It is calm again after a rise, or after a year in the
    bond. On average shares pay well in a calm market and badly in a nervous one, so the best policy for the mean buys
    shares, but not after a fall. For the bad tail the bond is best; for the good tail, shares throughout.

    States: 0 calm market, 1 nervous market. Actions: 0 bond, 1 shares.

        policy with the best        calm    nervous    mean     CVaR(0.1)
        mean                        shares  bond       8.861    -4.200
        CVaR(0.1)                   bond    (never)    4.000     4.000

    Args:
        years: number of decisions.
        interest: paid by the bond in a year.
        gain: earned with shares when they rise.
        loss: lost with shares when they fall.
        discount: in (0, 1].
    """
    outcomes = [
        [[(1.0, 0, interest, False)], [(0.8, 0, gain, False), (0.2, 1, -loss, False)]],
        [[(1.0, 0, interest, False)], [(0.5, 0, gain, False), (0.5, 1, -loss, False)]],
    ]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=years, discount=discount)
