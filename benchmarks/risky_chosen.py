"""Models on which a learner of tail measures is chosen; `risky_problems` says by which measure, and what is possible.

Each is a small story in which the mean is content with a rare disaster that a tail measure is not. Rewards are whole
numbers and the discount is 1. Where time is not in the state, a policy cannot know it.
"""

from collections.abc import Sequence

from riskgrad.mdp import FiniteMDP

Outcome = tuple[float, int, float, bool]


def insurance(months: int = 12, classes: int = 4, large: int = 60, small: int = 6, deductible: int = 10) -> FiniteMDP:
    """Build the model of a household that insures itself month by month, or does not.

    The weather goes between calm, unsettled and stormy, and with it the chance of a large loss. Cover costs more in a
    storm and after claims; on average it hardly pays, but without it the worst years have a large loss or two.

    States: weather * classes + class of claims. Actions: 0 no cover, 1 cover above the deductible, 2 full cover.
    """
    weather = ((0.85, 0.15, 0.0), (0.3, 0.5, 0.2), (0.1, 0.5, 0.4))
    damage = (((large, 0.002), (small, 0.05)), ((large, 0.01), (small, 0.1)), ((large, 0.05), (small, 0.2)))
    premiums = ((0, 0, 0), (1, 1, 2), (1, 2, 4))

    def month(sky: int, rank: int, cover: int) -> list[Outcome]:
        price = premiums[cover][sky] + (rank // 2 if cover == 1 else rank if cover == 2 else 0)
        borne = (large, deductible, 0)[cover]
        quiet = 1.0 - sum(chance for _, chance in damage[sky])
        outcomes: list[Outcome] = []
        for loss, chance in (*damage[sky], (0, quiet)):
            claim = cover > 0 and loss > borne
            moves = ((min(rank + 1, classes - 1), 1.0),) if claim else ((max(rank - 1, 0), 0.25), (rank, 0.75))
            outcomes += [
                (chance * p * q, after * classes + then, float(-price - min(loss, borne)), False)
                for then, p in moves
                for after, q in enumerate(weather[sky])
            ]
        return outcomes

    outcomes = [[month(*divmod(state, classes), cover) for cover in range(3)] for state in range(3 * classes)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=months)


def queue(
    room: int = 12,
    steps: int = 100,
    fee: int = 10,
    arrival: float = 0.5,
    speeds: tuple[float, float] = (0.55, 0.75),
    failure: float = 0.003,
    repair: float = 0.03,
) -> FiniteMDP:
    """Build the model of a counter that may close its door, and may work at a fast pace, which costs 2 a step.

    Whoever is let in pays a fee, and everyone who waits costs 1 a step. Seldom, the machine fails, and until it is
    repaired nobody is let in or served: those in the queue wait. The mean lets a queue grow for the fees; the tail
    keeps it short.

    States: failed * (room + 1) + length of the queue. Actions: 0 open, 1 closed, 2 open and fast, 3 closed and fast.
    """

    def step(failed: int, length: int, action: int) -> list[Outcome]:
        closed, fast = action % 2 == 1, action // 2
        service, change = (0.0, repair) if failed else (speeds[fast], failure)
        outcomes: list[Outcome] = []
        for served, p in ((1, service), (0, 1.0 - service)):
            for came, q in ((1, arrival), (0, 1.0 - arrival)):
                left = max(length - served, 0)
                let_in = int(came == 1 and not (closed or failed) and left < room)
                reward = float(fee * let_in - length - 2 * fast)
                outcomes += [
                    (p * q * change, (1 - failed) * (room + 1) + left + let_in, reward, False),
                    (p * q * (1.0 - change), failed * (room + 1) + left + let_in, reward, False),
                ]
        return outcomes

    outcomes = [[step(*divmod(state, room + 1), action) for action in range(4)] for state in range(2 * (room + 1))]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=steps)


def stopping(steps: int = 24, start: int = 10, top: int = 30, lapsed: int = 6) -> FiniteMDP:
    """Build the model of an owner who may sell at today's price, once.

    The price tends to rise, and more so the lower it is, but now and then it halves. The gain is the price less that of
    the first day; a right to sell that is not used by the last day is lost, at a cost.

    States: day * (top + 1) + price. Actions: 0 wait, 1 sell.
    """
    size = top + 1

    def wait(day: int, price: int) -> list[Outcome]:
        if day == steps - 1:
            return [(1.0, 0, float(-lapsed), True)]
        up = 0.72 if price < 18 else 0.52
        moves = ((min(price + 1, top), up), (max(price - 1, 0), 0.98 - up), (price // 2, 0.02))
        return [(chance, (day + 1) * size + then, 0.0, False) for then, chance in moves]

    outcomes = [
        [wait(day, price), [(1.0, 0, float(price - start), True)]] for day in range(steps) for price in range(size)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=steps)


def short_cut(steps: int = 50, slip: float = 0.04, trap: float = 0.04, free: float = 0.08) -> FiniteMDP:
    """Build the model of a walker at one end of a bog, with home at the other.

        . . . . . . .     the way around takes twelve steps
        . # # # # # .
        . # # # # # .
        S ~ ~ ~ ~ ~ G     through the bog it is six, if no foot gets stuck

    A step costs 1, and home ends the walk. Each step that ends in the bog may trap the walker, for twelve steps on
    average. On firm ground a step may slip to nowhere. Of a walk at random the worst tenth all last to the horizon.

    States: row * 7 + column from the top left, then trapped in each cell of the bog. Actions: up, right, down, left.
    """
    plan = (".......", ".#####.", ".#####.", "S~~~~~G")
    columns, home = 7, 27
    bog = [22, 23, 24, 25, 26]

    def walk(state: int, action: int) -> list[Outcome]:
        if state >= 28:
            return [(free, bog[state - 28], -1.0, False), (1.0 - free, state, -1.0, False)]
        row, column = divmod(state, columns)
        down, across = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
        row, column = min(max(row + down, 0), 3), min(max(column + across, 0), columns - 1)
        target = state if plan[row][column] == "#" else row * columns + column
        if target in bog:
            return [(trap, 28 + bog.index(target), -1.0, False), (1.0 - trap, target, -1.0, False)]
        return [(slip, state, -1.0, False), (1.0 - slip, target, -1.0, False)]

    outcomes = [[walk(state, action) for action in range(4)] for state in range(28 + len(bog))]
    return FiniteMDP.from_outcomes(outcomes, start=21, horizon=steps, terminal=[home])


def stakes(
    rounds: int = 8,
    start: int = 100,
    cap: int = 1000,
    fractions: Sequence[float] = (0.0, 0.1, 0.25, 0.5, 1.0),
    chance: float = 0.8,
) -> FiniteMDP:
    """Build the model of a gambler who stakes a share of a wealth in each round of a good game.

    What is staked is won or lost; wealth stops at the cap. On average it is best to stake so much that one gambler
    in five or more loses everything. The return is the gain.

    States: round * (cap + 1) + wealth. Actions: which share.
    """
    size = cap + 1

    def play(played: int, wealth: int, fraction: float) -> list[Outcome]:
        stake = min(round(wealth * fraction), cap - wealth)
        last = played == rounds - 1
        return [
            (p, 0 if last else (played + 1) * size + wealth + won, float(won), last)
            for p, won in ((chance, stake), (1.0 - chance, -stake))
        ]

    outcomes = [
        [play(played, wealth, fraction) for fraction in fractions] for played in range(rounds) for wealth in range(size)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=rounds)


def prospector(weeks: int = 20, levels: int = 5, vein: int = 300, luck: float = 0.02) -> FiniteMDP:
    """Build the model of a digger who may pan the river, make better tools, or look for a vein.

    Panning yields the level of the tools and one more, up to chance and the water; tools take time and wear. A vein is
    worth more than all panning together and on average it pays best to look for nothing else, which most years brings
    nothing at all.

    States: high water * levels + level of the tools. Actions: 0 pan, 1 make tools, 2 look for a vein.
    """

    def week(water: int, level: int, action: int) -> list[Outcome]:
        if action == 0:
            found = level + 1 - water
            results = ((0.4, level, found + 1), (0.5, level, found - 1), (0.1, max(level - 1, 0), found - 1))
        elif action == 1:
            results = ((0.7, min(level + 1, levels - 1), -1), (0.3, level, -1))
        else:
            results = ((luck, level, vein - 1), (1.0 - luck, level, -1))
        flows = ((1 - water, 0.3), (water, 0.7))
        return [(p * q, flow * levels + then, float(gain), False) for p, then, gain in results for flow, q in flows]

    outcomes = [[week(*divmod(state, levels), action) for action in range(3)] for state in range(2 * levels)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=weeks)


def lender(quarters: int = 200, most: int = 25, start: int = 12, crash: float = 0.02, fine: int = 300) -> FiniteMDP:
    """Build the model of a small bank that lends nothing, a little, some or much each quarter.

    Loans earn or lose their volume, mostly the former; when a slump begins, without a warning, they lose five times as
    much, and twice in most quarters until it is over. What is lost comes out of the capital, and a
    bank without any is closed and fined. Profit that is beyond the largest capital is paid out.

    States: slump * (most + 1) + capital. Actions: the volume: 0, 1, 2 or 4. The reward is the profit, less the fine.
    """

    def quarter(slump: int, capital: int, volume: int) -> list[Outcome]:
        if slump:
            results = ((0.55, 1, -2), (0.15, 1, 1), (0.3, 0, 0))
        else:
            results = ((crash, 1, -5), (0.8 - crash, 0, 1), (0.2, 0, -1))
        outcomes: list[Outcome] = []
        for chance, after, sign in results:
            then = capital + sign * volume
            closed = then <= 0
            place = after * (most + 1) + min(max(then, 0), most)
            outcomes.append((chance, place, float(sign * volume - (fine if closed else 0)), closed))
        return outcomes

    outcomes = [
        [quarter(*divmod(state, most + 1), volume) for volume in (0, 1, 2, 4)] for state in range(2 * (most + 1))
    ]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=quarters, terminal=[0, most + 1])


def quiz(questions: int = 8, lifelines: int = 2) -> FiniteMDP:
    """Build the model of a quiz show in which each right answer doubles the prize, and a wrong one loses most of it.

    Questions get harder; a lifeline makes an answer surer, and there are two. Who has passed the fourth question keeps
    what it was worth, whatever happens. The mean plays on for the great prize; a cautious player takes a smaller one.

    States: question * (lifelines + 1) + lifelines left. Actions: 0 take the prize, 1 answer, 2 answer with a lifeline.
    """
    chances = (0.95, 0.92, 0.88, 0.84, 0.78, 0.74, 0.7, 0.65)

    def prize(passed: int) -> float:
        return float(2**passed if passed else 0)

    def ask(question: int, left: int, action: int) -> list[Outcome]:
        if action == 0:
            return [(1.0, 0, prize(question), True)]
        helped = action == 2 and left > 0
        right = 1.0 - (1.0 - chances[question]) * (0.35 if helped else 1.0)
        kept, last = prize(4) if question >= 4 else 0.0, question == questions - 1
        then = 0 if last else (question + 1) * (lifelines + 1) + left - helped
        return [(right, then, prize(questions) if last else 0.0, last), (1.0 - right, 0, kept, True)]

    outcomes = [
        [ask(question, left, action) for action in range(3)]
        for question in range(questions)
        for left in range(lifelines + 1)
    ]
    return FiniteMDP.from_outcomes(outcomes, start=lifelines, horizon=questions)


def furnace(hours: int = 24, limit: int = 10, trip: int = 60) -> FiniteMDP:
    """Build the model of a furnace that yields the more the hotter it is driven, until it trips.

    Full fire yields four an hour and heats by two, one or nothing, with a rare surge of four; half fire yields two and
    mostly holds the heat; none cools. At the limit the furnace trips, which ends the shift and costs a repair.

    States: hour * limit + heat. Actions: 0 no fire, 1 half, 2 full.
    """
    yields = (0, 2, 4)
    heats = (
        ((-2, 0.8), (-1, 0.2)),
        ((1, 0.2), (0, 0.5), (-1, 0.29), (3, 0.01)),
        ((2, 0.3), (1, 0.4), (0, 0.27), (4, 0.03)),
    )

    def hour(now: int, heat: int, fire: int) -> list[Outcome]:
        results: list[Outcome] = []
        for change, chance in heats[fire]:
            then, last = max(heat + change, 0), now == hours - 1
            tripped = then >= limit
            place = 0 if tripped or last else (now + 1) * limit + then
            results.append((chance, place, float(yields[fire] - (trip if tripped else 0)), tripped or last))
        return results

    outcomes = [[hour(now, heat, fire) for fire in range(3)] for now in range(hours) for heat in range(limit)]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=hours)
