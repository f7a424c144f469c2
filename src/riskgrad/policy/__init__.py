"""Policies: distributions over actions that are smooth in a flat vector of parameters.

`POLICIES` lists the policies in the files of this folder: a policy in a new file is exported, named and tested without
an edit elsewhere. `rg.register` adds one from outside.
"""

from typing import TYPE_CHECKING

from riskgrad.policy.base import POLICIES, Policy
from riskgrad.policy.memory import Memory
from riskgrad.policy.normalized import ObservationStatistics

if TYPE_CHECKING:
    from riskgrad.policy.deterministic import Deterministic as Deterministic
    from riskgrad.policy.factored import Factored as Factored
    from riskgrad.policy.gaussian import Gaussian as Gaussian
    from riskgrad.policy.gibbs import Gibbs as Gibbs
    from riskgrad.policy.gibbs import LinearGibbs as LinearGibbs
    from riskgrad.policy.gibbs import TabularGibbs as TabularGibbs
    from riskgrad.policy.greedy import Greedy as Greedy
    from riskgrad.policy.linear import LinearSoftmax as LinearSoftmax
    from riskgrad.policy.mlp import MLP as MLP
    from riskgrad.policy.normalized import Normalized as Normalized
    from riskgrad.policy.shared_table import SharedTable as SharedTable
    from riskgrad.policy.torch_module import TorchModule as TorchModule

__all__: list[str] = ["POLICIES", "Memory", "ObservationStatistics", "Policy"]

globals().update(POLICIES.exports())
__all__.extend(POLICIES.exports())  # pyright: ignore[reportUnsupportedDunderAll]
