"""How colleagues talk: greetings, what keeps them from doing it themselves, endings, and how a
sentence is made. Families put their own matter between them.
"""

import random
import re
from collections.abc import Sequence
from typing import Final

from tasks_app.core.generation.cast import CITIES

GREETINGS: Final = (
    "Hi,", "Hello,", "Good morning,", "Morning.", "Quick one:", "Hey,", "Hello there,", "Good day,",
    "Before I forget:", "A favour:", "One more thing:", "Small job:", "", "",
)  # fmt: skip
OPENINGS: Final = (
    "", "", "", "Hi!", "Hello.", "Morning!", "Hello there.", "Hi again.", "One for you:",
    "Next thing:",
)  # fmt: skip
"""Before what is a sentence of its own."""
CLOSINGS: Final = (
    "Thanks, {lead}", "Cheers, {lead}", "{lead}", "Best, {lead}", "Thank you! {lead}",
    "Yours, {lead}", "Much obliged, {lead}", "Ta, {lead}", "All the best, {lead}",
)  # fmt: skip
_EXCUSES: Final = (
    "I am on the train to {city}",
    "I have visitors from {city} until the evening",
    "the auditors sit in my office",
    "I am in a workshop all day",
    "{colleague} is off sick",
    "{colleague} and I are stuck in a review",
    "{colleague} has left for {city}",
    "I am covering for {colleague} as well",
    "the management round begins in ten minutes",
    "my morning is full of interviews",
    "{colleague} asked me twice already",
    "I promised it to {colleague}",
    "I was in {city} for two days",
    "half the team is at the fair in {city}",
    "I have to present in {city} this afternoon",
    "{colleague} is on holiday",
)
_BEFORE_A_VOWEL: Final = re.compile(r"\b([Aa]) (?=[aeio])(?!one\b|eu)")
_POLITE: Final = ("Could", "Can", "Would", "could", "can", "would")
_JOINTS: Final = (
    "{Excuse}, so {rest}", "{Excuse}. {Rest}", "{rest} – {excuse}", "{rest}, because {excuse}",
    "{rest}; {excuse}", "{Excuse}; {rest}",
)  # fmt: skip
_REPORTS: Final = (
    "Then tell me how it ended.",
    "Report back to me when it is done.",
    "A short note to me at the end will do.",
    "Let me know what came of it.",
    "Afterwards give me the facts in a line or two.",
    "I want to see the result in your reply.",
    "Drop me a line with the result.",
    "Write me what you did, briefly.",
)


def excused(rng: random.Random, colleague: str, rest: str) -> str:
    """Return a sentence without its end: what keeps the writer, and what therefore is asked."""
    excuse = rng.choice(_EXCUSES).format(city=rng.choice(CITIES), colleague=colleague)
    joint = rng.choice(_JOINTS)
    return joint.format(excuse=excuse, Excuse=capital(excuse), rest=rest, Rest=capital(rest))


def capital(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def marked(text: str) -> str:
    """Return a text with a mark at its end: what asks for something politely is a question."""
    if text.endswith((".", "?", "!")):
        return text
    return f"{text}{'?' if text.startswith(_POLITE) else '.'}"


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning and a mark at its end."""
    return marked(capital(text))


def articled(text: str) -> str:
    """Return a text in which `a` stands as `an` before a vowel: names are put in after it."""
    return _BEFORE_A_VOWEL.sub(r"\1n ", text)


def listed(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def message(
    rng: random.Random, lead: str, parts: Sequence[str], reports: Sequence[str] = _REPORTS
) -> str:
    """Return a request: greeting, the parts as sentences, how to report, who writes."""
    greeting = rng.choice(GREETINGS)
    told: list[str] = []
    for number, part in enumerate(parts):
        continues = number == 0 and greeting.endswith((",", ":"))
        told.append(marked(part) if continues else sentence(part))
    closing = rng.choice(CLOSINGS).format(lead=lead)
    return " ".join(part for part in (greeting, *told, rng.choice(reports), closing) if part)
