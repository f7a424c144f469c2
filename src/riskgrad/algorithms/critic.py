# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The critic algorithm: ascent along what a critic of the influence says, several ways to the measure in a race.

Each iteration plays a batch with every ascent that is still in the race, adds its steps to the log, makes a model of
all that was ever played, and lets each ascent take a few steps along the gains of its actions in that model: under the
utility that its measure is at its own law of the return there. See `riskgrad.critic`.

Where observations do not determine what follows, the model is wrong, and so are gains that are read off it. With
`bootstrap=False` gains are what episodes of the current policy really brought, less the model's value, which then only
makes them less noisy: a wrong model adds no bias.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final, final

from riskgrad.checks import check_count, check_positive
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import PAPER_EPISODES, Algorithm, Info, State
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem
from riskgrad.training.race import Race

LONG: Final = 8_000  # episodes from which some are spent on comparisons


@final
@dataclass(frozen=True)
class Critic(Algorithm):
    """Ascent along the gains of a critic.

    Attributes:
        episodes: m, the batch of each iteration, shared by the ascents in the race.
        trust: how far a step may lead, as a divergence from the old policy to the new one.
        bootstrap: read gains off the model; False takes what episodes brought, where observations are not states.
    """

    name = "critic"
    needs_influence = True
    needs_states = True
    takes_log = False
    races = True
    sharpens = True
    preference = 4

    episodes: int = option(
        Rule("400, fewer on a small budget", lambda case, own: afford_episodes(case, own, usual=400)),
        int,
        "m, the episodes of each estimate or batch.",
        paper=PAPER_EPISODES,
        check=partial(check_count, least=8),
    )
    trust: float = option(
        0.02, float, "Length of a step of the critic's policy, as a divergence.", check=check_positive
    )
    bootstrap: bool = option(
        True, bool, "Let the critic foresee; False where observations do not determine what follows."
    )

    def count_looks(self, iterations: int) -> int:
        """Count the two that decide the race, a late iterate, the last one, and four that are sharper.

        In a short run the model decides, and what it chose is judged once.
        """
        return 8 if iterations * self.episodes >= LONG else 1

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Play, learn, and let each ascent of the race take steps along the gains of its actions."""
        race = Race(problem, state)
        race.play(self.episodes, with_before=not self.bootstrap)
        if self.bootstrap:
            race.climb(self.trust)
            race.restart()
        else:
            race.climb_by_returns(self.trust)
        race.decide()
        return race.end()
