"""A chase of the newest state made of parts: what most tutorials teach."""

from libc.math cimport INFINITY, M_PI, cos, sin, sqrt

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Status, Vec3, dot, is_beyond,
)
from epic_cli.engine.strategies.parts cimport (
    PacketAge, SendInterval, Strategy, span_seconds,
)
from epic_cli.engine.strategies.parts.curves cimport damped_step, lerp, smooth_damp
from epic_cli.engine.strategies.parts.following cimport exponential_share
from epic_cli.engine.strategies.parts.turning cimport TurnChase, TurnGlide

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number, Span, Switch
from epic_cli.engine.strategies.parts.common_settings import INTERVAL, SNAP, age_setting


cpdef enum class Approach:
    EXPONENTIAL
    LERP
    SHARE
    SPRING
    SPEED
    INTERVAL
    LINEAR
    EASED

cpdef enum class Easing:
    SMOOTHSTEP
    SINE
    OUT_QUAD
    OUT_CUBIC

cpdef enum class Goal:
    NEWEST
    VELOCITY
    ARRIVAL
    STEP


cdef class Chase(Strategy):
    """Goes from where it is drawn towards the newest state, in one of eight ways.

        exponential  drawn += (goal - drawn) * (1 - e^(-dt / time))
        lerp         drawn += (goal - drawn) * min(dt / time, 1)
        share        drawn += (goal - drawn) * share, whatever the frame's duration
        spring       SmoothDamp(drawn, goal, velocity, time)
        speed        towards the goal, by speed * dt at most
        interval     as fast as leads there in one send interval, from the newest arrival on
        linear       from what was drawn to the goal over ``time``, from the newest arrival on
        eased        the same with an ease: 3u^2 - 2u^3, (1 - cos(pi u)) / 2, 1 - (1 - u)^2 or ^3

    where dt is the time since the frame before. ``Lerp(drawn, newest, 10 * dt)`` is
    ``chase+how=lerp+time=0.1``, ``Lerp(drawn, newest, 0.1)`` is ``chase+how=share+share=0.1``: that
    one is faster on a faster screen. ``lerp``, ``local-perception`` with a period and
    ``dumb-terminal`` are compositions, too, which their pages name. Times are seconds, or send
    intervals: ``1i``.

    The goal is the newest state; or ``ahead`` of it: ``velocity``: where its velocity has led it by
    now, for ``ahead_time`` at most; ``arrival``: where it had led it when the packet arrived;
    ``step``: as that, but the way from the packet before in the place of the velocity, as Photon's
    view has it. ``age`` is how old a packet is on arrival.

    A spring never passes its goal, as Unity's; with ``overshoot`` it does. ``linear`` and ``eased``
    begin where it was drawn last, or where their line is when the packet arrives
    (``start=arrival``). Their time counts from the arrival; as tweens of engines have it, from the
    frame before it (``start=last``: the first frame is one dt on its way) or behind it
    (``start=frame``: the first frame is where it was). ``snap`` jumps to a goal that is further
    away.

    A packet with an earlier timestamp than the newest is discarded. Rows are ``interpolated``
    (ahead of the newest ``extrapolated``) until the entity is at the goal, ``held`` from then on.
    The velocity is the step of this frame over its time, that of a spring its own.
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
            Choice("how", "exponential", "how the drawing approaches its goal", Approach),
            Span("time", 0.1, "the time constant or the duration of the way, in seconds or send"
                 " intervals (1i)", 0.001, 60, tune=(0.02, 1.0), scale="log"),
            Number("share", 0.1, "the share of the way that each frame covers, with how=share",
                   "", 0, 1, tune=(0.02, 1), scale="log"),
            Number("speed", 20.0, "the speed, with how=speed", "length units/s", 0, 1e12,
                   tune=(0.1, 100), scale="log"),
            Choice("ease", "smoothstep", "the curve of how=eased", Easing),
            Choice("start", "drawn", "where how=linear and eased begin; drawn: at the last drawn"
                   " position, on arrival; arrival: where it would be drawn on arrival; last and"
                   " frame: at the last drawn position, from that frame on, or from the next",
                   ("drawn", "arrival", "last", "frame"), tune=False),
            Switch("overshoot", "off", "let a spring pass its goal", tune=False),
            INTERVAL,
            Choice("ahead", "newest", "the goal: the newest state, or a prediction from it by its"
                   " velocity, by its velocity until it arrived, or by the last step", Goal),
            age_setting("stamp"),
            Number("ahead_time", 1.0, "the longest prediction", "s", 0, 3600,
                   words={"unlimited": INFINITY}),
            SNAP,
        ),
    )

    cdef public Approach how
    cdef public Easing ease
    cdef public Goal ahead
    cdef public double time, share, speed, ahead_time, snap
    cdef public bint overshoot
    cdef bint from_arrival, from_last, from_frame, counts_intervals, glides
    cdef PacketAge packet_age
    cdef SendInterval interval
    cdef double arrived, old        # arrival of the newest packet, and its age then, s
    cdef double begun, duration     # beginning and duration of the way to it, s
    cdef double length, left        # distance and remaining time of the way to it, s
    cdef Motion received, shown
    cdef Vec3[double] start, goal   # of the way to the newest packet
    cdef TurnChase turn
    cdef TurnGlide glide

    def configure(self, *, start, interval, age):
        self.check_free()
        self.from_arrival = start == "arrival"
        self.from_last = start == "last"
        self.from_frame = start == "frame"
        self.packet_age = PacketAge(age)
        self.interval = SendInterval(interval)
        self.counts_intervals = self.time < 0 or self.how == Approach.INTERVAL
        self.glides = self.how == Approach.LINEAR or self.how == Approach.EASED

    cdef void clear(self) noexcept nogil:
        self.packet_age.clear()
        self.interval.clear()
        self.turn.clear()
        self.glide.clear()

    # ------------------------------------------------------------- packets

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Vec3[double] step
        if self.empty:
            self.shown = Motion(packet.position, Vec3[double]())
        elif packet.time < self.newest:
            return False
        else:
            step = packet.position - self.received.position
            if self.glides and self.from_arrival:
                self.goal = self.goal_at(now)
                self.shown.position = self.glided(now)
                self.glide.move(self.eased(self.fraction(now)))
        if self.counts_intervals:
            self.interval.add(packet.time)
        self.received = packet
        self.arrived = now
        self.goal = packet.position
        if self.ahead != Goal.NEWEST:
            self.lead(packet, now, step)
        self.start = self.shown.position
        self.begun = self.drawn.time if self.from_last and self.drew else now
        if self.from_frame:
            self.begun = INFINITY
        self.duration = span_seconds(self.time, self.interval.value)
        if self.glides:
            self.glide.aim(packet)
        else:
            self.turn.aim(packet)
            if self.how == Approach.INTERVAL:
                self.left = self.interval.value
                step = self.goal - self.start
                self.length = sqrt(dot(step, step))
        return True

    cdef void lead(self, const Packet& packet, double now, Vec3[double] step) noexcept nogil:
        """Move the received state ahead, or find how old it is."""
        self.old = self.packet_age.of(packet, now)
        if self.ahead == Goal.ARRIVAL:
            self.goal = packet.position + packet.velocity * min(self.old, self.ahead_time)
        elif self.ahead == Goal.STEP:
            self.goal = packet.position + step * min(self.old, self.ahead_time)
        else:
            self.goal = self.goal_at(now)

    # ------------------------------------------------------------- frames

    cdef Vec3[double] goal_at(self, double at) noexcept nogil:
        if self.ahead == Goal.VELOCITY:
            return self.received.position + self.received.velocity * min(
                self.old + (at - self.arrived), self.ahead_time)
        return self.goal

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double elapsed = self.since_drawn(at)
        cdef Vec3[double] before = self.shown.position
        cdef Vec3[double] rest
        cdef bint arrives
        if self.from_frame:
            self.begun = min(self.begun, at)
        self.goal = self.goal_at(at)
        rest = self.goal - before
        arrives = not dot(rest, rest) > 0
        if self.how == Approach.SPRING:
            arrives = arrives and not dot(self.shown.velocity, self.shown.velocity) > 0
        if is_beyond(rest, self.snap):
            self.shown = Motion(self.goal, Vec3[double]())
            self.turn_by(1, elapsed, sample)
        elif self.glides:
            arrives = self.fraction(at) >= 1
            self.glide_to(at, sample)
        elif self.how == Approach.SPRING:
            self.spring(elapsed, sample)
        else:
            self.approach(rest, elapsed, sample)
        if arrives:
            sample.hold(self.shown, self.drawn, self.kind())
        else:
            sample.show(self.shown, self.kind())

    cdef Status kind(self) noexcept nogil:
        return INTERPOLATED if self.ahead == Goal.NEWEST else EXTRAPOLATED

    cdef void turn_by(self, double share, double elapsed, Sample& sample) noexcept nogil:
        if self.glides:
            self.glide.move(share)
            self.glide.show(0, sample)
        else:
            self.turn.step(share, elapsed, sample)

    cdef void approach(self, Vec3[double] rest, double elapsed, Sample& sample) noexcept nogil:
        """Go a share of the remaining way."""
        cdef double share = self.share_of_rest(sqrt(dot(rest, rest)), elapsed)
        cdef Vec3[double] before = self.shown.position
        self.shown.position = lerp(before, self.goal, share) if share < 1 else self.goal
        self.shown.velocity = Vec3[double]()
        if elapsed > 0:
            self.shown.velocity = (self.shown.position - before) * (1 / elapsed)
        if self.how == Approach.INTERVAL:
            share = elapsed / self.left if elapsed < self.left else 1
            self.left -= elapsed
        self.turn_by(share, elapsed, sample)

    cdef double share_of_rest(self, double distance, double elapsed) noexcept nogil:
        cdef double seconds = span_seconds(self.time, self.interval.value)
        cdef double step
        if self.how == Approach.EXPONENTIAL:
            return exponential_share(elapsed, seconds)
        if self.how == Approach.LERP:
            return min(elapsed / seconds, 1.0)
        if self.how == Approach.SHARE:
            return self.share
        if self.how == Approach.SPEED:
            step = self.speed * elapsed
        else:
            step = self.length / self.interval.value * elapsed
        return step / distance if step < distance else 1

    cdef void spring(self, double elapsed, Sample& sample) noexcept nogil:
        cdef double seconds = span_seconds(self.time, self.interval.value)
        self.shown = self.damped(self.shown, self.goal, seconds, elapsed)
        if self.turn.known():
            self.turn.put(self.damped(self.turn.offset(), Vec3[double](), seconds, elapsed), sample)

    cdef Motion damped(self, const Motion& motion, Vec3[double] target, double seconds,
                       double elapsed) noexcept nogil:
        if self.overshoot:
            return damped_step(motion, target, seconds, elapsed)
        return smooth_damp(motion, target, seconds, elapsed)

    # ------------------------------------------------------------- the way from the newest arrival

    cdef double fraction(self, double at) noexcept nogil:
        cdef double elapsed = max(at - self.begun, 0.0)
        return elapsed / self.duration if elapsed < self.duration else 1

    cdef Vec3[double] glided(self, double at) noexcept nogil:
        cdef double u = self.fraction(at)
        return lerp(self.start, self.goal, self.eased(u)) if u < 1 else self.goal

    cdef void glide_to(self, double at, Sample& sample) noexcept nogil:
        cdef double u = self.fraction(at)
        cdef double rate = self.slope(u) / self.duration if u < 1 else 0
        self.shown = Motion(self.glided(at), (self.goal - self.start) * rate)
        self.glide.move(self.eased(u))
        self.glide.show(rate, sample)

    cdef double eased(self, double u) noexcept nogil:
        """Return the fraction of the way that is gone after the fraction u of its time."""
        cdef double left = 1 - u
        if self.how == Approach.LINEAR:
            return u
        if self.ease == Easing.SMOOTHSTEP:
            return u * u * (3 - 2 * u)
        if self.ease == Easing.SINE:
            return (1 - cos(M_PI * u)) / 2
        return 1 - (left * left if self.ease == Easing.OUT_QUAD else left * left * left)

    cdef double slope(self, double u) noexcept nogil:
        """Return the speed at that time, relative to an even pace."""
        cdef double left = 1 - u
        if self.how == Approach.LINEAR:
            return 1
        if self.ease == Easing.SMOOTHSTEP:
            return 6 * u * left
        if self.ease == Easing.SINE:
            return M_PI / 2 * sin(M_PI * u)
        return 2 * left if self.ease == Easing.OUT_QUAD else 3 * left * left
