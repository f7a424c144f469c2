"""Which source an environment stands for, and what is refused."""

import gymnasium
import numpy as np
import pytest

from riskgrad.errors import InputError
from riskgrad.mdp.models import two_roads
from riskgrad.sources import GymnasiumSource, TabularSource, resolve_source


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


class NoLimit(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        return np.zeros(2), {}

    def step(self, action):  # noqa: ARG002
        return np.zeros(2), 1.0, False, False, {}


def test_what_has_no_table_is_played():
    by_id = resolve_source("Pendulum-v1", discount=0.9, env_options={"g": 5.0})
    assert isinstance(by_id, GymnasiumSource)
    assert (by_id.env_name, by_id.horizon, by_id.discount) == ("Pendulum-v1", 200, 0.9)
    assert resolve_source(NoLimit, horizon=7).horizon == 7
    assert resolve_source(lambda: "Pendulum-v1").env_name == "Pendulum-v1"
    wrapped = gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda reward: reward - 0.1)
    assert isinstance(resolve_source(wrapped), GymnasiumSource)
    assert isinstance(resolve_source("FrozenLake-v1"), TabularSource)


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (3, {}, "env must be a Gymnasium id, class, factory or environment, a FiniteMDP"),
        (lambda: 3, {}, "env must be a Gymnasium id"),
        ("NoSuchEnvironment-v0", {}, "env must be an environment that gymnasium.make can build"),
        (two_roads(), {"horizon": 77}, "horizon must be left to the model or source, which has its own, got 77"),
        (two_roads(), {"env_options": {"a": 1}}, "env_options must be left to the model"),
    ],
)
def test_refuses_in_one_line(env, options, message):
    with pytest.raises(InputError, match=message) as caught:
        resolve_source(env, **options)
    assert "\n" not in str(caught.value)


def test_a_misspelled_model_gets_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'two-roads'"):
        resolve_source("two-roadz")


def test_an_id_may_name_the_module_that_registers_it(tmp_path, monkeypatch):
    """As `gymnasium.make` reads it: the module is imported first, so that a shell can name others' environments."""
    (tmp_path / "others_envs.py").write_text(
        "import gymnasium\n"
        "gymnasium.register(id='Others-v0', entry_point='gymnasium.envs.classic_control:PendulumEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        source = resolve_source("others_envs:Others-v0", horizon=7)
        assert (source.env_name, source.horizon) == ("Others-v0", 7)
    finally:
        gymnasium.registry.pop("Others-v0", None)
    for name, said in (("others_envs:None-v0", "None"), ("no_such_module:Others-v0", "No module named")):
        with pytest.raises(InputError, match=said):
            resolve_source(name, horizon=7)
