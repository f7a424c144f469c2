"""A walk on icy ground: along a ledge, or around it."""

from riskgrad.errors import InputError
from riskgrad.kinds import checks_kinds
from riskgrad.mdp.checks import refuse_large
from riskgrad.mdp.model import FiniteMDP

UP, RIGHT, DOWN = 0, 1, 2
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


@checks_kinds
def slippery_grid(
    columns: int = 4, slip: float = 0.06, fall: float = 20.0, horizon: int = 12, discount: float = 1.0
) -> FiniteMDP:
    """Build the model of a hiker who crosses an icy slope, three rows high.

        . . . .     the path above: two steps longer, away from the edge
        S . . G     the ledge: the shortest way from S to G
        # # # #     the gorge: a fall ends the walk

    Each step costs 1. With probability `slip` a step goes sideways instead, to either side with equal probability;
    along the ledge one of the sides is the gorge. A wall surrounds the map. The best policy for the mean walks along
    the ledge; an averse policy takes the path above and comes down only at the goal.

    States: row * columns + column, from the top left. Actions: 0 up, 1 right, 2 down.

        policy with the best        from the start    mean      CVaR(0.1)
        mean                        along the ledge   -4.794    -19.551
        CVaR(0.1)                   up, then around   -5.419     -7.494

    Args:
        columns: length of the ledge, at least 2.
        slip: chance that a step goes sideways.
        fall: cost of a fall, on top of the step.
        horizon: the walk is given up after this many steps.
        discount: in (0, 1].
    """
    if columns < 2:
        raise InputError("columns", "be at least 2", columns)
    refuse_large("columns", columns, 27 * columns)
    gorge = range(2 * columns, 3 * columns)

    def step(state: int, move: int) -> tuple[int, float]:
        row, column = divmod(state, columns)
        down, across = MOVES[move % 4]
        target = min(max(row + down, 0), 2) * columns + min(max(column + across, 0), columns - 1)
        return target, -1.0 - (fall if target in gorge else 0.0)

    outcomes = [
        [
            [
                (1.0 - slip, *step(state, action), False),
                (slip / 2.0, *step(state, action - 1), False),
                (slip / 2.0, *step(state, action + 1), False),
            ]
            for action in (UP, RIGHT, DOWN)
        ]
        for state in range(3 * columns)
    ]
    return FiniteMDP.from_outcomes(
        outcomes, start=columns, horizon=horizon, discount=discount, terminal=[2 * columns - 1, *gorge]
    )
