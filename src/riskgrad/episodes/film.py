"""The frames of one episode, where the environment renders, and an animated GIF of them.

The episode is the first one that the source plays from the same stream, frame by frame, so that a film shows an episode
that an evaluation has counted.
"""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.episodes.gymnasium import GymnasiumSource
from riskgrad.errors import InputError, StorageError
from riskgrad.policy import Policy
from riskgrad.policy.base import checked_theta
from riskgrad.random import Stream

Frame = NDArray[np.uint8]
SLOWEST, FASTEST = 20, 1000  # milliseconds per frame; players of GIFs take no less than 20


class _Camera(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps what the environment renders after its reset and each of its steps."""

    def __init__(self, env: "gymnasium.Env[Any, Any]") -> None:
        gymnasium.Wrapper.__init__(self, env)
        self.frames: list[Frame] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        answer = self.env.reset(seed=seed, options=options) if options else self.env.reset(seed=seed)
        self._shoot()
        return answer

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.step(action)
        self._shoot()
        return answer

    def _shoot(self) -> None:
        self.frames.append(np.array(self.env.render(), dtype=np.uint8))


def frames(source: GymnasiumSource, policy: Policy, theta: ArrayLike, stream: Stream) -> list[Frame]:
    """Play one episode and give what the environment renders: its start and each step.

    Args:
        source: whose environment is played; greedy if it is.
        policy: what acts.
        theta: its parameters [d].
        stream: where the random numbers come from.

    Returns:
        frames [height, width, 3].
    """
    vector = checked_theta(theta, policy.dim)
    camera = _Camera(source.make_rendering())
    with GymnasiumSource(camera, source.horizon, source.discount, greedy=source.greedy) as single:
        single.returns(policy, vector[np.newaxis], 1, stream)
    return camera.frames


def save_gif(path: str | Path, shots: list[Frame], frames_per_second: float = 30.0) -> None:
    """Write frames as an animated GIF.

    Args:
        path: where to; the name ends in .gif.
        shots: the frames.
        frames_per_second: how fast they follow one another.
    """
    from PIL import Image  # noqa: PLC0415 - only for films

    place = Path(path)
    if place.suffix.lower() != ".gif":
        raise InputError("path", "end in .gif", str(path))
    if not shots:
        raise InputError("shots", "hold at least one frame", shots)
    images = [Image.fromarray(shot) for shot in shots]
    pause = int(np.clip(1000.0 / frames_per_second, SLOWEST, FASTEST))
    try:
        images[0].save(place, save_all=True, append_images=images[1:], duration=pause, loop=0)
    except OSError as error:
        raise StorageError(f"cannot write {place}: {error}") from error
