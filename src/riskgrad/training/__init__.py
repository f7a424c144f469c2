"""The loop around an algorithm: the problem it sees, batches, held-out judging, the record, checkpoints, stopping.

An algorithm is a frozen value with a method `step(problem, state) -> (state, info)`; the loop depends on no particular
algorithm. The names exported here are those that you need to write an algorithm of your own.
"""

from riskgrad.training.algorithm import Algorithm as Algorithm
from riskgrad.training.algorithm import Info as Info
from riskgrad.training.algorithm import State as State
from riskgrad.training.climb import Climb as Climb
from riskgrad.training.climb import Reweighting as Reweighting
from riskgrad.training.problem import Problem as Problem

__all__ = ["Algorithm", "Climb", "Info", "Problem", "Reweighting", "State"]
