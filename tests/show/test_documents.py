"""Reports for documents: text from a recording stays plain text in them."""

from __future__ import annotations

import re

import pytest

from epic_cli.show.documents import _escape_markdown, _write_pictures
from epic_cli.show.report import Figure


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("[x](javascript:alert(1))", r"\[x\](javascript:alert(1))"),
        ("![](https://a/b.png)", r"!\[\](https://a/b.png)"),
        ("`rm`", r"\`rm\`"),
        ("&lt;b>", "&amp;lt;b>"),
        ("a\nb\x1b[31m\u202e", r"a\\nb\\x1b\[31m\\u202e"),
        ("score * 2, 95 %", "score * 2, 95 %"),
    ],
)
def test_what_would_be_markdown_is_escaped(name: str, shown: str) -> None:
    assert _escape_markdown(name) == shown


def test_a_narrow_page_has_a_picture_that_is_narrower() -> None:
    drawn: list[int] = []

    def draw(pixels: int) -> str:
        drawn.append(pixels)
        return f"<svg>{pixels}</svg>"

    text = "".join(_write_pictures(Figure("A picture", lambda: None, draw)))
    pages = [int(width) for width in re.findall(r"max-width: (\d+)px", text)]
    widest, *others = drawn
    assert len(pages) == len(others) == 2
    assert pages == sorted(pages)  # the first that fits is taken
    assert max(pages) < widest
    for page, pixels in zip(pages, others, strict=True):
        assert page / 2 < pixels <= page
    same = "".join(_write_pictures(Figure("A picture", lambda: None, lambda _: "<svg/>")))
    assert "<source" not in same
    assert list(_write_pictures(Figure("A picture", lambda: None, lambda _: ""))) == []
