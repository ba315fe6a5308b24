import pytest
from django.test import RequestFactory

from studio.web.filter_line import FilterLine, drops, filter_line
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tasks_app.queries import TASKS
from tests.factories.specs import small_spec

pytestmark = pytest.mark.django_db


def line(query: str) -> FilterLine:
    return filter_line(
        RequestFactory().get(f"/tasks/?{query}"), TASKS, noun="tasks", keep=("sort",)
    )


def test_every_q_is_one_filter_and_each_chip_drops_its_term() -> None:
    found = line("q=state:proven&q=difficulty:%3E%3D3+lamp&sort=title")
    assert found.good == "state:proven difficulty:>=3 lamp"
    assert [(chip.text, chip.drop_url, chip.wrong) for chip in found.terms] == [
        ("state:proven", "/tasks/?q=difficulty%3A%3E%3D3+lamp&sort=title", False),
        ("difficulty:>=3", "/tasks/?q=state%3Aproven+lamp&sort=title", False),
        ("lamp", "/tasks/?q=state%3Aproven+difficulty%3A%3E%3D3&sort=title", False),
    ]
    assert (found.problems, found.fix) == ((), "")


def test_a_wrong_term_is_left_out_and_the_nearest_right_filter_offered() -> None:
    found = line("q=state:provn+dificulty:4+lamp")
    assert found.good == "lamp"
    assert [chip.wrong for chip in found.terms] == [True, True, False]
    assert len(found.problems) == 2
    assert (found.fix, found.fix_url) == (
        "state:proven difficulty:4 lamp",
        "/tasks/?q=state%3Aproven+difficulty%3A4+lamp",
    )
    assert line("q=zzzzzz:1").fix == ""


def test_a_text_that_cannot_be_read_goes_back_as_it_was() -> None:
    found = line("q=%22open")
    assert [(chip.text, chip.wrong) for chip in found.terms] == [('"open', True)]
    assert (found.good, len(found.problems)) == ("", 1)


def test_a_facet_adds_its_value_or_takes_it_out() -> None:
    found = line("q=state:proven+-tag:x")
    assert found.toggled("state", "draft") == "/tasks/?q=-tag%3Ax+state%3Aproven%2Cdraft"
    assert found.toggled("state", "proven") == "/tasks/?q=-tag%3Ax"
    assert found.toggled("tag", "two words") == (
        "/tasks/?q=state%3Aproven+-tag%3Ax+tag%3A%22two+words%22"
    )
    assert (found.has("state", "proven"), found.has("tag", "x")) == (True, False)


def test_drops_say_what_comes_back() -> None:
    create_task(spec=small_spec(), by=None)
    found = line("q=difficulty:2+state:retired")
    assert [(d.text, str(d.count)) for d in drops(found, TASKS, Task.objects.all())] == [
        ("state:retired", "1")
    ]
    assert drops(line("q=state:retired"), TASKS, Task.objects.all()) == []
