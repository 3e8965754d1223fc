"""The nine dead reckoning models of IEEE 1278.1, Distributed Interactive Simulation.

F or R: the orientation is fixed or rotates. P or V: position by rate (constant velocity), or by
velocity (constant acceleration). W or B: velocity and acceleration are constant in the world, or
in the body, which turns with the angular velocity w:

    static position
    P W    position + velocity t
    V W    position + velocity t + acceleration t^2 / 2
    P B    position + integral of exp([w] s) velocity over s from 0 to t
    V B    the same with velocity + acceleration s

where [w] is the matrix of the cross product with w. With theta = |w| t the integral is

    t sin(theta) / theta + [w] t^2 (1 - cos(theta)) / theta^2 + w w' t^3 (theta - sin(theta))
    / theta^3

All vectors are in world axes here: a body's turn exp([w] s) is the same in both, so that the
orientation, which the standard needs to get from body to world axes, drops out.

Source: IEEE 1278.1-2012, annex E; Towers and Hines, Equations of Motion of the DIS 2.0.3 Dead
Reckoning Algorithms (1994).
"""

from libc.math cimport M_PI, cos, fabs, fmax, sin, sqrt

from epic_cli.engine.packets cimport Motion, Vec3, components, cross, dot
from epic_cli.engine.strategies.parts.curves cimport projected


# In the standard's order and with its numbers.
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
    """A received state, to be extrapolated by one of the models (``DisModel``).

    Position, velocity (units/s), acceleration (units/s^2) and angular velocity (rad/s) are
    vectors in world axes.
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

    def extrapolated(self, double seconds):
        """Position and velocity so many seconds later (or, below 0, earlier)."""
        cdef Motion state = self.after(seconds)
        return components(state.position), components(state.velocity)

    cdef void set_state(self, DisModel model, const Motion& motion, Vec3[double] acceleration,
                        Vec3[double] angular_velocity) noexcept nogil:
        """Takes a state; what the model does not use and what is too small becomes zero."""
        cdef Vec3[double] none
        self.model = model
        self.motion = motion
        self.acceleration = none
        self.angular_velocity = none
        if ((model == RVW or model == FVW or model == RVB or model == FVB)
                and largest(acceleration) >= LEAST_ACCELERATION):
            self.acceleration = acceleration
        if (model == RPB or model == RVB) and largest(angular_velocity) >= LEAST_ROTATION:
            self.angular_velocity = angular_velocity

    cdef Motion after(self, double seconds) noexcept nogil:
        """The state so many seconds later."""
        cdef Vec3[double] w = self.angular_velocity
        cdef double theta = sqrt(dot(w, w)) * fabs(seconds)
        cdef double t2 = seconds * seconds
        if self.model == STATIC:
            return self.motion
        if theta == 0:
            return projected(self.motion, self.acceleration, seconds)
        return Motion(
            self.motion.position
            + turned(self.motion.velocity, w, seconds * first(theta), t2 * second(theta),
                     t2 * seconds * third(theta))
            + turned(self.acceleration, w, t2 * (first(theta) - second(theta)),
                     t2 * seconds * (second(theta) - third(theta)),
                     t2 * t2 * fourth(theta)),
            turned(self.motion.velocity + self.acceleration * seconds, w,
                   cos(theta), seconds * first(theta), t2 * second(theta)),
        )


cdef Vec3[double] turned(Vec3[double] v, Vec3[double] w, double straight, double across,
                         double along) noexcept nogil:
    """(straight + across [w] + along w w') v: every function of the matrix [w] has this form."""
    return v * straight + cross(w, v) * across + w * (along * dot(w, v))


cdef bint rotates(DisModel model) noexcept nogil:
    """Whether the orientation of a model rotates."""
    return model == RPW or model == RVW or model == RPB or model == RVB


cdef double largest(Vec3[double] v) noexcept nogil:
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)))


# The functions below would lose all digits near 0, where their first terms stand in.
cdef double NEAR_ZERO = 0.01


cdef double first(double theta) noexcept nogil:
    """sin(theta) / theta"""
    return 1 - theta * theta / 6 if theta < NEAR_ZERO else sin(theta) / theta


cdef double second(double theta) noexcept nogil:
    """(1 - cos(theta)) / theta^2"""
    if theta < NEAR_ZERO:
        return 0.5 - theta * theta / 24
    return (1 - cos(theta)) / (theta * theta)


cdef double third(double theta) noexcept nogil:
    """(theta - sin(theta)) / theta^3"""
    if theta < NEAR_ZERO:
        return 1.0 / 6 - theta * theta / 120
    return (theta - sin(theta)) / (theta * theta * theta)


cdef double fourth(double theta) noexcept nogil:
    """(1 / 2 - first + second) / theta^2"""
    if theta < NEAR_ZERO:
        return 0.125 - theta * theta / 144
    return (0.5 - first(theta) + second(theta)) / (theta * theta)
