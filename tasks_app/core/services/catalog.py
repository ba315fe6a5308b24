"""The table of services: explicit, so that what exists does not depend on what was imported."""

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from tasks_app.core.records import CollectionFacts
from tasks_app.core.services.base import Service, Tool
from tasks_app.core.services.calendar import Calendar
from tasks_app.core.services.chat import Chat
from tasks_app.core.services.colleague import Colleague
from tasks_app.core.services.config import Config
from tasks_app.core.services.contacts import Contacts
from tasks_app.core.services.crm import Crm
from tasks_app.core.services.files import Files
from tasks_app.core.services.finance import Finance
from tasks_app.core.services.helpdesk import Helpdesk
from tasks_app.core.services.inventory import Inventory
from tasks_app.core.services.kb import Kb
from tasks_app.core.services.mail import Mail
from tasks_app.core.services.notes import Notes
from tasks_app.core.services.orders import Orders
from tasks_app.core.services.rss import Rss
from tasks_app.core.services.scheduler import Scheduler
from tasks_app.core.services.sheets import Sheets
from tasks_app.core.services.tables import Tables
from tasks_app.core.services.todo import Todo
from tasks_app.core.services.web import Web

SERVICES: Final[tuple[type[Service], ...]] = (
    Mail,
    Contacts,
    Chat,
    Calendar,
    Todo,
    Scheduler,
    Crm,
    Helpdesk,
    Orders,
    Finance,
    Sheets,
    Inventory,
    Config,
    Kb,
    Notes,
    Tables,
    Rss,
    Web,
    Files,
    Colleague,
)


@functools.cache
def tools() -> Mapping[str, Tool]:
    """Every tool by its name, in order of service and declaration."""
    return MappingProxyType(_table())


@contextmanager
def beside(extra: Mapping[str, Tool]) -> Iterator[None]:
    """Have tools that no service has, for the audit of the gates: what is rigged is looked up as
    any other. Not for threads: whoever looks meanwhile sees them. Raises ValueError for a name
    that is taken.
    """
    table = _table()
    taken = table.keys() & extra.keys()
    if taken:
        raise ValueError(f"two tools are called {min(taken)}")
    table.update(extra)
    try:
        yield
    finally:
        for name in extra:
            del table[name]


@functools.cache
def _table() -> dict[str, Tool]:
    made: dict[str, Tool] = {}
    for service in SERVICES:
        for name, tool in service.tools().items():
            if name in made:
                raise ValueError(f"two tools are called {name}")
            made[name] = tool
    return made


@functools.cache
def collections() -> Mapping[str, CollectionFacts]:
    """Every collection by its address `service/collection`."""
    return MappingProxyType(
        {address: facts for service in SERVICES for address, facts in service.collections().items()}
    )


@functools.cache
def record_types() -> Mapping[str, Any]:
    """The type of a collection's records, a typed dictionary, by the collection's address."""
    return MappingProxyType(
        {address: kind for service in SERVICES for address, kind in service.record_types().items()}
    )


@functools.cache
def services() -> Mapping[str, type[Service]]:
    """Every service by its name."""
    return MappingProxyType({service.name: service for service in SERVICES})
