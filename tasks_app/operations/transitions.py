"""Which act is possible in which state, and the words for what is not."""

from studio.web.errors import Conflict, StaleBase
from tasks_app.enums import TRANSITIONS, Act, TaskState
from tasks_app.models import Task


def ensure_can(task: Task, act: Act) -> None:
    """Raise Conflict where the state does not allow the act; the words say what would."""
    allowed = TRANSITIONS[act]
    if task.state in allowed:
        return
    state = TaskState(task.state)
    names = ", ".join(item.label.lower() for item in allowed)
    raise Conflict(
        f"{task.code} is {state.label.lower()}: {act.label.lower()} is possible for tasks that "
        f"are {names}.",
        state=state.value,
        act=act.value,
    )


def can(task: Task, act: Act) -> bool:
    """Whether the state allows the act."""
    return task.state in TRANSITIONS[act]


def lock(task: Task, *, base: int | None = None) -> Task:
    """Return the row, locked until the transaction ends; StaleBase where ``base`` is an old one."""
    row = (
        Task.objects.select_for_update(of=("self",))
        .select_related("current", "proof")
        .get(pk=task.pk)
    )
    if base is not None and row.current_number != base:
        raise StaleBase(
            f"{row.code} is at version {row.current_number} now; yours began at version {base}.",
            current=row.current_number,
            base=base,
            hash=row.spec_hash,
        )
    return row
