"""The adapter that runs a plain Python strategy in the engine's loop."""

from epic_cli.engine.packets cimport (
    Packet, Sample, Vec3, is_finite, is_turn, packet_to_python, python_contract, turn_from_python,
)

from epic_cli.engine import failures
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.failures import StrategyFailed, StrategyInUse


def adapted(made):
    """The strategy itself, or an adapter for one in plain Python."""
    return made if is_native(made) else PythonStrategy(made)


# The objects in plain Python that replays have in use, by their identity: they may not accept
# attributes.
cdef set wrapped_in_use = set()


cdef class PythonStrategy(Strategy):
    """Runs a plain Python strategy in the engine's loop.

    Non-finite numbers are neither passed to it nor accepted from it, as with any strategy, unless
    it declares ``takes_any_number``. An exception or an invalid return value stops the replay and
    is raised there as ``StrategyFailed``.
    """

    cdef readonly object wrapped
    cdef object error
    cdef str entity
    cdef Packet latest          # the last one passed to it
    cdef size_t number          # its number, from 1; 0: none

    def __init__(self, wrapped, str entity=""):
        missing = [one for one in python_contract().METHODS if not hasattr(wrapped, one)]
        if missing:
            raise TypeError(f"{wrapped!r} is not a strategy: it has no {', '.join(missing)}")
        declared = getattr(type(wrapped), "declaration", None)
        self.wrapped = wrapped
        self.entity = entity
        self.settings = {}
        self.takes_any_number = isinstance(declared, Declaration) and declared.takes_any_number
        self.estimates_velocity = isinstance(declared, Declaration) and declared.estimates_velocity
        self.rotates = True

    def __repr__(self):
        return f"PythonStrategy({self.wrapped!r})"

    cdef int take_into_use(self) except -1:
        """Also resets it: its state is unknown."""
        if id(self.wrapped) in wrapped_in_use:
            raise StrategyInUse(self.wrapped)
        Strategy.take_into_use(self)
        wrapped_in_use.add(id(self.wrapped))
        try:
            self.restart()
            self.raise_error()
        except BaseException:
            self.let_go()
            raise
        return 0

    cdef int let_go(self) except -1:
        if self.in_use:
            wrapped_in_use.discard(id(self.wrapped))
        return Strategy.let_go(self)

    cdef int raise_error(self) except -1:
        error, self.error, self.broken = self.error, None, False
        if error is not None:
            raise error
        return 0

    cdef object fail(self, error):
        """Keeps the first failure, with its packet."""
        cdef Packet packet = self.latest
        if self.broken:
            return
        if isinstance(error, StrategyFailed) and self.number:
            error.packet = packet_to_python(packet, self.entity)
            error.number, error.packet_line = self.number, packet.line
        self.error, self.broken = error, True

    cdef object raised(self, str during, error):
        """The failure for what the wrapped strategy raised; interruptions are passed on."""
        if isinstance(error, KeyboardInterrupt):
            return error
        return failures.raised(type(self.wrapped), during, error)

    cdef bint take(self, const Packet& packet, double now) noexcept nogil:
        if not self.takes_any_number and not finite(packet):
            return False
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
                self.fail(self.raised("update", error))
            return False

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        with gil:
            try:
                failure = self.ask(at, sample)
            except BaseException as error:
                failure = self.raised("read", error)
            if failure is not None:
                if isinstance(failure, StrategyFailed):
                    failure.at = at
                self.fail(failure)

    cdef object ask(self, double at, Sample& sample):
        """Fills the sample with the drawn state; returns a failure if that is invalid."""
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
            try:
                self.wrapped.reset()
            except BaseException as error:
                self.fail(self.raised("reset", error))
