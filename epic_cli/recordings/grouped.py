"""Whether the packets of a file may stand entity by entity, as its beginning and its end show.

Rows of such a file can come in order of time only once all of it has been drawn; those of any other
should not wait for that.
"""

from __future__ import annotations

import os
import re

#: Bytes that are looked at, and lines of the beginning and of the end.
_LOOK, _LINES = 65536, 3


def may_be_grouped(file: str | int, name: str) -> bool:
    """Whether its first entity, of this name, is hardly that of its last lines as well.

    ``file`` is its path, or the descriptor of an open one, whose position does not change.
    """
    if isinstance(file, str):
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
            return may_be_grouped(stream.fileno(), name)
    try:
        here = os.lseek(file, 0, os.SEEK_CUR)
        size = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, 0, os.SEEK_SET)
        begin = os.read(file, _LOOK).split(b"\n")
        os.lseek(file, max(size - _LOOK, 0), os.SEEK_SET)
        end = os.read(file, _LOOK).split(b"\n")[1:]
        os.lseek(file, here, os.SEEK_SET)
    except OSError:
        return True
    own = [words for words in map(_words, begin) if name in words][:_LINES]
    last = [words for line in end if (words := _words(line))][-_LINES:]
    if not own or not last:
        return True
    return any(
        all(_has(words, place, name) for words in own)
        and not all(_has(words, place, name) for words in last)
        for place in range(len(own[0]))
    )


def _words(line: bytes) -> list[str]:
    return re.findall(r"[^\s,;|{}\[\]\":=]+", line.decode("utf-8", "replace"))


def _has(words: list[str], place: int, name: str) -> bool:
    return place < len(words) and words[place] == name
