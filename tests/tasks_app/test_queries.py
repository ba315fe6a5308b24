"""The task list: filters, orders, pages; codes and versions."""

from typing import Any

import pytest

from studio.lib.similarity import Match, signature
from studio.web.errors import BadRequest, FilterError, NotFound
from tasks_app.core.validation.proof import Neighbour
from tasks_app.enums import Origin, TaskState
from tasks_app.models import Task
from tasks_app.operations.tasks import NewTask, create_task, create_tasks, save_version
from tasks_app.operations.verdicts import approve
from tasks_app.queries import (
    Library,
    count_by_state,
    get_task,
    get_version,
    known_requests,
    matching,
    nearest_request,
    neighbours,
    task_page,
    versions_of,
)
from tests.factories.people import person
from tests.factories.specs import green_card, imported_spec, red_card, small_spec, small_written

pytestmark = pytest.mark.django_db


@pytest.fixture
def library() -> dict[str, Task]:
    """Four tasks that differ in every filter key."""
    ada = person("ada")
    refund = small_spec(
        slug="refund",
        title="Refund the kettle",
        subtype="damage",
        difficulty={"level": 4},
        tags=["after_sales"],
        capabilities=[{"id": "C1"}, {"id": "C4"}],
        request={"text": "Please pay the money for the kettle back before noon."},
    )
    mail = small_spec(
        slug="letter",
        title="Answer the letter",
        family="payment_change_investigation",
        subtype="genuine_change",
        language="de",
        services={"mail": {"messages": []}},
        tools=["mail_list_messages"],
    )
    broken = small_spec(slug="broken", title="Broken one", constraints=[])
    return {
        "approved": approve(
            task=create_task(spec=refund, by=ada, card=green_card(refund)), base=1, by=ada
        ),
        "draft": create_task(spec=mail, by=None),
        "invalid": create_task(spec=broken, by=None, card=red_card(broken)),
        "imported": create_task(spec=imported_spec(), by=None, origin=Origin.IMPORTED),
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", {"approved", "draft", "invalid", "imported"}),
        ("state:draft,invalid", {"draft", "invalid"}),
        ("-state:draft", {"approved", "invalid", "imported"}),
        ("track:claw_eval family:payment_change_investigation", {"draft"}),
        ("subtype:damage", {"approved"}),
        ("capability:C4", {"approved"}),
        ("difficulty:>=3", {"approved"}),
        ("service:mail", {"draft"}),
        ("split:evaluation", {"imported"}),
        ("tag:after_sales", {"approved"}),
        ("origin:imported", {"imported"}),
        ("author:ada", {"approved"}),
        ("author:none", {"draft", "invalid", "imported"}),
        ("finding:O1", {"invalid"}),
        ("finding:o", {"invalid"}),
        ("finding:any", {"invalid"}),
        ("finding:none", {"approved", "draft", "imported"}),
        ("check:record_match language:de", {"draft"}),
        ("-constraint:at_most", {"invalid"}),
        ("tokens:>=1", {"approved", "draft", "invalid", "imported"}),
        ("proven:>=2020-01-01", {"approved"}),
        ("created:<=2020-01-01", set()),
        ("kettle noon", {"approved"}),
        ('"READING LAMP" -family:payment_change_investigation', {"invalid", "imported"}),
    ],
)
def test_a_filter_finds_its_tasks(library: dict[str, Task], text: str, names: set[str]) -> None:
    found = set(matching(text).values_list("code", flat=True))
    assert {name for name, task in library.items() if task.code in found} == names


def test_a_code_is_found_by_itself(library: dict[str, Task]) -> None:
    code = library["draft"].code
    assert list(matching(code.lower()).values_list("code", flat=True)) == [code]


def test_an_unknown_key_names_its_place_and_the_nearest_one(library: dict[str, Task]) -> None:
    with pytest.raises(FilterError) as caught:
        matching("kettle famly:x")
    problem = caught.value.problems[0]
    assert (problem.start, problem.end, problem.hint) == (7, 12, "Did you mean “family”?")


def test_pages_lead_through_all_rows_and_back() -> None:
    specs = [small_spec(title=f"task {number:02}", seed=number) for number in range(7)]
    create_tasks(tasks=[NewTask(spec) for spec in specs], by=None, origin=Origin.GENERATED)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        found = task_page(order="title", size=3, cursor=cursor)
        seen += [task.title for task in found.page.rows]
        cursor = found.page.next_cursor
        if cursor is None:
            break
    assert seen == [f"task {number:02}" for number in range(7)]
    assert str(found.count) == "7"


def test_a_cursor_of_another_filter_is_refused(library: dict[str, Task]) -> None:
    cursor = task_page("", size=1).page.next_cursor
    with pytest.raises(BadRequest):
        task_page("state:draft", size=1, cursor=cursor)


def test_an_unknown_order_names_the_known_ones() -> None:
    with pytest.raises(BadRequest, match="newest, oldest"):
        task_page(order="colour")


def test_a_list_row_loads_no_payload(
    library: dict[str, Task], django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2):
        for task in task_page().page.rows:
            assert task.title
            assert task.author is None or task.author.username
    assert set(task_page().page.rows[0].get_deferred_fields()) == {"text", "signature", "bands"}


def test_codes_are_forgiven_and_unknown_ones_named(library: dict[str, Task]) -> None:
    task = library["draft"]
    assert get_task(f" {task.code.lower()} ") == task
    with pytest.raises(NotFound, match="There is no task T-0000"):
        get_task("T-0000")


def test_a_version_that_is_not_there_says_which_are() -> None:
    task = create_task(spec=small_spec(), by=None)
    task = save_version(task=task, base=1, spec=small_spec(seed=9), by=None, reason="why")
    assert get_version(task).number == 2
    assert get_version(task, 1).spec["seed"] == small_written()["seed"]
    assert [version.number for version in versions_of(task)] == [2, 1]
    with pytest.raises(NotFound, match="has no version 3; its versions are 1 to 2"):
        get_version(task, 3)


def test_neighbours_are_those_of_the_newest_list() -> None:
    first, second, third = (
        create_task(spec=small_spec(seed=number), by=None) for number in range(3)
    )
    assert neighbours(second) == (third.code, first.code)
    assert neighbours(third) == (None, second.code)


def test_the_nearest_request_is_the_oldest_of_equals_among_older_tasks_in_use() -> None:
    spec = small_spec()
    first, second, third = (
        create_task(spec=small_spec(seed=number), by=None) for number in range(3)
    )
    entry = signature(spec.request.text)

    assert nearest_request(entry, Task.objects.all(), 0.8) == Match(first.code, 1.0)
    assert Library().before(third)(spec) == Neighbour(first.code, 1.0)
    assert Library().before(first)(spec) is None
    Task.objects.filter(pk=first.pk).update(state=TaskState.RETIRED)
    assert Library().before(third)(spec) == Neighbour(second.code, 1.0)
    assert nearest_request(signature("quite another wish"), Task.objects.all(), 0.8) is None
    assert nearest_request((), Task.objects.all(), 0.8) is None


def test_a_run_knows_the_requests_of_the_library_and_its_own() -> None:
    spec = small_spec()
    task = create_task(spec=spec, by=None)
    known = known_requests()
    known.add("own", signature("Book a room for twelve people on the third floor"))

    assert known.nearest(signature(spec.request.text)) == Match(task.code, 1.0)
    assert known.nearest(signature("book a room for TWELVE people on the third floor")) == Match(
        "own", 1.0
    )


def test_states_are_counted_with_zeros(library: dict[str, Task]) -> None:
    assert {state: count for state, count in count_by_state().items() if count} == {
        "imported": 1,
        "draft": 1,
        "invalid": 1,
        "approved": 1,
    }
    assert count_by_state()["retired"] == 0
