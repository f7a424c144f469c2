"""Conditional value at risk, the mean of the worst alpha of the returns: as it is, and with its kink rounded off."""

from dataclasses import dataclass, field
from typing import final

from riskgrad.distortion import Attitude, LowerTail, SmoothLowerTail
from riskgrad.registry import write_name
from riskgrad.risk.distortion import DistortionEstimator, DistortionMeasure, check_estimator


@final
@dataclass(frozen=True)
class CVaR(DistortionMeasure):
    """The mean of the worst alpha of the returns (conditional value at risk, expected shortfall).

    An atom that straddles the level is split, so that exactly alpha of mass counts. Kinked, hence not smooth: it can be
    trained, but the paper's guarantee needs `SmoothCVaR`.

    Attributes:
        alpha: mass of the bad tail, in (0, 0.5].
        attitude: "averse" (default), or "seeking" for the mean of the best alpha.
        estimator: "self-normalized" (default) or "paper".
    """

    name = "cvar"
    example = "cvar:0.1"
    alpha: float
    attitude: Attitude = "averse"
    estimator: DistortionEstimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        check_estimator(self.estimator)
        object.__setattr__(self, "alpha", self.function.alpha)

    @property
    def function(self) -> LowerTail:
        """The kinked distortion of the tail."""
        return LowerTail(self.alpha, self.attitude)

    @property
    def bad_tail(self) -> float | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The mass alpha if averse; None if seeking."""
        return self.alpha if self.attitude == "averse" else None

    @property
    def meaning(self) -> str:
        """What it is in plain words."""
        side = "worst" if self.attitude == "averse" else "best"
        return f"the mean of the {side} {100.0 * self.alpha:.3g}% of episodes"


@final
@dataclass(frozen=True)
class SmoothCVaR(DistortionMeasure):
    """CVaR with its kink rounded off, so that it is a smooth risk measure with a guarantee.

    Never below CVaR (averse), and above it by at most gap times (q(alpha + width) - q(alpha - width)), where q is the
    quantile of the return and gap = 3 width / (16 alpha).

    Attributes:
        alpha: mass of the bad tail, in (0, 0.5].
        width: half-width of the rounding in mass, in (0, alpha]; alpha / 2 when not given.
        attitude: "averse" (default), or "seeking" for the good tail.
        estimator: "self-normalized" (default) or "paper".
    """

    name = "smooth-cvar"
    example = "smooth-cvar:0.1"
    alpha: float
    width: float | None = None
    attitude: Attitude = "averse"
    estimator: DistortionEstimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        check_estimator(self.estimator)
        object.__setattr__(self, "alpha", self.function.alpha)
        object.__setattr__(self, "width", self.function.width)

    @property
    def function(self) -> SmoothLowerTail:
        """The C^2 distortion of the tail."""
        return SmoothLowerTail(self.alpha, self.width, self.attitude)

    @property
    def gap(self) -> float:
        """The largest distance between the two distortions, 3 width / (16 alpha)."""
        return self.function.gap

    @property
    def bad_tail(self) -> float | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The mass alpha if averse; None if seeking."""
        return self.alpha if self.attitude == "averse" else None

    @property
    def meaning(self) -> str:
        """What it is in plain words."""
        side = "worst" if self.attitude == "averse" else "best"
        return f"the mean of about the {side} {100.0 * self.alpha:.3g}% of episodes, smoothed"

    def __str__(self) -> str:
        return write_name(
            self.name, self.alpha, self.function.width, self.attitude if self.attitude == "seeking" else ""
        )
