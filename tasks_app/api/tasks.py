"""Tasks: list, read, write, judge, import, export."""

from django.http import HttpRequest, StreamingHttpResponse
from ninja import File, Query, Router, Status, UploadedFile

from studio.web.acts import Act
from studio.web.api.paging import PageOut, page_out
from studio.web.auth import principal, require
from studio.web.errors import NotFound
from studio.web.exports import jsonl_response
from tasks_app.enums import Origin
from tasks_app.jobs import prove_now, start_import, start_proving
from tasks_app.operations import verdicts
from tasks_app.operations.outside_gates import outside_results
from tasks_app.operations.tasks import (
    apply_suggestion,
    create_task,
    duplicate,
    read_spec,
    save_version,
)
from tasks_app.queries import (
    comments_of,
    exported,
    get_import,
    get_task,
    get_version,
    import_items,
    reviews_of,
    task_page,
    versions_of,
)
from tasks_app.schemas.imports import ImportOut
from tasks_app.schemas.tasks import (
    ExportFilter,
    ProveIn,
    RepairIn,
    StartedOut,
    TaskDetail,
    TaskFilter,
    TaskIn,
    TaskOut,
    VersionDetail,
    VersionIn,
    VersionOut,
    export_row,
)
from tasks_app.schemas.verdicts import (
    CommentIn,
    CommentOut,
    ProofOut,
    RetireIn,
    ReviewOut,
    VerdictIn,
)

router = Router(tags=["tasks"])


@router.get("", response=PageOut[TaskOut], summary="Tasks of a filter")
@require(Act.READ)
def list_tasks(request: HttpRequest, asked: Query[TaskFilter]) -> PageOut[TaskOut]:
    """One page in the order asked for; a broken filter is a 422 that names the place."""
    found = task_page(asked.q, order=asked.order, cursor=asked.cursor, size=asked.size)
    return page_out(found.page, TaskOut.from_row)


@router.post("", response={201: TaskDetail}, summary="Store a spec as a new task")
@require(Act.EDIT)
def create(request: HttpRequest, body: TaskIn) -> Status[TaskDetail]:
    """A draft; 422 names every place where the spec is wrong."""
    task = create_task(spec=read_spec(body.spec), by=principal(request), origin=Origin.WRITTEN)
    return Status(201, TaskDetail.from_task(task))


@router.get("/export", summary="All tasks of a filter as JSON Lines")
@require(Act.EXPORT)
def export(request: HttpRequest, asked: Query[ExportFilter]) -> StreamingHttpResponse:
    """One task with its spec a line; the last line holds count and SHA-256 of those before.

    Tasks whose licence forbids commercial use are left out unless the filter names them
    (`tag:non-commercial`, or their codes); the last line says how many.
    """
    found = exported(asked.q)
    return jsonl_response(
        map(export_row, found.tasks),
        name="tasks",
        filter_text=asked.q,
        left_out=found.left_out,
    )


@router.post("/prove", response={202: StartedOut}, summary="Prove all tasks of a filter")
@require(Act.EDIT)
def prove_all(request: HttpRequest, body: ProveIn) -> Status[StartedOut]:
    """A worker does it: follow the job."""
    job = start_proving(by=principal(request), filter_text=body.q)
    return Status(202, StartedOut(job=job.code))


@router.post("/import", response={202: ImportOut}, summary="Import task specs")
@require(Act.IMPORT)
def import_file(request: HttpRequest, file: File[UploadedFile]) -> Status[ImportOut]:
    """A .json, .jsonl or .zip file; refused as a whole where it breaks a limit."""
    data = file.read()
    run = start_import(by=principal(request), name=file.name or "upload", data=data)
    return Status(202, ImportOut.from_row(run, []))


@router.get("/imports/{code}", response=ImportOut, summary="One import and its items")
@require(Act.READ)
def read_import(request: HttpRequest, code: str) -> ImportOut:
    """Each item with its task, or the reason why it was refused."""
    run = get_import(code)
    return ImportOut.from_row(run, list(import_items(run)))


@router.get("/{code}", response=TaskDetail, summary="One task with its spec")
@require(Act.READ)
def read(request: HttpRequest, code: str) -> TaskDetail:
    """The current version."""
    return TaskDetail.from_task(get_task(code))


@router.get("/{code}/versions", response=list[VersionOut], summary="The versions of a task")
@require(Act.READ)
def list_versions(request: HttpRequest, code: str) -> list[VersionOut]:
    """Newest first, without specs."""
    return [VersionOut.from_row(row) for row in versions_of(get_task(code))]


@router.post("/{code}/versions", response={201: TaskDetail}, summary="Save a new version")
@require(Act.EDIT)
def save(request: HttpRequest, code: str, body: VersionIn) -> Status[TaskDetail]:
    """409 with ``current`` where somebody saved since ``base``; proof and approval become void."""
    task = save_version(
        task=get_task(code),
        base=body.base,
        spec=read_spec(body.spec),
        by=principal(request),
        reason=body.reason,
    )
    return Status(201, TaskDetail.from_task(task))


@router.get("/{code}/versions/{number}", response=VersionDetail, summary="One version")
@require(Act.READ)
def read_version(request: HttpRequest, code: str, number: int) -> VersionDetail:
    """The spec as it was, and the patch from its parent."""
    return VersionDetail.from_version(get_version(get_task(code), number))


@router.get("/{code}/proof", response=ProofOut, summary="The proof card")
@require(Act.READ)
def read_proof(request: HttpRequest, code: str) -> ProofOut:
    """Of the current version; 404 where it was not proven yet."""
    task = get_task(code)
    if task.proof is None:
        raise NotFound(f"{code} has no proof of its present content.")
    return ProofOut.from_row(task.proof, outside_results(task))


@router.post("/{code}/prove", response=ProofOut, summary="Prove one task now")
@require(Act.EDIT)
def prove_one(request: HttpRequest, code: str) -> ProofOut:
    """Runs every gate and keeps the card; takes tens of milliseconds."""
    task = get_task(code)
    proof = prove_now(task=task, by=principal(request))
    return ProofOut.from_row(proof, outside_results(task))


@router.post("/{code}/repair", response={201: TaskDetail}, summary="Apply a suggested repair")
@require(Act.EDIT)
def repair(request: HttpRequest, code: str, body: RepairIn) -> Status[TaskDetail]:
    """The repair that one finding of the current proof suggests becomes a version."""
    task = apply_suggestion(
        task=get_task(code), base=body.base, finding=body.finding, by=principal(request)
    )
    return Status(201, TaskDetail.from_task(task))


@router.post("/{code}/duplicate", response={201: TaskDetail}, summary="Copy a task")
@require(Act.EDIT)
def copy(request: HttpRequest, code: str) -> Status[TaskDetail]:
    """A draft of its own that knows where it came from."""
    task = duplicate(task=get_task(code), by=principal(request))
    return Status(201, TaskDetail.from_task(task))


@router.post("/{code}/approve", response=TaskOut, summary="Approve a version")
@require(Act.REVIEW)
def approve(request: HttpRequest, code: str, body: VerdictIn) -> TaskOut:
    """Needs a green proof of exactly this content; 409 with the findings otherwise."""
    task = verdicts.approve(
        task=get_task(code),
        base=body.base,
        by=principal(request),
        reason=body.reason,
        cites=body.cites,
        seconds=body.seconds,
    )
    return TaskOut.from_row(task)


@router.post("/{code}/reject", response=TaskOut, summary="Reject a version")
@require(Act.REVIEW)
def reject(request: HttpRequest, code: str, body: VerdictIn) -> TaskOut:
    """A reason is needed."""
    task = verdicts.reject(
        task=get_task(code),
        base=body.base,
        by=principal(request),
        reason=body.reason,
        cites=body.cites,
        seconds=body.seconds,
    )
    return TaskOut.from_row(task)


@router.post("/{code}/retire", response=TaskOut, summary="Take a judged task out of use")
@require(Act.REVIEW)
def retire(request: HttpRequest, code: str, body: RetireIn) -> TaskOut:
    """Its versions, episodes and datasets stay."""
    return TaskOut.from_row(
        verdicts.retire(task=get_task(code), by=principal(request), reason=body.reason)
    )


@router.get("/{code}/reviews", response=list[ReviewOut], summary="The verdicts on a task")
@require(Act.READ)
def list_reviews(request: HttpRequest, code: str) -> list[ReviewOut]:
    """On any version, newest first."""
    return [ReviewOut.from_row(row) for row in reviews_of(get_task(code))]


@router.get("/{code}/comments", response=list[CommentOut], summary="The notes on a task")
@require(Act.READ)
def list_comments(request: HttpRequest, code: str) -> list[CommentOut]:
    """Oldest first."""
    return [CommentOut.from_row(row) for row in comments_of(get_task(code))]


@router.post("/{code}/comments", response={201: CommentOut}, summary="Add a note")
@require(Act.COMMENT)
def add_comment(request: HttpRequest, code: str, body: CommentIn) -> Status[CommentOut]:
    """On the current version, or on a place of it."""
    note = verdicts.comment(
        task=get_task(code), by=principal(request), text=body.text, anchor=body.anchor
    )
    return Status(201, CommentOut.from_row(note))
