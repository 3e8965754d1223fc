"""The dead reckoning of distributed simulations, IEEE 1278.1."""

from libc.math cimport M_PI, atan2, cos, fabs, fmax, sin, sqrt

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, OptionalTurn, Packet, Sample, Turn, Vec3, components, cross,
    dot, is_finite, spun,
)
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts cimport PacketAge, Strategy
from epic_cli.engine.strategies.parts.common_settings import age_setting
from epic_cli.engine.strategies.parts.curves cimport project


# Packets closer than this (s) give no acceleration.
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
            Number("timeout", 12.0, "hold after this time without a packet (the standard removes"
                   " the entity, after 2.4 heartbeats)", "s", 0.01, 1e6),
        ),
    )

    cdef public DisModel model
    cdef public double timeout
    cdef PacketAge age
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
        self.age.clear()
        self.acceleration = Vec3[double]()
        self.angular_velocity = Vec3[double]()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if not self.empty:
            if packet.time <= self.newest:
                return False
            if packet.time - self.newest > SHORTEST_PERIOD:
                self.estimate_acceleration(packet.velocity, packet.time - self.newest)
        self.true_at = now - self.age.measure(packet, now)
        self.received = now
        self.received_state = packet
        self.state.set_state(self.model, packet, self.acceleration, self.angular_velocity)
        if packet.turn.known():
            self.turn = packet.turn
            self.turned_at = self.true_at
            if not is_turning(self.model) or (
                    find_largest(packet.turn.value().spin) < LEAST_ROTATION):
                self.turn.value().spin = Vec3[double]()
        return True

    cdef void estimate_acceleration(self, Vec3[double] velocity, double period) noexcept nogil:
        """Estimate acceleration and angular velocity from the last two velocities, ``period``
        seconds apart.
        """
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
        at = min(at, self.received + self.timeout)
        motion = self.state.extrapolate_state(at - self.true_at)
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


# ---------------- the nine dead reckoning models of IEEE 1278.1, Distributed Interactive Simulation
# F or R: the orientation is fixed or rotates. P or V: position by rate (constant velocity), or by
# velocity (constant acceleration). W or B: velocity and acceleration are constant in the world, or
# in the body, which turns with the angular velocity w:
#     static position
#     P W    position + velocity t
#     V W    position + velocity t + acceleration t^2 / 2
#     P B    position + integral of exp([w] s) velocity over s from 0 to t
#     V B    the same with velocity + acceleration s
# where [w] is the matrix of the cross product with w. With theta = |w| t the integral is
#     t sin(theta) / theta + [w] t^2 (1 - cos(theta)) / theta^2 + w w' t^3 (theta - sin(theta))
#     / theta^3
# All vectors are in world axes here: a body's turn exp([w] s) is the same in both, so that the
# orientation, which the standard needs to get from body to world axes, drops out.
# Source: IEEE 1278.1-2012, annex E; Towers and Hines, Equations of Motion of the DIS 2.0.3 Dead
# Reckoning Algorithms (1994).


# The standard's models, in its order and with its numbers.
cpdef enum DisModel:
    STATIC = 1
    FPW
    RPW
    RVW
    FVW
    FPB
    RPB
    RVB
    FVB

# Rotations and accelerations that are smaller on every axis count as none, as in Open-DIS.
cdef double LEAST_ROTATION = 0.2 * M_PI / 180      # rad/s
cdef double LEAST_ACCELERATION = 0.1               # length units/s^2


cdef class DisState:
    """A received state that one of the dead reckoning models (``DisModel``) extrapolates.

    Position, velocity (units/s), acceleration (units/s^2) and angular velocity (rad/s) are vectors
    in world axes.
    """

    cdef DisModel model
    cdef Motion motion
    cdef Vec3[double] acceleration, angular_velocity

    def __init__(self, model, position, velocity, acceleration=(0, 0, 0),
                 angular_velocity=(0, 0, 0)):
        self.set_state(
            <DisModel><int>model,
            Motion(Vec3[double](position[0], position[1], position[2]),
                   Vec3[double](velocity[0], velocity[1], velocity[2])),
            Vec3[double](acceleration[0], acceleration[1], acceleration[2]),
            Vec3[double](angular_velocity[0], angular_velocity[1], angular_velocity[2]))

    def extrapolate(self, double seconds):
        """Return the position and velocity ``seconds`` later (below 0: earlier)."""
        cdef Motion state = self.extrapolate_state(seconds)
        return components(state.position), components(state.velocity)

    cdef void set_state(self, DisModel model, const Motion& motion, Vec3[double] acceleration,
                        Vec3[double] angular_velocity) noexcept nogil:
        """Set the state; accelerations and rotations that the model ignores, or too small ones,
        become 0.
        """
        cdef Vec3[double] none
        self.model = model
        self.motion = motion
        self.acceleration = none
        self.angular_velocity = none
        if ((model == RVW or model == FVW or model == RVB or model == FVB)
                and find_largest(acceleration) >= LEAST_ACCELERATION):
            self.acceleration = acceleration
        if (model == RPB or model == RVB) and find_largest(angular_velocity) >= LEAST_ROTATION:
            self.angular_velocity = angular_velocity

    cdef Motion extrapolate_state(self, double seconds) noexcept nogil:
        """Return the position and velocity ``seconds`` later."""
        cdef Vec3[double] w = self.angular_velocity
        cdef double theta = sqrt(dot(w, w)) * fabs(seconds)
        cdef double t2 = seconds * seconds, sine, cosine, cubic
        if self.model == STATIC:
            return self.motion
        if theta == 0:
            return project(self.motion, self.acceleration, seconds)
        sine, cosine = get_sine_term(theta), get_cosine_term(theta)
        cubic = get_cubic_term(theta)
        return Motion(
            self.motion.position
            + apply_rotation(self.motion.velocity, w, seconds * sine, t2 * cosine,
                             t2 * seconds * cubic)
            + apply_rotation(self.acceleration, w, t2 * (sine - cosine),
                             t2 * seconds * (cosine - cubic), t2 * t2 * get_quartic_term(theta)),
            apply_rotation(self.motion.velocity + self.acceleration * seconds, w,
                           cos(theta), seconds * sine, t2 * cosine),
        )


cdef Vec3[double] apply_rotation(Vec3[double] v, Vec3[double] w, double straight, double across,
                                 double along) noexcept nogil:
    """Return (straight + across [w] + along w w') v, the form of every function of the matrix [w].
    """
    return v * straight + cross(w, v) * across + w * (along * dot(w, v))


cdef bint is_turning(DisModel model) noexcept nogil:
    """Return True if the model extrapolates the orientation."""
    return model == RPW or model == RVW or model == RPB or model == RVB


cdef double find_largest(Vec3[double] v) noexcept nogil:
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)))


# Near 0 the functions below would lose all digits: their first terms replace them there.
cdef double NEAR_ZERO = 0.01


cdef double get_sine_term(double theta) noexcept nogil:
    """Return sin(theta) / theta."""
    return 1 - theta * theta / 6 if theta < NEAR_ZERO else sin(theta) / theta


cdef double get_cosine_term(double theta) noexcept nogil:
    """Return (1 - cos(theta)) / theta^2."""
    if theta < NEAR_ZERO:
        return 0.5 - theta * theta / 24
    return (1 - cos(theta)) / (theta * theta)


cdef double get_cubic_term(double theta) noexcept nogil:
    """Return (theta - sin(theta)) / theta^3."""
    if theta < NEAR_ZERO:
        return 1.0 / 6 - theta * theta / 120
    return (theta - sin(theta)) / (theta * theta * theta)


cdef double get_quartic_term(double theta) noexcept nogil:
    """Return (1/2 - sin(theta) / theta + (1 - cos(theta)) / theta^2) / theta^2."""
    if theta < NEAR_ZERO:
        return 0.125 - theta * theta / 144
    return (0.5 - get_sine_term(theta) + get_cosine_term(theta)) / (theta * theta)
