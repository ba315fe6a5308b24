"""Calls to models: kept before their answer is used, found again instead of being made twice."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Sum

from studio.lib.chat import ChatAnswer, ChatRequest
from tasks_app.models import ModelCall
from tasks_app.models.endpoint import answer_body, pack


class Made(NamedTuple):
    """A call that was answered."""

    key: str
    endpoint: str
    model: str
    subject: str
    part: str
    request: ChatRequest
    answer: ChatAnswer


class Spent(NamedTuple):
    """What the stored calls of a subject came to."""

    calls: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        """Of both kinds."""
        return self.prompt_tokens + self.completion_tokens


@transaction.atomic
def keep_calls(*, made: Sequence[Made]) -> None:
    """Store answered calls; one that is stored already stays as it is."""
    ModelCall.objects.bulk_create(
        [
            ModelCall(
                key=each.key,
                endpoint=each.endpoint,
                model=each.model,
                subject=each.subject,
                part=each.part,
                request=pack(
                    {
                        "messages": [dict(message) for message in each.request.messages],
                        "tools": [dict(tool) for tool in each.request.tools],
                        "temperature": each.request.temperature,
                        "top_p": each.request.top_p,
                        "max_tokens": each.request.max_tokens,
                        "seed": each.request.seed,
                        "draw": each.request.draw,
                    }
                ),
                answer=pack(answer_body(each.answer)),
                prompt_tokens=min(each.answer.usage.prompt, _MOST),
                completion_tokens=min(each.answer.usage.completion, _MOST),
                seconds=each.answer.seconds,
            )
            for each in made
        ],
        ignore_conflicts=True,
    )


_MOST = 2**31 - 1
"""A server may claim any number of tokens; the column ends here."""


def stored_answers(subject: str, part: str) -> Mapping[str, ChatAnswer]:
    """All answers of a part by their content key."""
    rows = ModelCall.objects.filter(subject=subject, part=part).defer("request")
    return {row.key: row.said() for row in rows}


def parts_of(subject: str) -> frozenset[str]:
    """The parts of a subject that have stored answers."""
    parts = ModelCall.objects.filter(subject=subject).order_by().values_list("part", flat=True)
    return frozenset(parts.distinct())


def spent(subject: str) -> Spent:
    """Count the stored calls of a subject."""
    sums = ModelCall.objects.filter(subject=subject).aggregate(
        calls=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens")
    )
    return Spent(sums["calls"], sums["prompt"] or 0, sums["completion"] or 0)
