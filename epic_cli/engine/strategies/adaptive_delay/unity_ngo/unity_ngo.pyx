"""The interpolation of Unity's Netcode for GameObjects, in its four kinds."""

from libc.math cimport INFINITY, fabs, isnan

from epic_cli.engine.packets cimport INTERPOLATED, NONE, Motion, Packet, Sample, Turn, Vec3
from epic_cli.engine.strategies.parts cimport SendInterval, Strategy

from epic_cli.engine.declaration import Declaration, Need, Wavering
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE


# The rounding error of adding and subtracting offsets is below this, s, or below this part of a
# time. Whether a frame is before a timestamp or after it must not be left to the last digit: one
# that is taken to be just after each shows but the beginning of each segment, and the entity
# stands still.
cdef double ROUNDING = 1e-9
cdef double RELATIVE_ROUNDING = 1e-15


cpdef enum class SmoothingFactor:
    FRAME_RATE_INDEPENDENT
    PER_FRAME


cpdef enum class RotationLerp:
    SLERP
    NLERP


cpdef enum RenderFrom:
    SERVER_TIME
    LOCAL_TIME


cdef class UnityNgo(Strategy):
    """Follows a queue of states some ticks behind the server time, and smooths the result.

    The client's server time is ``server_buffer`` behind the newest timestamps; what is rendered
    is ``tick_latency`` ticks behind that. A frame takes states from the queue and heads for the
    newest of them; ``start`` and ``target`` are the two ends, ``r`` is the render time:

    double-lerp (1.x): states up to the server time, once r has passed the target:
        value  = lerp(start, target, (r - start.time) / (target.time - start.time))
        drawn += (value - drawn) * frame time / position_max_interpolation_time
    legacy-lerp (default since 2.3): the same, but a segment begins at the last value, not at the
    last target. The sooner after a timestamp the frames draw, the further it falls behind: where
    r is always a fraction f of a tick past the target, by (1 - f) / f ticks. Frames that are
    about as long as ticks are always so: pass by pass the entity slows down, for seconds if the
    two lengths are nearly the same, and then jumps to where it should be.
    lerp: states up to r; advances by the frame times, not by r. After it:
        drawn += (value - drawn) * (1 - position_max_interpolation_time ^ (60 * frame time))
    smooth-damp: as lerp, with Unity's SmoothDamp towards the target for ``value``.

    ``position_lerp_smoothing=off`` leaves out the second step (double-lerp always has it). Up to
    2026 its factor in the last two kinds was 1 - position_max_interpolation_time a frame, so
    that smoothing depended on the frame rate and 1 froze the object: smoothing_factor=per-frame.

    Clients before 2.13.3 subtracted the ticks from the local time, and so rendered about the
    server time: shorter lag, but often nothing to move to: ``render_from=local-time``.

    Very smooth, and never overshoots; but floaty: the second lerp never quite arrives, and the
    lag is larger than any other's. double-lerp is computed in single precision, as in Unity. For
    the others a target counts as reached, and nothing moves until the next, when each axis is
    within 0.005 of it; they drop their start once they have rested for a while: the next segment
    begins at what is drawn, and in legacy-lerp its end is the value at once. More than 100 packets
    in one frame, late ones included, count as a burst, of which only the newest is shown.

    Where this differs from Unity: the tick rate is measured with ``tick_rate=auto``; the server
    time never goes back; a frame that only rounding puts before or after a timestamp is at it;
    a late packet after a burst is discarded; after a silence longer than ``pause`` a segment takes
    one tick, unless the entity had come to rest, where Unity begins it at the stale timestamp and
    is there at once (``pause=0``); ``snap_distance`` is an addition, since Unity teleports on
    demand only. Late packets are discarded, except by double-lerp, which sorts them in as long as
    it has not passed them.

    ``tick_rate=auto`` draws as the given rate does, where at least three of eight packets follow
    the one before by one tick; silences and single losses cost nothing, and another rate is known
    within 32 packets. Until then the delay is that of the wrong tick.

    The velocity is that of the packets, followed in the same way.
    """

    declaration = Declaration(
        name="unity-ngo",
        summary="Unity Netcode for GameObjects: buffered interpolation, then a second smoothing",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency, server_buffer, tick_latency ticks, and the second smoothing",
        on_loss="moves to the newest state, then holds",
        source="Netcode for GameObjects (Unity-Technologies), BufferedLinearInterpolator;"
        " double-lerp from 1.11 (MIT), the others from formulas and runs of 2.13 (Unity Companion"
        " License), none of its text",
        proof="runs of 1.11 (bit for bit) and 2.13, upstream tests",
        rotates="slerp (half floats: nlerp) where positions lerp; smooth-damp: each angle by itself"
        " (BufferedLinearInterpolatorQuaternion)",
        lag_wavers=Wavering(
            "as its clock does, by 1 % of a frame; by up to a tick where frames are of"
            " another length; legacy-lerp falls behind for seconds and then jumps where they are"
            " of nearly the same length",
            seconds=0.001, periods=60,
        ),
        settings=(
            Choice("mode", "legacy-lerp", "the kind of interpolation", Interpolation),
            Number("tick_rate", "auto", "ticks (packets) a second; auto measures it", "Hz",
                   0.1, 1000, unset="auto"),
            Number("tick_latency", "auto", "ticks to stay behind the server time; auto: 1 for"
                   " double-lerp and legacy-lerp, otherwise 2", "ticks", 0, 1000,
                   unset="auto", tune=(0, 5)),
            Choice("render_from", "server-time", "the clock that tick_latency is subtracted from",
                   RenderFrom),
            Switch("position_lerp_smoothing", "on", "smooth the interpolated value"),
            Number("position_max_interpolation_time", 0.1, "how slow the smoothing is", "s",
                   0.01, 1, tune=(0.01, 0.9)),
            Choice("rotation", "slerp", "what rotations do instead; nlerp: as with half floats",
                   RotationLerp),
            Choice("smoothing_factor", "frame-rate-independent", "that of 2026 or the one before",
                   SmoothingFactor),
            Number("latency", "auto", "arrival time minus timestamp, which sets the server time;"
                   " auto measures it", "s", -1e12, 1e12, unset="auto"),
            Number("server_buffer", 0.05, "how far the server time is behind the timestamps", "s",
                   0, 10, tune=(0, 0.2)),
            Number("hard_reset", 0.2, "reset a server time that is off by more than this", "s",
                   0, 60),
            Number("adjustment_ratio", 0.01, "how fast it is corrected otherwise", "", 0, 1,
                   tune=(0.001, 0.1), scale="log"),
            Number("sync_interval", 1.0, "time between two measurements of it", "s", 0, 60),
            Number("pause", 1.0, "after a longer silence the next segment takes one tick;"
                   " 0: never", "s", 0, 3600),
            SNAP_DISTANCE,
        ),
    )

    cdef public Interpolation mode
    cdef public RenderFrom render_from
    cdef public double tick_latency, pause
    cdef BufferedInterpolator positions, velocities, turns
    cdef NetworkTime clock
    cdef SendInterval interval
    cdef bint empty
    cdef double rendered

    def configure(self, *, tick_rate, position_lerp_smoothing, position_max_interpolation_time,
                  rotation, smoothing_factor, latency, server_buffer, hard_reset, adjustment_ratio,
                  sync_interval, snap_distance):
        self.check_free()
        given = (self.mode, position_max_interpolation_time, position_lerp_smoothing,
                 smoothing_factor == SmoothingFactor.PER_FRAME)
        self.positions = BufferedInterpolator(*given)
        self.velocities = BufferedInterpolator(*given)
        self.turns = BufferedInterpolator(*given, True, rotation == RotationLerp.NLERP)
        self.positions.snap_distance = snap_distance
        self.clock = NetworkTime(latency, server_buffer, hard_reset, adjustment_ratio,
                                 sync_interval)
        self.interval = SendInterval(1.0 / tick_rate, 1.0 / 30)
        if isnan(self.tick_latency):
            self.tick_latency = 1 if self.mode in (DOUBLE_LERP, LEGACY_LERP) else 2

    cdef void clear(self) noexcept nogil:
        self.clock.clear()
        self.interval.clear()
        self.empty = True
        self.turns.seeded = False
        self.rendered = -INFINITY

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint taken = self.empty or packet.time > self.newest
        if self.empty:
            self.positions.jump(packet.position, packet.time)
            self.velocities.jump(packet.velocity, packet.time)
        elif 0 < self.pause < packet.time - self.newest:
            self.positions.resume(packet.time - self.interval.value)
            self.velocities.resume(packet.time - self.interval.value)
        if taken:
            self.interval.add(packet.time)
            self.clock.sync(packet.time, now)
            self.set_tick(self.positions)
            self.set_tick(self.velocities)
        if packet.turn.known():
            self.accept_turn(packet)
        self.empty = False
        self.velocities.put(packet.velocity, packet.time)
        return self.positions.put(packet.position, packet.time)

    cdef void accept_turn(self, const Packet& packet) noexcept nogil:
        cdef Turn turn = packet.turn.value()
        self.turns.given = turn.rotation
        if not self.turns.seeded:
            self.turns.make_room()
            self.turns.jump(turn.spin, packet.time)
        elif 0 < self.pause < packet.time - self.newest:
            self.turns.resume(packet.time - self.interval.value)
        self.set_tick(self.turns)
        self.turns.put(turn.spin, packet.time)

    cdef void set_tick(self, BufferedInterpolator one) noexcept nogil:
        one.tick = self.interval.value
        one.latency = self.interval.value * self.tick_latency

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double elapsed, server, render
        cdef Vec3[double] spin
        if self.empty:
            sample.status = NONE
        else:
            elapsed = self.elapsed(at)
            server = self.clock.advance(at, elapsed)
            render = server
            if self.render_from == SERVER_TIME:
                render -= self.interval.value * self.tick_latency
            # nor does it go back when another tick rate is measured
            render = self.rendered = max(self.rendered, render)
            self.positions.slack = max(ROUNDING, RELATIVE_ROUNDING * max(fabs(at), fabs(server)))
            self.velocities.slack = self.positions.slack
            sample.show(Motion(self.positions.advance(elapsed, render, server),
                               self.velocities.advance(elapsed, render, server)), INTERPOLATED)
            if self.positions.arrived():
                sample.hold(sample, self.drawn, INTERPOLATED)
            if self.turns.seeded:
                self.turns.slack = self.positions.slack
                spin = self.turns.advance(elapsed, render, server)
                sample.turn.set(Turn(self.turns.turn_current, spin))
