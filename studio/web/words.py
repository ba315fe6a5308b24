"""Numbers and times as people read them; the filters of ``{% load studio_ui %}`` call these.

Not scored is "–", never 0. Nothing here reads the clock: moments are compared with a given one.
"""

import datetime as dt

NONE = "–"
_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def number(value: float | None) -> str:
    """Thousands apart: 12,345."""
    if value is None:
        return NONE
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def compact(value: float | None) -> str:
    """Short, for narrow places: 950, 1.2k, 14k, 3.4M."""
    if value is None:
        return NONE
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            scaled = value / limit
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 10 else f"{scaled:.1f}{unit}"
    return f"{value:g}"


def score(value: float | None) -> str:
    """A reward or a check: two places."""
    return NONE if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference: two places and its sign, a true minus; what rounds to nothing has none."""
    if value is None:
        return NONE
    rounded = round(value, 2)
    if not rounded:
        return "0.00"
    return f"{'+' if rounded > 0 else '−'}{abs(rounded):.2f}"


def percent(value: float | None) -> str:
    """A share as whole per cent; what is not quite all or nothing does not read as if it were."""
    if value is None:
        return NONE
    rounded = round(value * 100)
    if rounded == 100 and value < 1:
        return ">99 %"
    if rounded == 0 and value > 0:
        return "<1 %"
    return f"{rounded} %"


def duration(seconds: float | None) -> str:
    """0.4 s, 12 s, 3 min, 2 h 5 min, 4 d."""
    if seconds is None:
        return NONE
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{round(whole / _MINUTE)} min"
    if whole < _DAY:
        hours, rest = divmod(whole, _HOUR)
        minutes = rest // _MINUTE
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{whole // _DAY} d"


def ago(then: dt.datetime | None, now: dt.datetime) -> str:
    """just now, 12 s ago, 3 min ago, 2 h ago, 4 d ago; after a month the date."""
    if then is None:
        return NONE
    seconds = (now - then).total_seconds()
    if seconds < 5:
        return "just now"
    if seconds < _MINUTE:
        return f"{int(seconds)} s ago"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)} min ago"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)} h ago"
    if seconds < 31 * _DAY:
        return f"{int(seconds // _DAY)} d ago"
    return then.date().isoformat()


def initial(text: str) -> str:
    """Begin a line with a capital, but leave a name as it is written: `r_reply`, `mail/sent`."""
    first = text.partition(" ")[0]
    return text if any(sign in first for sign in "_/#@") else text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """A line as a sentence: an initial, and a full stop where none is there."""
    stopped = text.endswith((".", "?", "!", "…"))
    return initial(text) + ("" if stopped or not text else ".")


def size(count: int | None) -> str:
    """Bytes: 950 B, 1.2 kB, 14 MB."""
    if count is None:
        return NONE
    scaled = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if scaled < 1000 or unit == "GB":
            whole = unit == "B" or scaled >= 10
            return f"{scaled:.0f} {unit}" if whole else f"{scaled:.1f} {unit}"
        scaled /= 1000
    return NONE
