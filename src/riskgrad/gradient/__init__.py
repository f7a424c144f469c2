"""Gradients of a risk measure as pure functions: from perturbed values alone, or from the policy's score.

`smoothed` needs only a function thetas -> rho_hat, so it works for any measure and any policy; `sphere` draws its unit
vectors. `score` needs the measure's influence and the policy's score, but no perturbed parameters.
"""

from riskgrad.gradient._directions import sphere as sphere
from riskgrad.gradient._score import score as score
from riskgrad.gradient._smoothed import around as around
from riskgrad.gradient._smoothed import batch_error as batch_error
from riskgrad.gradient._smoothed import smoothed as smoothed
from riskgrad.gradient._smoothed import smoothed_difference as smoothed_difference
from riskgrad.gradient._smoothed import with_batch_error as with_batch_error

__all__ = ["around", "batch_error", "score", "smoothed", "smoothed_difference", "sphere", "with_batch_error"]
