"""The frames of a few episodes, where the environment renders, and an animated GIF of them.

The episodes are the first ones that the source plays from the same stream, frame by frame, so that a film shows
episodes that an evaluation has counted. A compiled twin and a finite table do not render: `film_source` plays the
Gymnasium environment behind their id instead, whose episodes follow the same law from other random numbers.
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


def film_source(
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    *,
    env_options: Mapping[str, Any] | None = None,
) -> GymnasiumSource:
    """Give the source whose episodes can be filmed; refuse what has no Gymnasium environment.

    Args:
        env: what `rg.train` takes.
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
    """Play a few episodes and give what the environment renders: the start of each and every step.

    Args:
        source: whose environment is played; greedy if it is.
        policy: what acts.
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
    """Film a few episodes as an animated GIF, as fast as the environment says; give the number of frames.

    Args:
        path: where to; the name ends in .gif.
        source: whose environment is played; see `film_source`.
        policy: what acts.
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
    camera = _Camera(strip_wrappers(env))  # the horizon of the source counts, as it does where nothing is filmed
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
        path: where to; the name ends in .gif.
        shots: the frames.
        frames_per_second: how fast they follow one another.
    """
    from PIL import Image  # noqa: PLC0415 - only for films

    place = check_film_path(path)
    if not shots:
        raise InputError("shots", "hold at least one frame", shots)
    images = [Image.fromarray(shot) for shot in shots]
    pause = int(np.clip(1000.0 / frames_per_second, SLOWEST, FASTEST))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        images[0].save(place, save_all=True, append_images=images[1:], duration=pause, loop=0)
    except OSError as error:
        raise StorageError(f"cannot write {place}: {error}") from error
