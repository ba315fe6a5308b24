"""The persona of a Claw-Eval dialogue as a colleague who answers by rules.

A persona is prose for a language model. Its list of what the person knows becomes facts; a fact is
told when the question holds a piece of text that only this fact has. Who the person is, how they
feel and what they must not know stays in the provenance: it is direction, nothing to say. So is
what a point tells the model to do, and remarks in brackets about what a good assistant would do.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tasks_app.core.importers.claw.folder import Folder
from tasks_app.core.importers.labels import whole

MOST_FACTS: Final = 60
MOST_ASKS: Final = 16
LONGEST_LABEL: Final = 24
"""Characters before a colon that still name what follows."""
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*)")
_BRACKETS: Final = re.compile(r"[（(].*?[)）]")
_POINT: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)、])\s+(.*)")
_KNOWN: Final = re.compile(r"信息|资料|information|details|facts|what you know", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"矛盾|缺陷|参数|规则|contradict|uncertain|behavio|rule", re.IGNORECASE)
_DIRECTION: Final = re.compile(r"\s*(?:如果|若|当|要追问|if |when )", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[“\"「](.+?)[”\"」]")
_REMARK: Final = re.compile(
    r"[（(][^（()）]*(?:助手|注意|assistant|好的|note:)[^（()）]*[)）]", re.IGNORECASE
)
_ASIDE: Final = re.compile(
    r"[，,]?(?:但?如果助手|这个你可能不会主动提|but if the assistant).*$", re.IGNORECASE
)
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]+")
_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9/&.+'’-]{2,}")
_FILLERS: Final = frozenset("的了是在和有我你他她它这那不也就都还吗呢吧啊很个么什要会能大概左右")
_COMMON: Final = frozenset(
    {"the", "and", "you", "your", "are", "have", "that", "this", "with", "for", "from"}
    | {"want", "about", "what", "when", "which", "they", "there", "would", "could", "should"}
    | {"but", "not", "been", "was", "were", "has", "had", "can", "will", "how", "who", "any"}
    | {"all", "per", "like", "keep", "these", "many", "under", "across", "first", "days"}
    | {"few", "new", "may", "able", "really", "having", "seen", "don't", "aren't", "know"}
    | {"also", "some", "more", "than", "just", "only", "very", "sure", "i.e.", "e.g.", "its"}
    | {"into", "each", "our", "out", "want", "need", "using"}
    | {"已经", "最近", "然后", "时候", "确定", "知道", "可以", "比较", "直接"}
    | {"好像", "记得", "觉得", "应该", "可能", "如果", "没有", "一样", "之前"}
    | {"现在", "目前", "或者", "以及", "但是", "所以", "因为", "后面", "上面"}
    | {"这样", "那样", "自己", "问题", "还是", "不是", "我们"}
)
"""Pieces that stand in any question and so name no fact."""


def read_colleague(folder: Folder, language: str) -> dict[str, Any] | None:
    """Return the colleague of a dialogue as our script; None where nobody is to be talked to."""
    agent = folder.section("user_agent")
    if agent.get("enabled") is not True:
        return None
    persona = folder.text("persona", "user_agent", most=100_000)
    chinese = language.startswith("zh")
    return {
        "name": "the user",
        "patience": whole(agent.get("max_rounds"), 8, 50),
        "facts": list(_facts(persona, chinese=chinese)),
        "otherwise": "这个我不太清楚。" if chinese else "I am not sure about that.",
        "out_of_patience": (
            "先这样吧，其他的我就不补充了。" if chinese else "That is all I can say."
        ),
    }


def _facts(persona: str, *, chinese: bool) -> Iterator[Mapping[str, Any]]:
    said = list(dict.fromkeys(_said(persona, chinese=chinese)))[:MOST_FACTS]
    pieces = [_pieces(text) for text in said]
    seen = Counter(piece for found in pieces for piece in set(found))
    for number, (text, found) in enumerate(zip(said, pieces, strict=True), start=1):
        fewest = min((seen[piece] for piece in found), default=0)
        asks = [piece for piece in dict.fromkeys(found) if seen[piece] == fewest]
        yield {
            "id": f"fact_{number}",
            "text": text,
            "asks": [[a] for a in asks[:MOST_ASKS] or [text]],
        }


def _said(persona: str, *, chinese: bool) -> Iterator[str]:
    """Yield what the person knows, as they would say it."""
    headed = any(_HEADING.match(line.strip()) for line in persona.splitlines())
    section = known = not headed
    for line in persona.splitlines():
        heading = _HEADING.match(line.strip())
        if heading:
            title = _BRACKETS.sub("", heading[2])
            named = _KNOWN.search(title) is not None
            if len(heading[1]) <= 2:
                section = named
            known = (section or named) and not _HIDDEN.search(title)
            continue
        point = _POINT.fullmatch(line)
        if not known or point is None:
            continue
        text = point[1].replace("**", "").strip()
        if _DIRECTION.match(text):
            quoted = _QUOTED.search(text)
            text = quoted[1] if quoted else ""
        text = _ASIDE.sub("", _REMARK.sub("", text)).strip()
        if text:
            yield _first_person(text, chinese=chinese)


def _first_person(text: str, *, chinese: bool) -> str:
    if chinese:
        return text.replace("你", "我")
    for second, first in (
        (r"\byou are\b|\byou're\b", "I am"),
        (r"\byou've\b", "I have"),
        (r"\byou'd\b", "I would"),
        (r"\byour\b", "my"),
        (r"\byou\b", "I"),
    ):
        text = re.sub(second, first, text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:]


def _pieces(text: str) -> list[str]:
    """Return what a question about this would hold: words, and pairs of Chinese characters.

    Where a label stands before a colon, it alone names the fact; else the whole sentence does.
    """
    label, colon, _ = text.replace("：", ":").partition(":")
    named = label if colon and len(label) <= LONGEST_LABEL else text
    found = _LATIN.findall(named)
    for run in _CHINESE.findall(named):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        found += [pair for pair in pairs if not _FILLERS.intersection(pair)]
    return [piece for piece in found if piece.lower() not in _COMMON]
