"""Reports for documents: text from a recording stays plain text in them."""

from __future__ import annotations

import pytest

from epic_cli.show.documents import _escape_markdown


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
