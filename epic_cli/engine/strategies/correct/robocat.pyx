"""RoboCat Action, the program of chapter 8 of Glazer and Madhav."""

from libc.math cimport isnan

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, Motion, Packet, Sample, Vec3, clamped, dot, is_finite,
)
from epic_cli.engine.strategies.parts cimport PacketAge, Strategy, WeightedTimedAverage
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.turning cimport TurnGlide

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import age_setting

# The program simulates in steps of this length, seconds.
cdef double STEP = 1.0 / 30

# The fraction of the difference that the player's own cat covers at once.
cdef double LOCAL_SHARE = 0.1


cpdef enum class Role:
    REMOTE
    LOCAL


cdef inline Motion simulate(const Motion& cat, double seconds) noexcept nogil:
    """Return the state ``seconds`` later at constant velocity, without the game's walls and thrust.
    """
    return Motion(cat.position + cat.velocity * seconds, cat.velocity)


cdef inline Motion simulate_in_steps(Motion cat, double seconds) noexcept nogil:
    """Return the state ``seconds`` later, simulated in steps of 1/30 s so that rounding matches."""
    while seconds >= STEP:
        cat = simulate(cat, STEP)
        seconds -= STEP
    return simulate(cat, seconds)


cdef struct OutOfSync:
    bint apart
    double since                        # local time


cdef class Robocat(Strategy):
    """Puts each received state one round-trip time into the future, and slides there.

    A remote cat's state is half an RTT old, and the player's input needs another half to get to
    the server: the program draws other cats where they will be when it does. On each packet the
    received state is simulated for one RTT, in steps of 1/30 s, and what is shown is pulled
    towards it, more strongly the longer it has been out of sync:

        corrected = received, simulated for RTT
        shown     = lerp(shown, corrected, time out of sync / RTT), corrected after RTT

    and the same for the velocity. In between, frames simulate on with the shown velocity. The
    time out of sync begins at the first packet that does not agree, and ends when shown and
    corrected are the same or the cat stands still. ``role=local`` is the player's own cat: it is
    not put ahead, and covers a tenth of the difference at each packet until the RTT is over.

    The RTT is set, or measured as twice the age of packets, by the program's own average: each
    measurement counts for the time it stands for, up to ``duration``. Two rules of the program
    are corrected: its average begins at 0, here at the first measurement; and there shown and
    corrected must be the same to the last bit, so that rounding alone keeps a cat out of sync
    forever, here within ``sync_distance`` (0: as in the program).

    The program reads packets and measures times by the frame; here an arrival is exact.

    Good for chasing other players, who are shown where one will meet them. It is ahead of the
    present by half an RTT, so that all turns and stops overshoot by that much. An entity that
    keeps turning is out of sync all the time, and after the first RTT jumps at every packet:
    little is smoothed then. A teleport that is not marked also slides for one RTT.

    A packet with the newest timestamp or an earlier one is discarded. Every row is
    ``extrapolated``: between packets the entity continues at the shown velocity, in a straight
    line. Without packets it continues forever.
    """

    declaration = Declaration(
        name="robocat",
        summary="RoboCat Action: simulates one round-trip time ahead, slides there within it",
        needs=(Need.VELOCITY, Need.CLOCKS.unless(" or arrival times, or rtt=seconds")),
        lag="half an RTT ahead of the present",
        on_loss="continues as it moved, forever",
        source="Glazer and Madhav, Multiplayer Game Programming (2016), RoboCat Action, chapter 8;"
        " MultiplayerBook/MultiplayerBook; no license, formulas only",
        proof="formula",
        rotates="as received, at once: the program smooths position and velocity only",
        settings=(
            Number("rtt", "measured", "the round-trip time; measured: twice the age of packets",
                   "s", 0, 10, unset="measured", tune=(0.02, 0.5), scale="log"),
            Number("duration", 1.0, "the time that the average covers, with rtt=measured", "s",
                   0.01, 60),
            Choice("role", "remote", "another player's cat, or the player's own", Role, tune=False),
            Number("sync_distance", 0.001, "ignore a smaller difference", "length units",
                   0, 1e9),
            age_setting(),
        ),
    )

    cdef public double rtt, sync_distance
    cdef public Role role
    cdef PacketAge age
    cdef WeightedTimedAverage average
    cdef double simulated               # the local time up to which it was simulated
    cdef Motion cat
    cdef OutOfSync position_state, velocity_state
    cdef TurnGlide turn

    def configure(self, *, duration, age):
        self.check_free()
        self.average = WeightedTimedAverage(duration)
        self.age = PacketAge(age)

    @property
    def rtt_in_use(self):
        """The round-trip time that the next correction uses, s."""
        return self.get_round_trip()

    cdef double get_round_trip(self) noexcept nogil:
        return self.average.value if isnan(self.rtt) else self.rtt

    cdef void clear(self) noexcept nogil:
        self.position_state.apart = self.velocity_state.apart = False
        self.age.clear()
        self.turn.clear()

    cdef void measure_round_trip(self, const Packet& packet, double now) noexcept nogil:
        """Add twice the packet's age to the average of the round-trip time."""
        cdef double rtt = clamped(2 * self.age.measure(packet, now), 0, 10)
        if self.empty:
            self.average.start(rtt, now)
        else:
            self.average.add(rtt, now)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Motion shown
        cdef double rtt
        if not self.empty:
            if packet.time <= self.newest:
                return False
            shown = simulate(self.cat, now - self.simulated)
        self.measure_round_trip(packet, now)
        rtt = self.get_round_trip()
        self.cat = packet
        if self.role == Role.REMOTE:
            self.cat = simulate_in_steps(self.cat, rtt)
        if not self.empty:
            self.correct_value(self.cat.position, shown.position, &self.position_state, now, rtt)
            self.correct_value(self.cat.velocity, shown.velocity, &self.velocity_state, now, rtt)
        if not is_finite(self.cat.position):
            self.cat.position = packet.position     # numbers too large to simulate
        self.simulated = now
        self.turn.aim(packet)
        self.turn.move(1)
        return True

    cdef void correct_value(self, Vec3[double]& value, const Vec3[double]& shown, OutOfSync* state,
                            double now, double rtt) noexcept nogil:
        """Blend the corrected position or velocity ``value`` with the shown one, by the time out of
        sync.
        """
        cdef double elapsed
        if self.is_in_sync(value - shown):
            state.apart = False
            return
        if not state.apart:
            state.since = now
        state.apart = True
        elapsed = now - state.since
        if elapsed < rtt:
            (&value)[0] = lerp(shown, value, self.compute_share(elapsed, rtt))

    cdef bint is_in_sync(self, Vec3[double] difference) noexcept nogil:
        return dot(difference, difference) <= self.sync_distance * self.sync_distance

    cdef double compute_share(self, double elapsed, double rtt) noexcept nogil:
        return elapsed / rtt if self.role == Role.REMOTE else LOCAL_SHARE

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Motion cat
        cat = simulate(self.cat, at - self.simulated)
        if not is_finite(cat.position):
            cat.position = self.cat.position
        self.cat.position = cat.position
        self.simulated = at
        if dot(self.cat.velocity, self.cat.velocity) == 0:
            self.position_state.apart = False   # a cat that stands still is in sync
        self.turn.show(0, sample)
        sample.show(cat, EXTRAPOLATED)
