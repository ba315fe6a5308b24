"""What every template must keep to: it compiles, and the content security policy holds in it."""

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
SHEETS = TEMPLATES.parent / "static" / "css"
NAMES = sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html"))
FORBIDDEN = {
    "inline style": re.compile(r"<[^>]*\sstyle\s*="),
    "style element": re.compile(r"<style\b"),
    "inline script": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>"),
    "event attribute": re.compile(r"<[^>]*\son[a-z]+\s*="),
    "hx-on": re.compile(r"\bhx-on\b"),
    "js: value": re.compile(r"""["'](?:js|javascript):"""),
    "trigger filter": re.compile(r"""hx-trigger=["'][^"']*\["""),
    "unescaped text": re.compile(r"\|\s*safe\b|\bautoescape\s+off\b|\|\s*safeseq\b"),
    "resource from elsewhere": re.compile(r"""(?:src|href)=["'](?:https?:)?//"""),
}
_SHEET = re.compile(r"css/(\w+\.css)")
_INCLUDE = re.compile(r'{% include "([^"]+)"')
_CLASSES = re.compile(r'class="([^"]*)"')
_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)


def _source(name: str) -> str:
    return _COMMENT.sub("", (TEMPLATES / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_template_compiles(name: str) -> None:
    assert get_template(name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_template_keeps_to_the_content_security_policy(name: str) -> None:
    source = _source(name)
    assert {why: found.findall(source) for why, found in FORBIDDEN.items()} == {
        why: [] for why in FORBIDDEN
    }


@pytest.mark.parametrize("name", NAMES)
def test_icons_and_marks_exist(name: str) -> None:
    sprite = (TEMPLATES.parent / "static" / "icons.svg").read_text(encoding="utf-8")
    known = set(re.findall(r'id="([im])-([a-z]+)"', sprite))
    found = re.findall(
        r'(?:shared/_(icon|mark)\.html" with name=|{% (icon|mark) )"([a-z]+)"', _source(name)
    )
    used = {("i" if "icon" in (fragment, tag) else "m", word) for fragment, tag, word in found}
    assert used - known == set()


def _ruled(sheet: Path) -> set[str]:
    """The classes that a sheet has a rule for."""
    return set(
        re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.S))
    )


def _worn(name: str, seen: set[str]) -> set[str]:
    """The classes that a page and what it includes wear, as far as they are written out."""
    seen.add(name)
    source = _source(name)
    found = {
        word
        for words in _CLASSES.findall(source)
        for word in re.sub(r"{[{%].*?[%}]}", " ", words).split()
    }
    for included in set(_INCLUDE.findall(source)) - seen:
        found |= _worn(included, seen)
    return found


def test_a_page_links_a_sheet_with_a_rule_for_each_class_that_has_one() -> None:
    rules = {sheet.name: _ruled(sheet) for sheet in SHEETS.glob("*.css")}
    everywhere = set(_SHEET.findall(_source("base.html")))
    bare = {}
    for name in NAMES:
        source = _source(name)
        if '{% extends "base.html" %}' not in source:
            continue
        linked = everywhere | set(_SHEET.findall(source))
        known = set().union(*(rules[sheet] for sheet in linked))
        elsewhere = set().union(*rules.values()) - known
        if missing := _worn(name, set()) & elsewhere:
            bare[name] = sorted(missing)
    assert bare == {}
