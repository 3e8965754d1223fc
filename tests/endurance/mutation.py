"""Cython and C++ sources that contain all mutants at once; a number switches each on at run time.

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
#include <type_traits>

// The first number of the page is the active mutant; a byte of the rest for each one reached.
inline volatile long* mutant_page() {
    static volatile long* page = [] {
        const char* other = std::getenv("MUTANT_PAGE");
        int file = open(other ? other : "PAGE", O_RDWR);
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
template <class T> inline T mutant_literal(int k, T v) {
    if (std::is_floating_point<T>::value) return mutant(k) ? T(v * 1.1) : v;
    return mutant(k) ? T(v + 1 + v / 10) : v;
}
inline bool mutant_flip(int k, bool v) { return mutant(k) ? !v : v; }
template <class A, class B> inline bool mutant_lt(int k, A a, B b) {
    return mutant(k) ? a <= b : a < b;
}
template <class A, class B> inline bool mutant_le(int k, A a, B b) {
    return mutant(k) ? a < b : a <= b;
}
inline double mutant_min(int k, double a, double b) { return mutant(k) ? a : b < a ? b : a; }
inline double mutant_max(int k, double a, double b) { return mutant(k) ? a : b > a ? b : a; }
inline long mutant_least(int k, long a, long b) { return mutant(k) ? a : b < a ? b : a; }
inline long mutant_most(int k, long a, long b) { return mutant(k) ? a : b > a ? b : a; }
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
    long mutant_least(int k, long a, long b)
    long mutant_most(int k, long a, long b)
    double mutant_clamped(int k, double value, double least, double most)
"""

USED = "from epic_cli.engine.switches cimport ("
USED += ", ".join(re.findall(r"(mutant_\w+)[(\[]", DECLARATIONS)) + ")\n"

COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
BOUNDARY = {
    "<": "mutant_lt({k}, {a}, {b})",
    "<=": "mutant_le({k}, {a}, {b})",
    ">": "mutant_lt({k}, {b}, {a})",
    ">=": "mutant_le({k}, {b}, {a})",
}
LIMITS = {
    "min": ("mutant_min", "mutant_least"),
    "max": ("mutant_max", "mutant_most"),
    "clamped": ("mutant_clamped", "mutant_clamped"),
}
_DECIMAL = re.compile(r"(\d[\d_]*)?\.?\d*(e-?\d+)?")
_OPERATORS = {"and", "or", "not", "in", "is", "if", "else", "return"}
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
    """A maker of mutants of one source after the other, each with a number of its own.

    Outside strategies a whole number stays whole: there it may be an index or a Python object. So
    it does where numbers are in single precision, in which a sum with a double would not be.
    """

    def __init__(self, refused: dict[tuple[str, int], int] | None = None) -> None:
        self.mutants: list[Mutant] = []
        self._refused = refused or {}
        self._whole = self._single = False
        self._file = ""
        self._constants: dict[str, str] = {}

    def of(self, file: str, source: str) -> str:
        """Return the source with its mutants, which keep their line numbers."""
        self._file = file
        self._whole = "/strategies/" not in file
        self._single = re.search(r"<float>|\bfloat \w+( =|[,)])", source) is not None
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
            casts = find_casts(tokens)
            rest = {one.text for k, one in top(tokens[first + 1 :]) if first + 1 + k not in casts}
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
        tail = ""
        while not body[-1].text.strip():  # the end of a line within brackets
            tail = written(body[-1:]) + tail
            body = body[:-1]
        line = body[0].line + offset
        text = written(body).strip()
        casts = find_casts(body)
        at = [k for k, one in top(body) if one.text in COMPARISONS and k not in casts]
        inner = self._expression(body, offset).strip()
        if len(at) == 1 and body[at[0]].text in BOUNDARY and self._boldness(line) < 2:
            a = self._expression(body[: at[0]], offset).strip()
            b = self._expression(body[at[0] + 1 :], offset).strip()
            k = self._add(line, "equal", text)
            inner = BOUNDARY[body[at[0]].text].format(k=k, a=a, b=b)
        if self._boldness(line) > 2:
            return f"{written(before)}{body[0].space or ' '}{inner}{tail}"
        k = self._add(line, "inverted", text)
        return f"{written(before)}{body[0].space or ' '}mutant_flip({k}, {inner}){tail}"

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
                and self._boldness(line) < 1 + self._whole
            ):
                number = self._add(line, "limit", written(tokens).strip()[:60])
                limit = LIMITS[one.text][self._whole and self._boldness(line) < 1]
                out += f"{one.space}{limit}({number}, "
                brackets.append("(")
                skip = k + 1
            else:
                out += one.space + one.text
        return out

    def _number(self, text: str, line: int) -> str:
        boldness = self._boldness(line)
        if not _DECIMAL.fullmatch(text) or float(text) == 0 or boldness > 1:
            return text
        is_double = boldness == 0 and not self._whole and not self._single
        if is_double or not text.isdigit():
            return f"mutant_number({self._add(line, 'constant', text)}, {text})"
        return f"mutant_count({self._add(line, 'count', text)}, {text})"

    def _constant(self, name: str, line: int) -> str:
        if self._boldness(line) > 1:
            return name
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


def find_casts(tokens: list[Token]) -> set[int]:
    """Return the indices of the brackets of casts such as ``<double>``, which compare nothing."""
    found: set[int] = set()
    operand = False
    for k, one in enumerate(tokens):
        if one.text == "<" and not operand:
            end = next((j for j in range(k, len(tokens)) if tokens[j].text == ">"), None)
            found |= set() if end is None else {k, end}
        if k in found:
            operand = False
        elif one.text.strip():
            is_word = one.kind == tokenize.NAME and one.text not in _OPERATORS
            operand = is_word or one.kind == tokenize.NUMBER or one.text in (")", "]")
    return found


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
    text = "if 1:\n" + text  # a body is indented
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


# ---------------------------------------------------------------- C++ headers

_CPP = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|\#(?:[^\n\\]|\\.)*)
    |(?P<text>R"\(.*?\)"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|::|.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/="}


class HeaderMutation:
    """A maker of mutants of C++ headers: in conditions, returned values and assignments."""

    def __init__(self, mutants: list[Mutant], refused: dict[tuple[str, int], int]) -> None:
        self._mutants = mutants
        self._refused = refused
        self._file = ""

    def mutate(self, file: str, source: str) -> str:
        """Return the source of a header with its mutants, which keep their line numbers."""
        self._file = file
        tokens = cpp_tokens(source)
        out: list[str] = []
        k = 0
        while k < len(tokens):
            token = tokens[k]
            if token.text in ("constexpr", "static_assert", "template", "enum", "case", "static"):
                end = _skip_declaration(tokens, k)
                out += [one.space + one.text for one in tokens[k:end]]
                k = end
            elif token.text == "if" and tokens[k + 1].text == "(":
                end = _matching(tokens, k + 1)
                out.append(f"{token.space}if{tokens[k + 1].space}(")
                out.append(self._condition(tokens[k + 2 : end]) + tokens[end].space + ")")
                k = end + 1
            elif token.text == "return" or (
                token.text in _ASSIGNMENTS and tokens[k - 1].text not in ("operator", "]", "auto")
            ):
                end = _end_of_value(tokens, k + 1)
                out.append(token.space + token.text)
                value = tokens[k + 1 : end]
                words = [one.text for _, one in top(value)]
                is_condition = token.text == "return" and {"&&", "||"} & {*words}
                if "[" in {one.text for one in value[:1]} or "?" in words:  # a lambda
                    out.append(self._numbers(value))
                else:
                    out.append(self._condition(value) if is_condition else self._numbers(value))
                k = end
            else:
                out.append(token.space + token.text)
                k += 1
        return "".join(out)

    def _condition(self, tokens: list[Token]) -> str:
        words = [one.text for _, one in top(tokens)]
        if {";", "=", "?", ","} & {*words} or "auto" in words:  # if (auto x = ...; ...)
            return written(tokens)
        out = ""
        clause: list[Token] = []
        for at, token in enumerate(tokens):
            if token.text in ("&&", "||") and any(at == k for k, _ in top(tokens)):
                out += self._clause(clause) + token.space + token.text
                clause = []
            else:
                clause.append(token)
        return out + self._clause(clause)

    def _clause(self, tokens: list[Token]) -> str:
        if not tokens:
            return ""
        line, boldness = tokens[0].line, self._boldness(tokens[0].line)
        text = re.sub(r"\s+", " ", written(tokens)).strip()
        space = tokens[0].space
        at = [k for k, one in top(tokens) if one.text in {*COMPARISONS, "<", ">"}]
        inner = self._numbers(tokens)
        if len(at) == 1 and tokens[at[0]].text in BOUNDARY and boldness < 1:
            left = self._numbers(tokens[: at[0]]).strip()
            right = self._numbers(tokens[at[0] + 1 :]).strip()
            number = self._add(line, "equal", text)
            inner = BOUNDARY[tokens[at[0]].text].format(k=number, a=left, b=right)
        if boldness > 2:
            return inner
        return f"{space}mutant_flip({self._add(line, 'inverted', text)}, bool({inner.strip()}))"

    def _numbers(self, tokens: list[Token]) -> str:
        if any(one.text.startswith("_mm") for one in tokens):  # an intrinsic takes constants alone
            return written(tokens)
        out = ""
        for k, token in enumerate(tokens):
            previous = tokens[k - 1].text if k else ""
            if (
                token.kind != tokenize.NUMBER
                or not _DECIMAL.fullmatch(token.text)
                or float(token.text) == 0
                or self._boldness(token.line) > 1
                or previous in ("<", "[", "<<", ">>")
            ):
                out += token.space + token.text
            else:
                number = self._add(token.line, "constant", token.text)
                out += f"{token.space}mutant_literal({number}, {token.text})"
        return out

    def _boldness(self, line: int) -> int:
        return self._refused.get((self._file, line), 0)

    def _add(self, line: int, kind: str, text: str) -> int:
        number = len(self._mutants) + 1
        self._mutants.append(Mutant(number, self._file, line, kind, text))
        return number


def cpp_tokens(source: str) -> list[Token]:
    """Return the tokens of C++ source; what is compiled for Windows alone counts as blank."""
    source_lines = source.splitlines(keepends=True)
    windows, depth, hidden = set(), 0, 0
    for index, line in enumerate(source_lines):
        if re.match(r"#\s*if", line):
            depth += 1
            if re.match(r"#\s*if(def| defined\()\s*_WIN32", line) and not hidden:
                hidden = depth
        elif re.match(r"#\s*(else|elif)", line) and hidden == depth:
            hidden = -1 if hidden else 0
        elif re.match(r"#\s*endif", line):
            hidden = 0 if hidden in (depth, -1) else hidden
            depth -= 1
        if hidden > 0:
            windows.add(index + 1)
    tokens, space, line_number = [], "", 1
    for match in _CPP.finditer(source):
        if match.lastgroup == "blank" or line_number in windows:
            space += match[0]
        else:
            kind = tokenize.NUMBER if match.lastgroup == "number" else tokenize.OP
            tokens.append(Token(kind, match[0], line_number, space))
            space = ""
        line_number += match[0].count("\n")
    tokens.append(Token(tokenize.ENDMARKER, "", line_number, space))
    return tokens


def _matching(tokens: list[Token], k: int) -> int:
    """Return the index of the bracket that closes the one at ``k``."""
    depth = 0
    while True:
        depth += (tokens[k].text in ("(", "[", "{")) - (tokens[k].text in (")", "]", "}"))
        if depth == 0:
            return k
        k += 1


def _end_of_value(tokens: list[Token], k: int) -> int:
    """Return the index of the token that ends an expression."""
    depth = 0
    while tokens[k].kind != tokenize.ENDMARKER:
        text = tokens[k].text
        if depth == 0 and text in (";", ",", ")", "]", "}", "{"):
            break
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        k += 1
    return k


def _skip_declaration(tokens: list[Token], k: int) -> int:
    """Return the index behind a declaration, or behind its head where its body is no constant.

    A function that is ``constexpr`` is skipped with its body; of a template or a static function
    only what stands before the parameters.
    """
    first = tokens[k].text
    if first == "template":
        depth, k = 0, k + 1
        while True:
            depth += (
                (tokens[k].text == "<") - (tokens[k].text == ">") - 2 * (tokens[k].text == ">>")
            )
            k += 1
            if depth <= 0:
                return k
    if first == "static":
        return k + 1
    while tokens[k].text not in (";", "{", "" if first == "enum" else ":", ""):
        if tokens[k].text == "(":
            k = _matching(tokens, k)
        k += 1
    return _matching(tokens, k) + 1 if tokens[k].text == "{" else k + 1
