"""A race of ascents to one measure: each takes its own path, all learn from one log, and the best one is kept.

No single path suits every problem (see `riskgrad.paths`). The ascents share each iteration's episodes, so that a
race costs no more episodes than one ascent, and each ascent learns from what the others play. After three fifths of the
run only the two that are best in the learned model continue. At its end the one that is better in the model is kept,
unless held-out episodes clearly prefer the other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from riskgrad.critic.assessment import Assessment, assess, gradient_of, move_table, table_of
from riskgrad.critic.graph import Sweeper, ValueGraph
from riskgrad.critic.log import LogBlock
from riskgrad.critic.returns import assess_by_returns
from riskgrad.kernels.compile import Answer, Item, cores, in_threads
from riskgrad.paths import MeasurePath
from riskgrad.policy.memory import Memory
from riskgrad.random import Purpose, Stream
from riskgrad.risk.base import error_of_mean
from riskgrad.training.algorithm import Arm, Info, State
from riskgrad.training.problem import Problem
from riskgrad.training.sharpness import FACTORS, best_factor, excels
from riskgrad.types import DiscreteLaw, FloatArray, Steps

RACE: Final = 0.6  # the part of the run after which only the finalists go on
FINALISTS: Final = 2
MOST_STEPS: Final = 4  # of each ascent in one iteration
MOST_EDGES: Final = 1 << 20  # edges that the steps of one ascent may sweep over, unless there is only one step
WORTH_THREADS: Final = 1 << 14  # a graph with more edges is worth the start of threads
NO_PATH: Final = "none"  # the name where there is no path
RESTARTS: Final = (0.2, 0.4, 0.6, 0.8)  # parts of the run after which paths are climbed again
RESTART_STEPS: Final = 40
RESTART_TRUST: Final = 0.05  # longer steps than usual, since they cost no episodes
RESTART_BONUSES: Final = (0.3, 1.0, 0.1)  # each path is climbed once with each
MOST_SWEPT: Final = 1 << 25  # edges that the restarts of one iteration may sweep over
ASTRAY_EVERY: Final = 10  # steps of a restart between calls of `go_astray`


class Race:
    """One iteration of a race.

    Args:
        problem: what is maximized.
        state: where the iteration begins.
    """

    def __init__(self, problem: Problem, state: State) -> None:
        if state.log is None:
            raise TypeError("a race needs a log")
        self._problem, self._state, self._log = problem, state, state.log
        self._log.cut(state.log_length)
        self._paths = {str(path): path for path in problem.paths}
        first = Arm(state.theta, problem.ascent.start(problem.dim))
        self.arms: dict[str, Arm] = dict(state.arms) or dict.fromkeys(self._paths, first)
        self._batches: dict[str, Steps] = {}
        self._blocks: dict[str, LogBlock] = {}
        self._assessments: dict[str, Assessment] = {}
        self._held_out, self._notes, self._steps, self._sharpness = 0, (), 0, 1.0

    def play(self, episodes: int, with_before: bool = False) -> None:
        """Play a batch, shared among the ascents, and make a model of all steps in the log.

        Args:
            episodes: m.
            with_before: whether to keep the model of the log before this batch as well.
        """
        problem, state, policy = self._problem, self._state, self._state.policy
        self._before = self._make_graph() if with_before and self._log.blocks else None
        stream = Stream(problem.seed, Purpose.TRAINING, state.iteration)
        for number, (name, arm) in enumerate(self.arms.items()):
            batch = problem.source.record_steps(policy, arm.theta, episodes // len(self.arms), stream, number)
            self._batches[name] = batch
            self._blocks[name] = block_of(batch, policy.memory)
            self._log.append(self._blocks[name])
        self._graph = self._make_graph()

    def _make_graph(self) -> ValueGraph:
        problem, policy = self._problem, self._state.policy
        return ValueGraph(
            self._log.counts.model(),
            horizon=problem.source.horizon or max(int(np.max(block.lengths)) for block in self._log.blocks),
            discount=problem.source.discount or 1.0,
            recent=self._log.blocks[-2 * len(self.arms) :],
            straight=problem.risk.attitude == "neutral",
            policy=policy,
        )

    def climb(self, trust: float) -> None:
        """Let each ascent take a few steps along the gains of its actions in the model."""
        self._steps = max(1, min(MOST_STEPS, MOST_EDGES // max(1, self._graph.edges)))
        policy, rows = self._state.policy, len(self._graph.known)

        def climb_one(sweeper: Sweeper, name: str) -> None:
            sweeper.go_astray(table_of(policy, self.arms[name].theta, rows))
            for _ in range(self._steps):
                self._move(name, self._assess(sweeper, name), trust)

        self._in_threads(climb_one, list(self.arms))

    def _in_threads(self, work: Callable[[Sweeper, Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Do work on each item, in threads, each with a sweeper that no other thread uses at the same time.

        Sweepers are allocated here, in the calling thread: the C library may hold on to memory that short-lived threads
        allocated, and the process would grow.
        """
        threads = (self._problem.threads or cores()) if self._graph.edges > WORTH_THREADS else 1
        idle = [Sweeper(self._graph) for _ in range(min(threads, len(items)))]

        def work_on(item: Item) -> Answer:
            sweeper = idle.pop()
            try:
                return work(sweeper, item)
            finally:
                idle.append(sweeper)

        return in_threads(work_on, items, threads)

    def restart(self) -> None:
        """At a few iterations of a run, climb each path again from theta_0, in the model alone.

        What was learned late may lead elsewhere than what the ascents knew at first. The ascent without a path, or the
        last one where that ascent is out of the race, goes on from the best of these climbs if that is better than
        where it is. Only a policy that is a table of preferences is restarted.
        """
        problem, done = self._problem, self._state.iteration + 1
        last = NO_PATH if NO_PATH in self.arms else list(self.arms)[-1]
        if done not in {int(part * problem.iterations) for part in RESTARTS} or self._state.policy.table_shape is None:
            return
        tasks = [(path, bonus) for bonus in RESTART_BONUSES for path in problem.paths]
        tasks = tasks[: MOST_SWEPT // (RESTART_STEPS * max(1, self._graph.edges))]

        def climb_one(sweeper: Sweeper, task: tuple[MeasurePath, float]) -> tuple[float, FloatArray]:
            theta = self._climb_alone(sweeper, *task)
            return self._risk_in_model(sweeper, theta), theta

        risk = self._risk_in_model(Sweeper(self._graph), self.arms[last].theta)
        for found, theta in self._in_threads(climb_one, tasks):
            if found > risk:
                risk, self.arms[last] = found, replace(self.arms[last], theta=theta)

    def _climb_alone(self, sweeper: Sweeper, path: MeasurePath, bonus: float) -> FloatArray:
        """Climb a path from theta_0 in the model; give the last theta [d]."""
        policy, theta, rows = self._state.policy, self._problem.start, len(self._graph.known)
        for step in range(RESTART_STEPS):
            if step % ASTRAY_EVERY == 0:
                sweeper.go_astray(table_of(policy, theta, rows))
            measure = path.measure(path.weight(step, RESTART_STEPS))
            assessment = assess(sweeper, policy, theta, measure, bonus * (1.0 - step / RESTART_STEPS))
            theta = move_table(theta, assessment, RESTART_TRUST)
        return theta

    def climb_by_returns(self, trust: float) -> None:
        """Let each ascent take one step along gains from the returns of its own episodes; see `critic.returns`."""
        self._steps = 1
        for name, arm in self.arms.items():
            policy, batch = self._state.policy, self._batches[name]
            assessment = assess_by_returns(
                self._graph,
                self._before,
                policy,
                arm.theta,
                self._measure(name),
                self._bonus,
                batch,
                self._blocks[name],
            )
            self._move(name, assessment, trust)

    def _measure(self, name: str) -> Any:
        path = self._paths[name]
        return path.measure(path.weight(self._state.iteration, self._problem.iterations))

    @property
    def _bonus(self) -> float:
        return self._problem.bonus_share(self._state)

    def _assess(self, sweeper: Sweeper, name: str) -> Assessment:
        return assess(sweeper, self._state.policy, self.arms[name].theta, self._measure(name), self._bonus)

    def _move(self, name: str, assessment: Assessment, trust: float) -> None:
        """Move one ascent: a table of preferences along the natural gradient, any other policy by the run's ascent."""
        arm, policy = self.arms[name], self._state.policy
        self._assessments.setdefault(name, assessment)
        if policy.table_shape is not None:
            self.arms[name] = replace(arm, theta=move_table(arm.theta, assessment, trust))
        else:
            gradient = gradient_of(policy, arm.theta, assessment)
            self.arms[name] = Arm(*self._problem.ascent.step(arm.theta, gradient, arm.moments))

    def decide(self) -> None:
        """Order the ascents by their risk in the model; late in the run keep the best two, and at its end one."""
        problem, done = self._problem, self._state.iteration + 1
        sweeper = Sweeper(self._graph)
        risks = {name: self._risk_in_model(sweeper, arm.theta) for name, arm in self.arms.items()}
        order = sorted(self.arms, key=lambda name: -risks[name])
        if done >= RACE * problem.iterations:
            order = order[:FINALISTS]
        if done == problem.iterations:
            order = self._choose(sweeper, order)
        self.arms = {name: self.arms[name] for name in order}

    def _choose(self, sweeper: Sweeper, order: list[str]) -> list[str]:
        """Give the winner, as a list of one: the best in the model, unless held-out episodes clearly prefer another."""
        problem, policy = self._problem, self._state.policy
        if len(order) > 1 and problem.judging_episodes and problem.judgments > 1:
            returns = {name: problem.play_held_out(policy, self.arms[name].theta) for name in order}
            self._held_out = problem.judging_episodes * len(order)
            order = sorted(order, key=lambda name: -excels(problem.risk, returns[name], returns[order[0]]))
        if len(self._paths) > 1:
            paths = ", ".join(self._paths)
            words = f"{len(self._paths)} paths to {problem.risk} were tried side by side (risk_path: {paths})"
            self._notes = (f"{words}; the best was {order[0]!r}",)
        theta = self.arms[order[0]].theta
        sharper = {factor: policy.sharpen(theta, factor) for factor in FACTORS}
        self._sharpness = best_factor(
            {factor: self._risk_in_model(sweeper, one) for factor, one in sharper.items() if one is not None}
            or {1.0: 0.0}
        )
        return order[:1]

    def _risk_in_model(self, sweeper: Sweeper, theta: FloatArray) -> float:
        masses = sweeper.law(table_of(self._state.policy, theta, len(self._graph.known)))
        some = masses > 0.0
        return self._problem.risk.value(DiscreteLaw(self._graph.ends[some], masses[some] / np.sum(masses)))

    def end(self) -> tuple[State, Info]:
        """Give the state after the iteration, and its record for the leading ascent."""
        name, arm = next(iter(self.arms.items()))
        state = replace(
            self._state,
            iteration=self._state.iteration + 1,
            theta=arm.theta,
            arms=self.arms,
            log_length=self._log.length,
            sharpness=self._sharpness,
        )
        sampled = sum(len(batch.values) for batch in self._batches.values())
        return state, Info(self._describe(name), sampled, self._batches[name].values, self._held_out, self._notes)

    def _describe(self, name: str) -> Mapping[str, Any]:
        """Give the record of the ascent that leads."""
        values, risk, assessment = self._batches[name].values, self._problem.risk, self._assessments[name]
        weights = assessment.weights
        return {
            "risk": float(risk.estimate(values)),
            "mean": float(np.mean(values)),
            "mean_error": error_of_mean(values, None),
            "risk_error": risk.standard_error(values),
            "path": self._paths[name].weight(self._state.iteration, self._problem.iterations),
            "way": name,
            "gradient_norm": math.sqrt(float(np.sum(weights * weights))),
            "gradient_error": None,
            "randomness": assessment.randomness,
            "foreseen": assessment.foreseen,
            "ess": float(len(values)),
            "steps": self._steps,
            "events": [],
        }


def block_of(batch: Steps, memory: Memory | None) -> LogBlock:
    """Give a batch as the log keeps it, with the states of the environment."""
    states = batch.observations if memory is None else memory.plain(batch.observations)
    return LogBlock(
        lengths=np.diff(batch.offsets).astype(np.int32),
        ended=batch.ended,
        states=states.astype(np.int32),
        actions=batch.actions.astype(np.int32),
        rewards=batch.rewards,
    )
