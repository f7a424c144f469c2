"""Models set aside: no learner is chosen on them; `risky_problems` says by which measure, and what is possible.

Each is a small story in which the mean is content with a rare disaster that a tail measure is not. Rewards are whole
numbers and the discount is 1. Where time is not in the state, a policy cannot know it.
"""

from collections.abc import Sequence

from riskgrad.mdp import FiniteMDP

Outcome = tuple[float, int, float, bool]


def maintenance(shifts: int = 200, worn: int = 10, failure: int = 120) -> FiniteMDP:
    """Build the model of a machine that wears, faster at full speed, and fails the more often the more it is worn.

    A failure costs a great deal and ends the contract; a service costs a little and undoes most of the wear. The mean
    runs at full speed and lets the machine wear further than a measure that fears a failure.

    States: wear, 0 to `worn` - 1. Actions: 0 service, 1 half speed, 2 full speed.
    """

    def shift(wear: int, action: int) -> list[Outcome]:
        if action == 0:
            return [(0.8, 0, -3.0, False), (0.2, wear // 2, -3.0, False)]
        fails = (0.00005, 0.0001)[action - 1] * (wear + 1) ** 2
        slow = (0.8, 0.5)[action - 1]
        then = min(wear + 1, worn - 1)
        gain = float(action)
        return [
            (fails, wear, gain - failure, True),
            ((1.0 - fails) * slow, wear, gain, False),
            ((1.0 - fails) * (1.0 - slow), then, gain, False),
        ]

    outcomes = [[shift(wear, action) for action in range(3)] for wear in range(worn)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=shifts)


def battery(hours: int = 24, room: int = 10, start: int = 5, spike: int = 15) -> FiniteMDP:
    """Build the model of a small supplier with a battery, who must serve what is asked for in each hour.

    Up to two units are asked for, at a fixed fee; what the battery lacks is bought at twice the price of the hour.
    Prices are low, middling or, rarely, a spike. The mean sells out at a good price; the tail keeps a reserve.

    States: (hour * (room + 1) + charge) * 3 + price. Actions: 0 sell two units, 1 neither, 2 buy two.
    """
    prices = (1, 3, spike)
    change = ((0.7, 0.29, 0.01), (0.35, 0.63, 0.02), (0.05, 0.25, 0.7))
    demand = (0.2, 0.5, 0.3)

    def trade(hour: int, charge: int, level: int, action: int) -> list[Outcome]:
        amount = (-min(2, charge), 0, min(2, room - charge))[action]
        outcomes: list[Outcome] = []
        for wanted, p in enumerate(demand):
            held = charge + amount
            served = min(held, wanted)
            gain = 2 * wanted - prices[level] * amount - (action == 2) - 2 * prices[level] * (wanted - served)
            for after, q in enumerate(change[level]):
                last = hour == hours - 1
                place = 0 if last else ((hour + 1) * (room + 1) + held - served) * 3 + after
                outcomes.append((p * q, place, float(gain), last))
        return outcomes

    outcomes = [
        [trade(hour, charge, level, action) for action in range(3)]
        for hour in range(hours)
        for charge in range(room + 1)
        for level in range(3)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=start * 3, horizon=hours)


def liquidation(days: int = 8, shares: int = 8, price: int = 12, top: int = 24) -> FiniteMDP:
    """Build the model of a fund that must sell a position within some days.

    Each further share sold in a day fetches one less, so selling slowly is better; the price tends to rise, but may
    fall sharply at any time. What is left at the end is sold at half price. The mean waits; a cautious measure sells.

    States: (day * (shares + 1) + shares left) * (top + 1) + price. Actions: shares to sell today, 0 to 4.
    """
    size = top + 1
    moves = ((1, 0.55), (-1, 0.3), (0, 0.09), (-6, 0.06))

    def day(now: int, left: int, quote: int, action: int) -> list[Outcome]:
        sold = min(action, left)
        gain = sold * quote - sold * (sold - 1) // 2
        rest = left - sold
        outcomes: list[Outcome] = []
        for change, chance in moves:
            then, last = min(max(quote + change, 0), top), now == days - 1
            place = 0 if last else ((now + 1) * (shares + 1) + rest) * size + then
            outcomes.append((chance, place, float(gain + (rest * then // 2 if last else 0)), last or rest == 0))
        return outcomes

    outcomes = [
        [day(now, left, quote, action) for action in range(5)]
        for now in range(days)
        for left in range(shares + 1)
        for quote in range(size)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=shares * size + price, horizon=days)


def windy_cliff(rows: int = 6, columns: int = 9, steps: int = 80, gust: float = 0.06, fall: int = 150) -> FiniteMDP:
    """Build the model of a walk along a cliff from which the wind blows down.

        . . . . . . . . .     the further up, the safer and the longer
        . . . . . . . . .
        S . . . . . . . G     of the rows above the edge the lowest is the shortest way
        # # # # # # # # #     the cliff: a fall ends the walk

    A step costs 1. In each step a gust may blow the walker one row down, and rarely two.

    States: row * columns + column from the top left, the last row being the cliff. Actions: up, right, down, left.
    """
    goal = (rows - 1) * columns - 1

    def place(row: int, column: int) -> int:
        return min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1)

    def walk(state: int, action: int) -> list[Outcome]:
        row, column = divmod(state, columns)
        down, across = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
        row, column = min(max(row + down, 0), rows - 1), min(max(column + across, 0), columns - 1)
        blown = ((0, 1.0 - 1.02 * gust), (1, gust), (2, 0.02 * gust))
        outcomes: list[Outcome] = []
        for far, chance in blown:
            then = place(row + (0 if place(row, column) == goal else far), column)
            over = then >= (rows - 1) * columns
            outcomes.append((chance, then, float(-1 - (fall if over else 0)), over))
        return outcomes

    outcomes = [[walk(state, action) for action in range(4)] for state in range(rows * columns)]
    cliff = range((rows - 1) * columns, rows * columns)
    return FiniteMDP.from_outcomes(outcomes, start=(rows - 2) * columns, horizon=steps, terminal=[goal, *cliff])


def wheel(
    rounds: int = 10, start: int = 60, cap: int = 999, fractions: Sequence[float] = (0.0, 0.15, 0.4, 0.9)
) -> FiniteMDP:
    """Build the model of a player at a generous wheel, who stakes a share of a purse in each round.

    Most often the stake is won, now and then twice over, and once in four rounds it is lost; the purse has a cap. On
    average it is best to stake so much that one player in five ends with next to nothing. The return is the gain.

    States: round * (cap + 1) + purse. Actions: which share.
    """
    size = cap + 1

    def spin(played: int, purse: int, fraction: float) -> list[Outcome]:
        stake = min(round(purse * fraction), cap - purse)
        last = played == rounds - 1
        results = ((0.6, stake), (0.15, min(2 * stake, cap - purse)), (0.25, -stake))
        return [(p, 0 if last else (played + 1) * size + purse + won, float(won), last) for p, won in results]

    outcomes = [
        [spin(played, purse, fraction) for fraction in fractions] for played in range(rounds) for purse in range(size)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=rounds)


def grower(seasons: int = 16, soils: int = 6, boom: int = 200, luck: float = 0.04) -> FiniteMDP:
    """Build the model of a grower with good or poor soil, who plants wheat, clover or saffron.

    Wheat yields what the soil gives and wears it a little; clover yields nothing and mends it. Saffron fails in most
    seasons, whatever the soil, and once in many is worth more than all the wheat: on average nothing else should be
    planted. Markets are good or bad for wheat.

    States: market * soils + soil. Actions: 0 wheat, 1 clover, 2 saffron.
    """

    def season(market: int, soil: int, crop: int) -> list[Outcome]:
        poorer, richer = max(soil - 1, 0), min(soil + 1, soils - 1)
        if crop == 0:
            results = ((0.4, soil, soil + market), (0.4, poorer, soil + market), (0.2, poorer, soil // 2))
        elif crop == 1:
            results = ((0.8, richer, 0), (0.2, soil, 0))
        else:
            results = ((luck, soil, boom), (1.0 - luck, poorer, -2))
        turns = ((1 - market, 0.4), (market, 0.6))
        return [(p * q, turn * soils + then, float(gain), False) for p, then, gain in results for turn, q in turns]

    outcomes = [[season(*divmod(state, soils), crop) for crop in range(3)] for state in range(2 * soils)]
    return FiniteMDP.from_outcomes(outcomes, start=2, horizon=seasons)


def house_sale(weeks: int = 20, top: int = 30, rent: int = 1) -> FiniteMDP:
    """Build the model of a seller who waits for a better offer and pays rent meanwhile.

    One offer comes each week, mostly a poor one and now and then a very good one; the best so far stands, but in any
    week it may be withdrawn. Who has not sold by the end takes what stands then.

    States: week * (top + 1) + best offer. Actions: 0 wait, 1 sell.
    """
    size = top + 1
    offers = ((0, 0.45), (6, 0.25), (10, 0.15), (15, 0.1), (30, 0.05))

    def wait(week: int, best: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for stands, p in ((best, 0.93), (0, 0.07)):
            for offer, q in offers:
                then, last = max(stands, offer), week == weeks - 1
                reward = float(-rent + (then if last else 0))
                outcomes.append((p * q, 0 if last else (week + 1) * size + then, reward, last))
        return outcomes

    outcomes = [[wait(week, best), [(1.0, 0, float(best), True)]] for week in range(weeks) for best in range(size)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=weeks)


def convoy(stages: int = 6, broken: int = 20) -> FiniteMDP:
    """Build the model of a convoy that at each river takes the bridge, which is far, or the ford.

    The ford is quick and may break an axle; a wagon that has once been mended breaks more easily.

    States: river * 2 + mended. Actions: 0 bridge, 1 ford.
    """

    def cross(river: int, mended: int, action: int) -> list[Outcome]:
        last = river == stages - 1
        chance = 0.0 if action == 0 else (0.01, 0.15)[mended] + 0.03 * river
        way = 5 if action == 0 else 2
        return [
            (chance, 0 if last else (river + 1) * 2 + 1, float(-way - broken), last),
            (1.0 - chance, 0 if last else (river + 1) * 2 + mended, float(-way), last),
        ]

    outcomes = [[cross(river, mended, action) for action in range(2)] for river in range(stages) for mended in range(2)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=stages)
