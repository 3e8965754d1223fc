"""Vectors that stand in one cell, or in one text, as engines print them: ``(1.0, 2.0, 3.0)``.

Each of their numbers has a name of its own behind that of the whole: ``pos.0``.
"""

from __future__ import annotations

import re

_NUMBER = r"[-+]?(?:\d+(?:[.,]\d*)?|\.\d+)(?:[eE][-+]?\d+)?f?|[-+]?(?:nan|inf(?:inity)?)"
_PART = re.compile(_NUMBER, re.IGNORECASE)

#: What C and C# put behind a number.
_SUFFIX = re.compile(r"(?<=[\d.])f$")

#: ``(..)``, ``[..]``, ``Vector3(..)``, ``V(X=.., Y=..)``, or nothing around it.
_AROUND = re.compile(r"\s*(?:[A-Za-z]\w*\s*)?[(\[{<]\s*([^()\[\]{}<>]*?)\s*[)\]}>]\s*")

#: The names of axes, as in ``X=1.000 Y=2.000``, ``x: 1, y: 2`` and ``"x":1,"y":2``.
_AXIS = re.compile(r"""(?:^|(?<=[\s,;]))["']?([XYZWxyzw])["']?\s*[=:]\s*""")

#: What stands between the numbers: the first of these that there is. A comma without a blank is a
#: decimal one where another stands with one: ``(1,5, 2,5)``.
_BETWEEN = (re.compile(r"\s*;\s*"), re.compile(r"\s*,\s+"), re.compile(r"\s*,"), re.compile(r"\s+"))

#: What most vectors look like: it is read at once, as it would be below.
_USUAL = re.compile(r"\((-?\d+(?:\.\d+)?)(, ?)(-?\d+(?:\.\d+)?)(?:\2(-?\d+(?:\.\d+)?))?\)")

#: A longer text is none.
_LONGEST = 400

#: So many numbers at most: those of a matrix.
_MOST = 16


def numbers_in(text: str) -> tuple[str, ...] | None:
    """The numbers of a vector, as texts with a decimal point; None: the text is none."""
    usual = _USUAL.fullmatch(text)
    if usual:
        x, _, y, z = usual.groups()
        return (x, y) if z is None else (x, y, z)
    return None if len(text) > _LONGEST else _parse(text)


def _parse(text: str) -> tuple[str, ...] | None:
    """As ``numbers_in``, however the vector is written."""
    around = _AROUND.fullmatch(text)
    inner = around.group(1) if around else text.strip()
    axes = "".join(_AXIS.findall(inner)).lower()
    if axes:
        if axes not in ("xy", "xyz", "xyzw"):
            return None
        inner = _AXIS.sub("", inner)
    between = next((one for one in _BETWEEN if one.search(inner)), None)
    parts = between.split(inner) if between else []
    if not 2 <= len(parts) <= _MOST or (axes and len(parts) != len(axes)):
        return None
    if not all(map(_PART.fullmatch, parts)):
        return None
    commas = sum("," in part for part in parts)
    if commas and commas < len(parts) and between is not _BETWEEN[0]:
        return None  # which of them are decimal is unknown
    return tuple(_SUFFIX.sub("", part.replace(",", ".")) for part in parts)
