"""Gate V2: hashes of runs of words, what is shared, what is said about it."""

from tasks_app.core.validation.contamination import Overlap, overlap, print_of, prints_of
from tasks_app.core.validation.proof import prove
from tests.factories.examples import PAYMENT, SUPPORT, broken, example

LONG = (
    "please look through all open tickets of last week and close those that nobody answered "
    "within three days"
)


def against(text: str, item: str) -> Overlap:
    other = print_of(item)
    return overlap(print_of(text), frozenset(other.grams), frozenset(other.shingles), "b", "i")


def test_a_text_shares_every_run_with_itself_whatever_its_case_and_signs() -> None:
    found = against(LONG, LONG.upper().replace(" ", ", "))

    assert (found.grams, found.share) == (len(LONG.split()) - 12, 1.0)
    assert found.passage == " ".join(LONG.split()[:13])
    assert found.is_contaminated


def test_a_run_of_thirteen_words_within_other_words_is_contamination() -> None:
    taken = " ".join(LONG.split()[3:16])
    found = against(f"Hello Ines, could you {taken} instead of the others, thank you", LONG)

    assert (found.grams, found.passage) == (1, taken)
    assert found.is_contaminated


def test_twelve_words_in_a_row_are_no_long_run() -> None:
    taken = " ".join(LONG.split()[3:15])
    found = against(
        f"{taken} " + "and then write one short note about each of them to Ines or to Bram, "
        "who both wait for it since Monday morning, and file it",
        LONG,
    )

    assert (found.grams, found.is_contaminated) == (0, False)
    assert 0 < found.share < 0.5


def test_a_changed_word_in_each_sentence_does_not_hide_what_was_taken() -> None:
    words = LONG.split()
    changed = [f"new{i}" if i % 9 == 8 else word for i, word in enumerate(words)]
    found = against(" ".join(changed), LONG)

    assert found.grams == 0
    assert found.share >= 0.5
    assert found.is_contaminated


def test_signs_of_a_chinese_text_count_as_words() -> None:
    text = "请帮我算算现在提前还房贷划不划算"

    assert len(print_of(text).grams) == len(text) - 12
    assert against(f"你好，{text}。", text).is_contaminated


def test_short_texts_are_one_run_and_share_it_only_if_they_are_equal() -> None:
    assert against("Pay it now", "pay it, now!").grams == 1
    assert against("Pay it today", "pay it now").is_contaminated is False
    assert print_of(" … ").grams == {}


def test_later_days_are_compared_too() -> None:
    def second_day(data: dict[str, object]) -> None:
        start = "2031-03-20T09:10:00+01:00"
        data["timeline"] = [
            {"id": "one", "at": start},
            {"id": "two", "at": "2031-03-21T09:10:00+01:00", "notification": LONG},
        ]

    spec = broken(SUPPORT, second_day)

    assert print_of(LONG) in prints_of(spec)


def test_a_contaminated_request_blocks_and_names_benchmark_item_and_words() -> None:
    found = Overlap("claw-eval", "T085_stock", 2, 0.4, "the very words")
    card = prove(example(PAYMENT), benchmarks=lambda _: found)

    assert card.proven is False
    assert [(f.gate, f.path, f.message) for f in card.findings] == [
        (
            "V2",
            "/request/text",
            (
                "the request shares 2 runs of 13 words and 40% of its short runs with "
                "“T085_stock” of claw-eval: “the very words”"
            ),
        )
    ]


def test_what_is_shared_a_little_is_said_and_harms_nothing() -> None:
    card = prove(example(PAYMENT), benchmarks=lambda _: Overlap("b", "One", 0, 0.1, "let me know"))
    gate = next(gate for gate in card.gates if gate.id == "V2")

    assert card.proven
    assert (gate.state, gate.reason) == ("held", "10% of its short runs stand in “One” of b")


def test_without_benchmarks_the_gate_says_that_it_did_not_run() -> None:
    gate = next(gate for gate in prove(example(PAYMENT)).gates if gate.id == "V2")

    assert (gate.state, gate.reason) == ("not_run", "no benchmark to compare with")
