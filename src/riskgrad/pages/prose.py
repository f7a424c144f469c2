"""How pages write numbers, intervals and shares, for readers who do not know the symbols."""

import math

MINUS = "\N{MINUS SIGN}"
MOST_DIGITS = 6  # of a number with an interval
LARGE = 1e7  # from here on numbers are written with a power of ten


def write(value: float | None, precision: float | None = None) -> str:
    """Write a number rounded to four digits, or to a whole number if that has more, with commas and a real minus sign.

    Args:
        value: the number; None or NaN is a dash.
        precision: how exact the number is, such as the width of its interval; a unit of the last digit is then at most
            a fifth of it. There are no more than six digits, and if six are too few, no zeros at the end.
    """
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else f"{MINUS}\N{INFINITY}"
    exact = not precision
    scale = abs(value) if not precision else min(abs(precision), 1e15) / 5.0
    digits = (3 if exact else 0) - math.floor(math.log10(scale)) if scale else 0
    most = min(max(MOST_DIGITS - 1 - math.floor(math.log10(abs(value))), 0) if value else 8, 8)
    narrow = digits > most
    digits = min(max(digits, 0) if exact else digits, most)
    if abs(value) >= LARGE:
        power = math.floor(math.log10(abs(value)))
        text = f"{value / 10.0**power:.{3 if exact else min(max(power + digits, 0), 3)}f}e{power}"
        return text.replace("-", MINUS)
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    if "." in text and (exact or narrow):
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS) if float(text.replace(",", "")) != 0.0 else text.lstrip("-")


def write_interval(ends: tuple[float, float] | None) -> str:
    """Write an interval with as many digits as its width justifies."""
    if ends is None:
        return "none"
    width = span_of(ends)
    return f"{write(ends[0], width)} to {write(ends[1], width)}"


def span_of(ends: tuple[float, float]) -> float | None:
    """Give the width of an interval, which decides the number of digits; None if it is 0."""
    return (ends[1] - ends[0]) or None


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{100.0 * share:.3g}%"


def certainty(share: float, resamples: int) -> str:
    """Write a probability from resamples, whose number limits how near to 0 or 1 it can be."""
    if share <= 1.0 / resamples:
        return f"under {percent(1.0 / resamples)}"
    return f"over {percent(1.0 - 1.0 / resamples)}" if share >= 1.0 - 1.0 / resamples else percent(share)


def run_letter(index: int) -> str:
    """Give the letter by which a page calls a run: A, B, ..."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)
