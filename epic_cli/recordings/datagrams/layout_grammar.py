"""The grammar of binary layouts: words to the steps that read a datagram."""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn

from epic_cli.engine.intake import PARTS
from epic_cli.recordings.datagrams import layout_steps as code
from epic_cli.recordings.datagrams.layout_steps import TYPES, Scope, Step, type_of

_ORDERS = ("little", "big")
_RESERVED = (*_ORDERS, "char", "else")
_WHOLE = ("id", "seq", "teleport")
_AXES, _SPEEDS, _TURNS, _SPINS = (set(PARTS[a:b]) for a, b in ((0, 3), (3, 6), (10, 14), (14, 17)))

#: Bytes; no datagram holds more. And so many words, and groups within groups.
_LONGEST, _MOST_WORDS, _DEEPEST = 65507, 1000, 12

_NUMBER = r"[\w.]+(?:(?<=[eE])[-+]\d+)?"
_FIELD = re.compile(
    r"(?P<name>[A-Za-z_]\w*):(?P<type>\w+)(?:\[(?P<length>\w*)\])?(?:&(?P<mask>\w+))?"
    rf"(?:(?P<by>[*/])(?P<factor>[-+]?{_NUMBER}))?(?P<add>[-+]{_NUMBER})?(?:=(?P<value>.+))?"
)
_CONDITION = re.compile(r"(\w+)([=&])([-+]?\w+)")
_TOKEN = re.compile(r"\}(?:\[\w*\])?|\{|[^\s,{}]+")


class LayoutParser:
    """Reads a layout; raises ``ValueError``, with the place of what is wrong.

    ``least`` are the bytes of a message, which always are as many if it is ``fixed``. ``words`` are
    those that the ``steps`` come from, ``spans`` the seconds after which times start over.
    """

    def __init__(self, text: str) -> None:
        self._tokens = [(one[0], one.start() + 1) for one in _TOKEN.finditer(text)]
        self._at = self._depth = 0
        self._big = self._emits = False
        self._unknown: dict[str, int] = {}
        self.steps: list[Step] = []
        self.words: list[str] = []
        self.spans: list[float | None] = []
        self.fixed = True
        if len(self._tokens) > _MOST_WORDS:
            raise ValueError(f"a layout has at most {_MOST_WORDS:,} words")
        self.least = -(-self._record(Scope(set(), {})) // 8)
        if self._word:
            self._fail("no { is open")
        for name, at in self._unknown.items():
            self._at = at
            known = ", ".join(("time", *(part for part in PARTS if part != "time")))
            self._fail(f"{name!r} is not a field: {known}, _ to skip, or what is referred to")
        if not self._emits:
            raise ValueError(f"a record needs {'x' if self.spans else 'time'}, as time:f32 x:f32")
        if self.least > _LONGEST:
            raise ValueError(f"a record of {self.least:,} bytes fits into no datagram")

    @property
    def _word(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _fail(self, words: str) -> NoReturn:
        place = f"at character {self._tokens[self._at][1]}" if self._word else "at the end"
        raise ValueError(f"{words} ({place})")

    def _add(self, code: int, **more: Any) -> int:
        """Adds a step that belongs to this word; returns where."""
        self.words.append(self._word)
        self.steps.append(Step(code, **more))
        return len(self.steps) - 1

    def _whole(self, text: str, what: str, least: int, most: int) -> int:
        try:
            number = int(text, 0)
        except ValueError:
            number = most + 1
        if not least <= number <= most:
            self._fail(f"{self._word!r}: {text!r} is not {what}")
        return number

    def _record(self, scope: Scope) -> int:
        """What is a packet if it has a position: all, or a repeated group; its least bits."""
        scope = Scope(set(scope.given), dict(scope.variables))
        least = self._body(scope)
        names = set[str]().union(*scope.blocks)
        for block in scope.blocks:
            if block & _AXES and "x" not in block:
                self._fail("a record needs x, as x:f32, beside y and z")
            axes = [block & _AXES] if block & _AXES else [one & _AXES for one in scope.blocks]
            if (speeds := {one[1] for one in block & _SPEEDS}) and speeds not in axes:
                self._fail("velocities are of the same axes as the position, or left out")
            turns, spins = len(block & _TURNS), len(block & _SPINS)
            if turns % 4 or spins % 3 or (spins and not names & _TURNS):
                self._fail("a rotation is qx, qy, qz and qw; wx, wy and wz may be beside it")
        if names & _AXES:
            if "time" not in scope.given:
                self._fail("a record needs time, as time:f32, in it or before it")
            self._add(code.EMIT)
            self._emits = True
        if not least and (names or self._depth):
            self._fail("this may have no bytes at all")
        return least

    def _body(self, scope: Scope) -> int:
        """The words up to a closing brace, or the end."""
        least = 0
        scope.blocks.append(set())
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} groups are within each other")
        while self._word and self._word[0] != "}":
            following = self._tokens[self._at + 1][0] if self._at + 1 < len(self._tokens) else "}"
            if self._word in _ORDERS:
                self._big = self._word == "big"
            elif self._word == "...":
                self.fixed = False
                self._add(code.SKIP, source=code.REST)
                if following[0] != "}":
                    self._fail("nothing can stand behind ...")
            elif self._word == "{":
                least += self._group(scope)
            elif following == "{" and ":" not in self._word:
                least += self._choice(scope)
                continue
            else:
                least += self._part(scope, scope.blocks[-1])
            self._at += 1
        self._depth -= 1
        return least

    def _group(self, scope: Scope) -> int:
        """``{...}[n]``."""
        self.fixed = False
        big = self._big
        self._at += 1
        counted = self._add(code.SKIP)  # becomes a count in front, where there is one
        loop = self._add(code.LOOP)
        each = self._record(scope)
        if "[" not in self._word:
            self._fail("}[n] is expected: a number, a field, a type, or nothing for up to the end")
        length = self._word[2:-1]
        source, number, least = (
            self._amount(length, scope, counted) if length else (code.REST, 0, 0)
        )
        self.steps[counted].big = big
        self.steps[loop].source, self.steps[loop].number = source, number
        self.steps[loop].jump = self._add(code.NEXT, source=source, jump=loop)
        return least + each * number

    def _choice(self, scope: Scope) -> int:
        """``kind=1{...} kind=2{...} else{...}``, or ``flags&4{...} else{...}``."""
        self.fixed = False
        ends: list[int] = []
        leasts: list[int] = []
        values: set[int] = set()
        given: set[str] = set()
        found, otherwise = _CONDITION.fullmatch(self._word), False
        while True:
            if not otherwise:
                if found is None:
                    self._fail(f"{self._word!r} is not FIELD=VALUE or FIELD&MASK, before {{")
                name, mark, text = found.groups()
                value = self._whole(text, "a whole number", -(2**63), 2**64 - 1) % 2**64
                if value in values or (mark == "&" and not value):
                    self._fail(f"{self._word!r} is never true")
                values.add(value)
                source = self._refer(name, scope)
                mask = value if mark == "&" else 0
                branch = self._add(code.BRANCH, mask=mask, source=source, value=value)
            self._at += 2
            inner = Scope(set(scope.given), dict(scope.variables), scope.blocks)
            leasts.append(self._body(inner))
            given |= inner.given
            if self._word != "}":
                self._fail("} is expected")
            ends.append(self._add(code.JUMP))
            self._at += 1
            if otherwise:
                break
            self.steps[branch].jump = len(self.steps) - 1
            found, otherwise = _CONDITION.fullmatch(self._word), self._word == "else"
            same = mark == "=" and found is not None and found.groups()[:2] == (name, "=")
            if not same and not otherwise:
                if mark == "&":
                    leasts.append(0)
                else:
                    self._add(code.UNKNOWN, source=source)
                    self.words[-1] = name
                break
        for end in ends:
            self.steps[end].jump = len(self.steps) - 1
        scope.given |= given
        return min(leasts)

    def _refer(self, name: str, scope: Scope) -> int:
        if name not in scope.variables:
            self._fail(f"{self._word!r}: no whole number {name!r} stands before it")
        self._unknown.pop(name, None)
        return scope.variables[name][0]

    def _amount(self, text: str, scope: Scope, before: int | None = None) -> tuple[int, int, int]:
        """The variable with a length or a count, or the number; and the bits that tell it.

        A count in front of what is counted is a step of its own; the one at ``before`` becomes it.
        """
        if text.isdigit():
            return -1, self._whole(text, f"from 1 to {_LONGEST}", 1, _LONGEST), 0
        known = type_of(text)
        if known is None:
            return self._refer(text, scope), 0, 0
        kind, bits = known
        if text[0] == "f":
            self._fail(f"{self._word!r}: a count is a whole number")
        at = self._add(code.SKIP) if before is None else before
        size = bits if kind in "nN" else bits // 8
        self.steps[at] = Step(code.TAKE, kind=kind, big=self._big, variable=at, number=size)
        return at, 0, bits

    def _part(self, scope: Scope, names: set[str]) -> int:
        """A field; its least size in bits."""
        word = self._word
        found = _FIELD.fullmatch(word)
        name, kind, length = found.group("name", "type", "length") if found else ("", "", None)
        if word[:2] == "_:" and word[2:].isdigit():
            size = self._whole(word[2:], f"from 1 to {_LONGEST}", 1, _LONGEST)
            self._add(code.SKIP, number=size)
            return 8 * size
        text = kind == "char" and length is not None
        known = text or (length is None and (type_of(kind) or kind in scope.variables))
        if found is None or not known:
            types = ", ".join(TYPES)
            self._fail(f"{word!r} is not NAME:TYPE, with a type of {types}, u1 to u64, char[16]")
        if name in PARTS:
            if name in scope.given:
                self._fail(f"{name} is given twice")
            scope.given.add(name)
            names.add(name)
        elif name in _RESERVED or type_of(name):
            self._fail(f"{name!r} is no name for a field")
        elif name != "_" and found["value"] is None:
            self._unknown[name] = self._at
        return (self._text if text else self._number)(found.groupdict(), scope)

    def _text(self, found: dict[str, Any], scope: Scope) -> int:
        """``id:char[16]``, or up to a zero byte: ``id:char[]``."""
        name, value = found["name"], found["value"]
        if (name in PARTS and name != "id") or found["mask"] or found["by"] or found["add"]:
            self._fail(f"{self._word!r}: a text is no number")
        length = found["length"]
        source, number, before = self._amount(length, scope) if length else (code.REST, 0, 8)
        self.fixed &= source == -1
        expected = value and value.encode()
        if expected is not None and number and len(expected) != number:
            self._fail(f"{self._word!r}: {value!r} has {len(expected)} bytes, not {number}")
        part = name if name == "id" else ""
        self._add(code.TEXT, part=part, source=source, number=number, value=expected)
        return before + 8 * number

    def _number(self, found: dict[str, Any], scope: Scope) -> int:
        """``x:i16*0.01-100``, ``teleport:flags&4``."""
        name, kind, value = found["name"], found["type"], found["value"]
        source = -1 if type_of(kind) else self._refer(kind, scope)
        kind = kind if source < 0 else scope.variables[kind][1]
        letter, bits = type_of(kind) or ("", 0)
        size, real = bits if letter in "nN" else bits // 8, kind[0] == "f"
        if real and (found["mask"] or value is not None):
            self._fail(f"{self._word!r}: only whole numbers have &MASK and =VALUE")
        mask = self._whole(found["mask"], "a mask for it", 1, 2**bits - 1) if found["mask"] else 0
        if mask:
            kind, letter = "u64", {"q": "Q", "n": "N"}.get(letter, letter)
        signed = kind[0] == "i"
        if (name in ("id", "seq") and real) or (name == "seq" and signed):
            self._fail(f"{name} is a whole number, as {name}:u16")
        if value is not None:
            least = -(2 ** (bits - 1)) if signed else 0
            value = self._whole(value, f"a number of {bits} bits", least, 2**bits - 1) % 2**64
        by = "per" if found["by"] == "/" else "scale"
        factor = self._real(found["factor"] or "1", name, 1e-12)
        at = self._add(code.TAKE, kind=letter, big=self._big, mask=mask, **{by: factor})
        step = self.steps[at]
        step.part, step.source, step.number = name if name in PARTS else "", source, size
        step.add, step.value = self._real(found["add"] or "0", name, 0.0), value
        if name != "_" and not real:
            step.variable = at
            scope.variables[name] = at, kind
        if name == "time":
            width = mask.bit_length() - (mask & -mask).bit_length() + 1 if mask else bits
            span = 2.0**width * abs(step.scale) / abs(step.per)
            self.spans.append(span if kind[0] == "u" and width < 64 else None)
        return bits if source < 0 else 0

    def _real(self, text: str, name: str, least: float) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if text not in "01" and (name in _WHOLE or name not in PARTS):
            number = math.nan
        if not least <= abs(number) <= 1e12:
            self._fail(f"{self._word!r}: {text!r} is not a valid factor for {name}")
        return number
