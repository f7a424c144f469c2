"""The critic of the influence: what an action is worth under the utility that a risk measure is at the current policy.

At any policy the gradient of a smooth law-invariant measure is that of an expected utility E[u(R)], u its influence
there. Under a utility the state is (observation, time, return so far). Transitions do not depend on who acted, so that
every step ever played tells about them, without importance weights:

    log.py        the steps that were played, kept in blocks
    outcomes.py   what followed what, counted: a model of the environment
    graph.py      the law of the return in that model, and what each action gains under a utility
    actor.py      a step of the policy along these gains
    race.py       several ways to the measure at once, the best of which goes on
"""
