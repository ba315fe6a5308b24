"""A small demo world: tasks of the large families in every state, and episodes of two policies.

Running it again changes nothing: what is there already is left as it is.
"""

from argparse import ArgumentParser
from itertools import islice
from typing import Any, Final

from django.apps import apps
from django.core.management import call_command, get_commands
from django.db.models import QuerySet

from studio.lib.jsonvalue import JsonObject
from studio.web import jobs
from studio.web.commands import Progress, StudioCommand
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.spec import load_spec
from tasks_app.enums import TaskState
from tasks_app.jobs import GENERATE, prove_now
from tasks_app.models import GenerationRun, Review, Task, WorkflowRequirement
from tasks_app.operations.generation import open_run, save_requirement
from tasks_app.operations.tasks import save_version
from tasks_app.operations.verdicts import approve, reject

SEED: Final = 20311
"""Not a seed that somebody would try first: their tasks would repeat the demo's."""
EACH: Final = 12
SHOWN: Final = ("payment_change_investigation", "support_resolution")
"""The families of the demo; what comes last stands on top of the lists."""
APPROVED: Final = 4
REJECTED: Final = 1
BROKEN: Final = 1

WISHES: Final = {
    "support_resolution": (
        "A customer writes about an order. The coworker must find the right ticket, customer and "
        "order among lookalikes, follow the refund and service rules, put the matter right once, "
        "and answer in time."
    ),
    "payment_change_investigation": (
        "A supplier writes that its bank has changed while a payment is near. The coworker must "
        "find the right payee, follow the call-back rule, hold what is due and say who follows up."
    ),
}


class Command(StudioCommand):
    """`seed_demo`."""

    help = "Fill an empty studio with a small demo world; changes nothing the second time."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """None of its own."""

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Generate, judge, break, roll out: whatever is not there yet."""
        tasks = 0
        for family in SHOWN:
            wish = self._wish(family)
            made = _of(wish)
            if not made.exists():
                self._generate(wish, as_json=options["as_json"])
            if not Review.objects.filter(version__task__in=made).exists():
                self._judge(made)
            tasks += made.count()
        return {"tasks": tasks, "episodes": self._roll_out()}

    def _wish(self, family: str) -> WorkflowRequirement:
        known = WorkflowRequirement.objects.filter(shipped=True, families=[family]).first()
        if known is not None:
            return known
        return save_requirement(
            by=None,
            title=FAMILIES[family].title,
            text=WISHES.get(family, FAMILIES[family].purpose),
            families=[family],
            capabilities=FAMILIES[family].capabilities,
            count=EACH,
            seed=SEED,
            shipped=True,
        )

    def _generate(self, wish: WorkflowRequirement, *, as_json: bool) -> None:
        run = open_run(
            by=None, families=wish.families, count=wish.count, seed=wish.seed, requirement=wish
        )
        show = Progress(self, as_json=as_json)
        try:
            jobs.run_inline(GENERATE, {"run": run.code}, subject=run.code, on_progress=show)
        finally:
            show.close()

    def _judge(self, tasks: "QuerySet[Task]") -> None:
        proven = iter(tasks.filter(state=TaskState.PROVEN).order_by("pk"))
        for task in islice(proven, APPROVED):
            approve(task=task, base=1, by=None, reason="Reads well, grades what it asks for.")
        for task in islice(proven, REJECTED):
            reject(
                task=task,
                base=1,
                by=None,
                reason="The request names what the coworker should find out.",
            )
        for task in islice(proven, BROKEN):
            self._break(task)

    def _break(self, task: Task) -> None:
        """Leave one task as an edit leaves it that nobody thought through."""
        if task.current is None:
            return
        written = task.current.spec
        for check in written["checks"]:
            for path, value in check.get("expect", {}).items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    check["expect"][path] = round(value + 5, 2)
                    edited = save_version(
                        task=task,
                        base=task.current_number,
                        spec=load_spec(written),
                        by=None,
                        reason="five more, as a courtesy",
                    )
                    prove_now(task=edited, by=None)
                    return

    def _roll_out(self) -> int:
        if "run_rollouts" not in get_commands():
            return 0
        episodes = apps.get_model("rollouts_app", "Episode").objects
        if not episodes.exists():
            for policy in ("null", "reference"):  # what came last stands on top of the list
                call_command(
                    "run_rollouts",
                    policy=policy,
                    tasks="state:approved",
                    n=1,
                    stdout=self.stderr,
                )
        return int(episodes.count())


def _of(wish: WorkflowRequirement) -> "QuerySet[Task]":
    runs = GenerationRun.objects.filter(requirement=wish)
    # Not distinct(): PostgreSQL cannot compare the json column of the joined version.
    made = Task.objects.filter(versions__attempts__run__in=runs).values("pk")
    return Task.objects.filter(pk__in=made).select_related("current")
