"""States to packets: rounding, repeats, and the marks of teleports."""

from libc.math cimport fabs, floor, ilogb, ldexp, rint

from epic_cli.engine.contract import Packet as NewPacket


cdef extern from "link/rounding.h" namespace "epic" nogil:
    double round_to_millionth(double value)


cdef object new_tuple = tuple.__new__

#: Instead of a step of positions: each number in half precision (IEEE 754 binary16); or, as Netcode
#: for GameObjects does (NetworkDeltaPosition), the difference to a base that follows when it is
#: FARTHEST_DELTA or more along an axis. What rounding loses is added to the next.
HALF = "half"
HALF_DELTA = "half-delta"
cdef double FARTHEST_DELTA = 64


cdef class SenderKernel:
    """The state of ``network.sender``: what it last sent of each entity, and how often."""

    cdef double position_step
    cdef double velocity_step
    cdef long long repeats
    cdef bint half, delta               # positions as halves, or as those of what has changed
    cdef dict last
    cdef dict repeated
    cdef dict bases                     # by entity: the last position, as sent, its base and loss

    def __init__(self, position_step, double velocity_step, repeats):
        self.half, self.delta = position_step == HALF, position_step == HALF_DELTA
        self.position_step = 0 if self.half or self.delta else position_step
        self.bases = {}
        self.velocity_step = velocity_step
        self.repeats = -1 if repeats is None else repeats
        self.last = {}
        self.repeated = {}

    def packets(self, states, double sent):
        """The packets for the states by name, stamped with ``sent`` (seconds, rounded here)."""
        cdef long long count
        cdef list made = []
        sent = round_to_millionth(sent)
        for entity, (position, velocity, teleports, rotation, spin) in states:
            last = self.last.get(entity)
            if self.half:
                position = [halved(one) for one in position]
            elif self.delta:
                if last is not None and last[2] != teleports:
                    del self.bases[entity]
                position = self.based(entity, position)
            state = (quantized(position, self.position_step),
                     quantized(velocity, self.velocity_step), teleports, rounded(rotation),
                     rounded(spin))
            if self.repeats >= 0:
                count = self.repeated.get(entity, 0) + 1 if state == last else 0
                self.repeated[entity] = min(count, self.repeats + 1)
                if count > self.repeats:
                    continue
            self.last[entity] = state
            teleport = last is not None and last[2] != teleports
            made.append(new_tuple(
                NewPacket,
                (state[0], state[1], sent, None, entity, teleport, None, 0.0, state[3], state[4])))
        return made

    cdef object based(self, entity, position):
        """The position as a receiver has it that adds halves to a base."""
        cdef double one, base, loss, left, step
        last, sent, bases = self.bases.get(entity, (None, None, [(one, 0.0) for one in position]))
        if last == position:
            return sent
        sent, moved = [], []
        for one, (base, loss) in zip(position, bases):
            left = one + loss - base
            step = halved(left)
            sent.append(base + step)
            moved.append((base + step if fabs(step) >= FARTHEST_DELTA else base, left - step))
        self.bases[entity] = position, sent, moved
        return sent


cdef double halved(double value) noexcept:
    """The nearest number in half precision, of two the even one; at most 65504."""
    cdef double step = ldexp(1, max(ilogb(value), -14) - 10)
    return min(max(rint(value / step) * step, -65504), 65504)


cdef object rounded(numbers):
    if numbers is None:
        return None
    return tuple([round_to_millionth(one) for one in numbers])


cdef tuple quantized(object vector, double step):
    cdef double x, y, z
    x, y, z = vector
    if step:
        x = floor(x / step + 0.5) * step
        y = floor(y / step + 0.5) * step
        z = floor(z / step + 0.5) * step
    return round_to_millionth(x), round_to_millionth(y), round_to_millionth(z)
