"""States to packets: rounding, repeats, and the marks of teleports."""

from libc.math cimport floor

from epic_cli.engine.contract import Packet as NewPacket


cdef extern from "link/rounding.h" namespace "epic" nogil:
    double round_to_millionth(double value)


cdef object new_tuple = tuple.__new__


cdef class SenderKernel:
    """The state of ``network.sender``: what it last sent of each entity, and how often."""

    cdef double position_step
    cdef double velocity_step
    cdef long long repeats
    cdef dict last
    cdef dict repeated

    def __init__(self, double position_step, double velocity_step, repeats):
        self.position_step = position_step
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
            state = (quantized(position, self.position_step),
                     quantized(velocity, self.velocity_step), teleports, rounded(rotation),
                     rounded(spin))
            last = self.last.get(entity)
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
