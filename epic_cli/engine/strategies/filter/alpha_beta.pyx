"""The alpha-beta filter, also called g-h filter, with the standard rules for its gains."""

from libc.math cimport sqrt

from epic_cli.engine.packets cimport Motion, Packet, Vec3, components, is_finite
from epic_cli.engine.strategies.parts.curves cimport project
from epic_cli.engine.strategies.parts cimport Filter

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import FILTER_SETTINGS


cpdef enum class Rule:
    TRACKING_INDEX
    LEAST_SQUARES
    GIVEN
    CRITICAL_DAMPING
    BENEDICT_BORDNER
    BENEDICT_BORDNER_CRITICAL
    OPTIMAL_NOISE_SMOOTHING

_CONSTANT_RULES = {
    Rule.GIVEN: lambda g, h, k, theta: (g, h, k),
    Rule.CRITICAL_DAMPING: lambda g, h, k, theta: (1 - theta**2, (1 - theta) ** 2, 0.0),
    Rule.BENEDICT_BORDNER: lambda g, h, k, theta: (g, g**2 / (2 - g), 0.0),
    Rule.BENEDICT_BORDNER_CRITICAL: lambda g, h, k, theta: (
        g, 0.8 * (2 - g**2 - 2 * sqrt(1 - g**2)) / g**2, 0.0),
    Rule.OPTIMAL_NOISE_SMOOTHING: lambda g, h, k, theta: compute_optimal_gains(min(g, 0.999)),
}


def compute_optimal_gains(g):
    """Return the gains g, h and k that smooth noise best for a given g below 1."""
    h = (2 * g**3 - 4 * g**2 + sqrt(4 * g**6 - 64 * g**5 + 64 * g**4)) / (8 * (1 - g))
    return g, h, (h * (2 - g) - g**2) / g


cdef class AlphaBeta(Filter):
    """Keeps a position and a velocity, and moves both a fixed fraction towards each packet.

    With T the time between the timestamps and z the packet's position:

        predicted    = position + velocity T + acceleration T^2 / 2
        residual     = z - predicted
        position     = predicted + g residual
        velocity     = velocity + acceleration T + h residual / T
        acceleration = acceleration + 2 k residual / T^2
        drawn(t)     = position + velocity (age of the packet + time since it arrived)

    g and h are also called alpha and beta; unless k is set, it is 0 and there is no acceleration.
    A gain of 1 trusts the packet, one of 0 the prediction. ``rule`` says where the gains come
    from:

    tracking-index: the best gains for a target whose acceleration changes by ``sigma_w`` between
    packets and positions that are wrong by ``sigma_v``, the steady state of the ``kalman``
    strategy. They adapt to T: lambda = sigma_w T^2 / sigma_v, r = (4 + lambda -
    sqrt(8 lambda + lambda^2)) / 4, g = 1 - r^2, h = 2 (2 - g) - 4 sqrt(1 - g).
    least-squares: the straight line through the last packets, up to ``memory``: with n the
    packets before this one g = 2 (2 n + 1) / ((n + 2) (n + 1)), h = 6 / ((n + 2) (n + 1)).
    critical-damping: g = 1 - theta^2, h = (1 - theta)^2; no overshoot.
    benedict-bordner: h = g^2 / (2 - g); benedict-bordner-critical: its critically damped form.
    optimal-noise-smoothing: h and k from g. given: g, h and k as set.

    On a straight path it is not behind at all, unlike a filter without velocity; at turns and
    stops it overshoots, and the more the smoother it is. With gains that do not adapt, packets in
    quick succession make the velocity tremble, since the residual is divided by T.

    The velocity begins as that of the first packet; from then on only positions count. A packet
    with the newest timestamp or an earlier one is discarded. After more than ``max_gap``, or at a
    packet further than ``snap_distance`` from what is predicted, the filter restarts. Rows
    are ``extrapolated``, and ``held`` after ``max_prediction``.
    """

    declaration = Declaration(
        name="alpha-beta",
        summary="the alpha-beta (g-h) filter on positions, predicted to now",
        needs=(Need.CLOCKS.unless(", or arrival times"),),
        lag="none at constant velocity",
        on_loss="continues in a straight line for max_prediction, then holds",
        source="Brookner, Tracking and Kalman Filtering Made Easy (1998); Kalata, The Tracking"
        " Index (1984); values of rlabbe/filterpy; MIT",
        proof="runs of the original program, once a packet; tracking-index by formula",
        rotates="the same filter in the tangent space about the predicted rotation (ours)",
        settings=(
            Choice("rule", "tracking-index", "where the gains come from", Rule),
            Number("sigma_w", 10.0, "the standard deviation of the acceleration's change from"
                   " packet to packet, with rule=tracking-index", "length units/s^2", 1e-9, 1e9,
                   tune=(0.1, 1000.0), scale="log"),
            Number("sigma_v", 0.1, "the standard deviation of measured positions, with"
                   " rule=tracking-index", "length units", 1e-9, 1e9, tune=(0.001, 10.0),
                   scale="log"),
            Number("memory", 10, "how many packets count, with rule=least-squares", "packets", 2,
                   1e6, tune=(2, 30), whole=True),
            Number("theta", 0.5, "the memory factor: 0 forgets at once, with rule=critical-damping",
                   "", 0, 0.9999, tune=(0.05, 0.95)),
            Number("g", 0.75, "how much of the residual goes to the position", "", 0.0001, 1,
                   tune=(0.05, 1.0)),
            Number("h", 0.25, "how much of the residual goes to the velocity, with rule=given", "",
                   0, 4,
                   tune=(0.001, 1.0), scale="log"),
            Number("k", 0.0, "how much of the residual goes to the acceleration, with rule=given",
                   "", 0, 4),
            *FILTER_SETTINGS,
        ),
    )

    cdef public Rule rule
    cdef public double memory
    cdef double sigma_ratio, g, h, k
    cdef double before                  # how many packets the filter has taken
    cdef Vec3[double] acceleration

    def configure(self, *, sigma_w, sigma_v, theta, g, h, k, **common):
        super().configure(**common)
        self.sigma_ratio = sigma_w / sigma_v
        if self.rule in _CONSTANT_RULES:
            self.g, self.h, self.k = _CONSTANT_RULES[self.rule](g, h, k, theta)

    @property
    def gains(self):
        """The gains g, h and k applied to the last packet."""
        return self.g, self.h, self.k

    @property
    def state(self):
        """Position, velocity and acceleration at the newest packet, per axis."""
        return (components(self.position), components(self.velocity),
                components(self.acceleration))

    cdef void begin(self, const Packet& packet) noexcept nogil:
        self.before = 1
        self.position = packet.position
        self.velocity = packet.velocity
        self.acceleration = Vec3[double]()

    cdef void step(self, const Packet& packet, double period) noexcept nogil:
        """Predict the state at the packet's timestamp, and correct it by the residual."""
        cdef Motion predicted = project(
            Motion(self.position, self.velocity), self.acceleration, period)
        cdef Vec3[double] residual = packet.position - predicted.position
        self.adapt_gains(period)
        self.position = predicted.position + residual * self.g
        self.velocity = predicted.velocity + residual * (self.h / period)
        self.turn.predict(packet, period)
        self.turn.correct(self.g, self.h / period)
        if self.k != 0:
            self.turn.acceleration = self.turn.acceleration + self.turn.residual * (
                2 * self.k / (period * period))
            self.acceleration = self.acceleration + residual * (2 * self.k / (period * period))
        self.before = min(self.before + 1, self.memory - 1)

    cdef bint is_sane(self) noexcept nogil:
        return (is_finite(self.position) and is_finite(self.velocity)
                and is_finite(self.acceleration))

    cdef void adapt_gains(self, double period) noexcept nogil:
        """Set the gains for a packet that is ``period`` seconds newer than the last packet."""
        cdef double index, r
        if self.rule == Rule.TRACKING_INDEX:
            index = self.sigma_ratio * period * period
            # the rule's r, multiplied out so that a large index does not cancel
            r = 4 / (4 + index + sqrt(index * (8 + index)))
            self.g = 1 - r * r
            self.h = 2 * (1 - r) * (1 - r)
        elif self.rule == Rule.LEAST_SQUARES:
            self.g = 2 * (2 * self.before + 1) / ((self.before + 2) * (self.before + 1))
            self.h = 6 / ((self.before + 2) * (self.before + 1))
