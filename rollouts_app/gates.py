"""Gates P for pages of tasks and for the approval: what episodes say of a task.

Registered with tasks_app when the app is ready; tasks_app knows their ids alone.
"""

from collections.abc import Sequence

from rollouts_app import queries
from rollouts_app.core import calibration
from rollouts_app.enums import FlagState
from rollouts_app.models import EpisodeFlag
from tasks_app.models import Task
from tasks_app.operations.outside_gates import OutsideResult, register


class EpisodeGates:
    """What episodes say of a task: how hard it is (P1), whether a trick earned on it (P2)."""

    def results(self, task: Task) -> Sequence[OutsideResult]:
        """Return both gates for the current version; P1 labels, P2 asks for a look."""
        if task.current_id is None:
            return ()
        return (self._calibration(task, task.current_id), self._probe(task, task.current_id))

    def _calibration(self, task: Task, version: int) -> OutsideResult:
        found = calibration.rates(queries.calibration_groups(version))
        state, reason = calibration.state_of(found)
        lines = [rate.words for rate in found]
        lines.append(calibration.overturned_words(*queries.overturned(version)))
        return OutsideResult("P1", state, reason, tuple(lines), f"task:{task.code}")

    def _probe(self, task: Task, version: int) -> OutsideResult:
        flags = EpisodeFlag.objects.filter(episode__version=version)
        counts = {
            state: flags.filter(state=state).values("episode").distinct().count()
            for state in (FlagState.OPEN, FlagState.CONFIRMED, FlagState.DISMISSED)
        }
        tried = queries.attempts_at(version).count()
        if not tried and not any(counts.values()):
            return OutsideResult("P2", "not_run", "no episode of a model or a person yet")
        words = (
            f"{counts[FlagState.OPEN]} to judge, {counts[FlagState.CONFIRMED]} confirmed, "
            f"{counts[FlagState.DISMISSED]} dismissed"
        )
        open_ones = counts[FlagState.OPEN] > 0
        wanted = f"task:{task.code} flag:{'open' if open_ones else 'any'}"
        return OutsideResult("P2", "warned" if open_ones else "held", words, (), wanted)

    def blind_pass(self, task: Task) -> str | None:
        """Return an episode in which somebody passed without having seen the reference."""
        if task.current is None:
            return None
        episode = queries.blind_pass(task.current)
        return None if episode is None else episode.code


register(EpisodeGates())
