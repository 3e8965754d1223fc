"""The dead reckoning of distributed simulations, IEEE 1278.1."""

from libc.math cimport atan2, sqrt

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, NONE, Motion, OptionalTurn, Packet, Sample, Turn, Vec3, cross,
    dot, is_finite, spun,
)
from epic_cli.engine.strategies.parts cimport PacketAge, Strategy

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import age_setting

# Packets closer than this say nothing about an acceleration, seconds.
cdef double SHORTEST_PERIOD = 0.001


cdef class Dis(Strategy):
    """Extrapolates the last state by one of nine models, and jumps to the next state.

        static                position
        fpw, rpw (also fpb)   position + velocity s
        rvw, fvw (also fvb)   position + velocity s + acceleration s^2 / 2
        rpb                   position + velocity along a circle, for s seconds
        rvb                   the same, with the speed changing
        s = age of the packet + time since it arrived

    The letters: fixed or rotating; position (constant velocity) or velocity (constant
    acceleration); in the world or in the body, which turns. ``model`` takes them, or the
    standard's numbers 1 to 9. Packets carry no acceleration and no turn, so both are estimated
    from the last two velocities: acceleration = change / time for the models in the world; for
    those in the body the turn is the angle between the velocities over the time, and the
    acceleration the change of the speed. Since the entity is assumed to turn as its velocity
    does, body models without a turn (fpb, fvb) draw what fpw and fvw draw. Where packets have a
    rotation it turns at their spin in the rotating models, and is held in the others; a constant
    spin is the same about the axes of the world and of the body. A static entity stands,
    and keeps the velocity of its packets, as in Open-DIS.
    Accelerations below 0.1 units/s^2 and turns below 0.2 degrees/s on every axis count as none.

    It was made for vehicles whose senders run the same model, and send a state when it is off by
    more than a threshold (1 m, or 3 degrees) or every 5 s: then few packets are enough. Nothing
    is smoothed: each state that was not expected is a jump, at best as large as the sender's
    threshold. The models with acceleration are better for a vehicle in a curve, and far worse
    with noisy velocities. Look at ``dead-reckoning`` or ``projective`` for smoothed corrections.

    A packet with the newest timestamp or an earlier one is discarded. Rows are ``extrapolated``,
    and ``held`` after ``timeout`` without a packet; static ones are ``interpolated`` where they
    first show a state, and ``held`` after that.
    """

    declaration = Declaration(
        name="dis",
        summary="IEEE 1278.1 dead reckoning, models 1 to 9; jumps to each new state",
        needs=(Need.VELOCITY, Need.CLOCKS.unless(", or arrival times")),
        lag="none while the entity moves as the model does",
        on_loss="continues by the model for timeout, then holds",
        source="IEEE 1278.1-2012, annex E; Towers and Hines (1994); values of"
        " open-dis/open-dis-java; BSD-2-Clause",
        proof="the original's tests",
        rotates="rotating models continue at the received spin, fixed and static ones hold; a jump"
        " to each new rotation",
        settings=(
            Choice("model", "fpw", "the standard's dead reckoning model", DisModel, numbered=True),
            age_setting(),
            Number("timeout", 12.0, "hold after so long without a packet (the standard removes the"
                   " entity, after 2.4 heartbeats)", "s", 0.01, 1e6),
        ),
    )

    cdef public DisModel model
    cdef public double timeout
    cdef PacketAge age
    cdef bint empty
    cdef double true_at                 # the local time at which its state was true
    cdef double received
    cdef DisState state
    cdef Motion received_state          # of the newest packet
    cdef Vec3[double] acceleration, angular_velocity
    cdef OptionalTurn turn
    cdef double turned_at               # the local time at which the rotation was true

    def configure(self, *, age):
        self.check_free()
        self.age = PacketAge(age)
        self.state = DisState(self.model, (0, 0, 0), (0, 0, 0))

    cdef void clear(self) noexcept nogil:
        self.empty = True
        self.age.clear()
        self.acceleration = Vec3[double]()
        self.angular_velocity = Vec3[double]()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if not self.empty:
            if packet.time <= self.newest:
                return False
            if packet.time - self.newest > SHORTEST_PERIOD:
                self.estimate(packet.velocity, packet.time - self.newest)
        self.empty = False
        self.true_at = now - self.age.of(packet, now)
        self.received = now
        self.received_state = packet
        self.state.set_state(self.model, packet, self.acceleration, self.angular_velocity)
        if packet.turn.known():
            self.turn = packet.turn
            self.turned_at = self.true_at
            if not rotates(self.model) or largest(packet.turn.value().spin) < LEAST_ROTATION:
                self.turn.value().spin = Vec3[double]()
        return True

    cdef void estimate(self, Vec3[double] velocity, double period) noexcept nogil:
        """Acceleration and turn from the velocity ``period`` seconds ago and this one."""
        cdef Vec3[double] last = self.received_state.velocity
        cdef Vec3[double] change = (velocity - last) * (1 / period)
        cdef Vec3[double] axis = cross(last, velocity)
        cdef double sine = sqrt(dot(axis, axis))
        cdef double speed, before
        self.angular_velocity = Vec3[double]()
        if self.model < FPB:
            self.acceleration = change
            return
        if sine > 0:
            self.angular_velocity = axis * (atan2(sine, dot(last, velocity))
                                            / (sine * period))
        speed = sqrt(dot(velocity, velocity))
        before = sqrt(dot(last, last))
        # along the new direction; from or to rest, the change itself
        self.acceleration = change
        if self.model == RVB and speed > 0 and before > 0:
            self.acceleration = velocity * ((speed - before) / (speed * period))

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef bint silent = at - self.received > self.timeout
        cdef Motion motion
        cdef Turn turn
        if self.empty:
            sample.status = NONE
            return
        at = min(at, self.received + self.timeout)
        motion = self.state.after(at - self.true_at)
        if self.turn.known():
            turn = self.turn.value()
            sample.turn.set(Turn(spun(turn.rotation, turn.spin, at - self.turned_at),
                                 turn.spin if not silent else Vec3[double]()))
        if not (is_finite(motion.position) and is_finite(motion.velocity)):
            # numbers too large to compute with
            motion = Motion(self.received_state.position, Vec3[double]())
        if silent:
            motion.velocity = Vec3[double]()
        if self.model == STATIC:
            sample.hold(motion, self.drawn, INTERPOLATED)
        elif silent:
            sample.hold(motion, self.drawn, EXTRAPOLATED)
        else:
            sample.show(motion, EXTRAPOLATED)
