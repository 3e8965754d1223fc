"""A slow, obvious oracle of the C++ demo ``epic_demo.cpp``.

Written from the reference program alone (built with ``g++ -O2 -ffp-contract=off`` on x86-64
with glibc), in plain Python, to be read and not to be fast.  Three rules carry it all:

* A float32 is held in a Python float whose value is exactly that float32.
* Every single arithmetic operation is rounded to float32 at once.  Doing ``+``, ``-`` or ``*`` on
  two float32 values in double and rounding the result to float32 is the same as rounding the exact
  result once: a product of two 24-bit numbers is exact in a double, and for a sum a double has
  more than the 2 * 24 + 2 bits that make the second rounding harmless.
* The sign of a NaN is kept the way SSE keeps it, since printf shows it.
"""

import math
import re
import struct
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

Vector = tuple[float, float, float]

BANNER = b"Input successively reveived data packets. Type 'q' to quit.\n"
PROMPT = b"pos/vel/time> "
ERROR = b"error: input format x,y,z / x,y,z / t\n"

# char line[1024]: fgets() puts at most 1023 bytes and a NUL into it.
LINE_BYTES = 1023

# The smallest float32 packet time for which the demo's loop never ends: the demo's clock stops
# at 2**20, where 0.05 is less than half a unit in the last place.
ENDLESS_TIME = 1048575.9375


class EndlessLoop(Exception):
    """A packet time at which the original program would loop for ever."""


# ---------------------------------------------------------------------------------------------
# float32 arithmetic


def nan32(*, negative: bool) -> float:
    """Return a quiet NaN with the given sign."""
    nan: float = struct.unpack("<f", struct.pack("<I", 0xFFC00000 if negative else 0x7FC00000))[0]
    return nan


# What SSE makes of inf - inf or 0 * inf: the "real indefinite", a NaN with the sign bit set.
INDEFINITE = nan32(negative=True)


def f32(value: float | Fraction) -> float:
    """Round to the nearest float32, once, ties to even; too large becomes infinite."""
    if isinstance(value, float):
        return _f32_of_double(value)
    return _f32_of_fraction(Fraction(value))


def _f32_of_double(value: float) -> float:
    """Round a double, with the C cast inside struct (it keeps -0, and the sign of a NaN)."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:  # a finite value that rounds to infinity
        return math.copysign(math.inf, value)
    return rounded


def _f32_of_fraction(value: Fraction) -> float:
    """Round an exact fraction: count it in units of the last place, as a whole number."""
    size = abs(value)
    if size == 0:
        return 0.0
    # The power of 2 with 2**power <= size < 2**(power + 1).
    power = size.numerator.bit_length() - size.denominator.bit_length()  # perhaps 1 too many
    if size < Fraction(2) ** power:
        power -= 1
    # 24 bits of significand, but below 2**-126 (subnormals) the unit stays 2**-149.
    unit = max(power - 23, -149)
    units = round(size / Fraction(2) ** unit)  # round() on a Fraction: ties to even
    rounded = math.inf if units * Fraction(2) ** unit >= 2**128 else math.ldexp(units, unit)
    return -rounded if value < 0 else rounded


def _nan_operand(a: float, b: float) -> float | None:
    """Return the NaN that an SSE operation on a and b yields; that of a takes precedence."""
    if math.isnan(a):
        return a
    if math.isnan(b):
        return b
    return None


def add(a: float, b: float) -> float:
    """Return a + b in float32; with two NaNs the result is a."""
    nan = _nan_operand(a, b)
    if nan is not None:
        return nan
    if math.isinf(a) and math.isinf(b) and a != b:
        return INDEFINITE
    return f32(a + b)


def sub(a: float, b: float) -> float:
    """Return a - b in float32; with two NaNs the result is a (a NaN b does not change its sign)."""
    nan = _nan_operand(a, b)
    if nan is not None:
        return nan
    if math.isinf(a) and a == b:
        return INDEFINITE
    return f32(a - b)


def mul(a: float, b: float) -> float:
    """Return a * b in float32; with two NaNs the result is a."""
    nan = _nan_operand(a, b)
    if nan is not None:
        return nan
    if (math.isinf(a) and b == 0) or (a == 0 and math.isinf(b)):
        return INDEFINITE
    return f32(a * b)


def reciprocal(a: float) -> float:
    """Return 1 / a in float32."""
    if math.isnan(a):
        return a
    if a == 0:
        return math.copysign(math.inf, a)
    if math.isinf(a):
        return math.copysign(0.0, a)
    return f32(1 / Fraction(a))


# ---------------------------------------------------------------------------------------------
# Reading: fgets() and sscanf()


def split_lines(data: bytes) -> Iterator[bytes]:
    """Yield the pieces that fgets(line, 1024, stdin) hands over, up to the one that ends it all.

    A piece ends after a newline, after 1023 bytes or at the end of the data.  The program ends
    without looking further at the end of the data, or at a piece that begins with a NUL or a q.
    """
    at = 0
    while at < len(data):
        newline = data.find(b"\n", at, at + LINE_BYTES)
        end = at + LINE_BYTES if newline < 0 else newline + 1
        piece = data[at:end]
        if piece.startswith((b"\0", b"q")):
            return
        yield piece
        at = end


BLANKS = b" \t\n\v\f\r"

# The text that "%f" takes, after blanks.  An exponent needs no digits: "1e", "1e+" and "0x1p" are
# taken whole and are 1.  After "0x" a lone point will do ("0x." is 0; no exponent then), but "0x"
# alone fails and never falls back to its "0".  "inf" must not be followed by an i, unless that
# begins the rest of "infinity".  "nan" never takes a bracket.  A NUL is in no alternative, so the
# end of the C string ends the number too.
NUMBER = re.compile(
    rb"""
    (?P<sign> [+-]? )
    (?:
        (?P<nan> nan )
      | (?P<inf> inf (?: inity | (?!i) ) )
      | 0x (?: (?P<hex> [0-9a-f]+ \.? [0-9a-f]* | \.[0-9a-f]+ ) (?: p (?P<power> [+-]?[0-9]* ) )?
             | (?P<zero> \. ) )
      | (?!0x) (?P<decimal> [0-9]+ \.? [0-9]* | \.[0-9]+ ) (?: e (?P<exponent> [+-]?[0-9]* ) )?
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def skip_blanks(text: bytes, at: int) -> int:
    """Step over what C's isspace() calls a blank."""
    while at < len(text) and text[at] in BLANKS:
        at += 1
    return at


def scan_number(text: bytes, at: int) -> tuple[float, int] | None:
    """Return the float32 that sscanf's "%f" reads at an offset and the offset after it, or None."""
    match = NUMBER.match(text, skip_blanks(text, at))
    if match is None:
        return None
    negative = match["sign"] == b"-"
    if match["nan"] is not None:
        return nan32(negative=negative), match.end()
    if match["inf"] is not None:
        size = math.inf
    elif match["zero"] is not None:
        size = 0.0
    elif match["hex"] is not None:
        size = _hex_to_f32(match["hex"], _exponent(match["power"]))
    else:
        size = _decimal_to_f32(match["decimal"], _exponent(match["exponent"]))
    return (-size if negative else size), match.end()


def _exponent(text: bytes | None) -> int:
    """Read an exponent: none at all, or one without digits, is 0."""
    if text is None or text in (b"", b"+", b"-"):
        return 0
    return _whole_number(text, 10)


def _whole_number(text: bytes, base: int) -> int:
    """Parse a whole number of any length: int(text, base) without its limit of 4,300 digits."""
    return int(Decimal(text.decode("ascii"))) if base == 10 else int(text, base)


def _decimal_to_f32(digits: bytes, power: int) -> float:
    """Round decimal digits (with or without a point) times 10**power to float32, once.

    Short cut: float() rounds the text to a double.  Rounding that again to float32 can only go
    wrong if the double is exactly half-way between two float32 values.  (Each half-way point is
    a double itself, so no number can get from one side of it to the other in the first rounding;
    it can only land on it.)  In the range of the normal float32 values, half-way means that of the
    29 bits that a double has more, the first is 1 and the others are 0.
    """
    power = _bounded(power, digits)
    double = float(b"%be%d" % (digits, power))
    (bits,) = struct.unpack("<Q", struct.pack("<d", double))
    half_way = bits % 2**29 == 2**28
    if 2.0**-126 <= double < 2.0**127 and not half_way:
        return f32(double)
    return f32(_exact(digits, 10) * Fraction(10) ** power)


def _hex_to_f32(digits: bytes, power: int) -> float:
    """Round hexadecimal digits (with or without a point) times 2**power to float32, once."""
    return f32(_exact(digits, 16) * Fraction(2) ** _bounded(power, digits))


def _exact(digits: bytes, base: int) -> Fraction:
    """Return the exact value of digits with or without a point."""
    whole, _, decimals = digits.partition(b".")
    return Fraction(_whole_number(whole + decimals, base), base ** len(decimals))


def _bounded(power: int, digits: bytes) -> int:
    """Bound a power that makes 0 or infinity of these digits anyway, say 10**999999999.

    The digits are 0, or between 16**-n and 16**n for a text of n bytes; and a power of 2 beyond
    +-4 * n makes up for that, 200 more are enough to leave the range of float32.
    """
    limit = 4 * len(digits) + 200
    return max(-limit, min(limit, power))


def scan_line(line: bytes) -> tuple[float, ...] | None:
    """Return all 7 numbers of sscanf(line, "%f , %f , %f / %f , %f , %f / %f"), or None."""
    numbers: list[float] = []
    at = 0
    for separator in (None, b",", b",", b"/", b",", b",", b"/"):
        if separator is not None:
            at = skip_blanks(line, at)
            if not line.startswith(separator, at):
                return None
            at += 1
        scanned = scan_number(line, at)
        if scanned is None:
            return None
        number, at = scanned
        numbers.append(number)
    return tuple(numbers)


# ---------------------------------------------------------------------------------------------
# The interpolator


def _vector32(vector: Vector) -> Vector:
    x, y, z = vector
    return f32(x), f32(y), f32(z)


def _add(a: Vector, b: Vector) -> Vector:
    return add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])


def _sub(a: Vector, b: Vector) -> Vector:
    return sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])


def _scale(a: Vector, factor: float) -> Vector:
    return mul(a[0], factor), mul(a[1], factor), mul(a[2], factor)


class Interpolator:
    """The C++ template Interpolator<Vector3, float>.

    After read(), whether it returned True or False, last_return_pos and last_vel are the position
    and the velocity that the original hands out.

    The operands of + stand in the order of the machine code of g++ -O2, not of the source: the
    product comes first, so with two NaNs its sign wins.
    """

    def __init__(
        self,
        *,
        calc_ahead: float = f32(0.2),
        display_behind: float = f32(0.2),
        slop_time: float = f32(0.5),
        position: Vector = (0.0, 0.0, 0.0),
        velocity: Vector = (0.0, 0.0, 0.0),
        time: float = -1.0,
    ) -> None:
        """Take the settings and the first position, velocity and time (the demo's by default)."""
        self.calc_ahead = f32(calc_ahead)
        self.display_behind = f32(display_behind)
        self.slop_time = f32(slop_time)
        self.last_pos = _vector32(position)
        self.last_vel = _vector32(velocity)
        self.last_time = f32(time)
        self.last_return_time = self.last_time
        self.last_return_pos = self.last_pos

    def update(self, position: Vector, velocity: Vector, time: float) -> bool:
        """Take a packet; return False, unchanged, if it is earlier than the last one."""
        position, velocity, time = _vector32(position), _vector32(velocity), f32(time)
        if time < self.last_time:
            return False
        if self.display_behind < 0.0001:  # in C++ too, 0.0001 is a double here
            self.last_pos = position
            self.last_vel = velocity
        else:
            self.last_pos = self.last_return_pos
            target = _add(_scale(velocity, self.calc_ahead), position)
            self.last_vel = _scale(_sub(target, self.last_pos), reciprocal(self.display_behind))
        self.last_time = time
        return True

    def read(self, at: float) -> bool:
        """Move last_return_pos to the time at; return False, unchanged, if that is too late."""
        at = f32(at)
        if not at < add(self.last_time, self.slop_time):
            return False
        self.last_return_time = at
        moved = _scale(self.last_vel, sub(at, self.last_time))
        self.last_return_pos = _add(moved, self.last_pos)
        return True


# ---------------------------------------------------------------------------------------------
# The program


def format_number(value: float, decimals: int) -> str:
    """Print as C's printf("%.{decimals}f") of glibc does: like Python, but for -nan."""
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:.{decimals}f}"


def format_line(position: Vector, velocity: Vector, time: float) -> bytes:
    """Return one line of the demo's stdout."""
    pos = ",".join(format_number(value, 2) for value in position)
    vel = ",".join(format_number(value, 3) for value in velocity)
    return f"pos: {pos}  vel: {vel}  time: {format_number(time, 3)}\n".encode("ascii")


def remarks(data: bytes) -> list[bytes]:
    """Return the blank lines and comments, of which only the original complains."""
    found: list[bytes] = []
    begins, remark = True, False
    for piece in split_lines(data):
        if begins:
            remark = piece.strip(b" \t\n\v\f\r")[:1] in (b"", b"#")
        begins = piece.endswith(b"\n")
        if remark:
            found.append(piece)
    return found


def demo(data: bytes) -> tuple[bytes, bytes]:
    """Run the original on this stdin; return its stdout, and its stderr with banner and prompts."""
    stdout: list[bytes] = []
    stderr: list[bytes] = [BANNER]
    interpolator = Interpolator()
    now = 0.0
    for line in split_lines(data):
        stderr.append(PROMPT)
        numbers = scan_line(line)
        if numbers is None:
            stderr.append(ERROR)
            continue
        px, py, pz, vx, vy, vz, time = numbers
        if time >= ENDLESS_TIME:
            raise EndlessLoop(f"packet time {time!r}")
        interpolator.update((px, py, pz), (vx, vy, vz), time)
        while now < add(time, f32(0.15)):
            now = add(now, f32(0.05))
            interpolator.read(now)
            stdout.append(format_line(interpolator.last_return_pos, interpolator.last_vel, now))
    stderr.append(PROMPT)  # the fgets() that ends the program
    return b"".join(stdout), b"".join(stderr)
