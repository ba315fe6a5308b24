"""Where a code is at home: its prefix leads to its list."""

from typing import Final

from studio.web.codes import is_code, normalise

PLACES: Final = {
    "T": "/tasks/",
    "GEN": "/generate/",
    "E": "/episodes/",
    "B": "/rollouts/",
    "DS": "/datasets/",
    "RUN": "/runs/",
    "EV": "/evaluations/",
    "SU": "/evaluations/suites/",
    "JOB": "/jobs/",
}


def place_of(text: str) -> str:
    """The address of what a code names; empty for any other text."""
    if not is_code(text):
        return ""
    code = normalise(text)
    place = PLACES.get(code.partition("-")[0])
    return f"{place}{code}/" if place is not None else ""
