"""``{% load studio_ui %}``: numbers, times, permissions and addresses in templates.

``{{ n|number }} {{ n|compact }} {{ r|score }} {{ d|signed }} {{ share|percent }} {{ s|duration }}
{{ t|ago }} {{ bytes|size }} {{ message|initial }} {{ message|sentence }}`` ·
``{% if request|may:"review" %}`` ·
``<a href="{% query page=None q="x" %}">`` (the present address with some parameters changed; None
takes one away).
"""

import datetime as dt
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.utils import timezone

from studio.web import auth, words
from studio.web.acts import Act

register = template.Library()

register.filter("number", words.number)
register.filter("compact", words.compact)
register.filter("score", words.score)
register.filter("signed", words.signed)
register.filter("percent", words.percent)
register.filter("duration", words.duration)
register.filter("size", words.size)
register.filter("initial", words.initial)
register.filter("sentence", words.sentence)


@register.filter
def ago(then: dt.datetime | None) -> str:
    """How long ago that was."""
    return words.ago(then, timezone.now())


@register.filter
def may(request: HttpRequest | None, act: str) -> bool:
    """Whether the reader may do the act; an unknown act is a mistake in the template."""
    return isinstance(request, HttpRequest) and auth.may(request, Act(act))


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """The present query string with some parameters changed, "?" included."""
    request = context["request"]
    parameters = request.GET.copy()
    for name, value in changes.items():
        if value is None:
            parameters.pop(name, None)
        else:
            parameters[name] = value
    encoded = parameters.urlencode()
    return f"?{encoded}" if encoded else "?"
