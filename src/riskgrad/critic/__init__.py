"""The critic of the influence: what an action gains for a risk measure, as expected utility.

At any policy the gradient of a smooth law-invariant measure is that of an expected utility E[u(R)], u its influence
there. Under a utility the state is (observation, time, return so far).

    utility.py       the utility that stands for a measure near a law of the return

Where observations are states, transitions do not depend on who acted, so that every step of the run is used, without
importance weights:

    log.py           the steps that were played, kept in blocks
    outcomes.py      counts of what followed each state and action: a model of the environment
    reward_grid.py   rewards of very many values, by their neighbors on a grid
    graph.py         the law of the return in that model, and what each action gains under a utility
    actor.py         a step of the policy along these gains
    returns.py       gains from the returns of episodes, where observations hide something

Where they are vectors, nothing can be counted:

    quantiles.py     a network that predicts the distribution of the reward still to come
"""
