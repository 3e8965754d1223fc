"""The 1 euro filter of Casiez, Roussel and Vogel, on positions."""

from libc.math cimport M_PI, fabs, sqrt

from epic_cli.engine.packets cimport Packet, Vec3, dot, is_finite
from epic_cli.engine.strategies.parts cimport Filter

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts.common_settings import FILTER_SETTINGS


cpdef enum class VelocitySource:
    FILTERED
    GIVEN


cdef class OneEuro(Filter):
    """Smooths noisy positions: strongly while they move slowly, hardly while they move fast.

    Each axis is a low-pass filter whose cutoff frequency grows with the speed. With the frequency
    of the timestamps f = 1 / (timestamp - last timestamp), per axis:

        alpha(cutoff) = 1 / (1 + f / (2 pi cutoff))
        slope    = (position - filtered) * f
        speed    = alpha(dcutoff) * slope + (1 - alpha(dcutoff)) * speed
        cutoff   = mincutoff + beta * |speed|
        filtered = alpha(cutoff) * position + (1 - alpha(cutoff)) * filtered

    The filter knows the moment of a packet only, so drawing extrapolates from there:

        drawn(t) = filtered + velocity * (age of the packet + time since it arrived)

    with the slope of the filtered positions, low-passed at ``dcutoff``, for the velocity, or the
    packets' own. (``speed`` above is no velocity: it measures how far the filter is behind.)

    Good against noise on positions that stand still or move slowly, such as those of trackers and
    pointing devices; its two main settings are set in turn: lower ``mincutoff`` until what stands
    still does not tremble, then raise ``beta`` until what moves fast does not trail. A low-pass
    filter is behind by its time constant: at a steady speed with ``beta`` 0 by
    1 / (2 pi mincutoff), 0.16 s at the default. It is of no use on positions without noise.

    A packet with the newest timestamp or an earlier one is discarded. After more than ``max_gap``,
    or at a packet further than ``snap_distance`` from what is predicted, the filter restarts. With
    ``quirks`` the program's rules hold instead: every packet is filtered, an equal
    or earlier timestamp with the frequency of the one before it (``freq`` for the first), and so
    is the one after a timestamp of 0, which counts as none. Rows are ``extrapolated``, and
    ``held`` after ``max_prediction``.
    """

    declaration = Declaration(
        name="one-euro",
        summary="the 1 euro filter on positions, predicted to now",
        needs=(Need.CLOCKS.unless(", or arrival times"),),
        lag="1 / (2 pi (mincutoff + beta speed)), 0.16 s at the defaults",
        on_loss="continues in a straight line for max_prediction, then holds",
        source="Casiez, Roussel and Vogel, 1 Euro Filter, CHI 2012; casiez/OneEuroFilter;"
        " BSD-3-Clause",
        proof="runs of the original program, once a packet",
        rotates="the same filter in the tangent space about the filtered rotation (ours; one cutoff"
        " for all axes, which grows with the angular speed in rad/s)",
        settings=(
            Number("mincutoff", 1.0, "cutoff frequency at rest; lower: smoother, further behind",
                   "Hz", 0.0001, 1e6, tune=(0.1, 200.0), scale="log"),
            Number("beta", 0.0, "how much the cutoff grows with the speed",
                   "Hz per length unit/s", 0, 1e6, tune=(0.0, 1.0)),
            Number("dcutoff", 1.0, "cutoff frequency of the speed", "Hz", 0.0001, 1e6,
                   tune=(0.2, 10.0), scale="log"),
            Number("freq", 20.0, "the frequency until there are two timestamps, with quirks=on",
                   "Hz", 0.001, 1e6),
            Choice("velocity", "filtered", "predict with the slope of the filtered positions, or"
                   " with the packets' velocity", VelocitySource),
            Switch("quirks", "off", "treat equal, earlier and zero timestamps as the program does",
                   tune=False),
            *FILTER_SETTINGS,
        ),
    )

    cdef public double mincutoff, beta, dcutoff, freq
    cdef public bint quirks
    cdef bint takes_velocity
    cdef bint moving                    # ``velocity`` has had its first slope
    cdef double frequency, timestamp
    cdef Vec3[double] speed, turn_speed

    def configure(self, *, velocity, **common):
        super().configure(**common)
        self.takes_velocity = velocity == VelocitySource.GIVEN

    cdef void begin(self, const Packet& packet) noexcept nogil:
        self.moving = False
        self.frequency = self.freq
        self.timestamp = packet.time
        self.position = packet.position
        self.speed = self.turn_speed = Vec3[double]()
        if not self.takes_velocity:
            self.turn.spin = Vec3[double]()
        self.velocity = packet.velocity if self.takes_velocity else Vec3[double]()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if self.empty or not self.quirks:
            return Filter.accept(self, packet, now)
        # the program filters every packet, and treats a timestamp of 0 as none
        self.record_true_time(packet, now)
        if packet.time > self.timestamp and packet.time != 0 and self.timestamp != 0:
            self.frequency = 1 / (packet.time - self.timestamp)
        self.timestamp = packet.time
        self.filter_position(packet)
        if not self.is_sane():
            self.turn.begin(packet)
            self.begin(packet)
        return True

    cdef void step(self, const Packet& packet, double period) noexcept nogil:
        self.frequency = 1 / period
        self.filter_position(packet)

    cdef void filter_position(self, const Packet& packet) noexcept nogil:
        """Filter a packet's position with the current frequency, and update the velocity."""
        cdef Vec3[double] before = self.position, slope
        cdef double alpha = self.compute_alpha(self.dcutoff)
        self.position.x = self.filter_axis(packet.position.x, before.x, self.speed.x)
        self.position.y = self.filter_axis(packet.position.y, before.y, self.speed.y)
        self.position.z = self.filter_axis(packet.position.z, before.z, self.speed.z)
        self.filter_rotation(packet)
        if self.takes_velocity:
            self.velocity = packet.velocity
            return
        slope = (self.position - before) * self.frequency
        self.velocity = self.velocity + (slope - self.velocity) * alpha if self.moving else slope
        self.moving = True

    cdef void filter_rotation(self, const Packet& packet) noexcept nogil:
        """Filter a packet's rotation with the current frequency; one cutoff serves all axes."""
        cdef double part, alpha = self.compute_alpha(self.dcutoff)
        cdef Vec3[double] slope
        if not packet.turn.known():
            return
        self.turn.predict(packet, 0)
        slope = self.turn.residual * self.frequency
        self.turn_speed = slope * alpha + self.turn_speed * (1 - alpha)
        part = self.compute_alpha(
            self.mincutoff + self.beta * sqrt(dot(self.turn_speed, self.turn_speed)))
        self.turn.correct(part, 0)
        slope = slope * part
        if self.takes_velocity:
            self.turn.spin = packet.turn.value().spin
        elif self.moving:
            self.turn.spin = self.turn.spin + (slope - self.turn.spin) * alpha
        else:
            self.turn.spin = slope

    cdef double filter_axis(self, double measured, double before, double& speed) noexcept nogil:
        cdef double alpha = self.compute_alpha(self.dcutoff)
        (&speed)[0] = alpha * ((measured - before) * self.frequency) + (1 - alpha) * speed
        alpha = self.compute_alpha(self.mincutoff + self.beta * fabs(speed))
        return alpha * measured + (1 - alpha) * before

    cdef double compute_alpha(self, double cutoff) noexcept nogil:
        """Return the weight of a new value in a low-pass filter with this cutoff frequency (Hz)."""
        return 1 / (1 + self.frequency / (2 * M_PI * cutoff))

    cdef bint is_sane(self) noexcept nogil:
        return is_finite(self.position) and is_finite(self.velocity) and is_finite(self.speed)
