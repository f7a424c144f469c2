"""A shop's stock: units that are left over cost money, and units that are missing cost more."""

from collections.abc import Sequence

from riskgrad.kinds import checks_kinds
from riskgrad.mdp.checks import refuse_large
from riskgrad.mdp.model import FiniteMDP


@checks_kinds
def inventory(
    capacity: int = 4,
    start: int = 2,
    weeks: int = 4,
    price: float = 12.0,
    cost: float = 4.0,
    holding: float = 2.0,
    stock_out: float = 25.0,
    demand: Sequence[float] = (0.1, 0.4, 0.45, 0.0, 0.05),
    discount: float = 1.0,
) -> FiniteMDP:
    """Build the model of a shop that orders once a week, before it knows the demand.

    In most weeks customers ask for one or two units, but once in twenty weeks a large customer asks for four. Each unit
    that is missing costs a penalty, and each unit that is not sold costs its storage. Stocking up for the large
    customer does not pay on average, but it improves the bad tail.

    States: units in stock before ordering, 0 to `capacity`. Actions: units to order, 0 to `capacity`; an order beyond
    the capacity is cut to it. The reward of a week is price * sold - cost * ordered - holding * left - stock_out *
    missing.

        policy with the best        order up to    mean      CVaR(0.1)
        mean                        2              35.600    -13.956
        CVaR(0.1)                   3              30.800      3.599

    Args:
        capacity: largest stock.
        start: stock at the beginning.
        weeks: number of orders; units left at the end are worth nothing.
        price: earned for each unit sold.
        cost: paid for each unit ordered.
        holding: paid for each unit left after the week.
        stock_out: paid for each unit asked for and not in stock.
        demand: chance of each demand 0, 1, 2, ...
        discount: in (0, 1].
    """
    refuse_large("capacity", capacity, capacity * capacity * len(demand))

    def outcomes_of(stock: int, order: int) -> list[tuple[float, int, float, bool]]:
        ordered, found = min(order, capacity - stock), list[tuple[float, int, float, bool]]()
        for wanted, chance in enumerate(demand):
            sold = min(stock + ordered, wanted)
            left = stock + ordered - sold
            earned = price * sold - cost * ordered - holding * left - stock_out * (wanted - sold)
            found.append((chance, left, earned, False))
        return found

    outcomes = [[outcomes_of(stock, order) for order in range(capacity + 1)] for stock in range(capacity + 1)]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=weeks, discount=discount)
