"""The base of all strategies: one contract, written once for C speed and once for Python."""

from libc.math cimport NAN, isfinite

from epic_cli.engine.packets cimport (
    NONE,
    Packet,
    Sample,
    packet_from_python,
    packet_to_python,
    python_contract,
    sample_to_python,
)
from epic_cli.engine.vec3 cimport Vec3
from epic_cli.engine.vectors cimport is_finite
from epic_cli.engine.velocity_estimate cimport VelocityEstimate

from epic_cli.engine.declaration import Declaration


cdef class Strategy:
    """A smoothing strategy: packets in, what is drawn out.

    A built-in strategy overrides ``accept`` (a packet that is finite; False: discarded;
    ``newest`` is the newest timestamp accepted before it), ``draw`` (fills the sample for a local
    time that never goes back) and ``clear`` (forget everything). The base refuses what is not
    finite, gives a packet without a velocity an estimate of it, turns a packet with ``teleport``
    into ``teleport``, and speaks to Python.

    A setting of its ``declaration`` arrives, converted, in the ``cdef public`` attribute of the
    same name. Those that have none, since something else is made of them, go to ``configure``.
    ``settings`` has all of them as they are written.
    """

    declaration = Declaration(name="", summary="", family="")

    def __init__(self, **settings):
        declared = type(self).declaration
        self.settings = declared.values(settings)
        self.takes_any_number = declared.takes_any_number
        self.estimates_velocity = declared.estimates_velocity
        others = {}
        for name, value in declared.converted(self.settings).items():
            if hasattr(type(self), name):
                setattr(self, name, value)
            else:
                others[name] = value
        self.configure(**others)
        self.restart()

    def configure(self):
        """Takes the settings that have no attribute, and makes what follows from settings."""

    # ------------------------------------------------------------- for the engine

    cdef bint take(self, const Packet& packet, double now) noexcept nogil:
        """Takes a packet that came in at the receiver's time ``now``; False: discarded."""
        cdef bint taken
        if not self.takes_any_number and not finite(packet):
            return False
        if packet.teleport:
            # one that was overtaken must not move the entity back
            taken = not packet.time < self.newest and self.teleport(packet, now)
        else:
            taken = self.accept(packet, now)
        if taken and not packet.time < self.newest:
            self.newest = packet.time
        return taken

    cdef void restart(self) noexcept nogil:
        """Makes the strategy as new."""
        self.newest = NAN
        self.drawn = Sample()
        self.past = VelocityEstimate()
        self.clear()

    # ------------------------------------------------------------- for strategies to override

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        return False

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        sample.status = NONE

    cdef void clear(self) noexcept nogil:
        pass

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        """The entity was moved on purpose: forget the past and begin with this packet."""
        self.clear()
        return self.accept(packet, now)

    # ------------------------------------------------------------- for Python

    def reset(self):
        """Forgets everything: the strategy is as new."""
        self.restart()

    def update(self, packet, double now):
        """Takes a packet that came in at the receiver's time ``now``; False: discarded."""
        cdef Packet native
        packet_from_python(packet, native)
        return bool(take_through(self, native, now))

    def read(self, double at):
        """What is drawn at local time ``at``; call it with times that never go back."""
        cdef Sample sample
        sample.time = at
        draw_through(self, at, sample)
        return sample_to_python(sample, "")


cdef bint finite(const Packet& packet) noexcept nogil:
    return isfinite(packet.time) and is_finite(packet.position) and is_finite(packet.velocity)


cdef class PythonStrategy(Strategy):
    """Lets a strategy written in plain Python run in the engine's loop.

    An exception in it stops the replay and is raised there.
    """

    def __init__(self, wrapped, str entity=""):
        self.wrapped = wrapped
        self.entity = entity
        self.settings = dict(getattr(wrapped, "settings", {}))
        declared = getattr(wrapped, "declaration", None)
        self.estimates_velocity = bool(getattr(declared, "estimates_velocity", False))
        self.takes_any_number = True
        self.restart()
        self.raise_error()

    def raise_error(self):
        """Raises what the wrapped strategy raised, if it did."""
        error, self.error, self.broken = self.error, None, False
        if error is not None:
            raise error

    cdef bint take(self, const Packet& packet, double now) noexcept nogil:
        with gil:
            try:
                return bool(self.wrapped.update(packet_to_python(packet, self.entity), now))
            except BaseException as error:
                self.error, self.broken = error, True
                return False

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        with gil:
            try:
                drawn = self.wrapped.read(at)
                x, y, z = drawn.position
                sample.position = Vec3[double](x, y, z)
                x, y, z = drawn.velocity
                sample.velocity = Vec3[double](x, y, z)
                sample.status = python_contract().STATUSES.index(drawn.status)
            except BaseException as error:
                self.error, self.broken = error, True

    cdef void clear(self) noexcept nogil:
        with gil:
            try:
                self.wrapped.reset()
            except BaseException as error:
                self.error, self.broken = error, True


# The replay loop keeps its strategies as plain pointers, since a list of objects cannot be
# walked without the GIL. These take such a pointer to the object.

cdef bint take_through(Strategy strategy, const Packet& packet, double now) noexcept nogil:
    cdef Packet filled
    if packet.has_velocity:
        strategy.past.note(packet, packet.velocity)
        return strategy.take(packet, now)
    filled = packet
    strategy.past.fill(filled)
    return strategy.take(packet if strategy.estimates_velocity else filled, now)


cdef void draw_through(Strategy strategy, double at, Sample& sample) noexcept nogil:
    strategy.draw(at, sample)
    strategy.drawn.position, strategy.drawn.status = sample.position, sample.status


cdef bint broken_through(Strategy strategy) noexcept nogil:
    return strategy.broken


take_packet = <TakePacket>take_through
draw_sample = <DrawSample>draw_through
is_broken = <IsBroken>broken_through
