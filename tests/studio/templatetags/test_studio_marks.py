"""Marks, states, difficulty and gate strips as HTML."""

from dataclasses import dataclass

import pytest
from django.template import Context, Template

from studio.templatetags.studio_marks import MARKS, STATE_MARKS, gates_in_words
from studio.web.choices import JobState


@dataclass
class _Gate:
    letter: str
    name: str
    state: str


GATES = [
    _Gate("S", "schema", "ok"),
    _Gate("K", "constraints", "bad"),
    _Gate("D", "determinism", "warn"),
    _Gate("V", "diversity", "none"),
]


def _render(source: str, **context: object) -> str:
    return Template("{% load studio_marks %}" + source).render(Context(context))


def test_a_state_is_a_mark_and_its_words() -> None:
    assert _render("{% state s %}", s="in_review") == (
        '<span class="st"><svg class="m " aria-hidden="true">'
        '<use href="/static/icons.svg#m-wait"/></svg>in review</span>'
    )


def test_words_from_outside_are_escaped() -> None:
    assert "&lt;b&gt;" in _render("{% state s %}", s="<b>")
    assert "&lt;b&gt;" in _render("{% state 'ok' label %}", label="<b>")
    assert "&quot;" in _render("{% strip g %}", g=[_Gate("S", '"', "bad")])


def test_an_unknown_state_gets_the_empty_ring() -> None:
    assert "#m-none" in _render("{% state 'never heard of' %}")


def test_every_job_state_has_a_mark_of_its_own_or_is_plainly_over() -> None:
    assert {state.value for state in JobState} - STATE_MARKS.keys() == {"stopped"}
    assert set(STATE_MARKS.values()) <= MARKS


@pytest.mark.parametrize(
    ("value", "filled", "words"),
    [(None, 0, "not set"), (1, 1, "1 of 5"), (5, 5, "5 of 5"), (9, 5, "5 of 5")],
)
def test_difficulty_fills_as_many_cells(value: int | None, filled: int, words: str) -> None:
    shown = _render("{% level v %}", v=value)
    assert (shown.count('class="f"'), shown.count("<i"), words in shown) == (filled, 5, True)


def test_a_strip_has_one_cell_a_gate_and_says_it_in_words() -> None:
    shown = _render("{% strip g %}", g=GATES)
    assert '<i></i><i class="x"></i><i class="w"></i><i class="o"></i>' in shown
    assert gates_in_words(GATES) == ("2 of 4 gates hold, broken: constraints, warning: determinism")


def test_a_card_that_was_never_made_says_so() -> None:
    assert gates_in_words([_Gate("S", "schema", "none")]) == "not proven yet"
