"""What stands behind the numbers of packet text and makes its meaning doubtful."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from epic_cli.recordings.entries.text import TURN_WORDS, WORDS
from epic_cli.recordings.findings import Finding

if TYPE_CHECKING:
    from epic_cli.recordings.watch import Watch

#: How like one of the words of packet text a misspelt one is; a rotation's begins as it does, and
#: is more so (role, path and spawn are none), but for one of three letters.
_SPELT, _TURN_SPELT, _SHORT_SPELT = 0.75, 0.76, 0.65

#: Other programs' words.
_OTHERS = {
    **dict.fromkeys(("rot", "quat", "quaternion", "orientation"), "rotation"),
    "heading": "yaw",
}

_WORD = re.compile(rb"[ \t]([A-Za-z][A-Za-z_]*)=([-+.\d]?)")

#: So much of the text is looked at.
_TEXT = 16384


def misspelt(texts: Iterable[bytes]) -> Iterator[Finding]:
    """What looks misspelt behind the numbers of packet text."""
    lines = (line.partition(b"#")[0] for text in texts for line in text[:_TEXT].splitlines())
    pairs = {pair for line in lines for pair in _WORD.findall(line)}
    words = {word.decode(): bool(digit) for word, digit in sorted(pairs)}
    for word in sorted(words.keys() - WORDS.keys()):
        near = _near_word(word.lower(), words[word])
        if near:
            yield Finding("E401", {"name": word, "near": near})


def _near_word(word: str, is_number: bool) -> str | None:
    """Which word was meant; None: none."""
    from difflib import get_close_matches  # only a mistake needs it

    others = [one for one in WORDS if one not in TURN_WORDS]
    found = get_close_matches(word, others, 1, _SPELT)
    if not found and is_number:
        alike = [one for one in TURN_WORDS if one[0] == word[0]]
        found = (
            [_OTHERS[word]]
            if word in _OTHERS
            else get_close_matches(
                word, alike, 1, _SHORT_SPELT if len(word) == len("yaw") else _TURN_SPELT
            )
        )
    return found[0] if found else None


def junk(watch: Watch) -> Iterator[Finding]:
    """What stands behind the numbers of packet text and is not read."""
    if not watch.junk:
        return
    line, text = watch.junk_line
    count = "1 line has" if watch.junk == 1 else f"{watch.junk:,} lines have"
    time = re.match(rb"(?:[^/]*/){2}\s*(\S*)", text)
    shown = time.group(1).decode("utf-8", "replace") if time else ""
    number = re.match(r"[-+]?(?:0[xX][\da-fA-F.]+|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", shown)
    if number is not None and number.end() < len(shown):
        read = f"{shown} is read as {number.group()}"
        yield Finding("E402", {"lines_words": count, "shown": read}, (line,))
    else:
        yield Finding("E403", {"lines_words": count}, (line,))
