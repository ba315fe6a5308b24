"""The spec as data: what is derived from it follows every change."""

from tests.factories.examples import example


def test_a_changed_copy_of_a_spec_has_its_own_hash_and_stages() -> None:
    spec = example("support_resolution")
    known = (spec.hash, spec.stages)
    changed = spec.model_copy(update={"title": "another", "timeline": ()})
    assert changed.hash != spec.hash
    assert (spec.hash, spec.stages) == known
    assert [stage.id for stage in changed.stages] == ["main"]
    assert changed.model_copy(update={"title": spec.title, "timeline": spec.timeline}) == spec
