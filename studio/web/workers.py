"""Which workers are alive: each writes a row when it starts and every few seconds after that.

``alive()`` lists them. A broker could be asked instead, but its answer takes a second and differs
from broker to broker; a row is read in half a millisecond by the page that shows it.
"""

import datetime as dt
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

from celery.signals import worker_ready, worker_shutdown
from django.db import connection
from django.db.models.functions import Now
from django.db.utils import InterfaceError, OperationalError

from studio.web.models import Worker

logger = logging.getLogger(__name__)

SAY_SECONDS = 5.0
#: Three missed words and a worker counts as gone.
ALIVE = dt.timedelta(seconds=17)
FORGET = dt.timedelta(days=1)

_stop = threading.Event()


def alive() -> list[Worker]:
    """The workers that were seen a moment ago."""
    return list(Worker.objects.filter(seen_at__gt=Now() - ALIVE))


def say(name: str, queues: list[str]) -> None:
    """Write that the worker ``name`` is alive."""
    Worker.objects.update_or_create(
        name=name, defaults={"queues": queues, "pid": os.getpid(), "seen_at": Now()}
    )


def sign_off(name: str) -> None:
    """Take a worker that ends properly out of the list, and those that nobody saw for a day."""
    Worker.objects.filter(name=name).delete()
    Worker.objects.filter(seen_at__lt=Now() - FORGET).delete()


@worker_ready.connect(dispatch_uid="studio.web.workers.ready")
def _ready(sender: Any, **_: Any) -> None:
    """Begin to say so. A thread, because Celery's own heartbeat may be switched off."""
    name = str(sender.hostname)
    queues = sorted(str(queue.name) for queue in sender.task_consumer.queues)
    _stop.clear()
    threading.Thread(target=_keep_saying, args=(name, queues), daemon=True).start()


@worker_shutdown.connect(dispatch_uid="studio.web.workers.gone")
def _gone(sender: Any, **_: Any) -> None:
    _stop.set()
    _safely(sign_off, str(getattr(sender, "hostname", "")))


def _keep_saying(name: str, queues: list[str]) -> None:
    while not _stop.is_set():
        _safely(say, name, queues)
        _stop.wait(SAY_SECONDS)


def _safely(write: Callable[..., None], *arguments: Any) -> None:
    """A database that is away for a moment must not end a worker."""
    try:
        write(*arguments)
    except (OperationalError, InterfaceError) as error:
        logger.warning("could not tell the database about this worker: %s", error)
    finally:
        # The parent process keeps no connection that a forked child could inherit.
        connection.close()
