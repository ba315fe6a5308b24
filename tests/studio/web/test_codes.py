import pytest

from studio.web.codes import get_by_code, is_code, new_codes, normalise
from studio.web.errors import NotFound
from studio.web.models import Job, SavedView

pytestmark = pytest.mark.django_db


def test_a_new_row_gets_a_code_of_its_prefix_and_keeps_it() -> None:
    job = Job.objects.create(kind="x")
    code = job.code
    job.save()
    assert is_code(code, "JOB")
    assert len(code) == len("JOB-") + 5
    assert Job.objects.get().code == code


def test_many_codes_are_distinct_and_grow_longer_before_they_grow_rare() -> None:
    # A hundredth of all codes with four characters is 10,485.
    codes = new_codes(SavedView, 20_000)
    assert len(set(codes)) == 20_000
    assert {len(code) for code in codes} == {len("V-") + 5}


def test_codes_taken_already_are_not_given_again() -> None:
    jobs = [Job(kind="x", code=code) for code in new_codes(Job, 500)]
    Job.objects.bulk_create(jobs)
    assert not {job.code for job in jobs} & set(new_codes(Job, 500))


@pytest.mark.parametrize(
    ("typed", "code"), [("t-4f7k", "T-4F7K"), (" T-4o7l ", "T-4071"), ("run-i", "RUN-1")]
)
def test_what_people_type_is_forgiven(typed: str, code: str) -> None:
    assert normalise(typed) == code


@pytest.mark.parametrize(
    "typed", ["", "T", "T-", "T-12", "T-UUUU", "T-123456789", "T 1234", "é-1234"]
)
def test_other_shapes_are_no_codes(typed: str) -> None:
    assert not is_code(typed)


def test_a_row_is_found_by_what_was_typed_and_a_missing_one_is_named() -> None:
    job = Job.objects.create(kind="x", code="JOB-00A1Z")
    assert get_by_code(Job.objects.all(), "job-ooalz") == job
    for code in ("JOB-99999", "JOB-00A1Z\x00", "' OR 1=1"):
        with pytest.raises(NotFound, match="There is no job"):
            get_by_code(Job.objects.all(), code)
