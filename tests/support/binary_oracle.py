"""Random layouts of binary datagrams, and a reader of them in slow and obvious Python.

A layout is made as a tree; its words are written from the tree, and the reader walks the tree with
``struct``: neither knows the grammar or the engine that they are compared with.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q",
         "u64": "Q", "f16": "e", "f32": "f", "f64": "d", "i24": "", "u24": ""}  # fmt: skip
UNSIGNED = ("u8", "u16", "u24", "u32", "u64")
WHOLE = ("i8", "i16", "i24", "i32", "i64", *UNSIGNED)
BITS = {name: int(name[1:]) for name in CODES}


@dataclass
class Item:
    """One item of a layout; its kind decides which fields are used."""

    kind: str  # number, bits, text, skip, order, group, choice, rest
    name: str = ""
    type: str = ""
    mask: int = 0
    scale: str = ""
    add: str = ""
    value: Any = None
    length: Any = None  # a number, a name, a type, or None
    body: list[Item] = field(default_factory=list)
    branches: list[tuple[int, list[Item]]] = field(default_factory=list)
    otherwise: list[Item] | None = None


def words(body: list[Item]) -> str:
    """Return the layout as a user writes it."""
    return " ".join(_words(item) for item in body)


def _words(one: Item) -> str:
    if one.kind in ("number", "bits"):
        text = f"{one.name}:{one.type}" + (f"&{one.mask:#x}" if one.mask else "")
        text += one.scale + one.add
        return text if one.value is None else f"{text}={one.value}"
    if one.kind == "text":
        text = f"{one.name}:char[{one.length}]"
        return text if one.value is None else f"{text}={one.value.decode()}"
    if one.kind == "group":
        return "{" + words(one.body) + "}[" + ("" if one.length is None else str(one.length)) + "]"
    if one.kind == "choice":
        parts = [f"{one.name}{one.type}{value}{{{words(body)}}}" for value, body in one.branches]
        if one.otherwise is not None:
            parts.append(f"else{{{words(one.otherwise)}}}")
        return " ".join(parts)
    return {"skip": f"_:{one.length}", "order": one.name, "rest": "..."}[one.kind]


class Stopped(Exception):
    """An error for a datagram that does not fit its layout: the reason, and the byte's offset."""

    def __init__(self, why: str, place: int) -> None:
        super().__init__(why, place)
        self.why, self.place = why, place


def order_of(body: list[Item], big: bool) -> Iterator[tuple[Item, bool]]:
    """Yield the items of a body, groups included, each with whether its numbers are big-endian."""
    for item in body:
        big = item.name == "big" if item.kind == "order" else big
        yield item, big
        for inner in (item.body, *(body for _, body in item.branches), item.otherwise or []):
            for found, big in order_of(inner, big):  # noqa: B020
                yield found, big


class Oracle:
    """A reader of datagrams of a layout."""

    def __init__(self, body: list[Item]) -> None:
        self.body = body
        self.big = {id(one): big for one, big in order_of(body, False)}

    def packets(self, data: bytes) -> list[dict[str, Any]]:
        """Return the packets of a datagram; raise ``Stopped``."""
        if not data:
            raise Stopped("empty", 0)
        self.data, self.at = data, 0
        found: list[dict[str, Any]] = []
        while self.at < len(data):
            self.record(self.body, {}, {}, found)
        return found

    def record(
        self,
        body: list[Item],
        state: dict[str, Any],
        names: dict[str, int],
        found: list[dict[str, Any]],
    ) -> None:
        state, outer = dict(state), set(state)
        self.items(body, state, dict(names), found)
        if "x" in set(state) - outer:
            if "time" not in state:
                raise Stopped("no time", self.at)
            try:
                name = state.get("id", b"").decode()
            except UnicodeDecodeError:
                raise Stopped("name", self.at) from None
            found.append(state | {"id": name})

    def bytes(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise Stopped("cut", self.at)
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, kind: str, big: bool) -> Any:
        data = self.bytes(BITS[kind] // 8)
        if CODES[kind]:
            return struct.unpack((">" if big else "<") + CODES[kind], data)[0]
        return int.from_bytes(data, "big" if big else "little", signed=kind[0] == "i")

    def amount(self, one: Item, names: dict[str, int]) -> int:
        if isinstance(one.length, int):
            return one.length
        if one.length in CODES:
            number = self.number(one.length, self.big[id(one)])
        else:
            number = names[one.length]
        return number % 2**64  # type: ignore[no-any-return]

    def items(
        self,
        body: list[Item],
        state: dict[str, Any],
        names: dict[str, int],
        found: list[dict[str, Any]],
    ) -> None:
        for item in body:
            if item.kind in ("number", "bits"):
                begin = self.at
                if item.kind == "bits":
                    number = names[item.type]
                else:
                    number = self.number(item.type, self.big[id(item)])
                if item.mask:
                    number = (number & item.mask) // (item.mask & -item.mask)
                if item.value is not None and number != item.value:
                    raise Stopped("unequal", begin)
                names[item.name] = number
                if item.name == "id":
                    state["id"] = b"%d" % number
                elif item.name == "seq":
                    state["seq"] = number % 2**63
                elif item.name == "teleport":
                    state["teleport"] = number != 0
                else:
                    real = float(number)
                    if item.scale:
                        factor = float(item.scale[1:])
                        real = real * factor if item.scale[0] == "*" else real / factor
                    state[item.name] = real + float(item.add or "0")
            elif item.kind == "text":
                if item.length == "":
                    begin, end = self.at, self.data.find(b"\0", self.at)
                    text = self.bytes(end - begin + 1 if end >= 0 else 10**9)[:-1]
                else:
                    amount, begin = self.amount(item, names), self.at
                    text = self.bytes(amount)
                if item.value is not None and text != item.value:
                    raise Stopped("unequal", begin)
                text = text.split(b"\0")[0]
                if item.name == "id":
                    if len(text) > 256:
                        raise Stopped("name", begin)
                    state["id"] = text
            elif item.kind == "skip":
                self.bytes(item.length)
            elif item.kind == "rest":
                self.at = len(self.data)
            elif item.kind == "group":
                if item.length is None:
                    while self.at < len(self.data):
                        self.record(item.body, state, names, found)
                    continue
                for _ in range(min(self.amount(item, names), len(self.data) + 1)):
                    self.record(item.body, state, names, found)
            elif item.kind == "choice":
                self.choose(item, state, names, found)

    def choose(
        self, one: Item, state: dict[str, Any], names: dict[str, int], found: list[dict[str, Any]]
    ) -> None:
        number = names[one.name]
        for value, body in one.branches:
            if (number % 2**64 & value) if one.type == "&" else number == value:
                return self.items(body, state, dict(names), found)
        if one.otherwise is not None:
            return self.items(one.otherwise, state, dict(names), found)
        if one.type == "=":
            raise Stopped("unknown", self.at)
        return None


# ----------------------------------------------------------------------------- random layouts


class Maker:
    """A maker of layouts, and of datagrams that mostly fit them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        self.count += 1
        return f"f{self.count}a"

    def layout(self) -> list[Item]:
        """Return a layout that epic accepts."""
        body: list[Item] = []
        if self.maybe(0.4):
            body.append(Item("order", self.random.choice(["big", "little"])))
        if self.maybe(0.3):
            kind = self.random.choice(UNSIGNED)
            value = self.random.randrange(2 ** BITS[kind])
            body.append(Item("number", self.random.choice(["magic", "_"]), kind, value=value))
        elif self.maybe(0.2):
            body.append(Item("text", "magic", length=4, value=b"SNAP"))
        form = self.random.choice(["flat", "group", "types", "nested"])
        if form == "flat":
            return body + self.fields({"time", "x"}, flags=self.maybe(0.4))
        if form == "types":
            name, kind = self.name(), self.random.choice(["u8", "u16", "i8", "i32"])
            body.append(Item("number", name, kind))
            least = -128 if kind[0] == "i" else 0
            values = self.random.sample(range(least, 120), 3)
            branches = []
            for value in values:
                inner = self.fields({"time", "x"}) if self.maybe(0.5) else self.header_and_group()
                branches.append((value, inner))
            otherwise = [Item("rest")] if self.maybe(0.4) else None
            if self.maybe(0.2):
                otherwise = [Item("skip", length=3)]
            body.append(Item("choice", name, "=", branches=branches, otherwise=otherwise))
            return body
        return body + self.header_and_group(nested=form == "nested")

    def header_and_group(self, nested: bool = False) -> list[Item]:
        outer = self.random.choice([{"time"}, {"time", "seq"}, set()])
        body = self.fields(outer) if outer else []
        length: Any = self.random.choice([None, 2, 3, "u8", "i8", "u16", "field"])
        if length == "field":
            length = self.name()
            body.append(Item("number", length, self.random.choice(["u8", "u16", "i8"])))
            if self.maybe(0.2):
                bits = self.name()
                body.append(Item("bits", bits, length, mask=self.random.choice([3, 6, 0x1C])))
                length = bits
        if nested:
            inner = self.group({"x", "unnamed"} | ({"time"} - outer), self.random.choice(["u8", 2]))
            records = self.fields({"id"})
            body.append(Item("group", body=[*records, inner], length=length))
        else:
            needs = {"x"} | ({"time"} - outer)
            body.append(self.group(needs, length))
        if self.maybe(0.2) and length is not None:
            body.append(Item("skip", length=self.random.randrange(1, 5)))
        return body

    def group(self, needs: set[str], length: Any) -> Item:
        body = self.fields(needs, flags=self.maybe(0.3))
        if self.maybe(0.1):
            body.insert(0, Item("order", self.random.choice(["big", "little"])))
        return Item("group", body=body, length=length)

    def fields(self, needs: set[str], flags: bool = False) -> list[Item]:
        body: list[Item] = []
        axes = self.random.choice(["x", "xy", "xyz"]) if "x" in needs else ""
        flag = self.name()
        if flags and axes:
            body.append(Item("number", flag, self.random.choice(UNSIGNED)))
        names = [*axes]
        if axes and self.maybe(0.3) and not flags:
            names += [f"v{axis}" for axis in axes]
        rest = [word for word in ("time",) if word in needs]
        named = axes and "unnamed" not in needs and self.maybe(0.5)
        rest += ["id"] if "id" in needs or named else []
        rest += ["seq"] if "seq" in needs else []
        rest += ["teleport"] if axes and self.maybe(0.2) else []
        names += rest
        self.random.shuffle(names)
        for name in names:
            body.append(self.one(name, flag if flags and axes else ""))
            if self.maybe(0.1):
                body.append(Item("skip", length=self.random.randrange(1, 4)))
            if self.maybe(0.05):
                body.append(Item("number", "_", self.random.choice(list(CODES))))
        if flags and axes:
            if self.maybe(0.6):
                inner = [self.number(f"v{axis}") for axis in axes]
                other = [self.number(f"v{axis}") for axis in axes] if self.maybe(0.3) else None
                mask = self.random.choice([1, 2, 5])
                body.append(Item("choice", flag, "&", branches=[(mask, inner)], otherwise=other))
            else:
                inner = [Item("skip", length=2)]
                body.append(Item("choice", flag, "&", branches=[(4, inner)]))
        return body

    def one(self, name: str, flag: str) -> Item:
        if name == "id":
            if self.maybe(0.35):
                length = self.random.choice([1, 4, 8, "u8", ""])
                return Item("text", "id", length=length)
            kind = self.random.choice(WHOLE)
            return Item("number", "id", kind, mask=self.mask(kind))
        if name == "teleport" and flag:
            return Item("bits", "teleport", flag, mask=self.random.choice([1, 8, 6]))
        if name in ("seq", "teleport"):
            kind = self.random.choice(UNSIGNED)
            return Item("number", name, kind, mask=self.mask(kind))
        return self.number(name)

    def mask(self, kind: str) -> int:
        return self.random.randrange(1, 2 ** BITS[kind]) if self.maybe(0.2) else 0

    def number(self, name: str) -> Item:
        kind = self.random.choice(list(CODES))
        scale = self.random.choice(["", "", "*0.01", "/60", "*-2.5", "*1e-3", "/1e-2"])
        add = self.random.choice(["", "", "-100", "+0.5", "-1e-3"])
        mask = self.mask(kind) if kind[0] != "f" else 0
        return Item("number", name, kind, mask=mask, scale=scale, add=add)

    # -------------------------------------------------------------------------------- datagrams

    def datagram(self, body: list[Item]) -> bytes:
        """Return random bytes, or a datagram of the layout, whole or damaged."""
        if self.maybe(0.15):
            return self.random.randbytes(self.random.randrange(60))
        data = b"".join(self.written(body) for _ in range(self.random.choice([1, 1, 1, 2])))
        if self.maybe(0.25):
            data = data[: self.random.randrange(len(data) + 1)]
        elif self.maybe(0.15):
            data += self.random.randbytes(self.random.randrange(4))
        elif data and self.maybe(0.2):
            at = self.random.randrange(len(data))
            data = data[:at] + self.random.randbytes(1) + data[at + 1 :]
        return data

    def written(self, body: list[Item]) -> bytes:
        big = {id(one): big for one, big in order_of(body, False)}
        out = bytearray()
        self.write(body, out, {}, big)
        return bytes(out)

    def write(
        self, body: list[Item], out: bytearray, names: dict[str, int], big: dict[int, bool]
    ) -> None:
        choices = {item.name: item for item in body if item.kind == "choice"}
        counts = {item.length for item in body if item.kind == "group"}
        counts |= {item.type for item in body if item.kind == "bits" and item.name in counts}
        for item in body:
            order = "big" if big[id(item)] else "little"
            if item.kind == "number":
                size = BITS[item.type] // 8
                data = self.random.randbytes(size)
                value = item.value
                if item.name in choices and choices[item.name].type == "=" and self.maybe(0.9):
                    value = self.random.choice(choices[item.name].branches)[0]
                if item.name in counts:
                    value = self.random.randrange(8)
                if value is not None:
                    data = (value % 2 ** (8 * size)).to_bytes(size, order)
                names[item.name] = int.from_bytes(data, order, signed=item.type[0] == "i")  # type: ignore[arg-type]
                out += data
            elif item.kind == "bits":
                names[item.name] = (names[item.type] & item.mask) // (item.mask & -item.mask)
            elif item.kind == "text":
                count = item.length if isinstance(item.length, int) else self.random.randrange(6)
                if item.length == "u8":
                    out.append(count)
                letters = self.random.choice([b"abc\0", "é日".encode(), b"xyz"])
                out += item.value or bytes(self.random.choices(letters, k=count))
                if item.length == "" and self.maybe(0.97):
                    out.append(0)
            elif item.kind == "skip":
                out += self.random.randbytes(item.length)
            elif item.kind == "rest":
                out += self.random.randbytes(self.random.randrange(9))
            elif item.kind == "group":
                count = self.random.randrange(4)
                if isinstance(item.length, int):
                    count = item.length
                elif item.length in CODES:
                    out += count.to_bytes(BITS[item.length] // 8, order)  # type: ignore[arg-type]
                elif item.length is not None:
                    count = min(max(names[item.length], 0), 9)
                for _ in range(count):
                    self.write(item.body, out, dict(names), big)
            elif item.kind == "choice":
                number = names[item.name]
                inner = item.otherwise or []
                for value, found in item.branches:
                    if number & value if item.type == "&" else number == value:
                        inner = found
                        break
                self.write(inner, out, dict(names), big)


def trials(
    seed: int, layouts: int, each: int, read: Callable[[str, list[bytes]], Any]
) -> Iterator[tuple[str, list[bytes], list[Any], Any]]:
    """Yield random layouts with datagrams, and the results of the oracle and of ``read``."""
    for number in range(layouts):
        maker = Maker(seed * 1_000_003 + number)
        body = maker.layout()
        oracle = Oracle(body)
        datagrams = [maker.datagram(body) for _ in range(each)]
        expected: list[Any] = []
        for data in datagrams:
            try:
                expected.append(oracle.packets(data))
            except Stopped as stopped:
                expected.append((stopped.why, stopped.place))
        yield words(body), datagrams, expected, read(words(body), datagrams)
