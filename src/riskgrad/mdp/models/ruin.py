"""A favorable game that can still ruin the player."""

from riskgrad.kinds import checks_kinds
from riskgrad.mdp.checks import refuse_large
from riskgrad.mdp.model import FiniteMDP


@checks_kinds
def ruin(
    start: int = 4,
    target: int = 10,
    rounds: int = 6,
    chance: float = 0.6,
    cautious: int = 1,
    bold: int = 3,
    debt: float = 2.0,
    discount: float = 1.0,
) -> FiniteMDP:
    """Build the model of a trader who stakes part of a capital in every round.

    The trader wins or loses the stake, and wins with a chance above one half, so large stakes earn more on average. A
    trader without capital is out, owes a debt, and misses all further rounds; one who reaches the target stops. The
    best policy for the mean makes some bold stakes; the best one for the bad tail makes none.

    States: the capital, 0 to `target`, both ends terminal. Actions: 0 a cautious stake, 1 a bold stake; a stake is cut
    to the capital, and to the distance to the target. The reward of a round is the change of the capital, less the debt
    if the capital is gone.

        policy with the best        bold at capital    mean     CVaR(0.1)
        mean                        5, 6 and 8         1.318    -6.000
        CVaR(0.1)                   never              1.089    -4.007

    Args:
        start: capital at the beginning.
        target: capital at which the trader stops.
        rounds: largest number of rounds.
        chance: of winning a round.
        cautious: the small stake.
        bold: the large stake.
        debt: owed when the capital is gone.
        discount: in (0, 1].
    """
    refuse_large("target", target, 4 * target)

    def outcomes_of(capital: int, stake: int) -> list[tuple[float, int, float, bool]]:
        staked = min(stake, capital, target - capital)
        owed = debt if staked == capital else 0.0
        return [
            (chance, capital + staked, float(staked), False),
            (1.0 - chance, capital - staked, -float(staked) - owed, False),
        ]

    outcomes = [[outcomes_of(capital, stake) for stake in (cautious, bold)] for capital in range(target + 1)]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=rounds, discount=discount, terminal=[0, target])
