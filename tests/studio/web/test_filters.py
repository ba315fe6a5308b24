import datetime as dt
from typing import Any

import pytest
from django.db.models import Q
from hypothesis import example, given
from hypothesis import strategies as st

from studio.web.errors import FilterError, Problem
from studio.web.filters import (
    FilterSet,
    Key,
    Query,
    Term,
    Value,
    choice,
    date,
    exact,
    filter_hash,
    number,
    parse,
    text,
    yes_no,
)

STATES = ("draft", "proven", "approved")

LIST = FilterSet(
    "tasks",
    (
        choice("state", "state", lambda: STATES),
        text("tag", "tags__name"),
        number("tokens", "token_count"),
        date("created", "created_at"),
        yes_no("passed", "passed"),
        Key("service", lambda value: Q(services__contains=[exact(value)]), lambda: ["crm", "mail"]),
    ),
    search=lambda word: Q(title__icontains=word),
)


def _problems(source: str) -> list[tuple[str, int | None, int | None, str]]:
    with pytest.raises(FilterError) as caught:
        LIST.compile(source)
    return [(found.code, found.start, found.end, found.hint) for found in caught.value.problems]


def test_terms_carry_key_values_sign_and_place() -> None:
    assert parse('state:draft,proven -tag:"a b" refund') == Query(
        (
            Term(
                "state",
                (Value("draft", None, False, 6, 11), Value("proven", None, False, 12, 18)),
                False,
                0,
                18,
            ),
            Term("tag", (Value("a b", None, False, 24, 29, True),), True, 19, 29),
            Term(None, (Value("refund", None, False, 30, 36),), False, 30, 36),
        )
    )


@pytest.mark.parametrize(
    ("source", "condition"),
    [
        ("", Q()),
        ("state:draft", Q(state="draft")),
        ("state:draft,proven", Q(state="draft") | Q(state="proven")),
        ("-state:draft", ~Q(state="draft")),
        ("tokens:5", Q(token_count=5)),
        ("tokens:>=0.5", Q(token_count__gte=0.5)),
        ("tokens:<=9", Q(token_count__lte=9)),
        ("tokens:5..9", Q(token_count__gte=5) & Q(token_count__lte=9)),
        ("tokens:5..", Q(token_count__gte=5)),
        ("tokens:..9", Q(token_count__lte=9)),
        ("passed:yes", Q(passed=True)),
        ("service:crm", Q(services__contains=["crm"])),
        ('tag:"state:x, y"', Q(tags__name="state:x, y")),
        (r'tag:"say \"hi\""', Q(tags__name='say "hi"')),
        ("bank change", Q(title__icontains="bank") & Q(title__icontains="change")),
        ('"bank change"', Q(title__icontains="bank change")),
        ("-bank", ~Q(title__icontains="bank")),
        ("STATE:draft", Q(state="draft")),
    ],
)
def test_text_compiles_to_its_condition(source: str, condition: Q) -> None:
    assert LIST.compile(source) == condition


def _at(*parts: int) -> dt.datetime:
    year, month, day, hour, minute, second = (*parts, 0, 0, 0)[:6]
    return dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("source", "low", "high"),
    [
        ("created:2026-11-30", _at(2026, 11, 30), _at(2026, 12, 1)),
        ("created:>=2026-11-30", _at(2026, 11, 30), None),
        ("created:<=2026-11-30", None, _at(2026, 12, 1)),
        ("created:2026-11-01..2026-11-02", _at(2026, 11, 1), _at(2026, 11, 3)),
        (
            "created:2026-11-30T14:05",
            _at(2026, 11, 30, 14, 5),
            _at(2026, 11, 30, 14, 6),
        ),
        (
            "created:2026-11-30T14:05:10+02:00",
            _at(2026, 11, 30, 12, 5, 10),
            _at(2026, 11, 30, 12, 5, 11),
        ),
    ],
)
def test_a_day_means_all_of_that_day(
    source: str, low: dt.datetime | None, high: dt.datetime | None
) -> None:
    condition = Q()
    if low is not None:
        condition &= Q(created_at__gte=low)
    if high is not None:
        condition &= Q(created_at__lt=high)
    assert LIST.compile(source) == condition


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        ("stat:draft", [("unknown_key", 0, 4, "Did you mean “state”?")]),
        ("-stat:draft", [("unknown_key", 1, 5, "Did you mean “state”?")]),
        ("a state:drafd", [("unknown_value", 8, 13, "Did you mean “draft”?")]),
        ("service:quark", [("unknown_value", 8, 13, "Values: crm, mail.")]),
        ("tokens:many", [("bad_value", 7, 11, "Write 5, 0.5, >=5, <=5 or 5..9.")]),
        ("tokens:9..5", [("bad_value", 7, 11, "Write 5..9.")]),
        ("tokens:>5", [("bad_comparison", 7, 9, "Write >=5, <=5 or 5..9.")]),
        ("state:", [("empty", 6, 6, "Write state:value.")]),
        ("state:draft,", [("empty", 12, 12, "Write state:value.")]),
        ('tag:"open', [("open_quote", 4, 9, 'Add a closing ".')]),
        ("x - y", [("lone_sign", 2, 3, "Add a term.")]),
        ("12:30", [("not_a_key", 0, 5, "Put it in quotes to search for it.")]),
        ("a\x00b", [("bad_character", 1, 2, "Delete it.")]),
        (
            "stat:x tokens:y",
            [
                ("unknown_key", 0, 4, "Did you mean “state”?"),
                ("bad_value", 14, 15, "Write 5, 0.5, >=5, <=5 or 5..9."),
            ],
        ),
    ],
)
def test_a_fault_names_its_place_and_the_nearest_right_word(
    source: str, problems: list[tuple[str, int, int, str]]
) -> None:
    assert _problems(source) == problems


def test_limits_are_named() -> None:
    assert [p[0] for p in _problems("a " * 1001)] == ["too_long"]
    assert [p[0] for p in _problems("a " * 51)] == ["too_many_terms"]
    assert [p[0] for p in _problems("tag:" + ",".join("a" * 101))] == ["too_many_values"]


def test_a_term_can_be_dropped_from_a_filter() -> None:
    query = parse("state:draft tag:x refund")
    assert query.without(query.terms[1]).render() == "state:draft refund"


def test_the_hash_ignores_spacing_and_needless_quotes_and_nothing_else() -> None:
    same = {filter_hash(source) for source in ("tag:a  b", ' tag:"a" "b" ', "TAG:a b")}
    others = {filter_hash(source) for source in ("tag:b a", "tag:a,b", "-tag:a b", "tag:a -b")}
    assert len(same) == 1
    assert len(others) == 4
    assert not same & others
    assert filter_hash("a", "tasks") != filter_hash("a", "episodes")


FRAGMENTS = st.lists(
    st.one_of(
        st.sampled_from(
            ["state:", "tokens:", "-", '"', "\\", ",", ":", "..", ">=", "<=", " ", "draft", "1e9"]
        ),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)


@given(FRAGMENTS)
@example('tag:"\\')
@example("tokens:1e999")
@example("created:9999-12-31")
@example("created:0001-01-01T00:00+23:59")
@example("\ud800")
@example("tokens:٣")
def test_any_text_gives_a_condition_or_places_inside_the_text(source: str) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        LIST.compile(source)
    except FilterError as error:
        problems = error.problems or (Problem("", "an error without a place"),)
    for problem in problems:
        assert problem.start is not None
        assert problem.end is not None
        assert 0 <= problem.start <= problem.end <= len(source)


def _meaning(query: Query) -> Any:
    return [
        (term.key, term.negated, [(v.low, v.high, v.is_range) for v in term.values])
        for term in query.terms
    ]


@given(FRAGMENTS)
def test_what_is_rendered_reads_back_the_same(source: str) -> None:
    try:
        query = parse(source)
    except FilterError:
        return
    assert _meaning(parse(query.render())) == _meaning(query)


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("stat:draft", "There is no filter “stat” here (characters 1 to 4). Did you mean “state”?"),
        ("proven -", "A “-” negates the term behind it (characters 8 to 8). Add a term."),
        ('"proven', 'A quote is not closed (characters 1 to 7). Add a closing ".'),
    ],
)
def test_the_first_fault_is_told_with_its_place_before_its_stop(source: str, detail: str) -> None:
    with pytest.raises(FilterError) as caught:
        LIST.compile(source)
    assert caught.value.detail == detail
