"""Cython sources that contain all mutants at once; a number switches each on at run time.

A number becomes ``mutant_number(7, 0.5)``, a condition ``mutant_flip(8, a < b)``: with the mutant 7
active the first is 10 % larger, with 8 the second is inverted. So a strategy is compiled once, and
thousands of broken ports of it are drawn in seconds. ``switches.h`` reads which mutant is active,
and marks those whose place is reached, in a page of memory shared with ``mutants.py``.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

HEADER = """
#pragma once
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>

// The first number of the page is the active mutant; a byte of the rest for each one reached.
inline volatile long* mutant_page() {
    static volatile long* page = [] {
        int file = open(std::getenv("EPIC_MUTANTS"), O_RDWR);
        return static_cast<volatile long*>(
            mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    }();
    return page;
}
inline bool mutant(int k) {
    volatile long* page = mutant_page();
    reinterpret_cast<volatile char*>(page + 1)[k] = 1;
    return page[0] == k;
}
inline double mutant_number(int k, double v) { return mutant(k) ? v * 1.1 : v; }
inline long mutant_count(int k, long v) { return mutant(k) ? v + 1 + v / 10 : v; }
inline bool mutant_flip(int k, bool v) { return mutant(k) ? !v : v; }
inline bool mutant_lt(int k, double a, double b) { return mutant(k) ? a <= b : a < b; }
inline bool mutant_le(int k, double a, double b) { return mutant(k) ? a < b : a <= b; }
inline double mutant_min(int k, double a, double b) { return mutant(k) ? a : b < a ? b : a; }
inline double mutant_max(int k, double a, double b) { return mutant(k) ? a : b > a ? b : a; }
inline double mutant_clamped(int k, double v, double least, double most) {
    return mutant(k) ? v : v < least ? least : v > most ? most : v;
}
"""

DECLARATIONS = """
cdef extern from "switches.h" nogil:
    double mutant_number(int k, double value)
    long mutant_count(int k, long value)
    bint mutant_flip(int k, bint value)
    bint mutant_lt(int k, double a, double b)
    bint mutant_le(int k, double a, double b)
    double mutant_min(int k, double a, double b)
    double mutant_max(int k, double a, double b)
    double mutant_clamped(int k, double value, double least, double most)
"""

USED = "from epic_cli.engine.switches cimport ("
USED += ", ".join(re.findall(r"mutant_\w+", DECLARATIONS)) + ")\n"

COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
BOUNDARY = {
    "<": "mutant_lt({k}, {a}, {b})",
    "<=": "mutant_le({k}, {a}, {b})",
    ">": "mutant_lt({k}, {b}, {a})",
    ">=": "mutant_le({k}, {b}, {a})",
}
_LEFT_ALONE = ("from", "while", "for", "with", "try", "except", "raise", "else", "global")


class Mutant(NamedTuple):
    """A fault: its number, where it is, and what it changes."""

    number: int
    file: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.text}"


class Token(NamedTuple):
    """A token of source text, and the blanks before it."""

    kind: int
    text: str
    line: int
    space: str


class Mutation:
    """A maker of mutants of one source after the other, each with a number of its own."""

    def __init__(self, refused: dict[tuple[str, int], int] | None = None) -> None:
        self.mutants: list[Mutant] = []
        self._refused = refused or {}
        self._file = ""
        self._constants: dict[str, str] = {}

    def of(self, file: str, source: str) -> str:
        """Return the source with its mutants, which keep their line numbers."""
        self._file = file
        found = re.findall(r"^cdef (double|int) ([A-Z_]+) =", source, re.MULTILINE)
        self._constants = {name: kind for kind, name in found}
        lines = source.splitlines(keepends=True)
        for begin, end in bodies(source):
            text = "".join(lines[begin:end])
            mutated = self._statements(text, begin)
            lines[begin:end] = [mutated, *[""] * (end - begin - 1)]
        return "".join(lines)

    def _statements(self, text: str, offset: int) -> str:
        out = []
        for statement in logical_lines(text):
            out.append(self._statement(statement, offset))
        return "".join(out)

    def _statement(self, tokens: list[Token], offset: int) -> str:
        words = [token for token in tokens if token.text.strip()]
        if not words or words[0].kind == tokenize.STRING or words[0].text in _LEFT_ALONE:
            return written(tokens)
        first = tokens.index(words[0])
        if words[0].text in ("if", "elif"):
            colon = max(k for k, one in enumerate(tokens) if one.text == ":")
            condition = self._condition(tokens[first + 1 : colon], offset)
            return f"{written(tokens[: first + 1])}{condition}:" + self._expression(
                tokens[colon + 1 :], offset
            )
        if words[0].text == "cdef":
            equals = next((k for k, one in enumerate(tokens) if one.text == "="), None)
            several = equals and any(one.text == "," for _, one in top(tokens[equals:]))
            if equals is None or several or "*" in written(tokens[:equals]):
                return written(tokens)
            first = equals
        if words[0].text == "return" or [word.text for word in words[:2]] == ["cdef", "bint"]:
            rest = {one.text for _, one in top(tokens[first + 1 :])}
            if "if" not in rest and rest & {*COMPARISONS, "and", "or", "not"}:
                end = max(k for k, one in enumerate(tokens) if one.text.strip()) + 1
                while tokens[end - 1].kind == tokenize.COMMENT:
                    end -= 1
                condition = self._condition(tokens[first + 1 : end], offset)
                return written(tokens[: first + 1]) + condition + written(tokens[end:])
        head = tokens[: first + 1] if words[0].text == "cdef" else []
        return written(head) + self._expression(tokens[len(head) :], offset)

    def _condition(self, tokens: list[Token], offset: int) -> str:
        """Return a condition with a mutant for each clause."""
        out = ""
        clause: list[Token] = []
        depth = 0
        for token in [*tokens, Token(tokenize.NAME, "or", 0, "")]:
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            if depth == 0 and token.text in ("and", "or"):
                out += self._clause(clause, offset)
                clause = [token]
            else:
                clause.append(token)
        return out

    def _clause(self, tokens: list[Token], offset: int) -> str:
        head = 0
        while head < len(tokens) and tokens[head].text in ("and", "or", "not"):
            head += 1
        while head < len(tokens) and not tokens[head].text.strip():
            head += 1
        before, body = tokens[:head], tokens[head:]
        if not body:
            return written(tokens)
        line = body[0].line + offset
        text = written(body).strip()
        at = [k for k, one in top(body) if one.text in COMPARISONS]
        inner = self._expression(body, offset).strip()
        if len(at) == 1 and body[at[0]].text in BOUNDARY and self._boldness(line) < 2:
            a = self._expression(body[: at[0]], offset).strip()
            b = self._expression(body[at[0] + 1 :], offset).strip()
            k = self._add(line, "equal", text)
            inner = BOUNDARY[body[at[0]].text].format(k=k, a=a, b=b)
        if self._boldness(line) > 2:
            return f"{written(before)}{body[0].space or ' '}{inner}"
        k = self._add(line, "inverted", text)
        return f"{written(before)}{body[0].space or ' '}mutant_flip({k}, {inner})"

    def _expression(self, tokens: list[Token], offset: int) -> str:
        out = ""
        brackets: list[str] = []
        skip = -1
        for k, one in enumerate(tokens):
            if k <= skip:
                continue
            if one.text in ("(", "[", "{"):
                brackets.append(one.text)
            elif one.text in (")", "]", "}") and brackets:
                brackets.pop()
            line = one.line + offset
            if one.text == "if" and any(other.text == "else" for other in tokens[k:]):
                depth, end = 0, k + 1
                while not (depth == 0 and tokens[end].text == "else"):
                    depth += (tokens[end].text in ("(", "[")) - (tokens[end].text in (")", "]"))
                    end += 1
                out += one.space + "if" + self._condition(tokens[k + 1 : end], offset)
                skip = end - 1
            elif one.kind == tokenize.NUMBER and "[" not in brackets:
                out += one.space + self._number(one.text, line)
            elif one.kind == tokenize.NAME and one.text in self._constants and "[" not in brackets:
                out += one.space + self._constant(one.text, line)
            elif (
                one.text in ("min", "max", "clamped")
                and tokens[k + 1].text == "("
                and self._boldness(line) < 1
            ):
                number = self._add(line, "limit", written(tokens).strip()[:60])
                out += f"{one.space}mutant_{one.text}({number}, "
                brackets.append("(")
                skip = k + 1
            else:
                out += one.space + one.text
        return out

    def _number(self, text: str, line: int) -> str:
        boldness = self._boldness(line)
        if float(text) == 0 or boldness > 1:
            return text
        if boldness == 0 or not text.isdigit():
            return f"mutant_number({self._add(line, 'constant', text)}, {text})"
        return f"mutant_count({self._add(line, 'count', text)}, {text})"

    def _constant(self, name: str, line: int) -> str:
        if self._constants[name] == "double":
            return f"mutant_number({self._add(line, 'constant', name)}, {name})"
        return f"mutant_count({self._add(line, 'count', name)}, {name})"

    def _boldness(self, line: int) -> int:
        """Return the level of the mutants of a line that Cython rejected.

        The level is 0 for none, 1 for whole numbers as doubles, 2 for others too.
        """
        return self._refused.get((self._file, line), 0)

    def _add(self, line: int, kind: str, text: str) -> int:
        number = len(self.mutants) + 1
        self.mutants.append(Mutant(number, self._file, line, kind, text))
        return number


def written(tokens: list[Token]) -> str:
    """Return the source text of tokens."""
    return "".join(token.space + token.text for token in tokens)


def top(tokens: list[Token]) -> Iterator[tuple[int, Token]]:
    """Return the tokens outside of all brackets, with their indices."""
    depth = 0
    for k, one in enumerate(tokens):
        depth += (one.text in ("(", "[", "{")) - (one.text in (")", "]", "}"))
        if depth == 0:
            yield k, one


def bodies(source: str) -> Iterator[tuple[int, int]]:
    """Return the line ranges of function bodies, from 0, ends excluded."""
    lines = source.splitlines()
    k = 0
    while k < len(lines):
        head = re.match(r"( *)(cdef|cpdef|def) (?!class|extern|enum|struct)[^=]*\(", lines[k])
        if not head:
            k += 1
            continue
        end = k
        while end < len(lines) and not re.search(r":\s*(#.*)?$", lines[end]):
            if end > k and not lines[end].startswith(head[1] + " "):
                break
            end += 1
        begin = end + 1
        end = begin
        indent = len(head[1])
        while end < len(lines) and (
            not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
        ):
            end += 1
        if begin < end:
            yield begin, end
        k = max(end, k + 1)


def logical_lines(text: str) -> Iterator[list[Token]]:
    """Return the statements of a function's body, each as tokens with all their blanks."""
    text = "if 1:\n" + text if text[:1] == " " else text
    ends = [0]
    for line in text.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    place = 0
    statement: list[Token] = []
    for info in tokenize.generate_tokens(io.StringIO(text).readline):
        if info.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        begin, end = ends[info.start[0] - 1] + info.start[1], ends[info.end[0] - 1] + info.end[1]
        statement.append(Token(info.type, info.string, info.start[0] - 1, text[place:begin]))
        place = end
        if info.type == tokenize.NEWLINE:
            if statement[0].text != "if" or statement[0].space or statement[1].text != "1":
                yield statement
            statement = []
    if statement:
        yield statement
