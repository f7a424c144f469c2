"""Which source an environment stands for, and what is refused."""

import gymnasium
import numpy as np
import pytest

from riskgrad.episodes import TabularSource, resolve_source
from riskgrad.errors import InputError
from riskgrad.mdp.models import two_roads


def test_a_source_is_itself_and_a_model_gets_the_compiled_sampler():
    model = two_roads()
    source = TabularSource(model)
    assert resolve_source(source) is source
    assert resolve_source(model).mdp is model
    assert resolve_source(model, horizon=model.horizon, discount=model.discount).mdp is model
    assert resolve_source(two_roads, env_options={"rockfall": 0.5}).return_range == model.return_range


def test_gymnasium_by_id_factory_and_instance():
    by_id = resolve_source("FrozenLake-v1", discount=0.9, env_options={"is_slippery": False}).mdp
    assert (by_id.n_states, by_id.n_actions, by_id.horizon, by_id.discount) == (16, 4, 100, 0.9)
    made = gymnasium.make("FrozenLake-v1", is_slippery=False)
    for env in (made, lambda: made):
        np.testing.assert_array_equal(resolve_source(env, discount=0.9).mdp.rewards, by_id.rewards)
    made.close()
    assert resolve_source("CliffWalking-v1", horizon=50).mdp.horizon == 50


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (3, {}, "env must be a Gymnasium id, class, factory or environment with a table of outcomes"),
        (lambda: 3, {}, "env must be a Gymnasium id"),
        ("Pendulum-v1", {}, "table"),
        ("NoSuchEnvironment-v0", {}, "env must be an environment that gymnasium.make can build"),
        ("CliffWalking-v1", {}, "horizon"),
        (two_roads(), {"horizon": 77}, "horizon must be left to the model or source, which has its own, got 77"),
        (two_roads(), {"env_options": {"a": 1}}, "env_options must be left to the model"),
    ],
)
def test_refuses_in_one_line(env, options, message):
    with pytest.raises(InputError, match=message) as caught:
        resolve_source(env, **options)
    assert "\n" not in str(caught.value)
