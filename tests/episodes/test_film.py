"""A film is of the episode that is played, frame by frame."""

import numpy as np
import pytest
from PIL import Image
from support.environments import Countdown

from riskgrad.episodes import GymnasiumSource
from riskgrad.episodes.film import frames, save_gif
from riskgrad.errors import InputError, StorageError
from riskgrad.policy import MLP
from riskgrad.random import Purpose, Stream


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
    with pytest.raises(StorageError, match="cannot write"):
        save_gif(tmp_path / "nowhere" / "film.gif", [shot])
