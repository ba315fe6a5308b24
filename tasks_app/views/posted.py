"""What people send, as the database can hold it."""

from django.http import HttpRequest

from studio.web.audit import storable


def words(request: HttpRequest, name: str) -> str:
    """A posted text without what PostgreSQL does not take."""
    return storable(request.POST.get(name, ""))


def asked(request: HttpRequest, name: str) -> str:
    """A parameter of the address, likewise."""
    return storable(request.GET.get(name, ""))
