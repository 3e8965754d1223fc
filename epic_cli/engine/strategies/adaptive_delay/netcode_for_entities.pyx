"""The interpolated timeline of Unity's Netcode for Entities."""

from libc.math cimport ceil, fabsf, isnan, round
from libc.stdint cimport int64_t

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, Motion, Packet, Sample, Vec3, clamped, is_finite, narrowed, widened,
)
from epic_cli.engine.strategies.parts.snapshots cimport (
    SnapshotBuffer, draw_between, is_farther, hold_state,
)
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.turning cimport slerp_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# Ages of snapshots are counted in this part of a tick.
cdef int64_t TICK_PARTS = 256
# An error of this many ticks is not made up for, but set.
cdef float FAR_TICKS = 10
# The longest wait, in packets.
cdef int64_t MOST_PACKETS = 6
# Ticks are kept where they can be counted.
cdef double LAST_TICK = 1e15


cdef inline Vec3[double] interpolate_single(Vec3[double] a, Vec3[double] b, float u) noexcept nogil:
    """Return a + u (b - a) in single precision, whose rounding shows where u exceeds 1."""
    cdef Vec3[float] start = narrowed(a)
    return widened(start + (narrowed(b) - start) * u)


cdef class NetcodeForEntities(Strategy):
    """Draws between snapshots, at a tick that follows the newest snapshot by an adaptive delay.

        est     = newest tick, carried on by the frames, corrected by an eighth of each error
        wait    = max(want * N, average ticks between snapshots + jitter_scale * deviation)
        speed   = clamp(1 + correction * (est - wait - target), scale_min, scale_max)
        target += frame time * sim_rate * speed
        drawn   = lerp(before, after, (target - before.tick) / (after.tick - before.tick))

    where N is the number of ticks (``sim_rate``) for each packet (``net_rate``), rounded up. Ticks
    are whole numbers; all else is computed in single precision, as in the original. The wait is at
    least the measured time between two arrivals, and at most six packets; in each frame it changes
    by at most ``delay_max_delta`` of the frame. A target that is ten ticks behind, and a wait that
    is more than ten ticks off, are set at once. A part of a tick below ``clamp_partial`` counts as
    0, and one as near to the next tick as a whole tick.

    The timeline takes a packet into account one frame later than the drawing does, since in the
    original it runs before packets are read. Of several snapshots in one frame only the last is
    kept; a snapshot older than the newest is dropped. Without a newer snapshot the last two are
    continued for ``max_extrapolation`` ticks, and then by up to one more, as in the original.
    Prediction, and the smoothing of its errors, are left out.

    Differences from the original: the time is the recording's, and the first state is drawn until
    the timeline reaches it, while the original has not spawned the entity yet.
    """

    declaration = Declaration(
        name="netcode-for-entities",
        summary="Unity Netcode for Entities: a timeline of ticks behind an adaptive delay",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency and want packets of net_rate, more where arrivals jitter, and two frames",
        on_loss="interpolates across one lost packet, extrapolates for max_extrapolation, then"
        " holds",
        source="Netcode for Entities 1.13 (needle-mirror/com.unity.netcode e470af1),"
        " NetworkTimeSystem, SnapshotData; Unity Companion License, formulas only",
        proof="runs of the original's timeline under Mono, within 2.4e-7",
        connection="its timeline takes all packets",
        rotates="slerp by the same fraction",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to the time between two packets, and by a tenth of its speed while its delay"
            " changes",
            0.02, periods=2, frames=2,
        ),
        settings=(
            Number("sim_rate", 60, "ticks a second", "Hz", 1, 1000, whole=True),
            Number("net_rate", "auto", "packets a second; auto: as many as ticks", "Hz", 0.1, 1000,
                   unset="auto"),
            Number("want", 2.0, "packets to stay behind (InterpolationTimeNetTicks)", "", 0, 100,
                   tune=(1, 6)),
            Number("max_extrapolation", 20, "ticks to extrapolate", "ticks", 0, 10000, whole=True),
            Number("jitter_scale", 1.25, "deviations of the ticks between snapshots that are added"
                   " to the wait", "", 0, 100, tune=(0, 4)),
            Number("delay_max_delta", 0.1, "how fast the wait changes, as a share of the frame",
                   "", 0, 100),
            Number("correction", 0.1, "how much faster the timeline runs for each tick that it is"
                   " behind", "", 0, 100),
            Number("scale_min", 0.85, "the least speed of the timeline", "", 0, 1),
            Number("scale_max", 1.1, "the largest speed of the timeline", "", 1, 100),
            Number("clamp_partial", 5.0, "round a smaller part of a tick to a whole tick", "%", 0,
                   50),
            Number("rtt_deviation", 0.0, "deviation of the round-trip time at the start", "s", 0,
                   60),
            Number("quantization", 0.0, "quantization steps per length unit, for positions"
                   " (the original: 1000); 0: none", "", 0, 1e9),
            Number("history", 32, "the largest number of snapshots kept", "", 2, 4096, whole=True),
            SNAP_DISTANCE,
        ),
    )

    cdef public long sim_rate, max_extrapolation
    cdef public double jitter_scale, delay_max_delta, correction, scale_min, scale_max
    cdef public double rtt_deviation, quantization, snap_distance
    cdef int64_t ticks              # for each packet, N
    cdef float wanted, partial      # the least wait, ticks; the part of a tick that counts
    cdef SnapshotBuffer states      # their times are those of ticks
    cdef bint fresh                 # has this frame a snapshot already?
    # the clock: is there a newest tick, does the clock know one, and does it run?
    cdef bint heard, knows, runs
    cdef int64_t newest_tick, known_tick, latest, est, age
    cdef double changed             # when the newest tick changed last, s
    cdef float average, deviation, inter, frames
    cdef readonly int64_t target
    cdef readonly float sub

    def configure(self, *, net_rate, want, clamp_partial, history):
        self.check_free()
        self.ticks = <int64_t>ceil(self.sim_rate / (self.sim_rate if isnan(net_rate) else net_rate))
        self.wanted = <float>want * self.ticks
        self.partial = clamp_partial / 100
        self.states.set_capacity(history)
        self.clock_restarts = True

    cdef void clear(self) noexcept nogil:
        self.states.clear()
        self.fresh = False

    cdef void clear_clock(self) noexcept nogil:
        self.heard = self.knows = self.runs = False

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef NetcodeForEntities other = peer
        self.heard, self.knows, self.runs = other.heard, other.knows, other.runs
        self.newest_tick, self.known_tick = other.newest_tick, other.known_tick
        self.latest, self.est, self.age = other.latest, other.est, other.age
        self.changed, self.average = other.changed, other.average
        self.deviation, self.inter, self.frames = other.deviation, other.inter, other.frames
        self.target, self.sub = other.target, other.sub
        return 0

    # ------------------------------------------------------------- packets

    cdef int64_t find_tick(self, double time) noexcept nogil:
        return <int64_t>clamped(round(time * self.sim_rate), -LAST_TICK, LAST_TICK)

    cdef int64_t find_state_tick(self, size_t place) noexcept nogil:
        return self.find_tick(self.states[place].time)

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        cdef int64_t tick = self.find_tick(time)
        if not self.heard or tick > self.newest_tick:
            self.heard, self.newest_tick = True, tick

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double time = self.find_tick(packet.time) / <double>self.sim_rate
        if not self.same_datagram:
            self.count_datagram(packet.time, now)
        if not self.states.empty() and time <= self.states.back().time:
            return False
        if self.fresh:
            self.states.drop_back()
        self.states.append(packet, now)
        self.fresh = True
        (&self.states.back()).time = time
        if self.quantization > 0:
            self.quantize(&self.states.back().position)
        return True

    cdef void quantize(self, Vec3[double]* place) noexcept nogil:
        place.x = round(place.x * self.quantization) / self.quantization
        place.y = round(place.y * self.quantization) / self.quantization
        place.z = round(place.z * self.quantization) / self.quantization

    # ------------------------------------------------------------- the clock

    cdef void pass_frame(self, double at) noexcept nogil:
        self.advance_timeline(at)

    cdef void advance_timeline(self, double at) noexcept nogil:
        """Advance the timeline to the frame at ``at``, by the snapshots received before the last
        frame.
        """
        cdef float elapsed = <float>self.elapsed(at)
        if self.knows and not self.runs:
            self.begin_timeline(at)
            self.move_target(elapsed, elapsed * self.sim_rate)
        elif self.knows:
            self.estimate_tick(at, elapsed * self.sim_rate)
            self.move_target(elapsed, elapsed * self.sim_rate)
        self.knows, self.known_tick = self.heard, self.newest_tick

    cdef void begin_timeline(self, double at) noexcept nogil:
        self.runs, self.changed = True, at
        self.latest = self.est = self.known_tick
        self.age = 0
        self.average = self.ticks
        self.deviation = <float>self.rtt_deviation * self.ticks
        self.inter = 1000 / <float>(self.ticks * self.sim_rate)
        self.frames = self.wanted + 2 * self.deviation
        self.target = self.known_tick - <int64_t>self.frames
        self.sub = 0

    cdef void estimate_tick(self, double at, float passed) noexcept nogil:
        """Advance the estimated server tick by a frame of ``passed`` ticks.

        Correct it by a new snapshot.
        """
        cdef int64_t whole
        cdef float step
        if self.known_tick != self.latest:
            step = self.known_tick - self.latest
            self.age = (7 * self.age + TICK_PARTS * (self.est - self.known_tick)) / 8
            self.average += (step - self.average) / 4
            self.deviation += (fabsf(step - self.average) - self.deviation) / 4
            self.inter += (<float><int64_t>((at - self.changed) * 1000 + 1e-6) - self.inter) / 4
            self.latest, self.changed = self.known_tick, at
        self.age -= <int64_t>(TICK_PARTS * passed)
        whole = self.age / TICK_PARTS
        if whole > 0:
            whole += 1
        self.est -= whole
        self.age -= TICK_PARTS * whole

    cdef void move_target(self, float elapsed, float passed) noexcept nogil:
        """Advance the drawn tick by a frame of ``elapsed`` seconds, which are ``passed`` ticks."""
        cdef float wait = max((self.inter * self.sim_rate + 999) / 1000,
                              self.average + <float>self.jitter_scale * self.deviation)
        cdef float most = <float>self.delay_max_delta * passed
        cdef float behind, scale
        cdef int64_t goal
        wait = max(self.wanted, min(wait, <float>(MOST_PACKETS * self.ticks)))
        if fabsf(wait - self.frames) > FAR_TICKS:
            self.frames = wait
        else:
            self.frames += min(max((wait - self.frames) * elapsed, -most), most)
        goal = self.est - <int64_t>self.frames
        behind = <float>(goal - self.target) - self.sub - passed
        if behind >= FAR_TICKS:
            self.target, self.sub = goal, 0
            return
        scale = min(max(1 + <float>self.correction * behind, <float>self.scale_min),
                    <float>self.scale_max)
        self.sub += passed * scale
        self.target += <int64_t>self.sub
        self.sub -= <int64_t>self.sub

    # ------------------------------------------------------------- frames

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double tick, part = 0
        cdef size_t place
        self.advance_timeline(at)
        self.fresh = False
        if not self.runs:
            hold_state(self.states.front(), self.drawn, sample)
            return
        tick = self.target
        if self.sub > 1 - self.partial:
            tick += 1
        elif self.sub >= self.partial:
            part = self.sub
        place = self.states.count_until(tick / self.sim_rate)
        if place == 0:
            hold_state(self.states.front(), self.drawn, sample)
        elif place < self.states.size():
            self.draw_pair(place, self.compute_fraction(place, tick, part), sample)
        elif place > 1 and tick + part > self.find_state_tick(place - 1):
            tick = min(tick, <double>(self.find_state_tick(place - 1) + self.max_extrapolation))
            self.draw_beyond(place - 1, self.compute_fraction(place - 1, tick, part), sample)
        else:
            hold_state(self.states.back(), self.drawn, sample)

    cdef void draw_pair(self, size_t place, float u, Sample& sample) noexcept nogil:
        """Draw the point at the fraction ``u`` from the snapshot ``place - 1`` to the snapshot
        ``place``.
        """
        cdef Vec3[double] before = self.states[place - 1].position
        cdef Vec3[double] after = self.states[place].position
        cdef Vec3[double] drawn = interpolate_single(before, after, u)
        draw_between(self.states[place - 1], self.states[place], u, self.snap_distance, sample)
        if is_finite(drawn) and not is_farther(before, after, self.snap_distance):
            sample.position = drawn
            self.set_velocity(place, sample)

    cdef float compute_fraction(self, size_t place, double tick, double part) noexcept nogil:
        """Return the fraction of the way from snapshot ``place - 1`` to ``place`` at a tick and its
        part.
        """
        cdef int64_t before = self.find_state_tick(place - 1)
        cdef float duration = <float>(self.find_state_tick(place) - before)
        return <float>(tick - before) / duration + <float>part / duration

    cdef void set_velocity(self, size_t place, Sample& sample) noexcept nogil:
        cdef double duration = self.states[place].time - self.states[place - 1].time
        cdef Vec3[double] step = self.states[place].position - self.states[place - 1].position
        if is_finite(step):
            sample.velocity = step * (1 / duration)

    cdef void draw_beyond(self, size_t place, float u, Sample& sample) noexcept nogil:
        """Extrapolate the line through the last two snapshots.

        ``u`` is 1 at the newest snapshot.
        """
        cdef Vec3[double] before = self.states[place - 1].position
        cdef Vec3[double] newest = self.states[place].position
        cdef Vec3[double] goal = interpolate_single(newest, before, 1 - u)
        if is_farther(before, newest, self.snap_distance) or not is_finite(goal):
            hold_state(self.states[place], self.drawn, sample)
            return
        slerp_between(self.states[place - 1], self.states[place], u, sample)
        sample.show(Motion(goal, Vec3[double]()), EXTRAPOLATED)
        self.set_velocity(place, sample)
