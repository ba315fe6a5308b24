"""Who makes the drafts of plans: this process, or several. The drafts are the same."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from tasks_app.core.generation.family import Plan
from tasks_app.core.generation.generate import Made, Mapper
from tasks_app.core.processes import several


@contextmanager
def makers(processes: int, timer: Callable[[], float]) -> Iterator[Mapper]:
    """Give what makes drafts in the order of their plans, with the time that each took on its card.

    Args:
        processes: How many; 1 is this one.
        timer: Seconds, such as `time.perf_counter`; a name that other processes can import.
    """
    if processes < 2:
        yield lambda work, plans: map(partial(_timed, work, timer), plans)
        return
    with several(processes) as pool:

        def spread(work: Callable[[Plan], Made], plans: Iterable[Plan]) -> Iterable[Made]:
            return pool.map(partial(_timed, work, timer), plans)

        yield spread


def _timed(work: Callable[[Plan], Made], timer: Callable[[], float], plan: Plan) -> Made:
    began = timer()
    made = work(plan)
    took = round((timer() - began) * 1000, 2)
    card = made.card and made.card.model_copy(update={"milliseconds": took})
    return replace(made, card=card)
