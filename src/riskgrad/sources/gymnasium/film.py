"""Frames of a few episodes of an environment that renders, and an animated GIF of them.

The episodes are the first ones that the source plays with the same stream, so that a film shows episodes that an
evaluation has counted; only a source that uses the environment's own vector form plays others. A compiled twin and a
finite table do not render: `film_source` plays the Gymnasium environment of their id instead, whose episodes have the
same law but other random numbers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_count, check_theta
from riskgrad.errors import InputError, StorageError
from riskgrad.making import strip_wrappers
from riskgrad.mdp.models import MODELS
from riskgrad.policy import Policy
from riskgrad.random import Stream
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.sources.resolve import Environment, resolve_source

Frame = NDArray[np.uint8]
SHORTEST, LONGEST = 20, 1000  # time of a frame in milliseconds; GIF players take no less than 20


class _Camera(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Keeps the frame that an environment renders after each reset and each step."""

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


def film_source(
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    *,
    env_options: Mapping[str, Any] | None = None,
) -> GymnasiumSource:
    """Give a source whose episodes can be filmed; refuse an environment that is not one of Gymnasium.

    Args:
        env: an environment as `rg.train` takes it.
        horizon: largest number of steps of an episode; None takes the environment's limit.
        discount: in (0, 1]; None is 1.
        env_options: options for `gymnasium.make`, the class or the factory.
    """
    if isinstance(env, str) and env not in MODELS:
        return GymnasiumSource(env, horizon, 1.0 if discount is None else discount, env_options=env_options)
    source = None if isinstance(env, str) else resolve_source(env, horizon, discount, env_options=env_options)
    if not isinstance(source, GymnasiumSource):
        got = env if isinstance(env, str) else type(env).__name__
        raise InputError("env", "be a Gymnasium environment to be filmed", got, "finite models do not render")
    return source


def frames(source: GymnasiumSource, policy: Policy, theta: ArrayLike, stream: Stream, episodes: int = 1) -> list[Frame]:
    """Play a few episodes and give their frames: one at the start of each episode, and one after each step.

    Args:
        source: the source whose environment is played, up to its horizon; a greedy one plays the likeliest actions.
        policy: the policy that acts.
        theta: its parameters [d].
        stream: where the random numbers come from.
        episodes: how many, one after the other.

    Returns:
        frames [height, width, 3].
    """
    return _shoot(source, policy, theta, stream, episodes).frames


def film(
    path: str | Path, source: GymnasiumSource, policy: Policy, theta: ArrayLike, stream: Stream, episodes: int = 1
) -> int:
    """Write a few episodes as an animated GIF, at the frame rate of the environment; give the number of frames.

    Args:
        path: the file; its name ends in .gif.
        source: the source whose environment is played; see `film_source`.
        policy: the policy that acts.
        theta: its parameters [d].
        stream: where the random numbers come from.
        episodes: how many, one after the other.
    """
    check_film_path(path)
    camera = _shoot(source, policy, theta, stream, episodes)
    save_gif(path, camera.frames, float(camera.metadata.get("render_fps") or 30.0))
    return len(camera.frames)


def _shoot(source: GymnasiumSource, policy: Policy, theta: ArrayLike, stream: Stream, episodes: int) -> _Camera:
    vector = check_theta(theta, policy.dim)
    env = source.make_rendering()
    _refuse_blind(env, source.env_name)
    camera = _Camera(strip_wrappers(env))  # without its time limit: the source cuts at its horizon
    with GymnasiumSource(camera, source.horizon, source.discount, greedy=source.greedy) as single:
        single.returns(policy, vector[np.newaxis], check_count("episodes", episodes), stream)
    return camera


def _refuse_blind(env: "gymnasium.Env[Any, Any]", name: str) -> None:
    """Refuse an environment that does not render frames, such as one whose drawing library is missing."""
    try:
        env.reset(seed=0)
        shot = np.asarray(env.render())
    except Exception as error:
        raise InputError("env", "render frames", name, str(error)) from error
    if shot.ndim != 3 or shot.shape[-1] != 3 or shot.dtype != np.uint8:
        raise InputError("env", "render frames [height, width, 3]", f"{name}, which gives {shot.dtype} {shot.shape}")


def check_film_path(path: str | Path) -> Path:
    """Give the path of a film; refuse one that does not end in .gif."""
    place = Path(path)
    if place.suffix.lower() != ".gif":
        raise InputError("path", "end in .gif", str(path), "other films need an encoder that is not part of riskgrad")
    return place


def save_gif(path: str | Path, shots: list[Frame], frames_per_second: float = 30.0) -> None:
    """Write frames as an animated GIF.

    Args:
        path: the file; its name ends in .gif.
        shots: the frames.
        frames_per_second: the frame rate, kept between 1 and 50.
    """
    from PIL import Image  # noqa: PLC0415 - only for films

    place = check_film_path(path)
    if not shots:
        raise InputError("shots", "hold at least one frame", shots)
    images = [Image.fromarray(shot) for shot in shots]
    pause = int(np.clip(1000.0 / frames_per_second, SHORTEST, LONGEST))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        images[0].save(place, save_all=True, append_images=images[1:], duration=pause, loop=0)
    except OSError as error:
        raise StorageError(f"cannot write {place}: {error}") from error
