"""Public ids: a prefix, a hyphen and 4 to 8 characters of Crockford base 32 (``T-4F7K``).

A model that has one derives from ``CodedModel`` and names its prefix::

    class Task(CodedModel):
        code_prefix = "T"

``save()`` fills ``code``; for ``bulk_create`` fill it first with ``new_codes(Task, count)``.
What people type is forgiven by ``normalise("t-4f7o") == "T-4F70"``; ``get_by_code`` raises
``NotFound`` (a 404 on a page and in the API).
"""

import re
import secrets
from typing import Any, ClassVar, TypeVar

from django.db import models
from django.utils import timezone

from studio.web.errors import NotFound

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTHS = (4, 5, 6, 7, 8)
_TRIES_PER_LENGTH = 3
_SHAPE = re.compile(r"[A-Z]{1,8}-[0-9A-HJKMNP-TV-Z]{4,8}")
_FORGIVEN = str.maketrans({"I": "1", "L": "1", "O": "0"})


class CodedModel(models.Model):
    """A row with a public code and the moment it was made."""

    code_prefix: ClassVar[str]
    code_length: ClassVar[int] = 4
    """Start longer where millions of rows are expected (an episode: 8)."""

    code = models.CharField(max_length=20, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.code

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Give a new row its code, then save."""
        if not self.code:
            self.code = new_codes(type(self), 1)[0]
            update_fields = kwargs.get("update_fields")
            if update_fields is not None:
                kwargs["update_fields"] = {*update_fields, "code"}
        super().save(*args, **kwargs)


Coded = TypeVar("Coded", bound=CodedModel)


def random_code(prefix: str, length: int) -> str:
    """One code, not checked against the table."""
    return f"{prefix}-{''.join(secrets.choice(ALPHABET) for _ in range(length))}"


def new_codes(model: type[CodedModel], count: int) -> list[str]:
    """``count`` codes that no row of ``model`` has; longer ones once short ones grow rare."""
    found: dict[str, None] = {}
    lengths = [length for length in LENGTHS if length >= model.code_length]
    # A length is used up to a hundredth of its space, so that three tries all but always do.
    for length in [length for length in lengths for _ in range(_TRIES_PER_LENGTH)]:
        missing = count - len(found)
        if missing <= 0:
            break
        if missing > 32**length // 100:
            continue
        drawn = dict.fromkeys(random_code(model.code_prefix, length) for _ in range(missing))
        manager = model._base_manager
        taken = set(manager.filter(code__in=list(drawn)).values_list("code", flat=True))
        found.update((code, None) for code in drawn if code not in taken)
    if len(found) < count:
        raise RuntimeError(f"no free code left for {model.code_prefix}")
    return list(found)[:count]


def normalise(text: str) -> str:
    """Upper case, and I, L, O read as 1, 1, 0 behind the hyphen; the prefix stays as typed."""
    prefix, hyphen, rest = text.strip().upper().partition("-")
    return f"{prefix}{hyphen}{rest.translate(_FORGIVEN)}"


def is_code(text: str, prefix: str | None = None) -> bool:
    """Whether ``text``, once normalised, has the shape of a code (with that prefix)."""
    code = normalise(text)
    return bool(_SHAPE.fullmatch(code)) and (prefix is None or code.startswith(f"{prefix}-"))


def get_by_code(queryset: "models.QuerySet[Coded]", code: str) -> Coded:
    """The row of ``queryset`` with that code; NotFound names what was looked for."""
    row = queryset.filter(code=normalise(code)).first() if is_code(code) else None
    if row is None:
        raise NotFound(f"There is no {queryset.model._meta.verbose_name} {code[:40]}.")
    return row
