"""The Kalman filter for a constant velocity."""

from libc.math cimport isfinite

from epic_cli.engine.packets cimport Packet, Vec3, is_finite
from epic_cli.engine.strategies.parts cimport Filter

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import FILTER_SETTINGS


cpdef enum class Measures:
    BOTH
    POSITION


cdef class Kalman(Filter):
    """Keeps a position, a velocity and how certain both are, and weights each packet by that.

    The entity is assumed to move at a constant velocity, except for an acceleration that is new
    at every packet, with the variance ``q_variance``. State and covariance, per axis, with T the
    time between the timestamps:

        x = (position, velocity)   F = (1 T; 0 1)   Q = q (T^4/4 T^3/2; T^3/2 T^2)
        predict: x = F x,  P = F P F' + Q
        update:  K = P H' / (H P H' + r),  x = x + K (measured - H x),  P = (1 - K H) P
        drawn(t) = position + velocity (age of the packet + time since it arrived)

    The packet's position is measured with the variance ``r_position`` and its velocity with
    ``r_velocity``, one after the other, since their errors are independent. With
    ``measures=position`` only positions are measured. All axes share one covariance.

    Good against noise of a known size, and when packets are irregular or lost: it knows that it
    knows less then. Not behind on a straight path; overshoots at turns and stops, less if the
    velocity is measured too. At a regular rate with positions alone it settles to the
    ``alpha-beta`` strategy with its tracking index. Only the ratios of the three variances
    matter.

    The first packet gives position and velocity, with the variance ``p_start``. A packet with
    the newest timestamp or an earlier one is discarded. After more than ``max_gap``, or at a
    packet further than ``snap_distance`` from what is predicted, the filter restarts. Rows
    are ``extrapolated``, and ``held`` after ``max_prediction``.
    """

    declaration = Declaration(
        name="kalman",
        summary="a constant-velocity Kalman filter on positions and velocities, predicted to now",
        needs=(
            Need.VELOCITY.unless(" (or measures=position)"),
            Need.CLOCKS.unless(", or arrival times"),
        ),
        lag="none at constant velocity",
        on_loss="continues in a straight line for max_prediction, then holds",
        source="Kalman (1960); Labbe, Kalman and Bayesian Filters in Python, chapter 8;"
        " rlabbe/filterpy; MIT",
        proof="runs of the original program, once a packet",
        rotates="the same filter in the tangent space about the predicted rotation (ours)",
        settings=(
            Choice("measures", "both", "what is measured: positions and velocities, or positions"
                   " alone", Measures),
            Number("r_position", 0.01, "variance of measured positions (filterpy's R)",
                   "length units^2", 1e-12, 1e12, tune=(1e-6, 100.0), scale="log"),
            Number("r_velocity", 0.5, "variance of measured velocities (filterpy's R)",
                   "(length units/s)^2", 1e-12, 1e12, tune=(1e-4, 100.0), scale="log"),
            Number("q_variance", 100.0, "variance of the acceleration (of filterpy's Q)",
                   "(length units/s^2)^2", 1e-12, 1e12, tune=(0.01, 1e5), scale="log"),
            Number("p_start", 100.0, "variance of the first position and velocity (filterpy's P)",
                   "", 1e-12, 1e12),
            *FILTER_SETTINGS,
        ),
    )

    cdef public Measures measures
    cdef public double r_position, r_velocity, q_variance, p_start
    cdef double p00, p01, p11           # the covariance of both

    @property
    def covariance(self):
        """The position's variance, its covariance with the velocity, the velocity's variance."""
        return self.p00, self.p01, self.p11

    cdef void begin(self, const Packet& packet) noexcept nogil:
        self.position = packet.position
        self.velocity = packet.velocity
        self.p00 = self.p11 = self.p_start
        self.p01 = 0

    cdef void step(self, const Packet& packet, double period) noexcept nogil:
        self.predict(period)
        self.turn.predict(packet, period)
        self.measure_position(packet)
        if self.measures == Measures.BOTH:
            self.measure_velocity(packet)

    cdef bint is_sane(self) noexcept nogil:
        return (is_finite(self.position) and is_finite(self.velocity)
                and isfinite(self.p00 + self.p01 + self.p11))

    cdef void predict(self, double period) noexcept nogil:
        cdef double q = self.q_variance * period * period
        self.position = self.position + self.velocity * period
        self.p00 += period * (2 * self.p01 + period * self.p11) + q * period * period / 4
        self.p01 += period * self.p11 + q * period / 2
        self.p11 += q

    cdef void measure_position(self, const Packet& packet) noexcept nogil:
        cdef double s = self.p00 + self.r_position
        cdef double k0 = self.p00 / s
        cdef double k1 = self.p01 / s
        cdef Vec3[double] residual = packet.position - self.position
        self.turn.correct(k0, k1)
        self.position = self.position + residual * k0
        self.velocity = self.velocity + residual * k1
        self.p11 -= k1 * self.p01
        self.p01 -= k0 * self.p01
        self.p00 -= k0 * self.p00

    cdef void measure_velocity(self, const Packet& packet) noexcept nogil:
        cdef double s = self.p11 + self.r_velocity
        cdef double k0 = self.p01 / s
        cdef double k1 = self.p11 / s
        cdef Vec3[double] residual = packet.velocity - self.velocity
        self.turn.correct_spin(packet, k0, k1)
        self.position = self.position + residual * k0
        self.velocity = self.velocity + residual * k1
        self.p00 -= k0 * self.p01
        self.p01 -= k1 * self.p01
        self.p11 -= k1 * self.p11
