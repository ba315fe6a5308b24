import datetime as dt

import pytest
from django.utils import timezone

from studio.web import workers
from studio.web.models import Worker

pytestmark = pytest.mark.django_db


def test_a_worker_that_speaks_is_alive_and_a_silent_one_is_not() -> None:
    workers.say("light@mill", ["light"])
    workers.say("light@mill", ["light"])
    silent = timezone.now() - workers.ALIVE - dt.timedelta(seconds=1)
    Worker.objects.create(name="chat@mill", pid=1, seen_at=silent)
    assert [(row.name, row.queues) for row in workers.alive()] == [("light@mill", ["light"])]


def test_a_worker_that_ends_is_taken_out_with_those_long_gone() -> None:
    workers.say("light@mill", ["light"])
    Worker.objects.create(name="old@mill", pid=1, seen_at=timezone.now() - workers.FORGET * 2)
    workers.say("chat@mill", ["chat"])
    workers.sign_off("light@mill")
    assert list(Worker.objects.values_list("name", flat=True)) == ["chat@mill"]
