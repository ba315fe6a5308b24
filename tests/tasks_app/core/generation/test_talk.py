"""How a sentence is made: capitals, marks and lists, the same in every family."""

import pytest

from tasks_app.core.generation.talk import articled, capital, listed, marked, sentence


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("Please book it", "Please book it."),
        ("Could you book it", "Could you book it?"),
        ("would you book it", "would you book it?"),
        ("Is it booked?", "Is it booked?"),
        ("Hello!", "Hello!"),
    ],
)
def test_what_asks_politely_is_a_question_and_a_mark_is_never_doubled(
    text: str, ended: str
) -> None:
    assert marked(text) == ended


def test_a_sentence_has_a_capital_and_a_mark() -> None:
    assert (capital("iPad of the desk"), capital("")) == ("IPad of the desk", "")
    assert sentence("the lift in Aalborg stands still") == "The lift in Aalborg stands still."


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("A open box and a oak chair", "An open box and an oak chair"),
        ("a one-off, a European, a user, a lamp", "a one-off, a European, a user, a lamp"),
        ("Anna is a artist; via a email", "Anna is an artist; via an email"),
    ],
)
def test_an_article_goes_with_what_was_put_in_after_it(text: str, spoken: str) -> None:
    assert articled(text) == spoken


def test_a_list_is_joined_by_commas_and_a_last_word() -> None:
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(["a", "b", "c"], "or") == "a, b or c"
