"""The critic of the influence: what an action gains for a risk measure, as expected utility.

At any policy the gradient of a smooth law-invariant measure is that of an expected utility E[u(R)], where u is the
measure's influence at the law of that policy's return. The value of a step under a utility depends on (observation,
time, return so far).

    utility.py       the utility that stands for a measure near a law of the return

Where observations are states, transitions do not depend on the policy that acted, so that every step of the run is
used, without importance weights:

    log.py           the steps that were played, kept in blocks
    outcomes.py      counts of what followed each state and action: a model of the environment
    reward_grid.py   a grid for rewards that take very many values
    graph.py         the law of the return in that model, and what each action gains under a utility
    assessment.py    these gains as an assessment of a policy, and a step of the policy along them
    returns.py       gains from the returns of episodes, where observations do not determine what follows

Where observations are vectors, outcomes cannot be counted:

    quantiles.py     a network that predicts the distribution of the reward still to come
"""
