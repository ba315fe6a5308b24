"""What the gates say to defects planted by somebody who had not read them."""

import functools
from collections import Counter

import pytest

from tasks_app.core.spec import SpecError, load_spec
from tasks_app.core.validation.card import ProofCard
from tasks_app.core.validation.proof import prove
from tests.blind.planted import Planted, Source, defects, missed, sound

DEFECTS = tuple(defects())
SOURCES = tuple(dict.fromkeys(defect.source for defect in DEFECTS))


@functools.cache
def _sound_card(source: Source) -> ProofCard:
    return prove(sound(source))


def _said(card: ProofCard) -> Counter[tuple[str, str]]:
    return Counter((finding.gate, finding.severity) for finding in card.findings)


def _caught(defect: Planted) -> bool:
    """Whether the spec is refused or not proven; for a slight defect, whether a gate says more
    than it says of the sound task.
    """
    try:
        spec = load_spec(defect.spoiled())
    except SpecError:
        return True
    card = prove(spec)
    if not card.proven:
        return True
    return defect.warns and bool(_said(card) - _said(_sound_card(defect.source)))


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_the_task_without_the_defect_is_proven(source: Source) -> None:
    assert _sound_card(source).proven


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_planted_defect_is_found_unless_it_is_listed_as_missed(defect: Planted) -> None:
    assert _caught(defect) is (defect.name not in missed()), defect.what


def test_each_defect_has_a_name_of_its_own_and_only_these_are_listed_as_missed() -> None:
    names = Counter(defect.name for defect in DEFECTS)
    assert [name for name, count in names.items() if count > 1] == []
    assert set(missed()) - set(names) == set()
