"""A configurable chase of the newest state, as most tutorials teach it."""

from libc.math cimport (
    INFINITY, NAN, cos, exp, fabs, floor, isfinite, isnan, sin, sqrt,
)

from libcpp.vector cimport vector

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Status, Vec3, clamped, dot, is_beyond,
)
from epic_cli.engine.strategies.parts cimport (
    ARRIVALS, FRAMES, STAMPS, STEPS, Easing, PacketAge, SendInterval, Strategy, cut_to_milliseconds,
    span_seconds,
)
from epic_cli.engine.strategies.parts.curves cimport (
    hermite, lerp, smooth_damp, step_damped_spring,
)
from epic_cli.engine.strategies.parts.eases cimport ease, slope_of_ease
from epic_cli.engine.strategies.parts.following cimport exponential_share, rounded
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot
from epic_cli.engine.strategies.parts.turning cimport TurnChase, TurnGlide, slerp_between

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number, Span
from epic_cli.engine.strategies.parts.common_settings import (
    DEAD_ZONE, EASE, INTERVAL_LIMITS, MEASURED_INTERVAL, ROUNDING, ROUNDING_BY, ROUNDING_OF, SNAP,
    TIMES,
    age_setting,
)

cdef double PACKET = -1     # every=packet: a step for each packet
cdef double PATH = -1           # speed=path: that of the last step from packet to packet
cdef double FASTEST_PATH = -2   # speed=fastest: that of the faster one of the last two
cdef double AT_FRAME = -1       # phase=frame: a tick that long after the frame of the last one
cdef double AT_PACKET = -2      # phase=packet: each packet begins them again
cdef double LONGEST_WAY = 60    # a cubic that takes so long (s) is not begun
cdef double SLIGHTLY = 1e-9     # a frame that is so close to a tick is at it, ticks; or to an end
cdef double MOST_TICKS = 64     # of more that are due at once, the first are left out


cpdef enum class Approach:
    EXPONENTIAL
    LERP
    SHARE
    SPRING
    SPEED
    INTERVAL
    LINEAR
    EASED
    GROWING
    FORCE
    HERMITE

cpdef enum class VelocitySource:
    SENT
    STAMPS
    ARRIVALS
    INTERVAL
    BEFORE

cpdef enum class Goal:
    NEWEST
    VELOCITY
    ARRIVAL
    STEP
    INTERVAL
    FIXED


cpdef enum class Integration:
    SEMI_IMPLICIT
    EXPLICIT
    EXACT

# The largest square of a spring's speed: one that swings ever farther goes to its goal instead.
cdef double FASTEST = 1e30


cdef struct Glide:
    # from where to where, since when and for how long (s)
    Vec3[double] start
    Vec3[double] goal
    double begun
    double duration


cdef class Chase(Strategy):
    """Goes from where it is drawn towards the newest state, in one of eleven ways.

        exponential  drawn += (goal - drawn) * (1 - e^(-dt / time))
        lerp         drawn += (goal - drawn) * min(dt / time, 1)
        share        drawn += (goal - drawn) * share, whatever the frame's duration
        spring       SmoothDamp(drawn, goal, velocity, time)
        speed        towards the goal, by speed * dt at most, of all axes or of each (``axes``)
        interval     as fast as leads there in one send interval, from the newest arrival on
        linear       from what was drawn to the goal over ``time``, from the newest arrival on
        eased        the same with an ease: one of Robert Penner's (in, out or both: u^2 to u^5,
                     a sine, 2^(10u - 10), a circle, or one that goes back first), 3u^2 - 2u^3,
                     6u^5 - 15u^4 + 10u^3, or one of CSS
        growing      drawn += (goal - drawn) * min(u, 1), where u grows from 0 to 1 over ``time``
        force        velocity += (stiffness * (goal - drawn) - damping * velocity) * dt,
                     then drawn += velocity * dt (``explicit``: before that; or ``exact``)
        hermite      on a cubic over ``time``, from what was drawn and its velocity to the goal with
                     the velocity, both times ``bend``

    where dt is the time since the frame before. ``Lerp(drawn, newest, 10 * dt)`` is
    ``chase+how=lerp+time=0.1``, ``Lerp(drawn, newest, 0.1)`` is ``chase+how=share+share=0.1``: that
    one is faster on a faster screen. ``lerp``, ``local-perception`` with a period and
    ``dumb-terminal`` are compositions, too, which their pages name. Times are seconds, or send
    intervals: ``1i``. An interval is the usual one of the timestamps, or the last one, measured
    from timestamp to timestamp (``interval=stamps``), from arrival to arrival
    (``interval=arrivals``) or from the frame that took the packet before to the one that takes this
    one (``interval=frames``), or the sum of the steps since the packet before, as where a handler
    reads what each frame adds to (``interval=steps``); or a mean of these that each packet moves by
    ``interval_share``. What is measured is limited to ``interval_least`` and ``interval_most``;
    that of a late packet, or of one of the same time, is ``interval_late``; a cubic over 60 s is
    not begun, and stands.

    With ``step_time`` each step counts as that long, whatever its duration: ``step_time=1/60`` is
    code that takes each frame for a sixtieth of a second, ``step_time=1`` a spring by frames, and
    ``how=linear`` then goes for a number of frames, ``how=speed`` by a constant step in each. With
    ``step_most`` a longer step counts as that long, as where code limits dt after a hitch.

    The goal is the newest state; or ``ahead`` of it: ``velocity``: where its velocity has led it by
    now, for ``ahead_time`` at most; ``arrival``: where it had led it when the packet arrived;
    ``step``: as that, but the way from the packet before in the place of the velocity, as Photon's
    view has it; ``interval``: where its velocity leads it in one interval; ``fixed``: in
    ``ahead_time``. ``age`` is how old a packet is on arrival, by timestamps less ``age_offset``. A
    velocity is the packet's, or the last step over the time from timestamp to timestamp, from
    arrival to arrival or of an interval (``velocity=stamps``, ``arrivals``, ``interval``; where
    that is not above 0, the one before), times ``velocity_factor``; or that of the packet before
    (``before``), as where a position is stored before the velocity that came with it; or a mean
    that each packet moves by ``velocity_share``. It fades out evenly within ``fade``, from
    ``fade_after`` without a packet on, and the goal comes to a stop.

    A spring never passes its goal, as Unity's; with ``overshoot=on`` it does, and so do ``lerp``
    and ``linear``, whose shares are limited to 1, to ``overshoot`` or not at all. ``linear``,
    ``eased`` and ``hermite`` begin where it was drawn last, or where their line is when the packet
    arrives (``start=arrival``). Their time, that of ``growing`` and an age by arrival count from
    the arrival; as tweens of engines have it, from the frame before it (``start=last``: the first
    frame is one dt on its way) or behind it (``start=frame``: the first frame is where it was); or
    from where the last way leads in that frame (``start=transition``, as CSS transitions). With
    ``overlap=on`` the ways to earlier packets go on beside the newest, and all add to where it is
    drawn, as timers do that are not cleared; with ``phase=packet`` each has ticks of its own. With
    ``end=short`` the step that would pass the end of the way is left out, as in a loop that runs
    while u is below 1. ``snap`` jumps to a goal that is further away, ``snap_after`` to that of a
    packet that is older. Within ``dead_zone`` of its goal it stays, and within ``snap_near`` it is
    there at once, unless it is ``linear`` or ``eased``. With ``axes=each`` each axis does so by
    itself. ``speed=path`` is that of the last step from packet to packet over one interval;
    ``speed=fastest``, as Mirror before its snapshots had it, that of the faster one of the last
    two. Steps that are a share of the way are limited to ``speed_least`` and ``speed_most``, as are
    those of springs to the second: SmoothDamp's limit is that of Unity, that of ``force`` limits
    the velocity. ``steps`` such steps are made at once, as where two scripts move the same body.
    With ``share_far`` the share of ``how=share`` goes over evenly to that one between the distances
    ``far_from`` and ``far_at``, as in Fiedler's "State Synchronization", which fades a small error
    slowly and a large one fast. ``mean_of`` states are averaged to the newest.

    With ``drift`` what is drawn also moves by that share of the newest velocity, until the packet
    is ``ahead_time`` old, as a body in a physics engine: after each step, or, where the goal moves
    by the velocity, before it, so that only the error to that fades. ``linear`` and ``eased``
    drift where their way has ended, unless their goal moves so. A velocity that is itself smoothed
    goes ``drift_share`` of the way to the newest in each step, also once a packet.

    It steps in each frame; in ticks, one each ``every`` seconds and one at ``phase``; or once a
    packet, for which dt is the time since the frame before it. With ``phase=frame`` a tick falls in
    the first frame that is so long after that of the last one, and dt is the time between them;
    with ``phase=packet`` each packet begins them again, as an interval that it clears and sets: the
    first falls ``every`` behind it, or with ``start=last`` at its arrival. Between two ticks it
    draws the last one, or with ``between=lerp`` the line from the tick before to the last, which is
    a tick late. ``rounding`` does not feed back, or with ``rounding_of=states`` is that of what is
    received, as by code that sends whole centimeters; ``rounding_by=down`` is that of floor. With
    ``times=milliseconds`` packets and frames have whole ones, as in games that ask for the date.

    With ``playout_delay`` each packet after the first waits in a jitter buffer, until it is that
    much older than the first one was when it arrived; one that is older by then is taken at once.
    A packet with an earlier timestamp than the newest is discarded; with ``late=take`` it is the
    newest, as in code that checks no timestamps. With ``repeated=drop`` one with the position of
    the packet before is discarded, too, as in code that hears of changes only, and so are those
    nearer than ``dead_band`` to the last one that was taken. Rows are ``interpolated`` (ahead of
    the newest ``extrapolated``) until the entity is at the goal, ``held`` from then on. The
    velocity is the step of this frame over its time, that of a spring its own.
    """

    declaration = Declaration(
        name="chase",
        summary="each frame goes some of the way to the newest state",
        lag="about time, by its way, plus the age of the newest packet",
        on_loss="goes to the newest position, then holds",
        source="tutorials of Unity, Photon, Godot and jQuery; SmoothDamp after Game Programming"
        " Gems 4, chapter 1.10",
        proof="formula",
        rotates="slerp by the same share of the way; a spring turns as one",
        lag_varies=LagVariation(
            "by up to the time between two packets: it slows down on its way to each",
            periods=1,
        ),
        settings=(
            Choice("how", "exponential", "how the drawn position approaches its goal", Approach),
            Span("time", 0.1, "the time constant or the duration of the way, in seconds or send"
                 " intervals (1i)", 0.001, 60, tune=(0.02, 1.0), scale="log"),
            Number("share", 0.1, "the share of the way that each frame covers, with how=share",
                   "", 0, 1, tune=(0.02, 1), scale="log"),
            Number("share_far", "same", "the share where the goal is far_at or farther away, with"
                   " how=share; same: as near it", "", 0, 1, words={"same": NAN}),
            Number("far_from", 0.25, "the distance from which on share_far begins to count",
                   "length units", 0, 1e12),
            Number("far_at", 1.0, "the distance from which on share_far alone counts",
                   "length units", 0, 1e12),
            Number("mean_of", 1, "how many of the last states are averaged to the newest", "",
                   1, 100, whole=True),
            Number("speed", 20.0, "the speed, with how=speed; path: that of the last step from"
                   " packet to packet, fastest: of the faster one of the last two",
                   "length units/s", 0, 1e12, words={"path": PATH, "fastest": FASTEST_PATH},
                   tune=(0.1, 100), scale="log"),
            Number("stiffness", 100.0, "the acceleration per distance to the goal, with how=force",
                   "1/s^2", 0, 1e9, tune=(10, 1000), scale="log"),
            Number("damping", 20.0, "the deceleration per speed, with how=force", "1/s", 0, 1e6,
                   tune=(2, 60), scale="log"),
            Choice("integration", "semi-implicit", "how how=force moves: by the new velocity, by"
                   " the old one (explicit), or exactly", Integration, tune=False),
            Number("speed_least", 0.0, "the least speed of a way by shares, until it is there",
                   "length units/s", 0, 1e12),
            Number("speed_most", "unlimited", "the largest speed of a way by shares, or of a"
                   " spring", "length units/s", 0, 1e12, words={"unlimited": INFINITY}),
            Choice("axes", "all", "whether how=speed, ways by shares, snap, snap_near and dead_zone"
                   " go by the distance of all axes, or of each by itself", ("all", "each"),
                   tune=False),
            EASE,
            Choice("start", "drawn", "where how=linear, eased, hermite and growing begin; drawn: at"
                   " the last drawn position, on arrival; arrival: where it would be drawn on"
                   " arrival; last and frame: at the last drawn position, from that frame on, or"
                   " from the next; transition: where the next frame draws the last way",
                   ("drawn", "arrival", "last", "frame", "transition"), tune=False),
            Choice("overlap", "off", "whether ways (how=linear, eased) to earlier packets go on and"
                   " all add to where it is drawn", ("off", "on"), tune=False),
            Number("bend", 1.0, "how far the velocities at both ends bend how=hermite, as a"
                   " multiple: 3 for Bezier curves with control points a whole velocity away", "",
                   0, 10),
            Choice("leave", "drawn", "the velocity with which how=hermite begins: that of what is"
                   " drawn, or of the packet before", ("drawn", "packet"), tune=False),
            Number("overshoot", "off", "how far how=lerp and linear go on, as a multiple of the way"
                   " to their goal; on: without limit, as does how=spring then", "", 1, 1000,
                   words={"off": 1.0, "on": INFINITY}),
            Choice("end", "goal", "where how=linear and eased stop: at the goal, or short of it, at"
                   " the last step before", ("goal", "short"), tune=False),
            MEASURED_INTERVAL,
            *INTERVAL_LIMITS,
            Number("interval_late", 0.0, "the interval of a late packet, or of one of the same"
                   " time; 0: the least", "s", 0, 60),
            Number("interval_share", 1.0, "how much of the difference a packet shifts the mean"
                   " interval; 1: it is the last one", "", 0.001, 1),
            Choice("ahead", "newest", "the goal: the newest state, or a prediction from it by its"
                   " velocity, by its velocity until it arrived, by the last step, or by its"
                   " velocity for one interval or for ahead_time", Goal),
            age_setting("stamp"),
            Number("age_offset", 0.0, "what is taken off an age by timestamps: the difference of"
                   " the clocks", "s", -1e12, 1e12),
            Choice("velocity", "sent", "the velocity: the packet's, the last step over the time"
                   " between timestamps, arrivals, or of an interval, or that of the packet before",
                   VelocitySource, tune=False),
            Number("velocity_factor", 1.0, "what the velocity is multiplied by, as where its unit"
                   " is another than that of the positions, or its sign is wrong", "", -1000,
                   1000),
            Number("velocity_share", 1.0, "how much of the difference a packet shifts the mean"
                   " velocity; 1: it is the newest", "", 0.001, 1),
            Number("ahead_time", 1.0, "the longest prediction", "s", 0, 3600,
                   words={"unlimited": INFINITY}),
            Number("fade_after", 0.0, "the velocity fades out from this time without a packet on,"
                   " with ahead=velocity; 0: never", "s", 0, 3600),
            Number("fade", 1.0, "how long the velocity takes to fade out", "s", 0, 3600),
            Number("drift", 0.0, "the share of the newest velocity by which it moves besides", "",
                   0, 10),
            Number("drift_share", 1.0, "how much of the difference a step shifts the velocity of"
                   " the drift", "", 0, 1),
            SNAP,
            Number("snap_after", 0.0, "jump to the goal where the newest packet is older; 0: never",
                   "s", 0, 3600),
            DEAD_ZONE,
            Number("snap_near", 0.0, "be at the goal where it is nearer than this", "length units",
                   0, 1e12),
            Choice("late", "drop", "how a late packet is treated: dropped, or taken as the newest",
                   ("drop", "take"), tune=False),
            Number("playout_delay", 0.0, "how much longer than the first one each packet waits in a"
                   " jitter buffer", "s", 0, 60),
            Choice("repeated", "take", "how a packet with the position of the one before is"
                   " treated: taken, or dropped, as it is no change", ("take", "drop"), tune=False),
            Number("dead_band", 0.0, "drop a packet that is nearer than this to the last one that"
                   " was taken", "length units", 0, 1e12),
            Number("every", "frame", "how often the drawn position moves: in each frame, once a"
                   " packet, or in ticks of this length", "s", 0.001, 60,
                   words={"frame": 0.0, "packet": PACKET}),
            Number("step_most", "unlimited", "the longest time that a step counts", "s", 0.0001, 60,
                   words={"unlimited": INFINITY}),
            Number("step_time", "measured", "how long each step counts, whatever its duration", "s",
                   0.0001, 60, words={"measured": 0.0}),
            Number("phase", 0.0, "a time at which a tick falls; frame: each falls in the first"
                   " frame that is every after the one of the last; packet: they begin with each"
                   " packet", "s", 0, 60, words={"frame": AT_FRAME, "packet": AT_PACKET}),
            Number("steps", 1, "how many steps each frame or tick makes", "", 1, 10, whole=True),
            Choice("between", "hold", "what to draw between two ticks: the last one, or the line to"
                   " it", ("hold", "lerp"), tune=False),
            ROUNDING,
            ROUNDING_BY,
            ROUNDING_OF,
            TIMES,
        ),
    )

    cdef public Approach how
    cdef public Easing ease
    cdef public Goal ahead
    cdef public Integration integration
    cdef public VelocitySource velocity
    cdef public double time, share, share_far, far_from, far_at, speed, ahead_time
    cdef public double snap, snap_after, dead_zone, dead_band
    cdef public double stiffness, damping, velocity_factor, velocity_share, step_time, step_most
    cdef public double every, phase, rounding, fade_after, fade, playout_delay
    cdef public double bend, overshoot, drift, drift_share, snap_near, speed_least, speed_most
    cdef public int steps, mean_of
    cdef bint from_arrival, from_last, from_frame, transits, counts_intervals, glides, interpolates
    cdef bint by_milliseconds, ages_by_arrival, takes_late, drops_repeated, stops_short, by_axes
    cdef bint goes_by_axes, goes_by_shares, overlaps, begins_ticks, leaves_as_packet
    cdef bint rounds_down, rounds_states
    cdef double measured            # how: NaN, seconds, or one of LastInterval
    cdef PacketAge packet_age
    cdef public double age_offset
    cdef double clocks_apart            # what counts of it: nothing where ages go by arrivals
    cdef bint ages_absolutely
    cdef SendInterval interval
    cdef double arrived, old        # arrival of the newest packet, and its age then, s
    cdef double stamp               # its timestamp
    cdef double taken               # the step that took the packet before
    cdef double offset              # the first packet's arrival minus timestamp, s
    cdef vector[Packet] held        # packets in the jitter buffer, the first one first
    cdef double last_before         # the last step before the newest packet
    cdef long waiting               # packets since the last step
    cdef double walked              # what the steps since the newest packet was taken counted, s
    cdef double begun, duration     # beginning and duration of the way to it, s
    cdef double length, left        # distance and remaining time of the way to it, s
    cdef double path                # the distance from the packet before
    cdef double pace, paced         # speed of the last step from packet to packet, of that before
    cdef double stepped             # time of the last step, or number of the last tick; NaN: none
    cdef double origin              # time of the tick with the number 0
    cdef Motion received, shown
    cdef Vec3[double] position      # of the newest packet, as it was received
    cdef Vec3[double] sent          # its velocity
    cdef Vec3[double] drifting      # the velocity of the drift
    cdef Snapshot last, current     # as the last two ticks drew it
    cdef Vec3[double] start, goal   # of the way to the newest packet
    cdef Vec3[double] leaving, passing, arriving    # velocities on it, with how=hermite
    cdef Glide former               # the way to the packet before
    cdef vector[Vec3[double]] averaged  # positions of the last packets, the oldest first
    cdef vector[Vec3[double]] ways  # to packets, which add up
    cdef vector[double] ways_begun, ways_last, ways_gone    # begin and duration (s), share gone
    cdef TurnChase turn
    cdef TurnGlide glide

    def configure(self, *, axes, start, end, overlap, leave, interval, interval_least,
                  interval_most, interval_late, interval_share, age, late, repeated, between,
                  rounding_by, rounding_of, times):
        self.check_free()
        self.rounds_down = rounding_by == "down"
        self.rounds_states = rounding_of == "states" and self.rounding > 0
        self.by_milliseconds = times == "milliseconds"
        self.from_arrival = start == "arrival"
        self.from_last = start == "last"
        self.from_frame = start in ("frame", "transition")
        self.interpolates = between == "lerp"
        self.takes_late = late == "take"
        self.drops_repeated = repeated == "drop"
        self.stops_short = end == "short"
        self.by_axes = axes == "each"
        self.goes_by_shares = self.how in (
            Approach.EXPONENTIAL, Approach.LERP, Approach.SHARE, Approach.GROWING)
        self.goes_by_axes = self.by_axes and (
            self.goes_by_shares or self.how == Approach.SPEED)
        self.packet_age = PacketAge(age)
        self.ages_absolutely = self.settings["age"] == "absolute"
        self.clocks_apart = 0 if self.settings["age"] in ("arrival", "auto") else self.age_offset
        self.ages_by_arrival = self.settings["age"] == "arrival"
        self.measured = interval
        self.interval = SendInterval(
            NAN if interval < 0 else interval, last=interval < 0, share=interval_share,
            least=interval_least, most=interval_most, late=interval_late)
        self.counts_intervals = not self.measured < 0 and (
            self.time < 0 or self.how == Approach.INTERVAL or self.ahead == Goal.INTERVAL
            or (self.how == Approach.SPEED and self.speed < 0)
            or self.velocity == VelocitySource.INTERVAL)
        self.leaves_as_packet = leave == "packet"
        self.glides = self.how in (Approach.LINEAR, Approach.EASED, Approach.HERMITE)
        self.overlaps = self.glides and overlap == "on" and self.how != Approach.HERMITE
        self.transits = (self.glides and start == "transition" and not self.overlaps
                         and self.how != Approach.HERMITE)
        # those of ways that add up are told by each of these
        self.begins_ticks = self.every > 0 and self.phase == AT_PACKET and not self.overlaps

    cdef void clear(self) noexcept nogil:
        self.packet_age.clear()
        self.interval.clear()
        self.turn.clear()
        self.glide.clear()
        self.clear_ways()
        self.averaged.clear()
        self.held.clear()
        self.stepped = self.taken = NAN
        self.origin = max(self.phase, 0.0)
        self.waiting = 0
        self.walked = 0
        self.former.duration = 0
        self.path = self.pace = self.paced = 0

    # ------------------------------------------------------------- packets

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if self.playout_delay > 0:
            now = self.read_time(now)
            if self.empty:
                self.offset = now - packet.time
            elif packet.time < self.newest and not self.takes_late:
                return False
            elif self.compute_release(packet) > now:
                self.held.push_back(packet)
                return True
            self.release_packets(now)
        return self.take_packet(packet, now)

    cdef double compute_release(self, const Packet& packet) noexcept nogil:
        """Return the local time at which a packet leaves the jitter buffer."""
        return packet.time + (self.offset + self.playout_delay)

    cdef void release_packets(self, double at) noexcept nogil:
        """Take the packets that have waited in the jitter buffer for long enough at ``at``."""
        cdef Packet packet
        while not self.held.empty() and self.compute_release(self.held.front()) <= at:
            packet = self.held.front()
            self.held.erase(self.held.begin())
            self.take_packet(packet, self.compute_release(packet))

    cdef bint take_packet(self, const Packet& packet, double now) noexcept nogil:
        """Take a packet as the newest; return False if it is discarded."""
        cdef Vec3[double] state = packet.position
        cdef Vec3[double] begin, step, place
        cdef Sample sample
        if self.rounds_states:
            state = rounded(state, self.rounding, self.rounds_down)
        begin = state
        now = self.read_time(now)
        if self.begins_ticks and not isnan(self.stepped):
            self.run_ticks(now)
        if self.overlaps and (self.from_arrival or self.phase == AT_PACKET):
            self.shown.position = self.shown.position + self.advance_ways(now)
        if self.empty:
            self.shown = Motion(state, Vec3[double]())
        elif packet.time < self.newest and not self.takes_late and not self.playout_delay > 0:
            return False
        else:
            step = state - self.position
            if self.drops_repeated and not dot(step, step) > 0 or (
                    dot(step, step) < self.dead_band * self.dead_band):
                return False
            begin = self.shown.position
            if self.glides and self.from_arrival and not self.overlaps:
                self.goal = self.compute_goal(now)
                begin = self.compute_glide(now)
                self.passing = self.compute_glide_velocity(self.compute_fraction(now))
                self.turn_glide(now)
            if self.transits and not self.waiting:
                self.former = Glide(self.start, self.goal, self.begun, self.duration)
            if self.measured == <double>ARRIVALS:
                self.interval.measure(now - self.arrived)
            elif self.measured == <double>STAMPS:
                self.interval.measure(packet.time - self.stamp)
            elif self.measured == <double>STEPS:
                self.interval.measure(self.find_last_step(now) - self.last_before)
        self.last_before = self.find_last_step(now)
        self.position = state
        place = self.average_position()
        step = place - (place if self.empty else self.received.position)
        self.path = sqrt(dot(step, step))
        if self.counts_intervals:
            self.interval.add(packet.time)
        self.leaving = self.received.velocity if self.leaves_as_packet else self.passing
        self.receive_motion(packet, place, now, step)
        self.arriving = self.received.velocity
        if self.empty:
            self.leaving = self.arriving = self.passing = Vec3[double]()
        self.stamp = packet.time
        self.arrived = self.begun = now
        if self.every > 0 and self.phase == AT_PACKET:
            self.origin = now
            self.stepped = -1 if self.from_last else 0
        if self.from_frame:
            self.begun = INFINITY
        elif self.from_last:
            self.begun = self.find_last_step(now)
        self.start = begin
        self.goal = place
        if self.ahead != Goal.NEWEST:
            self.lead_goal(packet, now, step)
        if self.glides:
            self.glide.aim(packet)
        else:
            self.turn.aim(packet)
        self.waiting += 1
        if self.overlaps:
            self.ways.push_back(self.goal - self.start)
            self.ways_begun.push_back(self.begun)
            self.ways_last.push_back(self.duration)
            self.ways_gone.push_back(0)
        if self.measured != <double>FRAMES:
            self.begin_way()
        if self.begins_ticks:
            if self.empty:
                self.begin_ticks(0)
            else:
                self.run_ticks(now)
        if self.every == PACKET:
            self.step_towards_goal(now, max(self.since_drawn(now), 0.0), sample)
            self.stepped = now
            self.current.turn.copy(sample.turn)
        return True

    cdef Vec3[double] average_position(self) noexcept nogil:
        """Return the mean of the last ``mean_of`` received positions."""
        cdef Vec3[double] total
        cdef size_t k
        if self.mean_of == 1:
            return self.position
        if self.averaged.size() == <size_t>self.mean_of:
            self.averaged.erase(self.averaged.begin())
        self.averaged.push_back(self.position)
        for k in range(self.averaged.size()):
            total = total + self.averaged[k]
        return total * (1.0 / self.averaged.size())

    cdef void receive_motion(self, const Packet& packet, Vec3[double] place, double now,
                             Vec3[double] step) noexcept nogil:
        """Store the ``place`` of a packet, and its velocity or that of the ``step`` to it."""
        cdef Vec3[double] velocity = packet.velocity * self.velocity_factor
        cdef Vec3[double] sent = velocity
        cdef double elapsed = packet.time - self.stamp
        if self.velocity == VelocitySource.ARRIVALS:
            elapsed = now - self.arrived
        elif self.velocity == VelocitySource.INTERVAL:
            elapsed = self.interval.value
        if self.velocity == VelocitySource.BEFORE:
            velocity = self.sent if not self.empty else Vec3[double]()
        elif self.velocity != VelocitySource.SENT:
            velocity = Vec3[double]()
            if not self.empty:
                velocity = self.received.velocity
                if elapsed > 0:
                    velocity = step * (self.velocity_factor / elapsed)
        if self.velocity_share < 1 and not self.empty:
            velocity = lerp(self.received.velocity, velocity, self.velocity_share)
        if self.empty:
            self.drifting = velocity
        self.received = Motion(place, velocity)
        self.sent = sent

    cdef double find_last_step(self, double now) noexcept nogil:
        """Return the local time of the last step, or ``now`` if there was none."""
        if self.every > 0:
            if isnan(self.stepped):
                return now
            return self.origin + (0 if self.phase == AT_FRAME else self.stepped * self.every)
        if self.every == PACKET:
            return now if isnan(self.stepped) else self.stepped
        return self.read_time(self.drawn.time) if self.drew else now

    cdef double since_drawn(self, double at) noexcept nogil:
        return at - self.read_time(self.drawn.time) if self.drew else 0

    cdef double read_time(self, double time) noexcept nogil:
        """Return a time of the receiver as the game reads it."""
        return cut_to_milliseconds(time) if self.by_milliseconds else time

    cdef void lead_goal(self, const Packet& packet, double now, Vec3[double] step) noexcept nogil:
        """Set the goal ahead of a packet's position as ``ahead`` says, and measure the packet's
        age.
        """
        cdef Vec3[double] place = self.received.position
        self.old = self.measure_age(packet, now)
        if self.ahead == Goal.ARRIVAL:
            self.goal = place + self.received.velocity * min(self.old, self.ahead_time)
        elif self.ahead == Goal.STEP:
            self.goal = place + step * min(self.old, self.ahead_time)
        elif self.ahead == Goal.VELOCITY:
            self.goal = self.compute_goal(now)
        elif self.ahead == Goal.FIXED and isfinite(self.ahead_time):
            self.goal = place + self.received.velocity * self.ahead_time

    cdef double measure_age(self, const Packet& packet, double now) noexcept nogil:
        """Return the age (s) of a packet that arrived at ``now``."""
        cdef double age = self.packet_age.measure(packet, now)
        if self.clocks_apart == 0:
            return age
        age = now - (packet.time - packet.delta) - self.clocks_apart
        if not isfinite(age):
            return 0
        return fabs(age) if self.ages_absolutely else age

    cdef void begin_way(self) noexcept nogil:
        """Begin the way to the newest packet, once the send interval is known."""
        cdef Vec3[double] way
        if self.ahead == Goal.INTERVAL:
            self.goal = self.received.position + self.received.velocity * min(
                self.interval.value, self.ahead_time)
        self.duration = span_seconds(self.time, self.interval.value)
        if not self.ways.empty():
            self.ways_last[self.ways.size() - 1] = self.duration
        if self.how == Approach.INTERVAL:
            self.left = self.interval.value
            way = self.goal - self.start
            self.length = sqrt(dot(way, way))
        self.paced = self.pace
        self.pace = self.path / self.interval.value

    cdef void take_waiting_packets(self, double at, double counted) noexcept nogil:
        """Take the packets that came since the last step into the step at ``at``, which counts as
        ``counted`` seconds.
        """
        cdef size_t k
        if self.transits:
            self.start = self.shown.position = self.follow_former_way(at)
        self.begun = min(self.begun, at)
        for k in range(self.ways.size()):
            self.ways_begun[k] = min(self.ways_begun[k], at)
        self.walked = -counted if self.from_frame else 0
        if self.measured == <double>FRAMES:
            if not isnan(self.taken):
                self.interval.measure(at - self.taken)
            while self.waiting > 1:
                self.interval.measure(0)
                self.waiting -= 1
            self.taken = at
            self.begin_way()
        self.waiting = 0

    # ------------------------------------------------------------- frames

    cdef Vec3[double] compute_goal(self, double at) noexcept nogil:
        cdef double since
        if self.ahead == Goal.VELOCITY:
            since = max(at - self.begun, 0.0) if self.ages_by_arrival else at - self.arrived
            return self.received.position + self.received.velocity * min(
                self.old + since - self.compute_fade_loss(at - self.arrived), self.ahead_time)
        return self.goal

    cdef double compute_fade_loss(self, double silence) noexcept nogil:
        """Return the time (s) that a fading velocity takes off ``silence`` seconds of
        extrapolation.

        The speed falls linearly to zero within ``fade``, so that half of that time is lost.
        """
        cdef double since = silence - self.fade_after
        if self.fade_after <= 0 or since <= 0:
            return 0
        return since * since / (2 * self.fade) if since < self.fade else since - self.fade / 2

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        at = self.read_time(at)
        if self.playout_delay > 0:
            self.release_packets(at)
        if self.every == 0 or (self.overlaps and self.phase == AT_PACKET):
            self.make_steps(at, self.since_drawn(at), sample)
        elif self.every > 0:
            self.draw_ticks(at, sample)
        else:
            self.drift_on(at, sample)
            sample.turn.copy(self.current.turn)
            if sample.turn.known():
                sample.turn.value().spin = Vec3[double]()
        if self.rounding > 0 and not self.rounds_states:
            sample.position = rounded(sample.position, self.rounding, self.rounds_down)

    cdef void draw_ticks(self, double at, Sample& sample) noexcept nogil:
        """Run each tick that is due since the last frame; draw the last tick, or the line to it."""
        cdef double u
        cdef Motion motion
        if isnan(self.stepped):
            if self.phase == AT_FRAME:
                self.origin = at
            self.begin_ticks(floor((at - self.origin) / self.every + SLIGHTLY))
        self.run_ticks(at)
        u = (at - self.origin) / self.every - self.stepped
        motion.position = self.current.position
        if self.interpolates and u < 1:
            motion.position = lerp(self.last.position, self.current.position, max(u, 0.0))
        motion.velocity = (self.current.position - self.last.position) * (1 / self.every)
        sample.hold(motion, self.drawn, self.get_status())
        slerp_between(self.last, self.current, clamped(u, 0, 1) if self.interpolates else 1, sample)

    cdef void begin_ticks(self, double number) noexcept nogil:
        """Begin with the tick of this number, which does not move."""
        cdef Sample stepped
        self.stepped = number
        self.rotate_by(0, 0, stepped)
        self.record_tick(stepped)
        self.last = self.current

    cdef void run_ticks(self, double at) noexcept nogil:
        """Run the ticks that are due until ``at``."""
        cdef double elapsed = at - self.origin
        cdef double newest = floor(elapsed / self.every + SLIGHTLY)
        if self.phase == AT_FRAME:
            if newest >= 1:
                self.origin = at
                self.run_tick(at, elapsed)
            return
        self.stepped = max(self.stepped, newest - MOST_TICKS)
        while self.stepped < newest:
            self.stepped += 1
            self.run_tick(self.origin + self.stepped * self.every, self.every)

    cdef void run_tick(self, double at, double elapsed) noexcept nogil:
        """Run the tick at ``at``, which is ``elapsed`` seconds after the one before."""
        cdef Sample stepped
        self.make_steps(at, elapsed, stepped)
        self.last = self.current
        self.record_tick(stepped)

    cdef void record_tick(self, const Sample& stepped) noexcept nogil:
        """Store the position and rotation that a tick has reached."""
        self.current.position = self.shown.position
        self.current.time = self.origin + self.stepped * self.every
        self.current.turn.copy(stepped.turn)

    cdef void make_steps(self, double at, double elapsed, Sample& sample) noexcept nogil:
        """Make the steps of a frame or a tick, each of them of ``elapsed`` seconds."""
        cdef Vec3[double] before = self.shown.position
        cdef int _
        for _ in range(self.steps):
            self.step_towards_goal(at, elapsed, sample)
        if self.steps > 1 and elapsed > 0 and not self.moves_by_force():
            sample.velocity = (self.shown.position - before) * (1 / elapsed)

    cdef bint moves_by_force(self) noexcept nogil:
        """Return True for a spring, whose velocity is its own."""
        return self.how == Approach.SPRING or self.how == Approach.FORCE

    cdef bint counts_steps(self) noexcept nogil:
        """Return True if a step may count as another time than it lasts."""
        return self.step_time > 0 or isfinite(self.step_most)

    cdef void step_towards_goal(self, double at, double elapsed, Sample& sample) noexcept nogil:
        """Move the drawn position towards the goal, and along, by a step of ``elapsed`` seconds."""
        cdef Vec3[double] before = self.shown.position
        cdef double counted = self.step_time if self.step_time > 0 else elapsed
        cdef Vec3[double] travel
        counted = min(counted, self.step_most)
        if self.waiting:
            self.take_waiting_packets(at, counted)
        self.walked += counted
        self.goal = self.compute_goal(at)
        self.drifting = lerp(self.drifting, self.received.velocity, self.drift_share)
        if self.drift == 0 or self.every == PACKET:
            self.approach_goal(at, counted, sample)
            if self.counts_steps() and elapsed > 0:
                sample.velocity = (self.shown.position - before) * (1 / elapsed)
            return
        if self.glides and not self.overlaps and self.ahead != Goal.VELOCITY:
            self.glide_on(at, elapsed, counted, sample)
            return
        travel = self.compute_drift(at, elapsed if self.ahead == Goal.VELOCITY else counted)
        if self.ahead == Goal.VELOCITY:
            self.shown.position = self.shown.position + travel
            self.start = self.start + travel
        self.approach_goal(at, counted, sample)
        if self.ahead != Goal.VELOCITY:
            self.shown.position = self.shown.position + travel
        if counted > 0:
            elapsed = elapsed if elapsed > 0 else counted
            sample.show(Motion(self.shown.position, (self.shown.position - before) * (1 / elapsed)),
                        EXTRAPOLATED)

    cdef void glide_on(self, double at, double elapsed, double counted,
                       Sample& sample) noexcept nogil:
        """Move on the way to the newest packet, and along its velocity where that has ended."""
        cdef double over = self.measure_way(at) - self.duration
        cdef Vec3[double] before = self.shown.position
        if not over > SLIGHTLY * self.duration:
            self.approach_goal(at, counted, sample)
            return
        if over < elapsed and not self.stops_short:
            self.shown.position = self.goal
            self.turn_glide(at)
        else:
            over = elapsed
        self.shown.position = self.shown.position + self.compute_drift(at, over)
        self.shown.velocity = Vec3[double]()
        if elapsed > 0:
            self.shown.velocity = (self.shown.position - before) * (1 / elapsed)
        self.glide.show(0, sample)
        sample.show(self.shown, EXTRAPOLATED)

    cdef void drift_on(self, double at, Sample& sample) noexcept nogil:
        """Draw the last step of those that packets make, and the drift since."""
        cdef Vec3[double] travel
        if self.drift > 0:
            travel = self.compute_drift(at, self.since_drawn(at))
            self.shown.position = self.shown.position + travel
        if dot(travel, travel) > 0:
            sample.show(Motion(self.shown.position, self.drifting * self.drift), EXTRAPOLATED)
        else:
            sample.hold(Motion(self.shown.position, Vec3[double]()), self.drawn, self.get_status())

    cdef Vec3[double] compute_drift(self, double at, double elapsed) noexcept nogil:
        """Return the way along the newest velocity in a step of ``elapsed`` seconds until ``at``.

        A goal that moves by it does so from the beginning of the way to the packet.
        """
        cdef double since = at - self.arrived
        if self.ahead == Goal.VELOCITY:
            since += self.old
            elapsed = min(elapsed, max(at - self.begun, 0.0))
        return self.drifting * (
            self.drift * clamped(self.ahead_time - (since - elapsed), 0, elapsed))

    cdef void approach_goal(self, double at, double elapsed, Sample& sample) noexcept nogil:
        cdef Vec3[double] rest = self.goal - self.shown.position
        cdef bint arrives = not dot(rest, rest) > 0
        if self.moves_by_force():
            arrives = arrives and not dot(self.shown.velocity, self.shown.velocity) > 0
        if self.is_snapping(rest) or (
                self.snap_after > 0 and at - self.arrived > self.snap_after):
            self.shown = Motion(self.goal, Vec3[double]())
            self.passing = Vec3[double]()
            self.clear_ways()
            self.rotate_by(1, elapsed, sample)
        elif self.overlaps:
            arrives = self.ways.empty()
            self.follow_ways(at, elapsed, sample)
        elif self.glides:
            arrives = self.compute_fraction(at) >= self.get_end()
            self.glide_to(at, sample)
        elif not self.goes_by_axes and dot(rest, rest) < self.snap_near * self.snap_near:
            self.shown = Motion(self.goal, Vec3[double]())
            if self.moves_by_force() and self.turn.known():
                self.turn.put(Motion(), sample)
            else:
                self.rotate_by(1, elapsed, sample)
        elif not self.goes_by_axes and dot(rest, rest) < self.dead_zone * self.dead_zone:
            self.hold_position(sample)
            return
        elif self.moves_by_force():
            self.step_spring(elapsed, sample)
        else:
            self.step_by_share(rest, at, elapsed, sample)
        if arrives:  # a cubic has a velocity there, with which the next one begins
            sample.hold(Motion(self.shown.position,
                               Vec3[double]() if self.glides else self.shown.velocity),
                        self.drawn, self.get_status())
        else:
            sample.show(self.shown, self.get_status())

    cdef bint is_snapping(self, Vec3[double] rest) noexcept nogil:
        """Return True if the goal is so far away that what is drawn jumps there."""
        if self.by_axes:
            return self.snap > 0 and max(fabs(rest.x), fabs(rest.y), fabs(rest.z)) > self.snap
        return is_beyond(rest, self.snap)

    cdef void hold_position(self, Sample& sample) noexcept nogil:
        """Hold the drawn position inside the dead zone; a spring keeps its speed."""
        sample.hold(Motion(self.shown.position, Vec3[double]()), self.drawn, self.get_status())
        self.turn.stay(sample)

    cdef Status get_status(self) noexcept nogil:
        return INTERPOLATED if self.ahead == Goal.NEWEST else EXTRAPOLATED

    cdef void rotate_by(self, double share, double elapsed, Sample& sample) noexcept nogil:
        if self.glides:
            self.glide.move(share)
            self.glide.show(0, sample)
        else:
            self.turn.step(share, elapsed, sample)

    cdef void step_by_share(self, Vec3[double] rest, double at, double elapsed,
                            Sample& sample) noexcept nogil:
        """Move the drawn position by a share of the remaining way ``rest``."""
        cdef double share = self.compute_share(sqrt(dot(rest, rest)), at, elapsed)
        cdef Vec3[double] before = self.shown.position
        cdef Vec3[double] step
        if self.goes_by_axes:
            step = Vec3[double](
                self.step_axis(rest.x, share, elapsed), self.step_axis(rest.y, share, elapsed),
                self.step_axis(rest.z, share, elapsed))
            self.shown.position = before + step
            share = dot(step, rest) / dot(rest, rest) if dot(rest, rest) > 0 else 1
        else:
            if self.goes_by_shares:
                share = self.limit_share(share, sqrt(dot(rest, rest)), elapsed)
            self.shown.position = lerp(before, self.goal, share) if share != 1 else self.goal
        self.shown.velocity = Vec3[double]()
        if elapsed > 0:
            self.shown.velocity = (self.shown.position - before) * (1 / elapsed)
        if self.how == Approach.INTERVAL:
            share = elapsed / self.left if elapsed < self.left else 1
            self.left -= elapsed
        self.rotate_by(share, elapsed, sample)

    cdef double limit_share(self, double share, double distance, double elapsed) noexcept nogil:
        """Return a share of a way of that length, limited to the least and the largest speed."""
        cdef double step = share * distance
        if step < self.speed_least * elapsed:
            step = min(self.speed_least * elapsed, distance)
        elif not step > self.speed_most * elapsed:
            return share
        else:
            step = self.speed_most * elapsed
        return step / distance if step < distance else 1

    cdef double step_axis(self, double rest, double share, double elapsed) noexcept nogil:
        """Return the step of an axis towards a goal that is ``rest`` away."""
        cdef double away = fabs(rest), step
        if away < self.snap_near:
            return rest
        if away < self.dead_zone:
            return 0
        if self.how == Approach.SPEED:
            step = self.get_speed() * elapsed
            return clamped(rest, -step, step)
        return rest * self.limit_share(share, away, elapsed)

    cdef double compute_share(self, double distance, double at, double elapsed) noexcept nogil:
        cdef double seconds = span_seconds(self.time, self.interval.value)
        cdef double step
        if self.how == Approach.EXPONENTIAL:
            return exponential_share(elapsed, seconds)
        if self.how == Approach.LERP:
            return min(elapsed / seconds, self.overshoot)
        if self.how == Approach.SHARE:
            return self.grow_share(distance)
        if self.how == Approach.GROWING:
            return self.compute_fraction(at)
        if self.how == Approach.SPEED:
            step = self.get_speed() * elapsed
        else:
            step = self.length / self.interval.value * elapsed
        return step / distance if step < distance else 1

    cdef double grow_share(self, double distance) noexcept nogil:
        """Return the share of how=share at a distance (Fiedler, "State Synchronization")."""
        cdef double gone
        if isnan(self.share_far) or distance <= self.far_from:
            return self.share
        if distance >= self.far_at:
            return self.share_far
        gone = (distance - self.far_from) / (self.far_at - self.far_from)
        return self.share + (self.share_far - self.share) * gone

    cdef double get_speed(self) noexcept nogil:
        """Return the speed of how=speed."""
        if self.speed == FASTEST_PATH:
            return max(self.pace, self.paced)
        return self.pace if self.speed == PATH else self.speed

    cdef void step_spring(self, double elapsed, Sample& sample) noexcept nogil:
        cdef double seconds = span_seconds(self.time, self.interval.value)
        self.shown = self.limit_motion(
            self.damp(self.shown, self.limit_goal(seconds), seconds, elapsed), elapsed)
        if self.turn.known():
            self.turn.put(self.damp(self.turn.offset(), Vec3[double](), seconds, elapsed), sample)

    cdef Vec3[double] limit_goal(self, double seconds) noexcept nogil:
        """Return the goal of a step of SmoothDamp, as far as its largest speed leads."""
        cdef Vec3[double] rest = self.goal - self.shown.position
        cdef double far = sqrt(dot(rest, rest))
        if self.how == Approach.FORCE or not far > self.speed_most * seconds:
            return self.goal
        return self.shown.position + rest * (self.speed_most * seconds / far)

    cdef Motion limit_motion(self, Motion moved, double elapsed) noexcept nogil:
        """Return a spring's motion with its speed, and its step, limited to the largest one."""
        cdef double speed = sqrt(dot(moved.velocity, moved.velocity))
        if self.how != Approach.FORCE or not speed > self.speed_most:
            return moved
        moved.velocity = moved.velocity * (self.speed_most / speed)
        return Motion(self.shown.position + moved.velocity * elapsed, moved.velocity)

    cdef Motion damp(self, const Motion& motion, Vec3[double] target, double seconds,
                     double elapsed) noexcept nogil:
        if self.how == Approach.FORCE:
            return self.push(motion, target, elapsed)
        if self.overshoot > 1:
            return step_damped_spring(motion, target, seconds, elapsed)
        return smooth_damp(motion, target, seconds, elapsed)

    cdef Motion push(self, const Motion& motion, Vec3[double] target,
                     double elapsed) noexcept nogil:
        """Return the motion after a step of a spring with its own stiffness and damping."""
        cdef Motion pushed
        if self.integration == Integration.EXACT:
            pushed = swing_exactly(motion, target, self.stiffness, self.damping, elapsed)
        else:
            pushed = step_force(motion, target, self.stiffness, self.damping, elapsed,
                                self.integration == Integration.EXPLICIT)
        if dot(pushed.velocity, pushed.velocity) < FASTEST:
            return pushed
        return Motion(target, Vec3[double]())

    # ------------------------------------------------------------- the way from the newest arrival

    cdef double compute_fraction(self, double at) noexcept nogil:
        return min(self.measure_way(at) / self.duration, self.get_end())

    cdef double measure_way(self, double at) noexcept nogil:
        """Return how long the way has lasted (s)."""
        if self.counts_steps():
            return self.walked
        return max(at - self.begun, 0.0)

    cdef double get_end(self) noexcept nogil:
        """Return how far the way goes, as a multiple of the way to its goal."""
        return self.overshoot if self.how == Approach.LINEAR else 1

    cdef Vec3[double] compute_glide(self, double at) noexcept nogil:
        cdef double u = self.compute_fraction(at)
        if self.is_past_end(at):
            return self.shown.position
        if u == 1:
            return self.goal
        if self.how == Approach.HERMITE:
            return self.follow_curve(u).position
        return lerp(self.start, self.goal, self.ease_fraction(u))

    cdef Motion follow_curve(self, double u) noexcept nogil:
        """Return the motion on the cubic to the goal at a fraction of its time."""
        if self.duration >= LONGEST_WAY:
            return Motion(self.start, self.leaving)
        return hermite(Motion(self.start, self.leaving * self.bend),
                       Motion(self.goal, self.arriving * self.bend), self.duration, u)

    cdef Vec3[double] compute_glide_velocity(self, double u) noexcept nogil:
        """Return the velocity on the way to the goal at a fraction of its time."""
        if self.how == Approach.HERMITE:
            return self.follow_curve(u).velocity
        if not u < self.get_end():
            return Vec3[double]()
        return (self.goal - self.start) * (self.compute_slope(u) / self.duration)

    cdef Vec3[double] follow_former_way(self, double at) noexcept nogil:
        """Return where the way before the newest packet's leads at the time ``at``."""
        cdef double u
        if not self.former.duration > 0:
            return self.shown.position
        u = clamped((at - self.former.begun) / self.former.duration, 0, self.get_end())
        return lerp(self.former.start, self.former.goal, self.ease_fraction(u))

    cdef void glide_to(self, double at, Sample& sample) noexcept nogil:
        cdef double u = self.compute_fraction(at)
        cdef double rate = self.compute_slope(u) / self.duration if u < self.get_end() else 0
        self.passing = self.compute_glide_velocity(u)
        self.shown = Motion(self.compute_glide(at), self.passing)
        self.turn_glide(at)
        self.glide.show(rate, sample)

    cdef void follow_ways(self, double at, double elapsed, Sample& sample) noexcept nogil:
        """Move by what each of the ways to packets has covered since the last step."""
        cdef Vec3[double] step = self.advance_ways(at)
        self.shown.position = self.shown.position + step
        self.shown.velocity = Vec3[double]()
        if elapsed > 0:
            self.shown.velocity = step * (1 / elapsed)
        self.glide.move(self.ease_fraction(self.compute_fraction(at)))
        self.glide.show(0, sample)

    cdef Vec3[double] advance_ways(self, double at) noexcept nogil:
        """Return the step of all ways to packets until ``at``; those that have ended are left."""
        cdef Vec3[double] step
        cdef double since, share
        cdef size_t k
        for k in range(self.ways.size()):
            since = max(at - self.ways_begun[k], 0.0)
            if self.every > 0 and self.phase == AT_PACKET:
                since = floor(since / self.every + SLIGHTLY) * self.every
            share = 1
            if since < self.ways_last[k] * (1 - SLIGHTLY):
                share = self.ease_fraction(since / self.ways_last[k])
            step = step + self.ways[k] * (share - self.ways_gone[k])
            self.ways_gone[k] = share
        while not self.ways.empty() and self.ways_gone[0] == 1:
            self.ways.erase(self.ways.begin())
            self.ways_begun.erase(self.ways_begun.begin())
            self.ways_last.erase(self.ways_last.begin())
            self.ways_gone.erase(self.ways_gone.begin())
        return step

    cdef void clear_ways(self) noexcept nogil:
        """Forget the ways to packets that add up."""
        self.ways.clear()
        self.ways_begun.clear()
        self.ways_last.clear()
        self.ways_gone.clear()

    cdef void turn_glide(self, double at) noexcept nogil:
        """Turn to the rotation of the way at the time ``at``."""
        if not self.is_past_end(at):
            self.glide.move(self.ease_fraction(self.compute_fraction(at)))

    cdef bint is_past_end(self, double at) noexcept nogil:
        """Return True at a step that is left out, as it would pass the end of the way."""
        return self.stops_short and self.measure_way(at) > self.duration * (1 + SLIGHTLY)

    cdef double ease_fraction(self, double u) noexcept nogil:
        """Return the fraction of the way covered at the fraction ``u`` of its duration."""
        return ease(<int>self.ease, u) if self.how == Approach.EASED else u

    cdef double compute_slope(self, double u) noexcept nogil:
        """Return the derivative of ``ease_fraction`` at ``u`` (1: constant speed)."""
        return slope_of_ease(<int>self.ease, u) if self.how == Approach.EASED else 1


cdef Motion step_force(const Motion& motion, Vec3[double] target, double stiffness,
                       double damping, double elapsed, bint moves_first) noexcept nogil:
    """Return the motion after a step by a spring's force, the position moved by the new velocity.

    ``moves_first`` moves it by the old one (explicit Euler).
    """
    cdef Vec3[double] force = (target - motion.position) * stiffness - motion.velocity * damping
    cdef Vec3[double] velocity = motion.velocity + force * elapsed
    return Motion(motion.position + (motion.velocity if moves_first else velocity) * elapsed,
                  velocity)


cdef Motion swing_exactly(const Motion& motion, Vec3[double] target, double stiffness,
                          double damping, double elapsed) noexcept nogil:
    """Return the motion of a spring with any damping after ``elapsed`` seconds."""
    cdef double half = damping / 2
    cdef double square = stiffness - half * half
    cdef double rate = sqrt(square if square > 0 else -square)
    cdef double whole = exp(-half * elapsed)
    cdef double part = whole * elapsed
    cdef double slow, fast
    cdef Vec3[double] change = motion.position - target
    if square > 0:
        part = whole * sin(rate * elapsed) / rate
        whole = whole * cos(rate * elapsed)
    elif square < 0:
        slow = exp(-(half - rate) * elapsed)
        fast = exp(-(half + rate) * elapsed)
        part = (slow - fast) / (2 * rate)
        whole = (slow + fast) / 2
    return Motion(
        target + change * whole + (motion.velocity + change * half) * part,
        motion.velocity * whole - (motion.velocity * half + change * stiffness) * part,
    )
