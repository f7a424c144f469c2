"""A film is of the episode that is played, frame by frame."""

import gymnasium
import numpy as np
import pytest
from PIL import Image
from support.environments import Countdown

from riskgrad.errors import InputError, StorageError
from riskgrad.mdp import two_roads
from riskgrad.policy import MLP
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource
from riskgrad.sources.gymnasium.film import film, film_source, frames, save_gif


class Shown(Countdown):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, render_mode=None):
        Countdown.__init__(self)
        self.render_mode = render_mode

    def render(self):
        return np.full((4, 6, 3), 10 * self.age, dtype=np.uint8)


POLICY, STREAM = MLP(2, 2, ()), Stream(5, Purpose.EVALUATION)


@pytest.mark.parametrize("env", [Shown, Shown(render_mode="rgb_array")], ids=["class", "instance"])
def test_frames_are_of_the_first_episode(env, tmp_path):
    source = GymnasiumSource(env, horizon=50)
    shots = frames(source, POLICY, np.zeros(6), STREAM)
    length = source.returns(POLICY, np.zeros((1, 6)), 1, STREAM).lengths[0, 0]
    assert [int(shot[0, 0, 0]) for shot in shots] == [10 * t for t in range(length + 1)]
    save_gif(tmp_path / "film.gif", shots, frames_per_second=4)
    with Image.open(tmp_path / "film.gif") as film:
        assert (film.size, film.n_frames) == ((6, 4), length + 1)


def test_a_horizon_beyond_the_time_limit_counts_in_the_film_too():
    source = GymnasiumSource(gymnasium.wrappers.TimeLimit(Shown(render_mode="rgb_array"), 2), horizon=50)
    stream = Stream(6, Purpose.EVALUATION)
    length = source.returns(POLICY, np.zeros((1, 6)), 1, stream).lengths[0, 0]
    assert length > 2
    assert len(frames(source, POLICY, np.zeros(6), stream)) == length + 1


def test_refuses_in_one_line(tmp_path):
    with pytest.raises(InputError, match="env must be an environment that can be built"):
        frames(GymnasiumSource(Countdown, horizon=5), POLICY, np.zeros(6), STREAM)
    with pytest.raises(InputError, match="env must render frames"):
        frames(GymnasiumSource(Shown(), horizon=5), POLICY, np.zeros(6), STREAM)
    shot = np.zeros((2, 2, 3), dtype=np.uint8)
    with pytest.raises(InputError, match=r"path must end in \.gif"):
        save_gif(tmp_path / "film.mp4", [shot])
    with pytest.raises(InputError, match="at least one frame"):
        save_gif(tmp_path / "film.gif", [])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write"):
        save_gif(tmp_path / "file" / "film.gif", [shot])


def test_a_few_episodes_follow_one_another(tmp_path):
    source = GymnasiumSource(Shown, horizon=50)
    count = film(tmp_path / "deep" / "film.gif", source, POLICY, np.zeros(6), STREAM, episodes=3)
    lengths = source.returns(POLICY, np.zeros((1, 6)), 3, STREAM).lengths[0]
    assert count == int(np.sum(lengths + 1))
    with Image.open(tmp_path / "deep" / "film.gif") as made:
        assert made.info["duration"] == 250, "four frames a second, as the environment says"


class Blind(Shown):
    def render(self):
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed")


class Odd(Shown):
    def render(self):
        return "a frame"


@pytest.mark.parametrize(("env", "said"), [(Blind, "pygame is not installed"), (Odd, "which gives")])
def test_an_environment_that_cannot_show_itself_gets_one_line(env, said):
    with pytest.raises(InputError, match="env must render frames") as caught:
        frames(GymnasiumSource(env, horizon=5), POLICY, np.zeros(6), STREAM)
    assert said in str(caught.value)


@pytest.mark.parametrize("env", ["riskgrad/GuardedMaze-v0", "CartPole-v1", "FrozenLake-v1", Shown])
def test_what_is_filmed_is_the_gymnasium_environment(env):
    options = {"horizon": 7, "discount": 0.5} | ({"env_options": {"is_slippery": False}} if "Lake" in str(env) else {})
    source = film_source(env, **options)
    assert isinstance(source, GymnasiumSource)
    assert (source.horizon, source.discount) == (7, 0.5)


@pytest.mark.parametrize("env", ["two-roads", two_roads(), two_roads])
def test_a_model_without_an_environment_is_refused(env):
    with pytest.raises(InputError, match="finite models do not render"):
        film_source(env)
