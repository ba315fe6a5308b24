"""Servers of language models, and every call that was made to one."""

import json
from typing import Any

import zstandard
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from studio.lib.chat import Abilities, ChatAnswer, ToolCall, Usage
from studio.lib.jsonvalue import JsonObject
from studio.web.models import Job


class ModelEndpoint(models.Model):
    """An OpenAI-compatible server and one model on it. Its key stands in the environment alone."""

    name = models.CharField(max_length=40, unique=True)
    """What policies call it: ``endpoint:NAME``."""
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    api_key_env = models.CharField(max_length=80, blank=True)
    """Name of the variable that holds the key; empty for a server without one."""
    roles = ArrayField(models.CharField(max_length=8), default=list)
    """What it may be used as: see ``EndpointRole``."""
    sampling = models.JSONField(default=dict, blank=True)
    """temperature, top_p, max_tokens where the server's own are not wanted."""
    abilities = models.JSONField(default=dict, blank=True)
    """What the last good probe found: the fields of ``Abilities``; empty before the first."""
    latency = models.FloatField(null=True, blank=True)
    """Seconds of a short answer, by the last good probe."""
    probed_at = models.DateTimeField(null=True, blank=True)
    probe_words = models.CharField(max_length=2000, blank=True)
    """What the last probe heard where it failed; empty after a good one."""
    active = models.BooleanField(default=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    """The probe that was asked for last."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("name",)
        verbose_name = "endpoint"
        constraints = [models.CheckConstraint(condition=~Q(roles=[]), name="endpoint_has_a_role")]

    def __str__(self) -> str:
        return self.name

    def found(self) -> Abilities:
        """What may be sent; before a probe only what every such server takes."""
        known = {name for name in Abilities.__dataclass_fields__ if name in self.abilities}
        return Abilities(**{name: self.abilities[name] for name in known})


class ModelCall(models.Model):
    """One question and its answer, stored before the answer is used and never asked again."""

    key = models.CharField(max_length=64, unique=True)
    """Content key: endpoint, model, messages, tools, sampling, and which draw it is."""
    endpoint = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    subject = models.CharField(max_length=40, blank=True)
    """Code of what it was made for, such as a batch."""
    part = models.CharField(max_length=40, blank=True)
    """Code of the piece of it, such as an episode."""
    request = models.BinaryField()
    """Compressed JSON: texts of a model may hold what a text column refuses."""
    answer = models.BinaryField()
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "model call"
        indexes = [models.Index(fields=["subject", "part"], name="model_call_subject_part")]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.key[:12]}"

    def said(self) -> ChatAnswer:
        """The stored answer."""
        body = unpack(bytes(self.answer))
        return ChatAnswer(
            text=body["text"],
            calls=tuple(ToolCall(*call) for call in body["calls"]),
            reasoning=body["reasoning"],
            refusal=body["refusal"],
            finish=body["finish"],
            usage=Usage(self.prompt_tokens, self.completion_tokens),
            seconds=self.seconds,
        )


def pack(body: JsonObject) -> bytes:
    """Write JSON for a binary column; half pairs of surrogates survive as escapes."""
    return zstandard.ZstdCompressor(level=3).compress(json.dumps(body).encode("ascii"))


def unpack(stored: bytes) -> dict[str, Any]:
    """Read it again."""
    body: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(stored))
    return body


def answer_body(answer: ChatAnswer) -> JsonObject:
    """An answer as it is stored."""
    return {
        "text": answer.text,
        "calls": [[call.id, call.name, call.arguments] for call in answer.calls],
        "reasoning": answer.reasoning,
        "refusal": answer.refusal,
        "finish": answer.finish,
    }
