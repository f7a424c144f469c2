"""Whether a policy fits a source: it reads what the source gives, and chooses among what the source takes.

Both say so in the types of `riskgrad.types`, which are compared here and nowhere else. What one of them does not say,
such as a policy of the user's own, is tried as it is. A policy can also be made to fit, by its name:

    name              choices                                 numbers
    "table"           one preference per state and action     -
    "linear"          linear softmax                          normal, linear mean
    "mlp"             softmax of a network                    normal, mean of a network
    "deterministic"   the largest of linear outputs           a linear function, within the bounds

Without a name a source of states gets a table, and every other a linear policy: few parameters, hence few directions.
"""

import contextlib

from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.base import POLICIES
from riskgrad.sources.base import Source
from riskgrad.types import Choice, Numbers, States


def check_fit(policy: Policy, source: Source) -> None:
    """Refuse a policy that reads other observations than a source gives, or chooses among other actions."""
    gives, takes, acts = source.gives, source.takes, policy.acts
    if gives is not None and policy.reads and gives not in policy.reads:
        if isinstance(gives, States):
            rule = f"read states, of which the environment has {gives.n}"
            raise InputError("policy", rule, policy, "see rg.policy.TabularGibbs and rg.policy.MLP")
        raise InputError("policy", f"read vectors of the environment's {gives.size} numbers", policy)
    if takes is None or acts is None or acts == takes:
        return
    if isinstance(takes, Numbers):
        # a policy may keep within bounds of its own
        if not isinstance(acts, Numbers) or acts.size != takes.size:
            raise InputError("policy", f"have actions of {takes.size} numbers", policy, "see rg.policy.Gaussian")
    elif isinstance(acts, Numbers):
        raise InputError("policy", "have discrete actions", policy, "see rg.policy.MLP")
    else:
        wanted = takes.n if isinstance(takes, Choice) else takes.sizes
        raise InputError("policy", f"have the environment's actions, {wanted}", policy)


def find_policy_name(policy: Policy, source: Source) -> str | None:
    """Give the name by which a policy could have been asked for; None where it has none."""
    recipe, usual = policy.recipe(), _usual_name(source)
    for name in sorted(POLICIES.named(), key=lambda name: name != usual) if recipe is not None else ():
        with contextlib.suppress(InputError):
            made = make_policy(source, name)
            if type(made) is type(policy) and made.recipe() == recipe:
                return name
    return None


def make_policy(source: Source, name: str | None = None) -> Policy:
    """Make a policy that fits a source.

    Args:
        source: where episodes come from.
        name: "table", "linear", "mlp", "deterministic", or that of a registered policy; None chooses.

    Returns:
        the policy.
    """
    gives, takes = source.gives, source.takes
    kind = POLICIES.find(_usual_name(source) if name is None else name, "or pass a policy")
    if gives is None or takes is None:
        raise InputError("policy", "be given for a source that does not say what it gives and takes", name)
    return kind.fit(gives, takes)


def _usual_name(source: Source) -> str:
    """Give the name of the policy that a source gets where nobody names one."""
    return "table" if isinstance(source.gives, States) and isinstance(source.takes, Choice) else "linear"
