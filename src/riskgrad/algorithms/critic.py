# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The critic algorithm: ascent along the gains of actions that a critic estimates under the measure's influence.

On states, several ascents to the measure race each other. Each iteration plays a batch with every ascent still in the
race, adds the steps to the log, fits a model to the whole log, and moves each ascent a few steps along the gains of its
actions in that model. A gain is a gain in expected utility; the utility is the measure's influence at the law of the
return that the model predicts. See `riskgrad.training.race`.
On vectors, the critic is a network of quantiles. Each iteration plays a batch, asks the critic what the steps gained,
trains the policy in several passes over the batch, and fits the critic to it. See `riskgrad.training.rehearsal`.
Where observations do not determine what follows, a critic is wrong. With `bootstrap=False` a gain is the utility of the
episode's return less the critic's value, which only reduces the noise: a wrong critic adds no bias.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Final, final

from riskgrad.checks import check_count, check_flag, check_positive
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import PAPER_EPISODES, Algorithm, Circumstances, Defaults, Info, State
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem
from riskgrad.training.race import Race
from riskgrad.training.rehearsal import Rehearsal
from riskgrad.types import ObservationKind, States, Vectors

LONG: Final = 8_000  # a run of this many episodes or more also spends episodes on comparisons
FEWEST: Final = 8  # episodes of a batch, where observations are vectors
MANY_STEPS: Final = 2_048  # steps of such a batch, where the horizon is below LONG_EPISODE
ENOUGH_STEPS: Final = 1_024  # steps of such a batch, where the horizon is longer
LONG_EPISODE: Final = 100  # steps of an episode
LEAST_STEPS: Final = 128  # steps of such a batch at the start of a run, when episodes may end early


def _count_episodes(case: Circumstances, own: "Critic") -> int:
    if isinstance(case.source.gives, States):
        return afford_episodes(case, own, usual=400)
    horizon = case.source.horizon or 1
    steps = MANY_STEPS if horizon < LONG_EPISODE else ENOUGH_STEPS
    usual = math.ceil(max(steps / horizon, LEAST_STEPS / case.measure_length()))
    return max(FEWEST, math.ceil(case.slope), min(usual, afford_episodes(case, own, usual=MANY_STEPS)))


@final
@dataclass(frozen=True)
class Critic(Algorithm):
    """Ascent along the gains of a critic.

    Attributes:
        episodes: m, the batch of each iteration, shared by the ascents in the race.
        trust: how far a step may lead, as a divergence from the old policy to the new one.
        bootstrap: take gains from the critic's predictions; False takes them from the returns of episodes.
    """

    name = "critic"
    needs_influence = True
    needs_steps = True
    takes_log = False
    races = True
    sharpens = True
    preference = 4

    episodes: int = option(
        Rule("400, fewer on a small budget; for vectors at least 8 that may have 1,024 steps", _count_episodes),
        int,
        "m, the episodes of each estimate or batch.",
        paper=PAPER_EPISODES,
        check=partial(check_count, least=8),
    )
    trust: float = option(
        Rule("0.02, or 0.03 for vectors", lambda case, _: 0.02 if isinstance(case.source.gives, States) else 0.03),
        float,
        "Length of a step of the critic's policy, as a divergence.",
        check=check_positive,
    )
    bootstrap: bool = option(
        True, bool, "Let the critic predict; False where observations do not determine what follows.", check=check_flag
    )

    @classmethod
    def prefer(cls, gives: ObservationKind | None) -> int:
        """Give 0 for vectors that are a soft one-hot: the score algorithm trains a policy that is linear in them."""
        return 0 if isinstance(gives, Vectors) and gives.one_hot else cls.preference

    @classmethod
    def defaults_for(cls, gives: ObservationKind | None) -> Defaults:
        """Give the defaults for vectors: a network, observations in units of their spread, and short steps."""
        if not isinstance(gives, Vectors):
            return Defaults()
        return Defaults(policy="mlp:64,64,std=1", rescales=not gives.one_hot, step=0.002, levels=0.5)

    def count_judgments(self, iterations: int, has_states: bool) -> int:
        """Count 2 finalists of a race on states, a late iterate, the last one, and its 4 sharper versions.

        In a short run on states the learned model decides, and only its choice is judged; on vectors 1 is sharper.
        """
        if iterations * self.episodes >= LONG:
            return 8 if has_states else 6
        return 1 if has_states else 3

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Play, learn, and let each ascent of the race take steps along the gains of its actions."""
        if state.log is None:
            rehearsal = Rehearsal(problem, state, self.episodes)
            gains = rehearsal.weigh_steps() if self.bootstrap else rehearsal.weigh_steps(decay=1.0)
            rehearsal.climb(gains, self.trust)
            rehearsal.fit()
            return rehearsal.end()
        race = Race(problem, state)
        race.play(self.episodes, with_before=not self.bootstrap)
        if self.bootstrap:
            race.climb(self.trust)
            race.restart()
        else:
            race.climb_by_returns(self.trust)
        race.decide()
        return race.end()
