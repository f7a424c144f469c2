"""The command `evaluate`: evaluates a trained policy on fresh episodes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskgrad.cli.printing import console, print_json, say
from riskgrad.cli.shared import AsJson, Discount, EnvOption, Horizon, Seed, app, parse_env_options
from riskgrad.cli.wording import name_flags

if TYPE_CHECKING:
    from riskgrad.run import Run


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder or file of a run.")],
    env: Annotated[
        str | None, typer.Argument(help="Where to play; by default what the run was trained on.", show_default=False)
    ] = None,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to report; may be repeated.")] = None,
    episodes: Annotated[int, typer.Option(help="Fresh episodes; 10,000 by default.", show_default=False)] = 10_000,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    return_range: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="Smallest and largest return that is possible, in two words, for certified intervals.",
        ),
    ] = None,
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

    Example: riskgrad evaluate runs/valley --risk mean --risk cvar:0.1
    """
    from riskgrad._evaluate import evaluate as evaluate_run  # noqa: PLC0415
    from riskgrad._evaluate import find_env  # noqa: PLC0415
    from riskgrad.run import load  # noqa: PLC0415

    found, given = load(run), parse_env_options(env_option)
    name = str(find_env({"": found}, "after the run")) if env is None else env
    where: dict[str, Any] = {"horizon": horizon, "discount": discount, "env_options": given}
    film = (
        None if video is None else _film_episodes(found, name, where, video, video_episodes, greedy=greedy, seed=seed)
    )
    how: dict[str, Any] = {"return_range": return_range, "greedy": greedy, "seed": seed}
    table = evaluate_run(found, name, risk or None, episodes, confidence, **how, **where)
    if as_json:
        print_json({**table.as_dict(), **({} if film is None else {"video": str(video), "frames": film})})
        return
    say(name_flags(table.text(console.width if console.is_terminal else None), "evaluate"))
    if film is not None:
        say(f"The film is in {video} ({film} frames).")


def _film_episodes(
    run: "Run", env: str, where: dict[str, Any], path: Path, episodes: int, *, greedy: bool, seed: int
) -> int:
    """Film the first episodes of an evaluation; give the number of frames."""
    from riskgrad._evaluate import play_options  # noqa: PLC0415
    from riskgrad.policy import Greedy  # noqa: PLC0415
    from riskgrad.random import Purpose, Stream  # noqa: PLC0415
    from riskgrad.run.files import refuse_unwritable  # noqa: PLC0415
    from riskgrad.sources.gymnasium.film import check_film_path, film, film_source  # noqa: PLC0415

    refuse_unwritable(check_film_path(path))
    source = film_source(env, **play_options(run, env, **where))
    acts = Greedy(run.policy) if greedy else run.policy
    return film(path, source, acts, run.theta, Stream(seed, Purpose.EVALUATION), episodes)
