"""The command `evaluate`: a trained policy on fresh episodes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskgrad.cli.shared import (
    AsJson,
    Discount,
    EnvName,
    EnvOption,
    Horizon,
    Seed,
    app,
    console,
    parse_env_options,
    print_json,
)

if TYPE_CHECKING:
    from riskgrad.run import Run


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder or file of a run.")],
    env: EnvName,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to report; may be repeated.")] = None,
    episodes: Annotated[int, typer.Option(help="Fresh episodes.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    greedy: Annotated[bool, typer.Option("--greedy", help="Play the likeliest action instead of drawing it.")] = False,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: EnvOption = None,
    video: Annotated[Path | None, typer.Option(help="Film the first episodes (.gif), where it renders.")] = None,
    video_episodes: Annotated[int, typer.Option(help="How many episodes to film.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evaluate a trained policy on fresh episodes, with certified and bootstrap intervals.

    Example: riskgrad evaluate runs/valley two-roads --risk mean --risk cvar:0.1
    """
    from riskgrad._evaluate import evaluate as evaluate_run  # noqa: PLC0415
    from riskgrad.run import load  # noqa: PLC0415

    found, given = load(run), parse_env_options(env_option)
    where: dict[str, Any] = {"horizon": horizon, "discount": discount, "env_options": given}
    film = None if video is None else _film_episodes(found, env, where, video, video_episodes, greedy=greedy, seed=seed)
    table = evaluate_run(found, env, risk or None, episodes, confidence, greedy=greedy, seed=seed, **where)
    if as_json:
        print_json({**table.as_dict(), **({} if film is None else {"video": str(video), "frames": film})})
        return
    console.print(str(table), soft_wrap=True, markup=False)
    if film is not None:
        console.print(f"The film is in {video} ({film} frames).", soft_wrap=True, markup=False)


def _film_episodes(
    run: "Run", env: str, where: dict[str, Any], path: Path, episodes: int, *, greedy: bool, seed: int
) -> int:
    """Film the first episodes of an evaluation; give the number of frames."""
    from riskgrad._evaluate import play_options  # noqa: PLC0415
    from riskgrad.policy import Greedy  # noqa: PLC0415
    from riskgrad.random import Purpose, Stream  # noqa: PLC0415
    from riskgrad.sources.gymnasium.film import check_film_path, film, film_source  # noqa: PLC0415

    check_film_path(path)
    source = film_source(env, **play_options(run, env, **where))
    acts = Greedy(run.policy) if greedy else run.policy
    return film(path, source, acts, run.theta, Stream(seed, Purpose.EVALUATION), episodes)
