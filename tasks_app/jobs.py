"""The kinds of work of this app: generate, prove, import. Each is safe to run twice.

``start_generation`` and ``start_import`` write a run and wake a worker; ``prove_now`` proves one
task in the calling process, which takes tens of milliseconds. Commands use the same kinds inline.
"""

import datetime as dt
import logging
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import orjson
from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from studio.lib.chat import EndpointFailure
from studio.lib.chat_probe import probe
from studio.lib.jsonvalue import JsonObject, JsonValue
from studio.web.errors import Conflict, Invalid, NotFound, StudioError, Unavailable
from studio.web.jobs import JobHandle, register, start
from studio.web.models import Blob, Job, User
from tasks_app.core.audit.audit import Report, chores
from tasks_app.core.audit.pool import mapper
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.generation.coverage import Share
from tasks_app.core.generation.generate import Outcome
from tasks_app.core.generation.tally import Tally
from tasks_app.core.importers import claw_eval, clawmark
from tasks_app.core.importers.outcome import Refused
from tasks_app.core.importers.prompts import read_prompts
from tasks_app.core.importers.specs import SourceError, read_path, read_upload
from tasks_app.core.spec import SpecError
from tasks_app.core.validation.contamination import print_of
from tasks_app.core.validation.proof import Elsewhere, prove, prove_edited
from tasks_app.core.validation.second_process import SecondProcess
from tasks_app.enums import Act, ImportOutcome, ImportSource, Verdict
from tasks_app.making import outcomes, processes_for
from tasks_app.models import GateAudit, GenerationRun, ImportRun, ModelEndpoint, Proof, Task
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.audits import link_audit, open_audit, store_audit
from tasks_app.operations.benchmarks import NewItem, add_benchmark, remove_benchmark
from tasks_app.operations.endpoints import open_client, record_probe, without_key
from tasks_app.operations.exploits import exploits_of
from tasks_app.operations.generation import open_fill, open_run, store_outcomes
from tasks_app.operations.imports import Item, open_import, store_import
from tasks_app.operations.proofs import record_proof
from tasks_app.operations.transitions import can, ensure_can
from tasks_app.queries import (
    Library,
    contamination,
    get_requirement,
    matching,
    proof_before,
    repeating,
)
from tasks_app.reports import stale

logger = logging.getLogger(__name__)

GENERATE: Final = "generate_tasks"
PROVE: Final = "prove_tasks"
IMPORT: Final = "import_tasks"
AUDIT: Final = "audit_gates"
RENEW: Final = "renew_proofs"
PROBE: Final = "probe_endpoint"
ADD_BENCHMARK: Final = "add_benchmark"
REMOVE_BENCHMARK: Final = "remove_benchmark"
PACKET: Final = 10
"""Tasks that are proven and stored in one transaction when proofs are renewed."""
MOST_HELPERS: Final = 16
HELP_SECONDS: Final = 20.0
"""A turn of a worker that helps; then others get their turn."""
_PROBE_SECONDS: Final = 20.0
"""For one answer of a probe."""
_FLUSH_SECONDS: Final = 0.7
_FLUSH_DRAFTS: Final = 50
_PROMPTS_A_REPORT: Final = 200


# Generation


@transaction.atomic
def start_generation(
    *,
    by: Actor,
    families: Sequence[str],
    count: int,
    seed: int,
    difficulty: Sequence[int] = (),
    requirement: str | None = None,
) -> GenerationRun:
    """Open a run and let a worker fill it; ``run.job`` is the job to follow or cancel."""
    run = open_run(
        by=by,
        families=families,
        count=count,
        seed=seed,
        difficulty=difficulty,
        requirement=get_requirement(requirement) if requirement else None,
    )
    run.job = start(GENERATE, {"run": run.code}, user_of(by), subject=run.code)
    run.save(update_fields=["job"])
    return run


@transaction.atomic
def start_fill(
    *, by: Actor, count: int, seed: int, difficulty: Sequence[int] = ()
) -> GenerationRun:
    """Open a run for the emptiest cells and let a worker fill it."""
    run = open_fill(by=by, count=count, seed=seed, difficulty=difficulty)
    run.job = start(GENERATE, {"run": run.code}, user_of(by), subject=run.code)
    run.save(update_fields=["job"])
    return run


def _generate(handle: JobHandle) -> JsonObject | None:
    run = (
        GenerationRun.objects.select_related("author").filter(code=handle.arguments["run"]).first()
    )
    if run is None:
        return None
    GenerationRun.objects.filter(pk=run.pk).update(job=handle.job_id)
    began = time.monotonic()
    tally = Tally()
    waiting: list[Outcome] = []
    stored_at = began

    def store() -> None:
        nonlocal stored_at
        handle.stop_if_cancelled()
        stored_at = time.monotonic()
        store_outcomes(run=run, outcomes=waiting, seconds=round(stored_at - began, 3))
        waiting.clear()
        handle.progress(tally.unique, run.asked, f"{tally.drafts} drafted")

    handle.progress(0, run.asked, "drafting")
    shares = [Share(*share) for share in run.shares]
    for outcome in outcomes(
        run.families,
        run.asked,
        run.seed,
        run.difficulty,
        shares=shares,
        run=run,
        processes=processes_for(run.asked),
    ):
        tally.add(outcome)
        waiting.append(outcome)
        if len(waiting) >= _FLUSH_DRAFTS or time.monotonic() - stored_at >= _FLUSH_SECONDS:
            store()
    store()
    logger.info(
        "%s: %d drafts for %d tasks, %d unique", run.code, tally.drafts, run.asked, tally.unique
    )
    return {**tally.result(), "seconds": round(time.monotonic() - began, 3)}


# Proving


def prove_now(
    *,
    task: Task,
    by: Actor,
    library: Library | None = None,
    second: Elsewhere | None = None,
    after_edit: bool = False,
) -> Proof:
    """Prove the current version here and keep the proof; Conflict where the state forbids it.

    Args:
        task: The task, with its current version.
        by: Who asks for it.
        library: Older tasks to compare it with; made where none is given.
        second: Another process that proves it as well (gate D1); without one that is left out.
        after_edit: Whether gates that the last edit cannot affect are taken from the proof of the
            version before it.
    """
    ensure_can(task, Act.PROVE)
    version = task.current
    if version is None:
        raise Conflict(f"{task.code} has no version to prove.")
    try:
        spec = version.load()
    except SpecError as error:
        raise Conflict(f"{task.code} cannot be read by this release: {error}") from error
    found = prove_edited(
        spec,
        proof_before(version) if after_edit else None,
        neighbours=(library or Library()).before(task),
        benchmarks=contamination(),
        exploits=exploits_of(task),
        second=second,
        timer=time.perf_counter,
    )
    return record_proof(version=version, card=found.card, by=by, kept=found.kept)


def start_proving(*, by: Actor, filter_text: str) -> Job:
    """Let a worker prove all tasks of a filter; FilterError where it is broken."""
    matching(filter_text)
    return start(PROVE, {"filter": filter_text}, user_of(by))


def _prove(handle: JobHandle) -> JsonObject:
    began = time.monotonic()
    filter_text = str(handle.arguments["filter"])
    # The filter may ask for what a proof changes (state:draft): the rows are fixed at the start.
    codes = list(matching(filter_text).order_by("pk").values_list("code", flat=True))
    by = User.objects.filter(pk=handle.user_id).first() if handle.user_id else None
    counts = dict.fromkeys(Verdict, 0)
    library = Library()
    with SecondProcess() as second:
        for number, code in enumerate(codes):
            handle.stop_if_cancelled()
            task = Task.objects.select_related("current", "proof").filter(code=code).first()
            if task is None or not can(task, Act.PROVE):
                continue
            try:
                proof = prove_now(task=task, by=by, library=library, second=second)
            except Conflict as error:
                # Somebody edited or judged it between two statements; the others go on.
                logger.warning("%s", error)
                continue
            counts[Verdict(proof.verdict)] += 1
            handle.progress(number + 1, len(codes), f"{code} {proof.verdict}")
    handle.progress(len(codes), len(codes), "")
    return {
        "proven": counts[Verdict.PROVEN],
        "invalid": counts[Verdict.INVALID],
        "seconds": round(time.monotonic() - began, 3),
    }


def start_renewal(*, by: Actor) -> Job:
    """Let the workers prove anew whatever was proven by gates of another version."""
    return start(RENEW, {}, user_of(by))


def _renew(handle: JobHandle) -> JsonObject:
    """Take stale proofs in packets, beside the workers that were asked to help.

    A packet is locked while it is proven and stored in one transaction, so nobody proves a task
    twice, and a killed worker's packet is free again.
    """
    began = time.monotonic()
    total = stale().count()
    by = User.objects.filter(pk=handle.user_id).first() if handle.user_id else None
    if not Job.objects.filter(pk=handle.job_id, inline=True).exists():
        ask_for_renewal(min(MOST_HELPERS, total // (2 * PACKET)), handle.user_id)
    handle.progress(0, total, "")
    library, unreadable = Library(), set[int]()
    while renew_packet(library, by, unreadable):
        handle.stop_if_cancelled()
        handle.progress(max(total - stale().count(), 0), total, "")
    seconds = time.monotonic() - began
    left = stale().count()
    handle.progress(total - left, total, "")
    renewed = Task.objects.filter(proof__created_at__gte=_started(handle))
    verdicts = dict(renewed.values_list("proof__verdict").annotate(Count("pk")).order_by())
    done = sum(verdicts.values())
    return {
        "proven": verdicts.get(Verdict.PROVEN.value, 0),
        "invalid": verdicts.get(Verdict.INVALID.value, 0),
        "left": left,
        "proofs_per_s": round(done / seconds, 1) if seconds else 0.0,
        "seconds": round(seconds, 3),
    }


def _started(handle: JobHandle) -> dt.datetime:
    started = Job.objects.values_list("started_at", flat=True).get(pk=handle.job_id)
    return started or timezone.now()


@transaction.atomic
def renew_packet(library: Library, by: Actor, unreadable: set[int]) -> int:
    """Prove some tasks with stale proofs that nobody else holds; return how many that were.

    Args:
        library: Older tasks to compare them with.
        by: Who asks for it.
        unreadable: Tasks that cannot be proven, for this one to add to: they are left out.
    """
    taken = list(
        stale()
        .exclude(pk__in=unreadable)
        .order_by("pk")
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("current", "proof")[:PACKET]
    )
    for task in taken:
        try:
            with transaction.atomic():
                prove_now(task=task, by=by, library=library)
        except Conflict as error:
            logger.warning("%s", error)
            unreadable.add(task.pk)
    return len(taken)


def ask_for_renewal(helpers: int, user_id: int | None) -> None:
    """Ask so many idle workers to take packets; without a broker the job does it alone."""
    try:
        for _ in range(helpers):
            help_with_proofs.apply_async(args=[user_id], queue="light", retry=False)
    except (BrokerError, OSError) as error:
        logger.warning("nobody was asked to help with proofs: %s", error)


@shared_task(name="tasks_app.jobs.help_with_proofs", ignore_result=True)
def help_with_proofs(user_id: int | None) -> None:
    """Prove stale tasks for one turn; harmless when there are none."""
    by = User.objects.filter(pk=user_id).first() if user_id else None
    library, unreadable = Library(), set[int]()
    until = time.monotonic() + HELP_SECONDS
    while renew_packet(library, by, unreadable):
        if time.monotonic() > until:
            ask_for_renewal(1, user_id)
            return


# Auditing the gates


@transaction.atomic
def start_audit(*, by: Actor, count: int, seed: int) -> GateAudit:
    """Open an audit of the gates and let a worker do it."""
    row = open_audit(by=by, count=count, seed=seed)
    job = start(AUDIT, {"audit": row.code}, user_of(by), subject=row.code)
    link_audit(audit=row, job=job)
    row.job = job
    return row


def hand_checked() -> list[Subject]:
    """The specs that people checked by hand, as they come with the studio."""
    paths = sorted((settings.BASE_DIR / "tests" / "specs").glob("*.json"))
    return [Subject(path.stem, orjson.loads(path.read_bytes())) for path in paths]


def _audit(handle: JobHandle) -> JsonObject | None:
    row = GateAudit.objects.filter(code=handle.arguments["audit"]).first()
    if row is None:
        return None
    link_audit(audit=row, job=Job.objects.get(pk=handle.job_id))
    began = time.monotonic()
    wanted = handle.arguments.get("gates")
    gates = [str(gate) for gate in wanted] if isinstance(wanted, list) else []
    processes = int(str(handle.arguments.get("processes") or os.cpu_count() or 1))
    planned = chores(row.count, row.seed, gates=gates)
    report = Report()
    handle.progress(0, len(planned), "planting")
    with mapper(processes, hand_checked()) as spread:
        for number, done in enumerate(spread(planned), start=1):
            report.add(done)
            handle.stop_if_cancelled()
            what = f"{done.chore.gate}.{done.chore.name}" if done.chore.gate else "sound tasks"
            handle.progress(number, len(planned), what)
    row = store_audit(audit=row, report=report, seconds=round(time.monotonic() - began, 3))
    logger.info("%s: %d missed, %d false alarms", row.code, len(report.misses), len(report.alarms))
    return {**report.result(), "audit": row.code, "seconds": row.seconds}


# Importing


@transaction.atomic
def start_import(*, by: Actor, name: str, data: bytes) -> ImportRun:
    """Keep an upload and let a worker import it; Invalid where it is refused as a whole.

    The upload is read once here, so that a wrong file is refused while its owner is looking.
    """
    try:
        for _ in read_upload(name, data):
            pass
    except SourceError as error:
        raise Invalid(str(error)) from error
    run = open_import(by=by, source=ImportSource.JSON, name=name)
    blob = Blob.put(data)
    run.job = start(IMPORT, {"run": run.code, "blob": blob.sha256}, user_of(by), subject=run.code)
    run.save(update_fields=["job"])
    return run


def _import(handle: JobHandle) -> JsonObject | None:
    run = ImportRun.objects.select_related("author").filter(code=handle.arguments["run"]).first()
    if run is None:
        return None
    ImportRun.objects.filter(pk=run.pk).update(job=handle.job_id)
    began = time.monotonic()
    handle.progress(0, None, "reading")
    try:
        items = list(_items(handle, run))
    except SourceError as error:
        raise Invalid(str(error)) from error
    run = store_import(run=run, items=items, seconds=round(time.monotonic() - began, 3))
    return import_result(run)


def _items(handle: JobHandle, run: ImportRun) -> Iterator[Item]:
    sha256 = handle.arguments.get("blob")
    if isinstance(sha256, str):
        blob = Blob.objects.filter(pk=sha256).first()
        if blob is None:
            raise NotFound("The upload is gone; send it again.")
        found = read_upload(run.name, blob.bytes())
    else:
        path = Path(str(handle.arguments["path"]))
        if run.source != ImportSource.JSON:
            yield from _folder_items(handle, ImportSource(run.source), path)
            return
        found = read_path(path)
    for number, item in enumerate(found, start=1):
        handle.stop_if_cancelled()
        card = prove(item.spec) if item.spec is not None else None
        yield Item(item.name, item.spec, card, reason=item.reason)
        handle.progress(number, None, item.name)


def _folder_items(handle: JobHandle, source: ImportSource, root: Path) -> Iterator[Item]:
    """Read a benchmark's checkout folder by folder; nothing of it is run."""
    benchmark = claw_eval if source == ImportSource.CLAW_EVAL else clawmark
    folders = benchmark.folders(root) if root.is_dir() else []
    if not folders:
        raise SourceError(f"{root.name}: no task folders below it")
    for number, folder in enumerate(folders, start=1):
        handle.stop_if_cancelled()
        found = (
            claw_eval.read_folder(folder)
            if source == ImportSource.CLAW_EVAL
            else clawmark.read_folder(folder, clawmark.name_of(folder, root))
        )
        handle.progress(number, len(folders), found.name)
        if isinstance(found, Refused):
            yield Item(found.name, reason=found.reason)
            continue
        yield Item(
            found.name,
            found.spec,
            prove(found.spec),
            source_id=found.source_id,
            tier=found.tier,
            reason=found.reason,
            defects=found.defects,
        )


def import_result(run: ImportRun) -> JsonObject:
    """Return what an import came to, under the names that the command prints."""
    tiers: dict[str, list[str]] = {}
    refused: dict[str, str] = {}
    defects: dict[str, list[str]] = {}
    counts: JsonObject = {}
    for item in run.items.order_by("position").select_related("task__current"):
        if item.outcome == ImportOutcome.REFUSED:
            refused[item.name] = item.reason
            continue
        tiers.setdefault(item.tier or "A", []).append(item.name)
        for defect in item.defects:
            defects.setdefault(str(defect), []).append(item.name)
        version = item.task.current if item.task is not None else None
        if run.source == ImportSource.CLAWMARK and version is not None:
            counts[item.name] = version.spec.get("provenance", {}).get("counts")
    return {
        "tiers": {tier: list(names) for tier, names in sorted(tiers.items())},
        "refused": dict(refused),
        "defects": {defect: list(names) for defect, names in sorted(defects.items())},
        **({"counts": counts} if run.source == ImportSource.CLAWMARK else {}),
        "seconds": run.seconds,
    }


# Benchmarks


def _add_benchmark(handle: JobHandle) -> JsonObject:
    """Keep a benchmark's hashes, then prove anew what repeats it: its proof no longer holds."""
    began = time.monotonic()
    path = Path(str(handle.arguments["path"]))
    handle.progress(0, None, "reading")
    items: list[NewItem] = []
    skipped: dict[str, JsonValue] = {}
    try:
        for number, prompt in enumerate(read_prompts(path), start=1):
            if prompt.reason:
                skipped[prompt.title] = prompt.reason
            else:
                items.append(NewItem(prompt.title, print_of(prompt.text)))
            if number % _PROMPTS_A_REPORT == 0:
                handle.stop_if_cancelled()
                handle.progress(number, None, prompt.title)
    except SourceError as error:
        raise Invalid(str(error)) from error
    by = User.objects.filter(pk=handle.user_id).first() if handle.user_id else None
    name = str(handle.arguments["name"])
    benchmark = add_benchmark(name=name, source=path.name, items=items, by=by)
    return {
        "benchmark": benchmark.name,
        "items": benchmark.items_count,
        "skipped": skipped,
        **_renewed(handle, repeating(benchmark), by),
        "seconds": round(time.monotonic() - began, 3),
    }


def _remove_benchmark(handle: JobHandle) -> JsonObject:
    """Forget a benchmark, then prove anew what repeated one: it may be proven now."""
    began = time.monotonic()
    by = User.objects.filter(pk=handle.user_id).first() if handle.user_id else None
    name = str(handle.arguments["name"])
    remove_benchmark(name=name, by=by)
    found = matching("finding:V2").select_related("current", "proof").order_by("pk")
    return {
        "benchmark": name,
        **_renewed(handle, found.iterator(chunk_size=100), by),
        "seconds": round(time.monotonic() - began, 3),
    }


def _renewed(handle: JobHandle, tasks: Iterable[Task], by: Actor) -> JsonObject:
    counts = dict.fromkeys(Verdict, 0)
    library = Library()
    with SecondProcess() as second:
        for number, task in enumerate(tasks, start=1):
            handle.stop_if_cancelled()
            if not can(task, Act.PROVE):
                continue
            try:
                proof = prove_now(task=task, by=by, library=library, second=second)
            except Conflict as error:
                logger.warning("%s", error)
                continue
            counts[Verdict(proof.verdict)] += 1
            handle.progress(number, None, f"{task.code} {proof.verdict}")
    return {"proven": counts[Verdict.PROVEN], "invalid": counts[Verdict.INVALID]}


# Endpoints


@transaction.atomic
def start_probe(*, by: Actor, endpoint: ModelEndpoint) -> Job:
    """Let a worker find out what an endpoint takes."""
    job = start(PROBE, {"endpoint": endpoint.name}, user_of(by), subject=endpoint.name)
    ModelEndpoint.objects.filter(pk=endpoint.pk).update(job=job)
    return job


def _probe(handle: JobHandle) -> JsonObject | None:
    row = ModelEndpoint.objects.filter(name=handle.arguments["endpoint"]).first()
    if row is None:
        return None
    by = User.objects.filter(pk=handle.user_id).first() if handle.user_id else None
    handle.progress(0, None, f"asking {row.base_url}")
    try:
        chat = open_client(row, timeout=_PROBE_SECONDS)
        try:
            found = probe(chat)
        finally:
            chat.close()
    except EndpointFailure as failure:
        words = without_key(row, failure.message)
        record_probe(by=by, endpoint=row, found=None, words=words)
        raise Unavailable(words) from failure
    except StudioError as error:
        words = " ".join([error.detail, *(f"{p.place} {p.message}" for p in error.problems)])
        record_probe(by=by, endpoint=row, found=None, words=words)
        raise
    record_probe(by=by, endpoint=row, found=found)
    return {"tools": found.tools, "context": found.context, "latency": found.latency}


register(PROBE, queue="chat", function=_probe)
register(GENERATE, queue="light", function=_generate)
register(PROVE, queue="light", function=_prove)
register(IMPORT, queue="light", function=_import)
register(RENEW, queue="light", function=_renew)
register(AUDIT, queue="light", function=_audit)
register(ADD_BENCHMARK, queue="light", function=_add_benchmark)
register(REMOVE_BENCHMARK, queue="light", function=_remove_benchmark)
