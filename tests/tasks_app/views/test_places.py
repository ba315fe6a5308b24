"""Where a finding leads: every link to a place of a spec ends at an element of its page."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.test import Client

from tasks_app.core.presenting.places import place_of
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.operations.tasks import create_task
from tasks_app.views.proof import place_url
from tests.factories.examples import MONTH_END, SUPPORT, written
from tests.factories.specs import imported_spec, small_spec, small_written

pytestmark = pytest.mark.django_db

_IDS = re.compile(r'\bid="([^"]+)"')


def _pointers(value: Any, pointer: str = "") -> Iterator[str]:
    """Every place of a written spec, and what is to be added to each list; of records the first of
    each collection.
    """
    yield pointer
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _pointers(item, f"{pointer}/{key}")
    elif isinstance(value, list):
        held = value[:1] if pointer.startswith("/services/") else value
        for index, item in enumerate(held):
            yield from _pointers(item, f"{pointer}/{index}")
        yield from (f"{pointer}/{len(value)}", f"{pointer}/-")


def _every_place(spec: TaskSpec) -> list[str]:
    return [*_pointers(spec.written()), *(f"/{name}" for name in TaskSpec.model_fields)]


def _lost(client: Client, spec: TaskSpec, *, edit: bool) -> list[str]:
    """The links that end at no element, or at more than one."""
    task = create_task(spec=spec, by=None)
    data = spec.written()
    links = {place_url(task, place_of(data, p), edit=edit): p for p in _every_place(spec)}
    seen: dict[str, list[str]] = {}
    for url in links:
        page = url.partition("#")[0]
        if page not in seen:
            answer = client.get(page)
            assert answer.status_code == 200, page
            seen[page] = _IDS.findall(answer.content.decode())
    return [
        f"{pointer} {url}"
        for url, pointer in links.items()
        if seen[url.partition("#")[0]].count(url.partition("#")[2]) != 1
    ]


def _no_world() -> TaskSpec:
    services = small_written()["services"]
    services["helpdesk"]["tickets"][0]["created_at"] = "yesterday"
    return small_spec(services=services)


def _twice_named() -> TaskSpec:
    step = small_written()["reference"][0]
    close = step["tool"]
    return small_spec(tools=[close, close], reference=[step, step])


SPECS: Mapping[str, Callable[[], TaskSpec]] = {
    "small": small_spec,
    "imported": imported_spec,
    "without a reference": lambda: small_spec(reference=[]),
    "with nothing graded": lambda: small_spec(checks=[], constraints=[], write_set=[], tools=[]),
    "a step that cannot run": lambda: small_spec(
        reference=[{"id": "none", "tool": "helpdesk_close_ticket", "arguments": {"id": {
            "from": "nowhere"}}}, {"id": "never", "tool": "helpdesk_close_ticket"}]
    ),
    "two of one name": _twice_named,
    "no world": _no_world,
    "with another solution": lambda: small_spec(alternatives=[small_written()["reference"]]),
    "support": lambda: load_spec(written(SUPPORT)),
    "month end": lambda: load_spec(written(MONTH_END)),
}  # fmt: skip


@pytest.mark.parametrize("edit", [False, True], ids=["page", "editor"])
@pytest.mark.parametrize("name", SPECS)
def test_every_link_of_a_finding_ends_at_one_element(editor: Client, name: str, edit: bool) -> None:
    assert _lost(editor, SPECS[name](), edit=edit) == []


def test_a_step_a_tool_and_a_capability_have_places_of_their_own() -> None:
    data = written(SUPPORT)
    data["alternatives"] = [data["reference"]]
    found = {p: place_of(data, p).anchor for p in (
        "/reference/2/arguments", "/tools/1", "/capabilities/0", "/limits/tool_calls",
        "/workplace/policies/0/text", "/checks/99", "/alternatives/0/3",
    )}  # fmt: skip
    assert found == {
        "/reference/2/arguments": "at-reference-2",
        "/tools/1": "at-tools-1",
        "/capabilities/0": "at-capabilities-0",
        "/limits/tool_calls": "at-limits",
        "/workplace/policies/0/text": "at-policies-0",
        "/checks/99": "at-checks",
        "/alternatives/0/3": "at-alternatives-0",
    }
