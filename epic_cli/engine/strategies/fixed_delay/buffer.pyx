"""A configurable delay buffer, of the kind that most games write themselves."""

from libc.math cimport INFINITY, NAN, fabs, floor, isnan

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, NONE, Motion, OptionalTurn, Packet, Sample, Vec3, dot, is_beyond,
    is_finite, spun,
)
from epic_cli.engine.strategies.parts cimport (
    ARRIVALS, ClockOffset, ClockRule, Deviation, RecentValues, SendInterval, Strategy,
    cut_to_milliseconds, span_seconds,
)
from epic_cli.engine.strategies.parts.curves cimport hermite, lerp, smooth_damp
from epic_cli.engine.strategies.parts.following cimport (
    caught_up, exponential_share, rounded, share_within,
)
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, SnapshotBuffer, is_farther
from epic_cli.engine.strategies.parts.turning cimport TurnChase, curve_between, slerp_between

from epic_cli.engine.declaration import Declaration, LagVariation, Need, OneClock
from epic_cli.engine.parameters import Choice, Number, Span, Switch
from epic_cli.engine.strategies.parts.common_settings import (
    CLOCK, DEAD_ZONE, INTERVAL_LIMITS, ROUNDING, ROUNDING_BY, ROUNDING_OF, SNAP, TIMES,
    measured_interval,
)

# What no number of intervals is:
cdef double FREEZE = -2001  # beyond=freeze: keep what was drawn last
cdef double OLDEST = -2002  # beyond=oldest: go back to the oldest state
cdef double REUSE = -2003   # beyond=reuse: the newest state begins the way to the next
cdef double CHASE = -2004   # beyond=chase: go a share of the way to the newest state
cdef double REPEAT = -2005  # beyond=repeat: go the last frame's way again
cdef double MOST_INTERVALS = Span.INTERVALS
cdef double PACKET = -1     # every=packet
cdef double FRAME = -1      # phase=frame
cdef double STEP = -2       # phase=step
cdef double SLIGHTLY = 1e-9     # a frame that is so close to a tick is at it, ticks
# States of times that differ by less are of one time, s.
cdef double SAME_TIME = 1e-9

# Rounding must not decide whether a way is gone.
cdef double ALL_GONE = 1 - 1e-9

# A timer that differs by less from a whole number of ticks has that number, as a share.
cdef double WHOLE = 0.01

# An empty queue that is filled again goes on after this time without packets, in send intervals.
cdef double STARVED = 2


cpdef enum class StampSource:
    SENDER
    ARRIVAL
    TICKS

cpdef enum class BufferCurve:
    LINEAR
    HERMITE
    CATMULL_ROM

cpdef enum class JitterMeasure:
    LATENESS
    ARRIVALS
    INTERVALS
    STAMPS
    CHANGES
    SPREAD
    LONGEST

cpdef enum class CatchUp:
    NONE
    SNAP
    RATE
    QUEUE
    DEQUEUE
    TIMER
    TIMED_QUEUE
    FILL
    SHARE
    LERP
    WAYPOINTS
    CLAMP
    SLOW

cpdef enum class LowPass:
    EXPONENTIAL
    LERP
    SHARE
    SPRING
    SPEED


cdef class DelayBuffer(Strategy):
    """Draws the past, between the two states around a time that is a delay behind the sender's.

        offset = what clock says of (arrival - stamp), plus clock_margin
        wait   = clamp(delay + jitter_margin * jitter, delay_least, delay_most)
        time   = now - offset - wait
        u      = (time - before.stamp) / (after.stamp - before.stamp)
        drawn  = lerp(before, after, u)

    Each part of it is a setting, so that it is nearly every delay buffer that games have written
    themselves: that over arrival times of web games is ``buffer+stamps=arrival+delay=0.1``, and
    ``snapshot``, ``geckos``, ``gambetta``, ``hermite`` and ``panda3d`` without prediction are
    compositions, too, which their pages name. Delays are seconds, or send intervals: ``1.8i``.

    Stamps: ``sender``: the packet's timestamp, minus the age of its state. ``arrival``: when it
    arrived, as where packets have no timestamps; then jitter of the network is jitter of the
    speed. ``ticks``: the stamp before and one send interval more; a lost packet shifts the rest.

    Clock: ``agree``: 0, so that the delay must cover the latency. ``first``: that of the first
    packet; ``newest``: of the newest. ``min``, ``median``, ``max``: of the packets of the last
    ``clock_time`` seconds, or of the last ``clock_count``. ``mean``: the exponential mean over that
    time, that of the last ``clock_count``, or one of which each packet is ``clock_share``. ``pll``:
    a phase-locked loop, as in ``snapshot``. Over ``clock_time=session`` they are of all packets. A
    packet whose offset is more than ``clock_resync`` off restarts the estimate. The median is of
    1024 packets at most, and of two in the middle the larger. Over arrival times the offset is 0.
    With ``start=last`` a packet counts from the frame before it, as in games that set their clock
    at a packet and then add the time of the frame; with ``draw_time=last`` a frame is drawn at the
    time of the one before, as in games that add it behind the drawing.

    Delay: The jitter is the exponential standard deviation of (arrival - stamp) over
    ``jitter_time``, or the standard deviation of the last ``jitter_count``; over arrival times, and
    with ``jitter=arrivals``, that of the times between arrivals. With ``jitter=intervals`` it is
    the mean difference of the interval between arrivals from its own mean, of both of which each
    packet is ``jitter_share``; with ``jitter=stamps`` that of the timestamps' interval from the
    send interval; with ``jitter=changes`` the mean change of (arrival - stamp) from packet to
    packet, as in RFC 3550; with ``jitter=spread`` the largest less the least of the last
    ``jitter_time`` or ``jitter_count``; with ``jitter=longest`` it is the longest of these times
    between arrivals. Of a change of the delay each packet takes ``delay_rise``, or ``delay_fall``
    where it becomes less. With ``delay_from=newest`` the delay is not behind the
    clock, but behind the newest state, which stands until the next packet. A send interval is the
    typical difference of the last 32 timestamps, or with ``interval_time`` the exponential mean; or
    that of the last two timestamps (``interval=stamps``) or arrivals (``interval=arrivals``), or
    the mean of the last ``interval_count`` of these, or one of which each packet is
    ``interval_share``, within ``interval_least`` and ``interval_most``.

    Curve: ``hermite`` goes by the packets' velocities, ``catmull-rom`` by those between the
    neighbors: (next - previous) / (their time), at an end of the buffer the slope; over
    ``curve_time`` (positions alone), as in code that has a constant there, or the time between the
    states. With ``between=hold`` there is none: each state stands until the next.

    Beyond the newest state it is held, or goes on for ``beyond``, seconds or send intervals: along
    the line of the last two, or by the newest's velocity; then it stays there, or is back at the
    newest (``beyond_then=return``). ``freeze`` keeps what was drawn last; ``chase`` goes on from
    there to the newest, ``beyond_share`` of the rest in each frame, or dt / ``beyond_lerp`` of it.
    ``repeat`` goes the way of the last frame again. ``oldest`` is back at the oldest state of the
    last ``keep``; with ``reuse`` the newest is held, and begins the way to the next one where that
    comes; with ``copy_before`` it begins that long before the next one. Before the oldest that one
    is shown, with ``before=none`` what was drawn last, or with ``before=newest`` the newest, as by
    code that finds no two states around the time. States older than ``forget`` are dropped once
    they are drawn, all but ``forget_keeps``: the first one after a silence, or a loss, is then
    shown at once.

    Catch-up: ``snap``: the time is as above, and what was drawn last stays while fewer than
    ``reserve`` states wait behind the next one. With ``rate`` it goes on with frames, that much
    faster or slower until it is there (at once if it is ``catch_up_limit`` off), and waits where
    the buffer is empty; what is nearer than ``catch_up_near`` is left so. With ``share`` it goes on
    with frames, and by ``catch_up_rate`` of what it is off in each of them, with ``lerp`` by that
    much a second, at most ``catch_up_most`` faster or slower; these do not wait. With ``clamp`` it
    goes on with frames, and is set to the oldest of the last ``keep`` states where it is before
    that, and to the newest past it. With ``slow`` it goes on with frames, ``catch_up_rate`` slower
    where it is nearer to the newest state than the delay, and is set back to that at packets; it
    never gets ahead, and before the oldest state it is set to that. With ``none`` it only waits,
    also while ``reserve`` states or fewer are behind the one it comes from, or these reach less
    than ``reserve_time`` past it: after each hitch the delay is longer; at a packet whose state is
    more than ``catch_up_limit`` off, it is as above. With ``when_empty=run`` it does not wait, with
    ``stop`` it does so where it is, up to a frame past the newest state. ``queue`` goes from each
    state to the next in one interval of frames, and drops what is left of the last frame: it never
    catches up, unless ``keep`` drops states. Of a ``dequeue`` each frame, or tick, takes the next
    state. With ``waypoints`` the low-pass goes to the next state as soon as it is within
    ``waypoint_reach`` of the one before, stands where there is none, and is ``catch_up_rate``
    faster while more than ``catch_up_from`` wait, before its step or after that of the last frame
    (``count_at=end``). These leave ``reserve`` states behind the newest. ``timer`` goes over the
    interval before (newest - delay) by a timer of its own, which begins again each interval, at
    ``phase`` once, and not at packets; ``timed-queue`` goes to the next state of a queue by such a
    timer, and over the same way again where none waits behind the next. With ``fill`` the time goes
    on by ``pace``, and that much faster by ``catch_up_rate`` for each state that waits behind the
    next ``catch_up_from``; ways without movement take no time with ``still=skip``. ``monotonic``
    keeps it from going back. With ``every=packet`` the time goes on only when a packet comes; in
    ticks of ``every`` seconds, only in a frame in which one falls (and at ``phase``), at the time
    of that frame or of the tick: others show the last. With ``phase=frame`` the next tick is that
    long after the frame of the last one, as where a timer is set to 0; with ``phase=step`` it falls
    in each frame until there is a new state.

    Queues: with ``none``, ``queue``, ``dequeue``, ``waypoints`` and ``fill``, and more than one as
    ``min_buffer``, an entity that has reached the newest state, or is at the first, continues when
    that number of states wait, or where less do and none came for two intervals. Where
    ``max_buffer`` states wait (by ``timed-queue``, too), the next one drops the oldest of them,
    until ``min_buffer`` are left, and the way to these begins again.

    ``low_pass`` follows what is drawn with that time constant, at any frame rate: it costs as much
    lag. By ``lerp`` it goes dt / low_pass of the way, by ``share`` ``follow_share`` in each frame,
    by ``spring`` as Unity's SmoothDamp, by ``speed`` at ``follow_speed``; nearer than ``dead_zone``
    it stays. ``rounding`` is the last, and does not feed back, or that of received states
    (``rounding_of=states``); ``rounding_by=down`` is that of floor. ``snap`` jumps across a greater
    distance, between two states and behind the low-pass.

    With ``times=milliseconds`` packets and frames have whole ones, as in games that ask for the
    date. A packet with the newest timestamp or an earlier one is discarded; with ``late=insert`` it
    is put in its place. Over arrival times ``insert`` appends it, and ``sort`` puts it in the place
    of its timestamp: the state before the first one that arrived later than the drawn time is then
    the one to draw from. The velocity is the slope of what is drawn.
    """

    declaration = Declaration(
        name="buffer",
        summary="a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass",
        needs=(Need.CLOCKS.unless(", or arrival times and an estimated clock"),),
        lag="delay and low_pass, plus latency unless clock=agree",
        on_loss="interpolates across what the delay covers, then as beyond says",
        source="the delay buffers that games write themselves; formulas in the description",
        proof="formula",
        rotates="slerp between the same states, on curves with hermite, as far beyond the newest",
        lag_varies=LagVariation(
            "by up to the time between two packets: it waits for each, unless delay covers the"
            " latency and that time",
            periods=1,
        ),
        one_clock=OneClock(
            (("clock", "agree"), ("stamps", "sender"), ("clock_margin", 0.0), ("catch_up", "snap")),
            (("clock", "min"),)),
        settings=(
            Choice("stamps", "sender", "the time of a state: its timestamp, its arrival, or a count"
                   " of ticks", StampSource, tune=False),
            CLOCK,
            Number("clock_time", 2.0, "the window of clock=min, mean, median and max", "s", 0.001,
                   3600, words={"session": INFINITY}, tune=(0.2, 30), scale="log"),
            Number("clock_share", 0.0, "how much of the difference a packet shifts clock=mean; 0:"
                   " by clock_time", "", 0, 1),
            Number("clock_count", 0, "of how many packets clock=min, mean, median and max are; 0:"
                   " by clock_time", "", 0, 1024, whole=True),
            Number("clock_margin", 0.0, "a margin added to the clock's offset", "s", 0, 60),
            Number("clock_resync", 0.0, "restart the clock at a packet that is further off; 0:"
                   " never", "s", 0, 3600),
            Number("clock_gain", 0.01, "how much of the summed difference shifts a clock=pll", "",
                   0, 1),
            Number("clock_decay", 0.9, "how much of the summed difference stays, with clock=pll",
                   "", 0, 0.9999),
            Number("clock_limit", 0.0001, "the largest shift per packet of a clock=pll", "s", 0, 1),
            Choice("start", "arrival", "when a packet counts as arrived: on arrival, or in the"
                   " frame before (last)", ("arrival", "last"), tune=False),
            Choice("draw_time", "frame", "the time of a frame, with catch_up=snap or none: its own,"
                   " or that of the frame before (last)", ("frame", "last"), tune=False),
            Span("delay", 0.2, "how far in the past to draw, in seconds or send intervals (1.8i)",
                 0, 60, tune=(0.02, 1.0), scale="log"),
            Number("jitter_margin", 0.0, "standard deviations of the jitter that are added to the"
                   " delay", "",
                   0, 100, tune=(0, 5)),
            Number("jitter_time", 2.0, "the time over which the jitter is measured", "s", 0.001,
                   3600),
            Choice("jitter", "lateness", "what the jitter is: the standard deviation of arrival"
                   " minus stamp, or of the times between arrivals; how far intervals of arrivals"
                   " or stamps are from their mean; how much arrival minus stamp changes from"
                   " packet to packet, or its spread; or the longest time between arrivals",
                   JitterMeasure, tune=False),
            Number("jitter_share", 0.1, "how much each packet shifts the jitter, with"
                   " jitter=intervals, stamps or changes", "", 0, 1),
            Number("jitter_count", 0, "of how many packets the jitter is, with jitter=lateness,"
                   " arrivals, spread or longest; 0: by jitter_time", "", 0, 1024, whole=True),
            Number("delay_rise", 1.0, "how much of an increase of the delay each packet adds", "",
                   0.001, 1),
            Number("delay_fall", 1.0, "how much of a decrease of the delay each packet takes off",
                   "", 0.001, 1),
            Choice("delay_from", "clock", "what the delay is behind: the clock, or the newest"
                   " state", ("clock", "newest"), tune=False),
            Span("delay_least", 0.0, "the least delay, jitter margin included", 0, 60),
            Span("delay_most", 60.0, "the largest delay, jitter margin included", 0, 60),
            measured_interval("stamps", "arrivals"),
            *INTERVAL_LIMITS,
            Number("interval_share", 1.0, "the share of the newest in a mean, with interval=stamps"
                   " or arrivals", "", 0.001, 1),
            Number("interval_count", 1, "how many of the last are averaged, with interval=stamps or"
                   " arrivals", "", 1, 32, whole=True),
            Number("interval_time", 0.0, "the time over which the send interval is averaged; 0: the"
                   " typical one of the last 32", "s", 0, 3600),
            Choice("curve", "linear", "the curve between two states", BufferCurve),
            Number("curve_time", 0.0, "for how long the velocities at both ends bend a curve; 0:"
                   " for the time between the two states", "s", 0, 60),
            Choice("between", "curve", "what to draw between two states: the curve, or the state"
                   " before", ("curve", "hold"), tune=False),
            Span("beyond", 0.0, "how long to extrapolate past the newest state, in seconds or send"
                 " intervals (0.2i); hold: not at all, freeze: keep what was drawn last, chase: go"
                 " on from there to the newest, repeat: go the last frame's way again, oldest: go"
                 " back to the oldest state, reuse: the newest begins the way to the next one", 0,
                 3600, words={"hold": 0.0, "freeze": FREEZE, "chase": CHASE, "repeat": REPEAT,
                              "oldest": OLDEST, "reuse": REUSE, "unlimited": INFINITY},
                 tune=(0, 0.5)),
            Number("beyond_share", 0.2, "the share of the way to the newest in a frame, with"
                   " beyond=chase", "", 0, 1),
            Number("beyond_lerp", 0.0, "the time by which a frame is divided for that share, with"
                   " beyond=chase; 0: by beyond_share", "s", 0, 60),
            Span("copy_before", 0.0, "how long before a state that comes when the buffer is empty a"
                 " copy of the one before it is put, with catch_up=snap; 0: none is", 0, 60),
            Choice("beyond_along", "slope", "extrapolate along the last two states, or by the"
                   " newest state's velocity", ("slope", "velocity")),
            Choice("beyond_then", "stay", "after extrapolation, stay there or return to the newest"
                   " state",
                   ("stay", "return"), tune=False),
            Choice("catch_up", "snap", "how the drawn time gets back to its delay: never, at"
                   " once, or at a rate; or play a queue of states, take one of it in each frame,"
                   " go by a timer, play a queue by it, or as fast as many wait; or by a share of"
                   " its error in each frame, or a second (lerp); or go from waypoint to waypoint;"
                   " or clamp it to the last states, or slow down near the newest", CatchUp),
            Number("catch_up_rate", 0.05, "how much faster or slower to play (1 at most), with"
                   " catch_up=rate; with fill, for each waiting state; with share and lerp, that;"
                   " with waypoints, while many wait; with slow, slower near the newest (1 at"
                   " most)",
                   "", 0, 60, tune=(0.01, 0.2), scale="log"),
            Number("catch_up_most", 0.0, "how much faster or slower to play at most, with share and"
                   " lerp; 0: any", "", 0, 60),
            Number("catch_up_limit", 0.0, "jump at a larger error of the drawn time, or with none"
                   " at a packet that is further off; 0: never", "s", 0, 3600),
            Number("catch_up_near", 0.0, "leave a smaller error of the drawn time as it is", "s", 0,
                   3600),
            Choice("when_empty", "wait", "what the drawn time does past the newest state, with"
                   " catch_up=none and rate: wait there, stop where it is, or run on",
                   ("wait", "stop", "run"), tune=False),
            Number("catch_up_from", 1, "states that may wait at the usual pace, with catch_up=fill"
                   " or waypoints", "", 0, 1024, whole=True),
            Choice("count_at", "begin", "when waiting states are counted, with catch_up=waypoints:"
                   " as a frame begins, or as it ends, for the next one", ("begin", "end"),
                   tune=False),
            Number("waypoint_reach", 0.1, "how near to a state the next one is gone to, with"
                   " catch_up=waypoints", "length units", 0, 1e12),
            Choice("still", "play", "whether a way without movement takes its time, with"
                   " catch_up=fill", ("play", "skip"), tune=False),
            Number("pace", 1.0, "how fast the drawn time goes on, with catch_up=fill", "", 0.1, 10),
            Number("phase", 0.0, "a time at which a tick falls, or the timer begins, with"
                   " catch_up=timer or timed-queue; frame: each tick is counted from the frame of"
                   " the last one, step: of the last one with a new state", "s", 0, 60,
                   words={"frame": FRAME, "step": STEP}),
            Number("every", "frame", "how often the drawn time moves: in each frame, once a packet,"
                   " or in frames in which a tick of this length falls", "s", 0.001, 60,
                   words={"frame": 0.0, "packet": PACKET}),
            Choice("tick_time", "frame", "the time of a tick: that of the frame in which it falls,"
                   " or its own", ("frame", "own"), tune=False),
            Switch("monotonic", "off", "never go back in time"),
            Number("min_buffer", 1, "states that must wait before an empty queue goes on, with"
                   " catch_up=none, queue, dequeue, waypoints or fill", "", 1, 1024, whole=True),
            Number("max_buffer", 0, "states that may wait in a queue, at least min_buffer; 0: any"
                   " number", "", 0, 1024, whole=True),
            Number("reserve", 0, "states that stay in a queue; those that must wait behind the"
                   " next one, with catch_up=snap", "", 0, 1023, whole=True),
            Number("reserve_time", 0.0, "the time that the states must reach past the one it comes"
                   " from, with catch_up=none", "s", 0, 60),
            Choice("late", "drop", "how a late packet is treated: drop it, insert it, or sort it"
                   " in by its stamp, with stamps=arrival", ("drop", "insert", "sort"), tune=False),
            Choice("equal", "keep", "of two states of one time, such as two packets of a frame with"
                   " stamps=arrival: keep both, or the last", ("keep", "last"), tune=False),
            Choice("before", "hold", "what to draw before the oldest state: that state, what was"
                   " drawn last, or nothing, or the newest state", ("hold", "none", "newest"),
                   tune=False),
            Number("begin", 1, "packets to wait for before anything is drawn", "", 1,
                   1024, whole=True),
            Number("keep", 1024, "the largest number of states kept", "", 2, 1024, whole=True),
            Number("forget", 0.0, "forget a state that is older, once it is drawn; 0: never", "s",
                   0, 3600),
            Number("forget_keeps", 1, "how many states forget leaves", "", 1, 1024, whole=True),
            Number("low_pass", 0.0, "the time constant of a low-pass on the drawn position", "s", 0,
                   60, tune=(0, 0.2)),
            Choice("follow", "exponential", "how the low-pass follows the buffer: exponentially, by"
                   " dt / low_pass, by a share in each frame, as a spring, or at a speed", LowPass),
            Number("follow_share", 0.2, "the share of the way in a frame, with follow=share",
                   "", 0, 1),
            Number("follow_speed", 10.0, "the speed, with follow=speed", "length units/s", 0, 1e12),
            DEAD_ZONE,
            ROUNDING,
            ROUNDING_BY,
            ROUNDING_OF,
            SNAP,
            TIMES,
        ),
    )

    cdef public StampSource stamps
    cdef public ClockRule clock
    cdef public BufferCurve curve
    cdef public CatchUp catch_up
    cdef public JitterMeasure jitter
    cdef public double clock_margin, delay, jitter_margin, delay_least, delay_most, beyond
    cdef public double jitter_share, delay_rise, delay_fall, beyond_share, beyond_lerp
    cdef public double catch_up_rate, catch_up_most, catch_up_limit, catch_up_near
    cdef public double pace, every, phase
    cdef public size_t catch_up_from
    cdef public LowPass follow
    cdef public double low_pass, follow_share, follow_speed, dead_zone, rounding, snap
    cdef public double waypoint_reach
    cdef public bint monotonic
    cdef public size_t begin, forget_keeps
    cdef public double forget, curve_time, copy_before
    cdef bint keeps_last, forgotten, renewed, by_milliseconds
    cdef bint by_velocity, returns, inserts, hides, skips_to_newest, counts_intervals, remembers
    cdef bint from_last, draws_last, plays_last, smooths, by_ticks, holds, is_queue, skips, waits
    cdef bint stops, sorts, copies, spares, rounds_down, rounds_states
    cdef bint strays                # the newest packet was too far from the drawn time
    cdef ClockOffset offset
    cdef SendInterval interval
    cdef double measured            # how: NaN, seconds, or one of LastInterval
    cdef Deviation deviation
    cdef RecentValues recent        # lateness, or times between arrivals, s
    cdef bint counts_jitter         # of some packets
    cdef bint from_newest           # the delay is behind the newest state
    cdef double usual_interval, unevenness  # of arrivals, and its mean absolute difference, s
    cdef double lateness            # of the newest packet, or the time before it, s; NaN: none
    cdef SnapshotBuffer states
    cdef size_t taken               # packets since the beginning
    cdef size_t place               # how many states there are up to the time drawn last
    cdef double newest_state, arrived, tick     # of the packets taken: stamp, arrival, and count
    cdef double lasted              # the present frame, s
    cdef double paced               # the last one in which the drawn time went on, s
    cdef double wait                # the present delay, s
    cdef double behind              # the clock's offset and margin, s
    cdef double time                # drawn last, on the clock of stamps
    cdef double ticked              # when that was, with ticks
    cdef double fraction            # of the way to the next state of a queue
    cdef double beat                # of the timer, when a queue took a state last
    cdef bint begun                 # a queue by a timer has left its first state
    cdef bint queues                # catch_up=none, or a queue by frames
    cdef bint arrived_there         # what is drawn is at the waypoint
    cdef bint hurries               # more than catch_up_from wait
    cdef bint counts_at_end         # as of the end of the last frame
    cdef bint restarts              # ticks begin again in the frame of the last one
    cdef bint waits_for_states      # and fall in each frame until there is a new state
    cdef bint starved               # there was no new state to go to
    cdef Vec3[double] stepped       # the way of the last frame with a new state
    cdef size_t min_buffer, max_buffer
    cdef public size_t reserve
    cdef public double reserve_time
    cdef bint filling               # the queue was empty, and waits for states
    cdef double idle                # frames without a packet while it does, s
    cdef bint playing, shows
    cdef Snapshot shown             # drawn last, before the low-pass
    cdef bint smoothing             # the low-pass has begun
    cdef Motion smoothed            # drawn last, behind it
    cdef TurnChase turn

    def configure(self, *, clock_time, clock_share, clock_count, clock_resync, clock_gain,
                  clock_decay, clock_limit, start, draw_time, jitter_time, jitter_count, delay_from,
                  interval, interval_least, interval_most, interval_time, interval_count,
                  interval_share,
                  between, beyond_along, beyond_then,
                  when_empty, still, count_at, tick_time,
                  late, equal, before, keep, min_buffer, max_buffer, rounding_by, rounding_of,
                  times):
        self.check_free()
        self.by_milliseconds = times == "milliseconds"
        self.rounds_down = rounding_by == "down"
        self.rounds_states = rounding_of == "states" and self.rounding > 0
        self.offset = ClockOffset(
            self.clock, clock_time, clock_resync, clock_gain, clock_decay, clock_limit,
            clock_share, clock_count)
        self.measured = interval
        self.interval = SendInterval(
            NAN if interval < 0 else interval, 0.05, interval_time,
            interval_count if interval < 0 else 0, interval_share, least=interval_least,
            most=interval_most)
        self.deviation = Deviation(jitter_time)
        self.recent = RecentValues(jitter_time, jitter_count)
        self.counts_jitter = jitter_count > 0
        self.from_newest = delay_from == "newest"
        self.by_velocity = beyond_along == "velocity"
        self.returns = beyond_then == "return"
        self.inserts = late != "drop"
        self.sorts = late == "sort" and self.stamps != StampSource.SENDER
        self.hides = before == "none"
        self.skips_to_newest = before == "newest"
        self.keeps_last = equal == "last"
        self.from_last = start == "last"
        self.draws_last = draw_time == "last" and self.catch_up == CatchUp.SNAP and not (
            self.every != 0)
        self.plays_last = draw_time == "last" and self.catch_up == CatchUp.NONE
        self.by_ticks = tick_time == "own"
        self.holds = between == "hold"
        self.smooths = (self.low_pass > 0 or self.follow == LowPass.SHARE
                        or self.follow == LowPass.SPEED)
        self.counts_intervals = (
            self.stamps == StampSource.TICKS or self.catch_up == CatchUp.QUEUE
            or self.catch_up == CatchUp.TIMER or self.catch_up == CatchUp.TIMED_QUEUE
            or min(self.delay, self.delay_least, self.delay_most) < 0
            or -MOST_INTERVALS <= self.beyond < 0 or self.copy_before < 0
            or (self.jitter_margin > 0 and self.jitter == JitterMeasure.STAMPS))
        self.is_queue = self.catch_up == CatchUp.QUEUE or self.catch_up == CatchUp.DEQUEUE
        self.is_queue |= self.catch_up == CatchUp.WAYPOINTS
        self.queues = (self.is_queue or self.catch_up == CatchUp.NONE
                       or self.catch_up == CatchUp.FILL)
        self.skips = still == "skip"
        self.counts_at_end = count_at == "end"
        self.restarts = self.phase < 0
        self.waits_for_states = self.phase == STEP
        self.phase = max(self.phase, 0.0)
        self.is_queue |= self.catch_up == CatchUp.TIMED_QUEUE
        self.min_buffer = min_buffer
        self.max_buffer = max(max_buffer, min_buffer) if max_buffer and (
            self.queues or self.is_queue) else 0
        self.counts_intervals |= self.queues and min_buffer > 1
        self.copies = self.copy_before != 0 and self.catch_up == CatchUp.SNAP
        self.spares = self.reserve > 0 and self.catch_up == CatchUp.SNAP
        self.remembers = (
            self.hides or self.beyond == FREEZE or self.beyond == CHASE or self.beyond == REPEAT
            or self.spares)
        self.stops = when_empty == "stop"
        self.waits = self.catch_up == CatchUp.SLOW or when_empty == "wait" and (
            self.catch_up == CatchUp.RATE or self.catch_up == CatchUp.NONE)
        self.states.set_capacity(keep)

    cdef void clear(self) noexcept nogil:
        self.offset.clear()
        self.interval.clear()
        self.deviation.clear()
        self.recent.clear()
        self.usual_interval = self.lateness = NAN
        self.unevenness = 0
        self.states.clear()
        self.turn.clear()
        self.taken = self.place = 0
        self.paced = 0
        self.playing = self.shows = self.smoothing = self.strays = False
        self.arrived_there = self.hurries = self.starved = False
        self.stepped = Vec3[double]()
        self.filling = self.queues and self.min_buffer > 1
        self.forgotten = self.renewed = False

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        """Draw a marked teleport at once, even before the buffer has enough states."""
        self.start_over()
        self.record_drawn(self.round_state(packet.position), packet.turn)
        return self.accept(packet, now)

    # ------------------------------------------------------------- packets

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double true_at = packet.time - packet.delta
        cdef size_t place = self.states.size()
        now = self.read_time(now)
        if self.inserts and self.stamps == StampSource.SENDER:
            place = self.states.count_until(true_at)
            if place > 0 and self.states[place - 1].time == true_at:
                return False
            if place == 0 and self.states.full():
                return False
        elif self.sorts:
            if self.states.full() and true_at < self.states.front().stamp:
                return False
        elif self.taken > 0 and true_at <= self.newest_state and not self.inserts:
            return False
        if self.counts_intervals and not self.measured < 0:
            self.interval.add(packet.time)
        if self.from_last and self.drew:
            now -= self.since_drawn(now)
        if self.measured < 0 and self.taken > 0:
            self.interval.measure(
                now - self.arrived if self.measured == <double>ARRIVALS
                else packet.time - self.newest)
        if self.stamps != StampSource.SENDER:
            place = (self.states.count_sent_until(true_at) if self.sorts
                     else self.states.size())
            true_at = self.find_state_time(packet, now)
            place = min(place, self.states.size())
        elif self.clock != ClockRule.AGREE:
            self.offset.add(now - packet.time, now)
        self.behind = self.offset.value + self.clock_margin
        if self.jitter_margin > 0:
            self.measure_jitter(packet, now)
        self.set_delay(self.compute_delay())
        if self.forgotten:
            self.drop_states(self.states.size())
        elif (self.keeps_last or self.renewed) and not self.states.empty() and (
                true_at <= self.states.back().time + SAME_TIME):
            self.states.drop_back()
            self.place = min(self.place, self.states.size())
        self.renewed = False
        self.idle = 0
        if self.max_buffer > 0:
            self.shorten_queue()
            place = (0 if place == 0 else self.states.count_sent_until(packet.time - packet.delta)
                     if self.sorts else self.states.count_until(true_at))
        if self.copies and not self.states.empty() and place >= self.states.size():
            self.copy_newest(true_at, now - self.behind - self.wait)
            place = self.states.size()
        self.insert_state(min(place, self.states.size()), packet, now, true_at)
        self.newest_state = max(packet.time - packet.delta, self.newest_state
                                if self.taken > 0 else -INFINITY)
        self.strays = self.catch_up == CatchUp.NONE and self.catch_up_limit > 0 and (
            fabs(self.states.back().time - self.time) > self.catch_up_limit)
        if self.catch_up == CatchUp.SLOW and self.playing and not self.monotonic:
            self.time = min(self.time, self.states.back().time - self.wait)
        self.arrived = now
        self.taken += 1
        return True

    cdef Vec3[double] round_state(self, Vec3[double] position) noexcept nogil:
        """Return a received position as it is stored."""
        if self.rounds_states:
            return rounded(position, self.rounding, self.rounds_down)
        return position

    cdef void drop_states(self, size_t count) noexcept nogil:
        """Drop the ``count`` oldest states."""
        self.states.drop_front(count)
        self.place = max(self.place, count) - count
        self.forgotten = False

    cdef size_t count_passed(self) noexcept nogil:
        """Return the number of states up to the start of the queue's current segment."""
        if not self.playing:
            return 1
        if self.is_queue:
            return max(self.place, <size_t>1)
        return max(self.states.count_until(self.time + SAME_TIME), <size_t>1)

    cdef void shorten_queue(self) noexcept nogil:
        """Drop the oldest waiting states of a full queue.

        Restart the segment at its start position.
        """
        cdef size_t begin = self.count_passed()
        cdef size_t dropped
        cdef Snapshot* last
        if self.states.size() < begin + self.max_buffer:
            return
        dropped = self.states.size() - begin - self.min_buffer
        last = &self.states[begin - 1 + dropped]
        self.time = last.time
        if dropped > 0:
            last[0] = self.states[begin - 1]
            last.time = self.time
        self.drop_states(begin - 1 + dropped)
        self.place = 1
        self.fraction = 0

    cdef void drop_before(self, double time) noexcept nogil:
        """Drop the states older than ``time``, but the last ones; the newest alone is held until
        the next packet.
        """
        while self.states.size() > self.forget_keeps and self.states.front().time < time:
            self.drop_states(1)
        self.forgotten = self.forget_keeps == 1 and self.states.front().time < time

    cdef void restart_segment(self, double time) noexcept nogil:
        """Replace the buffer by the newest state, so that the next segment begins there at
        ``time``.
        """
        cdef Snapshot newest = self.states.back()
        self.drop_states(self.states.size())
        self.states.append(newest)
        newest.time = time
        self.states.append(newest)
        self.place = 1
        self.renewed = True

    cdef void copy_newest(self, double coming, double drawn) noexcept nogil:
        """Append a copy of the newest state, if the ``drawn`` time is past it.

        The copy is ``copy_before`` the ``coming`` state's time.
        """
        cdef Snapshot copy = self.states.back()
        cdef double time = coming - span_seconds(self.copy_before, self.interval.value)
        if drawn < copy.time or time <= copy.time:
            return
        if self.states.full():
            self.drop_states(1)
        copy.time = time
        self.states.append(copy)

    cdef double find_state_time(self, const Packet& packet, double now) noexcept nogil:
        """Return the time of a packet's state by its arrival, or by counting ticks."""
        if self.stamps == StampSource.ARRIVAL:
            return now
        self.tick = self.tick + self.interval.value if self.taken > 0 else 0
        if self.clock != ClockRule.AGREE and self.offset.add(now - self.tick, now):
            self.states.clear()     # their ticks are unknown
            self.place = 0
            self.tick = 0
            self.offset.clear()
            self.offset.add(now, now)
        return self.tick - packet.delta

    cdef void measure_jitter(self, const Packet& packet, double now) noexcept nogil:
        cdef double interval = now - self.arrived if self.taken > 0 else NAN
        if self.jitter == JitterMeasure.INTERVALS:
            self.measure_unevenness(interval)
        elif self.jitter == JitterMeasure.STAMPS:
            interval = packet.time - self.newest if self.taken > 0 else NAN
            if interval > 0:
                self.unevenness += (
                    fabs(interval - self.interval.value) - self.unevenness) * self.jitter_share
        elif (self.stamps == StampSource.ARRIVAL or self.jitter == JitterMeasure.ARRIVALS
              or self.jitter == JitterMeasure.LONGEST):
            if self.taken > 0:
                self.add_lateness(interval, now)
        else:
            self.add_lateness(
                now - (packet.time if self.stamps == StampSource.SENDER else self.tick), now)

    cdef void add_lateness(self, double late, double now) noexcept nogil:
        """Update the jitter by how late a packet is, or by the time between the last two (s)."""
        cdef double change = fabs(late - self.lateness)
        self.lateness = late
        if self.jitter == JitterMeasure.CHANGES:
            if not isnan(change):
                self.unevenness += (change - self.unevenness) * self.jitter_share
        elif self.jitter == JitterMeasure.LONGEST:
            self.recent.add(late, now)
            self.unevenness = self.recent.largest()
        elif self.jitter == JitterMeasure.SPREAD or self.counts_jitter:
            self.recent.add(late, now)
            self.unevenness = (self.recent.spread() if self.jitter == JitterMeasure.SPREAD
                               else self.recent.deviation())
        else:
            self.deviation.add(late, now)
            self.unevenness = self.deviation.value()

    cdef void measure_unevenness(self, double interval) noexcept nogil:
        """Update the unevenness of arrivals by the time between the last two (s; NaN: none)."""
        if not interval > 0:
            return
        if isnan(self.usual_interval):
            self.usual_interval = interval
        self.usual_interval += (interval - self.usual_interval) * self.jitter_share
        self.unevenness += (
            fabs(interval - self.usual_interval) - self.unevenness) * self.jitter_share

    cdef void set_delay(self, double wanted) noexcept nogil:
        """Set the delay to ``wanted`` (s), or change it by a share of what it is off that."""
        cdef double share = self.delay_fall if wanted < self.wait else self.delay_rise
        if self.taken > 0 and share < 1:
            wanted = self.wait + (wanted - self.wait) * share
        self.wait = wanted

    cdef double compute_delay(self) noexcept nogil:
        cdef double interval = self.interval.value
        cdef double wait = span_seconds(self.delay, interval)
        if self.jitter_margin > 0:
            wait += self.jitter_margin * self.unevenness
        return min(max(wait, span_seconds(self.delay_least, interval)),
                   span_seconds(self.delay_most, interval))

    cdef void insert_state(self, size_t place, const Packet& packet, double now,
                           double true_at) noexcept nogil:
        """Insert a packet's state before index ``place``.

        Drop the oldest state of a full buffer.
        """
        if self.states.full():
            self.states.drop_front(1)
            place -= 1
            self.place = max(self.place, <size_t>1) - 1
        if place < self.place:
            self.place += 1
        self.states.insert(place, packet, now)
        (&self.states[place]).time = true_at
        if self.rounds_states:
            (&self.states[place]).position = self.round_state(packet.position)

    cdef double compute_reach(self) noexcept nogil:
        """Return the extrapolation limit beyond the newest state, s."""
        return 0 if self.beyond < -MOST_INTERVALS else span_seconds(
            self.beyond, self.interval.value)

    # ------------------------------------------------------------- frames

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double moment
        cdef double time
        at = self.read_time(at)
        moment = self.arrived if self.every == PACKET else at
        if self.taken < self.begin:
            self.hold_last(sample)
            return
        if self.every > 0 and self.playing and not self.count_ticks_since_drawn(at) > 0:
            self.hold_drawn(sample)
            return
        if self.every > 0 and self.by_ticks and not self.restarts:
            at = moment = self.phase + self.count_ticks(at) * self.every
        if self.draws_last and self.drew:
            moment = self.read_time(self.drawn.time)
        self.lasted = self.elapsed(at)
        self.starved = False
        time = self.compute_drawn_time(moment)
        self.time = time
        if not self.is_queue:  # in which states of one time take turns
            self.place = self.find_place(time)
        if self.place == 0:
            if self.hides:
                self.hold_last(sample)
            elif self.skips_to_newest:
                self.hold_state_at(self.states.back(), sample)
            else:
                self.hold_state_at(self.states.front(), sample)
        elif self.place == self.states.size():
            self.draw_beyond(time - self.states.back().time, sample)
            if self.beyond == REUSE and time > self.states.back().time:
                self.restart_segment(moment - self.behind + max(self.since_drawn(
                    at if self.draws_last else moment), 0.0))
        elif self.spares and self.place + self.reserve >= self.states.size():
            self.hold_last(sample)
        else:
            self.draw_curve(self.states[self.place - 1], self.states[self.place], time, sample)
        if sample.status == NONE:
            return
        self.playing = True
        if self.forget > 0:
            self.drop_before(moment - self.behind - self.forget)
        if self.remembers:
            self.record_drawn(sample.position, sample.turn)
        if self.smooths:
            self.apply_low_pass(self.elapsed(at), sample)
        if self.rounding > 0 and not self.rounds_states:
            sample.position = rounded(sample.position, self.rounding, self.rounds_down)
        if not (self.waits_for_states and self.starved):
            self.ticked = at

    cdef double count_ticks(self, double at) noexcept nogil:
        """Return the number of the last tick until ``at``."""
        return floor((at - self.phase) / self.every + SLIGHTLY)

    cdef double count_ticks_since_drawn(self, double at) noexcept nogil:
        """Return the number of ticks since the one that was drawn last."""
        if self.restarts:
            return 1 if at - self.ticked >= self.every * ALL_GONE else 0
        return self.count_ticks(at) - self.count_ticks(self.ticked)

    cdef double elapsed(self, double at) noexcept nogil:
        if self.every > 0 and self.playing:
            return max(at - self.ticked, 0.0)
        return max(at - self.read_time(self.drawn.time), 0.0)

    cdef double since_drawn(self, double at) noexcept nogil:
        if self.every > 0 and self.playing:
            return at - self.ticked
        return at - self.read_time(self.drawn.time) if self.drew else 0

    cdef double read_time(self, double time) noexcept nogil:
        """Return a time of the receiver as the game reads it."""
        return cut_to_milliseconds(time) if self.by_milliseconds else time

    cdef size_t find_place(self, double time) noexcept nogil:
        """Return the number of states up to ``time``, which is near the place drawn last."""
        cdef size_t place = 0 if self.sorts else self.place  # their times may be in any order
        while place < self.states.size() and self.states[place].time <= time:
            place += 1
        while place > 0 and self.states[place - 1].time > time:
            place -= 1
        return place

    cdef void apply_low_pass(self, double elapsed, Sample& sample) noexcept nogil:
        """Smooth the sample by the low-pass over a frame of ``elapsed`` seconds."""
        cdef Motion last = self.smoothed
        cdef Vec3[double] rest = sample.position - last.position
        cdef int status = sample.status
        cdef double share = self.follow_share
        cdef double pace = 1 + self.catch_up_rate if self.hurries else 1
        self.turn.aim(sample.turn)
        if not self.smoothing or is_beyond(rest, self.snap):
            last = self.smoothed if self.smoothing else sample
            self.smoothed = Motion(sample.position, Vec3[double]())
            self.turn.step(1, elapsed, sample)
        elif dot(rest, rest) < self.dead_zone * self.dead_zone or self.arrived_there:
            self.turn.stay(sample)
        elif self.follow == LowPass.SPRING:
            self.smoothed = smooth_damp(last, sample.position, self.low_pass / pace, elapsed)
            if self.turn.known():
                self.turn.put(smooth_damp(self.turn.offset(), Vec3[double](), self.low_pass / pace,
                                          elapsed), sample)
        else:
            if self.follow == LowPass.EXPONENTIAL:
                share = exponential_share(elapsed * pace, self.low_pass)
            elif self.follow == LowPass.LERP:
                share = min(elapsed * pace / self.low_pass, 1.0)
            elif self.follow == LowPass.SPEED:
                share = share_within(rest, self.follow_speed * pace * elapsed)
            else:
                share = min(share * pace, 1.0)
            self.smoothed.position = last.position + rest * share if share < 1 else sample.position
            self.turn.step(share, elapsed, sample)
        self.smoothing = True
        if self.catch_up == CatchUp.WAYPOINTS:
            self.look_for_waypoint(sample.position)
        rest = self.smoothed.position - last.position
        sample.hold(Motion(self.smoothed.position,
                           rest * (1 / elapsed) if elapsed > 0 else Vec3[double]()),
                    self.drawn, INTERPOLATED)
        if status == EXTRAPOLATED:
            sample.status = EXTRAPOLATED

    cdef void look_for_waypoint(self, Vec3[double] goal) noexcept nogil:
        """Note whether what is drawn is near its ``goal``, and whether many others wait then."""
        cdef Vec3[double] rest = goal - self.smoothed.position
        cdef size_t waiting = self.states.size() - self.place
        if not self.arrived_there:
            self.arrived_there = dot(rest, rest) <= self.waypoint_reach * self.waypoint_reach
            self.hurries = waiting + (not self.arrived_there) > self.catch_up_from

    cdef double advance_queue(self, double at, double elapsed) noexcept nogil:
        """Advance the queue by a frame of ``elapsed`` seconds; return the drawn time."""
        cdef size_t first = max(self.place, <size_t>1) - 1
        self.starved = (self.playing and self.catch_up != CatchUp.WAYPOINTS
                        and first + 1 + self.reserve >= self.states.size())
        if self.catch_up == CatchUp.TIMED_QUEUE:
            first = self.advance_by_timer(at, first)
        elif not self.playing:
            self.fraction = 0
            first = 0
            self.arrived_there = self.catch_up == CatchUp.WAYPOINTS
        elif self.catch_up == CatchUp.WAYPOINTS and self.smooths and not self.arrived_there:
            pass
        elif self.is_filling(elapsed):
            self.place = first + 1
            return self.states[first].time
        elif first + 1 + self.reserve < self.states.size():
            # as games write it, so that the same frames reach 1: dt * rate
            self.fraction += (elapsed * (1 / self.interval.value)
                              if self.catch_up == CatchUp.QUEUE else 1)
            if self.fraction >= 1:
                self.fraction = 0
                first += 1
                self.arrived_there = False
                if self.catch_up == CatchUp.DEQUEUE and self.every > 0:  # of each tick, one
                    first = min(first - 1 + <size_t>self.count_ticks_since_drawn(at),
                                self.states.size() - 1 - self.reserve)
        self.place = first + 1
        if self.catch_up == CatchUp.WAYPOINTS and not self.counts_at_end:
            self.hurries = self.states.size() - first > self.catch_up_from
        if first + 1 == self.states.size():
            self.filling = self.min_buffer > 1 and (
                self.catch_up != CatchUp.WAYPOINTS or self.arrived_there)
            return self.states.back().time
        # not rounded to the time of the next one, which would be the first state then
        return self.states[first].time + min(self.fraction, ALL_GONE) * (
            self.states[first + 1].time - self.states[first].time)

    cdef size_t advance_by_timer(self, double at, size_t first) noexcept nogil:
        """Return the index of the state from which a queue by a timer goes; ``first`` before."""
        cdef double length = self.interval.value
        cdef double ticks, beats, beat
        if self.every > 0:      # a number of ticks, if it nearly is one
            ticks = max(floor(length / self.every + 0.5), 1.0)
            if fabs(ticks * self.every - length) < WHOLE * length:
                length = ticks * self.every
        beats = (at - self.phase) / length
        # a beat that falls on a tick begins behind it: timer > interval
        beat = floor(beats + (ALL_GONE - 1 if self.every > 0 else 1 - ALL_GONE))
        if not self.playing:
            first, self.begun, self.beat = 0, False, beat
        elif beat > self.beat:
            self.beat = beat
            if first + 1 + self.begun + self.reserve < self.states.size():
                first, self.begun = first + self.begun, True
        self.fraction = max(beats - beat, 0.0) if self.begun else 0
        return first

    cdef double advance_by_fill(self, double left) noexcept nogil:
        """Return the drawn time after a frame of ``left`` seconds, by the states that wait."""
        cdef double time = self.time
        cdef double way, speed
        cdef size_t waiting = 0
        cdef size_t place, first = self.states.count_until(time)
        for place in range(first, self.states.size()):
            waiting += self.is_played(place)
        for place in range(first, self.states.size()):
            way = self.states[place].time - time
            if self.is_played(place):
                speed = self.pace
                if waiting > self.catch_up_from:
                    speed *= 1 + self.catch_up_rate * (waiting - self.catch_up_from)
                if left * speed < way:
                    return time + left * speed
                left -= way / speed
                waiting -= 1
            time += way
        return time

    cdef bint is_played(self, size_t place) noexcept nogil:
        """Return True if the way to the state at ``place`` takes its time."""
        cdef Vec3[double] way
        if self.skips and place > 0:
            way = self.states[place].position - self.states[place - 1].position
            return dot(way, way) > 0
        return True

    cdef bint is_filling(self, double elapsed) noexcept nogil:
        """Return True while a queue that ran empty waits for ``min_buffer`` states."""
        cdef size_t begin = self.count_passed()
        if self.filling:
            self.idle += elapsed
            self.filling = self.states.size() < begin + self.min_buffer and (
                self.states.size() == begin or self.catch_up == CatchUp.FILL
                or self.idle < STARVED * self.interval.value * ALL_GONE)
        return self.filling

    cdef double compute_drawn_time(self, double at) noexcept nogil:
        cdef double time = at - self.behind - self.wait
        cdef double newest = self.states.back().time + self.compute_reach()
        if self.from_newest:
            time = self.states.back().time - self.wait
        if self.is_queue:
            time = self.advance_queue(at, self.elapsed(at))
        elif self.catch_up == CatchUp.TIMER:
            time = (at - self.phase) / self.interval.value
            time = self.states.back().time - self.wait + (
                time - floor(time + 1 - ALL_GONE)) * self.interval.value
        elif self.playing and self.catch_up == CatchUp.RATE:
            time = caught_up(self.time, time, self.elapsed(at), min(self.catch_up_rate, 1.0),
                             self.catch_up_limit, self.catch_up_near)
        elif self.playing and (self.catch_up == CatchUp.SHARE or self.catch_up == CatchUp.LERP):
            time = self.follow_time(time, self.elapsed(at))
        elif self.playing and self.catch_up == CatchUp.SLOW:
            time = self.time + self.elapsed(at) * (
                1 - min(self.catch_up_rate, 1.0)
                if self.states.back().time - self.time < self.wait else 1)
            time = max(time, self.states.front().time)
        elif self.catch_up == CatchUp.SLOW:
            time = self.states.back().time - self.wait
        elif self.catch_up == CatchUp.CLAMP:
            time = self.time + self.elapsed(at) if self.playing else time
            time = min(max(time, self.states.front().time), newest)
        elif self.catch_up == CatchUp.FILL:
            time = self.states.back().time
            if self.playing:
                time = self.time
                if not self.is_filling(self.elapsed(at)):
                    time = self.advance_by_fill(self.elapsed(at))
        elif self.playing and self.catch_up == CatchUp.NONE and not self.strays:
            time = self.play_on(newest, self.elapsed(at))
        self.strays = False
        if self.catch_up == CatchUp.NONE and time >= newest - SAME_TIME or (
                self.catch_up == CatchUp.FILL and time >= self.states.back().time - SAME_TIME):
            self.filling = self.min_buffer > 1
        if self.waits:
            time = min(time, newest)
        if self.monotonic and self.playing:
            return max(time, self.time)
        return time

    cdef double play_on(self, double newest, double elapsed) noexcept nogil:
        """Return the drawn time after a frame, if it never catches up.

        It waits for states, and may stop at the ``newest`` time that they reach.
        """
        cdef double step = self.paced if self.plays_last else elapsed
        if self.is_filling(elapsed) or (self.stops and self.time >= newest) or (
                self.reserve > 0 and self.states.size() <= self.count_passed() + self.reserve):
            return self.time
        if self.reserve_time > 0 and not self.reaches_far(
                self.time + step if self.plays_last else self.time):
            return self.time
        self.paced = elapsed
        return self.time + step

    cdef bint reaches_far(self, double time) noexcept nogil:
        """Return True if the states reach ``reserve_time`` past the one before ``time``."""
        cdef size_t place = max(self.states.count_until(time), <size_t>1)
        return self.states.back().time - self.states[place - 1].time >= (
            self.reserve_time - SAME_TIME)

    cdef double follow_time(self, double wanted, double elapsed) noexcept nogil:
        """Return the drawn time after a frame, by a share of what it is off the ``wanted`` one."""
        cdef double time = self.time + elapsed
        cdef double off = wanted - time
        if fabs(off) < self.catch_up_near:
            return time
        if self.catch_up_limit > 0 and fabs(off) > self.catch_up_limit:
            return wanted
        off *= min(
            self.catch_up_rate * (1 if self.catch_up == CatchUp.SHARE else elapsed), 1.0)
        if self.catch_up_most > 0:
            off = min(max(off, -self.catch_up_most * elapsed), self.catch_up_most * elapsed)
        return time + off

    cdef void record_drawn(self, Vec3[double] position, const OptionalTurn& turn) noexcept nogil:
        if self.shows and not self.starved:
            self.stepped = position - self.shown.position
        self.shows = True
        self.shown.position = position
        self.shown.turn.copy(turn)

    cdef void hold_last(self, Sample& sample) noexcept nogil:
        """Hold the last drawn position, if there is one."""
        if self.shows:
            self.hold_state_at(self.shown, sample)

    cdef void hold_drawn(self, Sample& sample) noexcept nogil:
        """Hold what the last frame showed."""
        sample.hold(Motion(self.drawn.position, Vec3[double]()), self.drawn, INTERPOLATED)
        sample.turn.copy(self.drawn.turn)
        if sample.turn.known():
            sample.turn.value().spin = Vec3[double]()

    cdef void hold_state_at(self, const Snapshot& state, Sample& sample) noexcept nogil:
        sample.hold(Motion(state.position, Vec3[double]()), self.drawn, INTERPOLATED)
        sample.turn.copy(state.turn)
        if sample.turn.known():
            sample.turn.value().spin = Vec3[double]()

    cdef void draw_curve(self, const Snapshot& before, const Snapshot& after, double time,
                         Sample& sample) noexcept nogil:
        cdef double duration = after.time - before.time
        cdef double u = (time - before.time) / duration
        cdef Motion motion
        if self.holds or self.snap > 0 and is_farther(before.position, after.position, self.snap):
            self.hold_state_at(before, sample)
            return
        motion.velocity = (after.position - before.position) * (1 / duration)
        if not is_finite(motion.velocity):
            self.hold_state_at(before, sample)
            return
        if self.curve != BufferCurve.LINEAR:
            self.evaluate_curve(before, after, u, motion)
        else:
            motion.position = lerp(before.position, after.position, u)
        sample.show(motion, INTERPOLATED)
        if self.curve == BufferCurve.HERMITE:
            curve_between(before, after, u, sample)
        else:
            slerp_between(before, after, u, sample)

    cdef void evaluate_curve(self, const Snapshot& before, const Snapshot& after, double u,
                             Motion& motion) noexcept nogil:
        """Set ``motion`` to the point at the fraction ``u`` of the curve, or of the line on
        overflow.
        """
        cdef Motion start = before
        cdef Motion end = after
        cdef Motion curved
        if self.curve == BufferCurve.CATMULL_ROM:
            start.velocity = self.compute_tangent(self.place - 1, motion.velocity)
            end.velocity = self.compute_tangent(self.place, motion.velocity)
        if self.curve_time > 0:
            start.velocity = start.velocity * (self.curve_time / (after.time - before.time))
            end.velocity = end.velocity * (self.curve_time / (after.time - before.time))
        curved = hermite(start, end, after.time - before.time, u)
        if is_finite(curved.position) and is_finite(curved.velocity):
            (&motion)[0] = curved
        else:
            motion.position = lerp(before.position, after.position, u)

    cdef Vec3[double] compute_tangent(self, size_t place, Vec3[double] slope) noexcept nogil:
        """Return the slope between the neighbors of a state; ``slope`` at an end of the buffer."""
        cdef const Snapshot* last
        cdef const Snapshot* following
        if place == 0 or place + 1 == self.states.size():
            return slope
        last, following = &self.states[place - 1], &self.states[place + 1]
        return (following.position - last.position) * (1 / (following.time - last.time))

    cdef void draw_beyond(self, double past, Sample& sample) noexcept nogil:
        """Draw the time ``past`` seconds after the newest state."""
        cdef const Snapshot* newest = &self.states.back()
        cdef double reach = self.compute_reach()
        cdef double ahead = min(past, reach)
        cdef Vec3[double] rate
        if self.beyond == FREEZE:
            self.hold_last(sample)
            return
        if self.beyond == CHASE:
            self.chase_newest(sample)
            return
        if self.beyond == REPEAT and (self.starved if self.is_queue else past > 0):
            self.repeat_step(sample)
            return
        if self.beyond == OLDEST and past > 0:
            self.hold_state_at(self.states.front(), sample)
            return
        if reach > 0 and not (self.returns and past > reach):
            rate = self.find_velocity_beyond(ahead, sample)
        if not dot(rate, rate) > 0 or not is_finite(newest.position + rate * ahead):
            self.hold_state_at(newest[0], sample)
        elif past <= reach:
            sample.show(Motion(newest.position + rate * ahead, rate), EXTRAPOLATED)
        else:
            sample.hold(Motion(newest.position + rate * ahead, Vec3[double]()), self.drawn,
                        EXTRAPOLATED)
            if sample.turn.known():
                sample.turn.value().spin = Vec3[double]()

    cdef void repeat_step(self, Sample& sample) noexcept nogil:
        """Go on from what was drawn last by the way of the last frame with a new state."""
        cdef Snapshot last = self.shown if self.shows else self.states.back()
        self.starved = True
        last.position = last.position + self.stepped
        if not is_finite(last.position):
            last = self.states.back()
        self.hold_state_at(last, sample)
        sample.status = EXTRAPOLATED

    cdef void chase_newest(self, Sample& sample) noexcept nogil:
        """Go a share of the way from what was drawn last to the newest state."""
        cdef const Snapshot* newest = &self.states.back()
        cdef Snapshot last = self.shown if self.shows else newest[0]
        cdef double share = self.beyond_share
        if self.beyond_lerp > 0:
            share = min(self.lasted / self.beyond_lerp, 1.0)
        if is_farther(last.position, newest.position, self.snap):
            last = newest[0]
        last.time = newest.time  # it turns at no speed of its own
        last.position = lerp(last.position, newest.position, share)
        self.hold_state_at(last, sample)
        slerp_between(last, newest[0], share, sample)

    cdef Vec3[double] find_velocity_beyond(self, double ahead, Sample& sample) noexcept nogil:
        """Return the velocity to extrapolate with, and set the sample's extrapolated rotation.

        ``ahead`` (s) is the time since the newest state.
        """
        cdef Snapshot* newest = &self.states.back()
        cdef Snapshot* last
        cdef double duration
        sample.turn.copy(newest.turn)
        if self.by_velocity:
            if newest.turn.known():
                sample.turn.value().rotation = spun(
                    newest.turn.value().rotation, newest.turn.value().spin, ahead)
            return newest.velocity
        if self.states.size() < 2:
            return Vec3[double]()
        last = &self.states[self.states.size() - 2]
        duration = newest.time - last.time
        if not duration > 0 or is_farther(last.position, newest.position, self.snap):
            return Vec3[double]()
        slerp_between(last[0], newest[0], 1 + ahead / duration, sample)
        return (newest.position - last.position) * (1 / duration)
