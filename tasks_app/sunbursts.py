"""Sunbursts of the coverage page: families inside, their subtypes outside.

Plain values in the form that Plotly reads, with names of tokens for colours (docs/decisions/0022).
One hue: area is the only quantity.
"""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.coverage import Coverage

SIZE: Final = 640
_INNER: Final = "--q4"
_OUTER: Final = ("--q2", "--q3")


def sunburst(found: Coverage, track: str, urls: Mapping[str, str]) -> dict[str, Any]:
    """Return a track's figure.

    Args:
        found: The counts.
        track: The track.
        urls: Id of a wedge (`track`, `family`, `family/subtype`) → the list it opens.
    """
    rows = rings(found, track)
    total = found.tracks.get(track, 0)
    wedges: list[tuple[str, str, str, int, str, str]] = [
        (track, "tasks", "", total, "--sheet", "--ink")
    ]
    for position, (family, (count, subtypes)) in enumerate(rows.items()):
        wedges.append((family, _words(family), track, count, _INNER, "--on-q"))
        for subtype, number in subtypes.items():
            colour = _OUTER[position % 2]
            wedges.append((f"{family}/{subtype}", _words(subtype), family, number, colour, "--ink"))
    ids, labels, parents, values, colours, inks = (list(part) for part in zip(*wedges, strict=True))
    spoken = ", ".join(f"{_words(family)} {count}" for family, (count, _) in rows.items())
    return {
        "id": f"sunburst-{track}",
        "title": track,
        "what": "families and subtypes",
        "last": f"{total:,} tasks",
        "words": f"{track}: inner ring families, outer ring subtypes. {spoken or 'No tasks yet.'}",
        "size": SIZE,
        "data": [
            {
                "type": "sunburst",
                "ids": ids,
                "labels": labels,
                "parents": parents,
                "values": values,
                "branchvalues": "total",
                "sort": False,
                "rotation": 90,
                "customdata": [urls[one] for one in ids],
                "textinfo": "label+value",
                "insidetextorientation": "auto",
                "insidetextfont": {"color": inks, "size": 11},
                "marker": {"colors": colours, "line": {"color": "--paper", "width": 1}},
                "leaf": {"opacity": 1},
                "hovertemplate": "%{label}: %{value} tasks<extra></extra>",
            }
        ],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "font": {"color": "--ink", "size": 11},
            "uniformtext": {"minsize": 8, "mode": "hide"},
            "hoverlabel": {"bgcolor": "--sheet", "font": {"color": "--ink"}},
        },
    }


def rings(found: Coverage, track: str) -> dict[str, tuple[int, dict[str, int]]]:
    """Return family → its tasks and those of its subtypes, the largest first."""
    families: dict[str, dict[str, int]] = {}
    for (place, family, subtype), number in sorted(found.families.items()):
        if place == track:
            families.setdefault(family, {})[subtype] = number
    counted = {family: (sum(inner.values()), inner) for family, inner in families.items()}
    return dict(sorted(counted.items(), key=lambda item: (-item[1][0], item[0])))


def _words(name: str) -> str:
    return name.replace("_", " ")
