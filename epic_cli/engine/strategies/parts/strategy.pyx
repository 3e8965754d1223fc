"""The base class of all strategies, callable from C and from Python."""

from cpython.object cimport PyObject_GenericSetAttr
from libc.math cimport INFINITY, NAN, fabs, isfinite, isnan

from epic_cli.engine import failures
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.failures import StrategyFailed, StrategyInUse
from epic_cli.engine.packets cimport (
    HELD, INTERPOLATED, NONE, Packet, Sample, SpinEstimate, Turn, Vec3, VelocityEstimate, dot,
    is_finite, is_turn, near_to, packet_from_python, packet_to_python, python_contract,
    sample_to_python, turn_from_python,
)


# A datagram whose arrival minus timestamp differs by more from that of the one before is of
# another sender, whose clock says nothing about this one's, s.
cdef double OTHER_SENDER = 5


cdef class Strategy:
    """A smoothing strategy: takes packets, returns samples.

    A built-in strategy overrides ``accept`` (take a finite packet, or return False to discard it;
    ``newest`` is the newest timestamp accepted before, ``empty`` is True if there was none),
    ``draw`` (fill the sample, whose status is ``NONE``, for a local time that never goes back; only
    called once a packet has been accepted) and ``clear`` (reset the strategy). The base class
    refuses non-finite packets, estimates a missing velocity (and a missing spin, if there is a
    rotation), passes a packet with ``teleport`` to ``teleport``, holds the rotation where ``draw``
    gives none, and is the interface to Python.

    A client has one connection and many entities. A strategy whose declaration says what it takes
    from the ``connection`` is notified of each datagram once, whichever entities the datagram
    holds: in ``count_datagram``, which its ``accept`` calls for its own packets unless
    ``same_datagram``. ``others_newest`` is the newest timestamp of the other entities; ``previous``
    is the newest timestamp, before the datagram, of the entity of its first packet. The clock that
    a strategy learns from datagrams is reset by ``clear_clock``, copied by ``copy_clock`` for an
    entity that joins later, and advanced by ``pass_frame`` while there is nothing to draw yet. An
    entity that is alone is the connection: its strategy is notified of no other datagrams, and a
    teleport resets the clock too, with ``clock_restarts``. ``SendInterval.add_datagram`` measures
    the send interval, and ``begins_round`` separates the packets of one tick from those of the
    next.

    A setting of the ``declaration`` is assigned, converted, to the ``cdef public`` attribute of the
    same name; settings without an attribute are passed to ``configure``. ``settings`` holds all
    settings as written.

    While a replay draws with a strategy, which happens without the GIL, the strategy is in use: any
    other change to it raises ``StrategyInUse``.
    """

    declaration = Declaration(name="", summary="", family="")

    def __init__(self, **settings):
        self.check_free()
        declared = type(self).declaration
        self.settings = declared.values(settings)
        self.takes_any_number = declared.takes_any_number
        self.estimates_velocity = declared.estimates_velocity
        self.rotates = bool(declared.rotates)
        self.listens = bool(declared.connection)
        self.own, self.others = {}, {}
        for name, value in declared.converted(self.settings).items():
            (self.own if hasattr(type(self), name) else self.others)[name] = value
        self.apply_settings()

    cdef int apply_settings(self) except -1:
        for name, value in self.own.items():
            setattr(self, name, value)
        self.configure(**self.others)
        self.restart()
        return 0

    def create_equal(self):
        """Create a strategy with the same settings, without checking them again."""
        cdef Strategy made = type(self).__new__(type(self))
        made.settings, made.own, made.others = self.settings, self.own, self.others
        made.takes_any_number = self.takes_any_number
        made.estimates_velocity = self.estimates_velocity
        made.rotates, made.listens = self.rotates, self.listens
        made.apply_settings()
        return made

    def configure(self):
        """Take the settings that have no attribute, and compute what depends on settings."""

    def __setattr__(self, name, value):
        self.check_free()
        PyObject_GenericSetAttr(self, name, value)

    def __repr__(self):
        declared = {setting.name: setting.default for setting in type(self).declaration.settings}
        given = (self.settings or {}).items()
        changed = [f"{name}={value!r}" for name, value in given if value != declared.get(name)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __reduce__(self):
        raise TypeError(
            f"a {type(self).__name__} can be neither pickled nor copied: "
            "create another one with the same settings"
        )

    # ------------------------------------------------------------- for the engine

    cdef int check_free(self) except -1:
        if self.in_use:
            raise StrategyInUse(self)
        return 0

    cdef int take_into_use(self) except -1:
        """Reserve the strategy for one replay, until ``end_use``; raise ``StrategyInUse``."""
        self.check_free()
        self.in_use = True
        return 0

    cdef int end_use(self) except -1:
        self.in_use = False
        return 0

    cdef int raise_error(self) except -1:
        """Raise the error that a strategy in plain Python has stored, if any."""
        return 0

    cdef bint take(self, const Packet& packet, double now) noexcept nogil:
        """Take a packet that arrived at the receiver's time ``now``.

        Return False if it is discarded.
        """
        cdef bint taken = False
        if not self.takes_any_number and not has_finite_numbers(packet):
            return False
        if isnan(self.drawn.time):
            self.drawn.time = now
        if self.connected and self.empty and (
                fabs(now - packet.time - self.last_offset) > OTHER_SENDER):
            self.leave()
        self.last_offset = now - packet.time
        if packet.teleport and packet.time < self.newest:
            # one that was overtaken must not move the entity back
            if self.connected and not self.same_datagram:
                self.count_datagram(packet.time, now)
        elif packet.teleport:
            taken = self.teleport(packet, now)
        else:
            taken = self.accept(packet, now)
        if taken:
            self.empty = False
            if not packet.time < self.newest:
                self.newest = packet.time
        if not packet.time <= self.own_newest:
            self.own_newest = packet.time
        if taken and packet.turn.known() and (packet.teleport or not self.first.known()):
            self.first.copy(packet.turn)
            self.drawn.turn.copy(packet.turn)
        return taken

    cdef void restart(self) noexcept nogil:
        """Reset the entity's history, the clock and all that is known of other entities."""
        self.newest = NAN
        self.others_newest, self.last_offset = -INFINITY, NAN
        self.own_newest = self.previous = self.heard_newest = NAN
        self.connected = self.same_datagram = self.was_heard = False
        self.last_time = self.last_arrival = NAN
        self.drawn = Sample()
        self.drawn.time = NAN
        self.past = VelocityEstimate()
        self.past_spins = SpinEstimate()
        self.first.clear()
        self.start_over()
        self.clear_clock()

    cdef void start_over(self) noexcept nogil:
        """Drop the entity's history; keep the clock if the connection has other entities."""
        self.empty, self.drew = True, False
        self.clear()
        if self.clock_restarts and not self.connected:
            self.clear_clock()

    cdef bint restart_clock(self, double time) noexcept nogil:
        """Reset the clock at a teleport of the only other entity so far.

        Return True if it was reset.
        """
        if self.clock_restarts and not time < self.find_connection_newest():
            self.clear_clock()
            return True
        return False

    cdef bint begins_round(self, double begun) noexcept nogil:
        """Return True if a datagram belongs to a later tick than the tick that began at ``begun``.

        A datagram does if the entity of its first packet has sent a packet since ``begun``
        (-infinity: no tick has begun). So entities whose packets come in separate datagrams, or
        have slightly different timestamps, count once per tick.
        """
        return not self.connected or begun == -INFINITY or self.previous >= begun

    cdef void meet_other(self, double time, double now) noexcept nogil:
        """Record that a datagram which is already counted holds another entity too."""
        if not fabs(now - time - self.last_offset) > OTHER_SENDER:
            self.connected = True

    cdef void hear_other(self, double time, double now, double previous) noexcept nogil:
        """Count a datagram that holds no packet of this entity."""
        if fabs(now - time - self.last_offset) > OTHER_SENDER:
            return
        self.previous = previous
        self.last_offset = now - time
        if isnan(self.drawn.time):
            self.drawn.time = now
        self.connected = True
        self.count_datagram(time, now)
        self.others_newest = max(self.others_newest, time)

    cdef int join(self, Strategy peer) except -1:
        """Copy the clock and the newest timestamp of the connection from another entity's strategy.
        """
        self.connected = True
        self.others_newest, self.last_offset = peer.find_connection_newest(), peer.last_offset
        if type(peer) is type(self):
            self.copy_clock(peer)
        return 0

    cdef void leave(self) noexcept nogil:
        """Forget the other entities and reset the clock, as their sender is not this entity's."""
        self.connected = False
        self.others_newest = -INFINITY
        self.clear_clock()

    cdef double find_connection_newest(self) noexcept nogil:
        """Return the newest timestamp of all entities of the connection.

        -infinity before the first.
        """
        cdef double own = self.own_newest if self.connected else self.newest
        return own if own > self.others_newest else self.others_newest

    cdef double elapsed(self, double at) noexcept nogil:
        """Return the time (s) since the previous frame, or since the first packet."""
        return max(at - self.drawn.time, 0.0)

    cdef double since_drawn(self, double at) noexcept nogil:
        """Return the time (s) since the previous frame; 0 if that frame drew nothing."""
        return at - self.drawn.time if self.drew else 0

    # ------------------------------------------------------------- for strategies to override

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        return False

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        pass

    cdef void clear(self) noexcept nogil:
        pass

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        """Update the clock by the timestamp and the arrival ``now`` of a datagram of the
        connection.
        """

    cdef void pass_frame(self, double at) noexcept nogil:
        """Advance the clock by a frame in which the entity is not drawn."""

    cdef void clear_clock(self) noexcept nogil:
        """Reset the clock: everything learned from datagrams."""

    cdef int copy_clock(self, Strategy peer) except -1:
        """Copy the clock of a strategy of the same class and settings."""
        return 0

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        """Handle a marked teleport: drop the history and begin with this packet."""
        self.start_over()
        return self.accept(packet, now)

    # ------------------------------------------------------------- for Python

    def reset(self):
        """Reset the strategy to its initial state; raise ``StrategyInUse``."""
        self.check_free()
        self.restart()
        self.raise_error()

    def update(self, packet, double now):
        """Take a packet that arrived at the receiver's time ``now``.

        Return False if it is discarded. Raise ``StrategyInUse``, and ``TypeError`` if ``packet`` is
        not a packet.
        """
        cdef Packet native
        cdef bint taken
        packet_from_python(packet, native)
        self.check_free()           # only now: a packet may be an object of any kind
        self.same_datagram = self.was_heard and (
            native.time == self.last_time and now == self.last_arrival)
        self.previous = self.own_newest
        taken = take_through(self, native, now)
        self.same_datagram = self.was_heard = False
        self.last_time, self.last_arrival = native.time, now
        self.raise_error()
        return bool(taken)

    def hear(self, double time, double now, previous=None):
        """Count a packet of another entity that arrived by the same connection.

        ``time`` is the packet's timestamp, ``now`` its arrival, ``previous`` the newest timestamp
        of that entity before it (NaN: it is the entity's first; None: unknown, so that all packets
        heard count as those of one entity). Packets of several entities with the same ``time`` and
        ``now`` count once. Raise ``StrategyInUse``.
        """
        self.check_free()
        if not self.listens or not isfinite(time):
            return
        if time == self.last_time and now == self.last_arrival:
            self.meet_other(time, now)
            return
        self.was_heard = True
        self.last_time, self.last_arrival = time, now
        self.hear_other(time, now, self.heard_newest if previous is None else previous)
        if not time <= self.heard_newest:
            self.heard_newest = time
        self.raise_error()

    def read(self, double at):
        """Return the sample at local time ``at``; times must not decrease from call to call.

        Raise ``StrategyInUse``.
        """
        cdef Sample sample
        self.check_free()
        sample.time = at
        draw_through(self, at, sample)
        self.raise_error()
        return sample_to_python(sample, "")


cdef bint has_finite_numbers(const Packet& packet) noexcept nogil:
    return isfinite(packet.time) and is_finite(packet.position) and is_finite(packet.velocity)


cpdef bint is_native(object made):
    """Return True if the engine can call a strategy directly, as no method of it is Python."""
    return (
        isinstance(made, Strategy)
        and type(made).reset is Strategy.reset
        and type(made).update is Strategy.update
        and type(made).read is Strategy.read
    )


# The replay loop keeps its strategies as plain pointers, since a list of objects cannot be
# walked without the GIL. These take such a pointer to the object.

cdef bint take_through(Strategy strategy, const Packet& packet, double now) noexcept nogil:
    cdef Packet filled
    if packet.turn.known():
        return take_turning(strategy, packet, now)
    if packet.has_velocity:
        strategy.past.note(packet, packet.velocity)
        return strategy.take(packet, now)
    filled = packet
    strategy.past.fill(filled)
    return strategy.take(packet if strategy.estimates_velocity else filled, now)


cdef bint take_turning(Strategy strategy, const Packet& packet, double now) noexcept nogil:
    """Take a packet with a rotation; the strategy gets the rotation as a unit quaternion."""
    cdef Packet filled = packet
    if packet.has_velocity:
        strategy.past.note(packet, packet.velocity)
    else:
        strategy.past.fill(filled)
        if strategy.estimates_velocity:
            filled.velocity, filled.has_velocity = packet.velocity, False
    if not is_turn(packet.turn.value()):
        if not strategy.takes_any_number:
            return False
        filled.turn.clear()
    elif strategy.rotates:
        strategy.past_spins.fill(filled)
    else:
        filled.turn.clear()
    return strategy.take(filled, now)


cdef bint take_native_through(Strategy strategy, const Packet& packet, double now) noexcept nogil:
    if not packet.has_velocity or packet.turn.known():
        return take_through(strategy, packet, now)
    strategy.past.note(packet, packet.velocity)
    return Strategy.take(strategy, packet, now)


cdef bint take_beside_through(Strategy strategy, const Packet& packet, double now,
                              bint same_datagram, double previous) noexcept nogil:
    """Take a packet of a connection with other entities.

    ``same_datagram`` is True if the strategy has already counted the packet's datagram.
    """
    cdef bint taken
    strategy.same_datagram, strategy.previous = same_datagram, previous
    taken = take_through(strategy, packet, now)
    strategy.same_datagram = False
    return taken


cdef void hear_through(Strategy strategy, double time, double now,
                       double previous) noexcept nogil:
    if strategy.listens:
        strategy.hear_other(time, now, previous)


cdef void meet_through(Strategy strategy, double time, double now) noexcept nogil:
    if strategy.listens:
        strategy.meet_other(time, now)


cdef bint restart_clock_through(Strategy strategy, double time) noexcept nogil:
    return strategy.restart_clock(time)


cdef double get_newest_through(Strategy strategy) noexcept nogil:
    return strategy.own_newest


cdef void draw_through(Strategy strategy, double at, Sample& sample) noexcept nogil:
    if not strategy.empty:
        strategy.draw(at, sample)
        strategy.drew = strategy.drew or sample.status != NONE
    elif strategy.connected:
        strategy.pass_frame(at)
    if strategy.first.known():
        finish_turn(strategy, sample)
    strategy.drawn.position, strategy.drawn.status = sample.position, sample.status
    strategy.drawn.time = at


# The product of rotations that differ by 3e-7 rad, which may be rounding.
cdef double SAME_ROTATION = 1 - 1e-14


cdef void finish_turn(Strategy strategy, Sample& sample) noexcept nogil:
    """Hold the last drawn rotation if the sample has none, and keep the signs of quaternions
    continuous.
    """
    if sample.status == NONE:
        sample.turn.clear()
        return
    if not sample.turn.known() or not is_turn(sample.turn.value()):     # too fast to compute with
        sample.turn.set(Turn(strategy.drawn.turn.value().rotation, Vec3[double]()))
    sample.turn.value().rotation = near_to(
        sample.turn.value().rotation, strategy.drawn.turn.value().rotation)
    if sample.status == HELD:
        if dot(sample.turn.value().rotation, strategy.drawn.turn.value().rotation) < SAME_ROTATION:
            sample.status = INTERPOLATED    # it stands, and turns
    strategy.drawn.turn.copy(sample.turn)


cdef bint is_broken_through(Strategy strategy) noexcept nogil:
    return strategy.broken


cdef void begin_through(Strategy strategy, double frame) noexcept nogil:
    strategy.drawn.time = frame


take_packet = <TakePacket>take_through
draw_sample = <DrawSample>draw_through
is_broken = <IsBroken>is_broken_through
begin_after = <BeginAfter>begin_through
take_native = <TakePacket>take_native_through
take_beside = <TakeBeside>take_beside_through
hear_datagram = <HearDatagram>hear_through
meet_other = <MeetOther>meet_through
restart_clock = <RestartClock>restart_clock_through
newest_of = <NewestOf>get_newest_through


# ---------------- the adapter that runs a plain Python strategy in the engine's loop


def adapt_strategy(made):
    """Return a native strategy unchanged, and a plain Python strategy in an adapter."""
    return made if is_native(made) else PythonStrategy(made)


# The objects in plain Python that replays have in use, by their identity: they may not accept
# attributes.
cdef set wrapped_in_use = set()


cdef class PythonStrategy(Strategy):
    """An adapter that runs a plain Python strategy in the engine's loop.

    Non-finite numbers are neither passed to the strategy nor accepted from it, unless it declares
    ``takes_any_number``. An exception or an invalid return value stops the replay and is raised
    there as ``StrategyFailed``.
    """

    cdef readonly object wrapped
    cdef object error
    cdef str entity
    cdef Packet latest          # the last one passed to it
    cdef size_t number          # its number, from 1; 0: none
    cdef double heard_at        # when the newest packet of others came, which it is yet to hear of

    def __init__(self, wrapped, str entity=""):
        missing = [method for method in python_contract().METHODS if not hasattr(wrapped, method)]
        if missing:
            raise TypeError(f"{wrapped!r} is not a strategy: it has no {', '.join(missing)}")
        declared = getattr(type(wrapped), "declaration", None)
        self.wrapped = wrapped
        self.entity = entity
        self.settings = {}
        self.takes_any_number = isinstance(declared, Declaration) and declared.takes_any_number
        self.estimates_velocity = isinstance(declared, Declaration) and declared.estimates_velocity
        self.rotates = True
        self.listens = hasattr(wrapped, "hear")

    def __repr__(self):
        return f"PythonStrategy({self.wrapped!r})"

    cdef int take_into_use(self) except -1:
        """Reserve the strategy for one replay and reset it, as its state is unknown."""
        if id(self.wrapped) in wrapped_in_use:
            raise StrategyInUse(self.wrapped)
        Strategy.take_into_use(self)
        wrapped_in_use.add(id(self.wrapped))
        try:
            self.restart()
            self.raise_error()
        except BaseException:
            self.end_use()
            raise
        return 0

    cdef int end_use(self) except -1:
        if self.in_use:
            wrapped_in_use.discard(id(self.wrapped))
        return Strategy.end_use(self)

    cdef int raise_error(self) except -1:
        error, self.error, self.broken = self.error, None, False
        if error is not None:
            raise error
        return 0

    cdef object fail(self, error):
        """Store the first error, with the packet that was passed last."""
        cdef Packet packet = self.latest
        if self.broken:
            return
        if isinstance(error, StrategyFailed) and self.number:
            error.packet = packet_to_python(packet, self.entity)
            error.number, error.packet_line = self.number, packet.line
        self.error, self.broken = error, True

    cdef object describe_exception(self, str during, error):
        """Return the failure for an exception of the wrapped strategy.

        A ``KeyboardInterrupt`` as it is.
        """
        if isinstance(error, KeyboardInterrupt):
            return error
        return failures.raised(type(self.wrapped), during, error)

    cdef bint take(self, const Packet& packet, double now) noexcept nogil:
        if not self.takes_any_number and not has_finite_numbers(packet):
            return False
        if self.listens:
            if self.number == 0 and self.others_newest > -INFINITY and (
                    self.same_datagram or self.others_newest > packet.time):
                self.pass_datagram(self.others_newest, self.heard_at)
            if not self.same_datagram:
                self.pass_datagram(packet.time, now)
            if self.broken:
                return False
        if not packet.time < self.find_connection_newest():
            self.heard_at = now
            self.newest = self.own_newest = packet.time
        with gil:
            self.latest = packet
            self.number += 1
            try:
                taken = self.wrapped.update(packet_to_python(packet, self.entity), now)
                if taken is not None:
                    return bool(taken)
                self.fail(failures.returned(
                    type(self.wrapped), "update",
                    "it returned None, not True (or False for a packet that it discards)"
                ))
            except BaseException as error:
                self.fail(self.describe_exception("update", error))
            return False

    cdef void hear_other(self, double time, double now, double previous) noexcept nogil:
        """Pass another entity's datagram to the wrapped strategy.

        Before the strategy's first packet, only store the newest datagram.
        """
        if not time < self.find_connection_newest():
            self.others_newest, self.heard_at = time, now
        if self.number > 0:
            self.pass_datagram(time, now)

    cdef void pass_datagram(self, double time, double now) noexcept nogil:
        with gil:
            try:
                self.wrapped.hear(time, now)
            except BaseException as error:
                self.fail(self.describe_exception("hear", error))

    cdef int copy_clock(self, Strategy peer) except -1:
        self.heard_at = (<PythonStrategy>peer).heard_at
        return 0

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        with gil:
            try:
                failure = self.read_sample(at, sample)
            except BaseException as error:
                failure = self.describe_exception("read", error)
            if failure is not None:
                if isinstance(failure, StrategyFailed):
                    failure.at = at
                self.fail(failure)

    cdef object read_sample(self, double at, Sample& sample):
        """Fill ``sample`` from the wrapped strategy's ``read``.

        Return a failure for an invalid answer.
        """
        drawn = self.wrapped.read(at)
        try:
            x, y, z = drawn.position
            sample.position = Vec3[double](x, y, z)
            x, y, z = drawn.velocity
            sample.velocity = Vec3[double](x, y, z)
            sample.status = python_contract().STATUSES.index(drawn.status)
            turn_from_python(getattr(drawn, "rotation", None), getattr(drawn, "spin", None),
                             sample.turn)
            if self.takes_any_number or (
                is_finite(sample.position) and is_finite(sample.velocity)
                and (not sample.turn.known() or is_turn(sample.turn.value()))
            ):
                return None
        except Exception:
            pass
        return failures.returned(type(self.wrapped), "read", failures.wrong_answer(drawn))

    cdef void clear(self) noexcept nogil:
        with gil:
            self.number = 0
            self.empty = False          # it is asked from the beginning
            try:
                self.wrapped.reset()
            except BaseException as error:
                self.fail(self.describe_exception("reset", error))
