"""The snapshot interpolation of Quake III Arena, with its clock and its trajectories."""

from libc.math cimport INFINITY, M_PI, cos, fabs, sin

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Vec3, dot, is_beyond,
)
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts cimport Strategy, cut_to_milliseconds
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE_OR_ERROR
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_at, is_farther, fraction_between,
)
from epic_cli.engine.strategies.parts.turning cimport (
    angles_between, angles_from_turn, angular_rates, slerp_between, turn_from_degrees,
)


# Beyond these errors (s) the clock is set, or corrected by half of the error; here and
# below the last digit allows for rounding.
cdef double RESET = 0.5 + 1e-9
cdef double HALVE = 0.1 + 1e-9
# The clock's correction otherwise (s): back after extrapolation, ahead without it.
cdef double BACK = 0.002
cdef double AHEAD = 0.001
# A frame this close to the newest snapshot counts as extrapolated, s.
cdef double NEARLY = 0.005 + 1e-9
# A smaller error of a prediction is not smoothed, in length units.
cdef double LEAST_ERROR = 0.1


cdef class Quake3(Strategy):
    """Draws between the last two snapshots on a clock that drifts towards the newest one.

        time  = local time + delta - cl_time_nudge
        u     = (time - snapshot.time) / (next.time - snapshot.time)
        drawn = lerp(snapshot, next, u)

    The clock is never measured, it adapts by trial: after each frame that has a new snapshot
    ``delta`` grows by 1 ms if there was a snapshot to interpolate to, and shrinks by 2 ms if a
    frame had run past the newest one. So it stays about one snapshot behind, whatever the
    latency, and a frame behind where frames are longer: 90 ms at 128 packets and 20 frames a
    second. An error of more than 100 ms is halved, one of more than 500 ms is corrected at once.

    ``trajectory`` is what an entity's position and velocity stand for. Players are
    ``interpolate``: past the newest snapshot they freeze. ``linear-stop`` interpolates too, and
    continues for ``tr_duration`` where there is no next snapshot. The others are evaluated from
    the snapshot before the drawn time, not interpolated: ``linear`` for missiles, ``gravity``,
    ``sine`` for things that bob, ``stationary``. The error that such a prediction has when the
    next snapshot's time comes fades over ``cg_error_decay``, as it does for Quake's own player.

    Very little lag: the buffer is a single snapshot. A lost packet freezes players, and the
    clock never rests, so a constant velocity is drawn up to 2 ms times the velocity off the line.

    The clock is the connection's, whose snapshot begins with the first packet of an entity that the
    one before had already. A player that is left out of a snapshot was at rest, as far as
    it tells: its next movement begins with the last one without it.

    Where this differs from Quake: times are not whole milliseconds, the velocity of ``sine`` is
    the true one, and an error is shown from the first frame on. With ``quirks=on`` they are as in
    the original: its clock and its frames have whole milliseconds, the velocity a factor of 0.5
    instead of 2 pi / duration, and no error is shown in the frame in which it begins.
    ``snap_distance`` stands for Quake's teleport bit. Late packets and copies are discarded.

    The velocity is that of the trajectory, interpolated as the position is; zero when frozen.
    """

    declaration = Declaration(
        name="quake3",
        summary="Quake III: between two snapshots, on a clock that adapts by trial",
        needs=(Need.ARRIVALS,),
        lag="latency plus about one send interval; less for predicted trajectories",
        on_loss="freezes; predicted trajectories continue",
        source="Quake III Arena (id Software), cl_cgame.c, cg_ents.c, bg_misc.c; formulas only,"
        " none of its code (GPL-2.0)",
        proof="runs of the original's clock, CL_SetCGameTime in every frame, and of its"
        " trajectories; formula (error decay)",
        connection="its clock takes all packets, and a player that they leave out is at rest",
        rotates="pitch, yaw and roll, each the shorter way (LerpAngle); on angle_trajectory where"
        " positions are on theirs",
        lag_varies=LagVariation(
            "by the few milliseconds of its clock's adaptation; by the time between"
            " two packets where they are rare, or beat with the frames",
            seconds=0.004, periods=1.1,
        ),
        settings=(
            Choice("trajectory", "interpolate", "the trajectory of position and velocity",
                   Trajectory),
            Choice("angle_trajectory", "interpolate", "the trajectory of rotation and spin, where"
                   " positions are not interpolated", Trajectory),
            Number("cl_time_nudge", 0.0, "how much further in the past to draw", "s", -0.03, 0.03,
                   tune=(-0.03, 0.03)),
            Number("tr_duration", 0.05, "how long linear-stop continues; the period of sine", "s",
                   0.001, 3600, tune=(0.02, 2), scale="log"),
            Number("gravity", 800.0, "acceleration of gravity, down along z",
                   "length units/s^2", 0, 1e12),
            Number("cg_error_decay", 0.1, "how long the error of a prediction takes to fade;"
                   " 0: it is not shown", "s", 0, 0.5, tune=(0.02, 0.5)),
            SNAP_DISTANCE_OR_ERROR,
            Switch("quirks", "off", "compute times, velocities and errors as the original does",
                   tune=False),
        ),
    )

    cdef public Trajectory trajectory, angle_trajectory
    cdef public double cl_time_nudge, tr_duration, gravity, cg_error_decay, snap_distance
    cdef public bint quirks
    cdef SnapshotBuffer snapshots
    cdef bint extrapolated
    cdef double newest_of_all, one_before   # timestamps of the connection's last two snapshots
    cdef bint running                   # the clock, since the first frame with a snapshot
    cdef bint fresh                     # a snapshot has come since the last frame
    cdef readonly double delta          # sender's minus local time, s
    cdef readonly double server_time
    cdef Vec3[double] error
    cdef double error_time

    def configure(self):
        self.check_free()
        self.snapshots.set_capacity(32)  # as in the original
        self.clock_restarts = True

    cdef void clear(self) noexcept nogil:
        self.snapshots.clear()
        self.error = Vec3[double]()

    cdef void clear_clock(self) noexcept nogil:
        self.extrapolated = self.fresh = self.running = False
        self.delta = self.server_time = 0
        self.newest_of_all = self.one_before = -INFINITY

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef Quake3 other = peer
        self.extrapolated, self.fresh, self.running = (
            other.extrapolated, other.fresh, other.running)
        self.delta, self.server_time = other.delta, other.server_time
        self.newest_of_all, self.one_before = other.newest_of_all, other.one_before
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if time > self.newest_of_all and self.begins_round(self.newest_of_all):
            self.one_before, self.newest_of_all = self.newest_of_all, time
            self.fresh = True

    cdef void pass_frame(self, double at) noexcept nogil:
        if self.newest_of_all > -INFINITY:
            self.advance_clock(self.read_time(at))

    cdef double read_time(self, double time) noexcept nogil:
        """Return a time as the original has it, in whole milliseconds; else unchanged."""
        return cut_to_milliseconds(time) if self.quirks else time

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Snapshot resting
        cdef bint late = not self.snapshots.empty() and packet.time <= self.newest
        if not self.same_datagram and (self.connected or not late):
            self.count_datagram(packet.time, now)
        if late:
            return False
        if self.trajectory == INTERPOLATE and not self.snapshots.empty() and (
                self.snapshots.back().time < self.one_before < packet.time):
            resting = self.snapshots.back()
            resting.time = self.one_before
            self.snapshots.append(resting)
        self.snapshots.append(packet, now)
        return True

    cdef bint is_predicted(self) noexcept nogil:
        """Return True if the trajectory is extrapolated from a snapshot instead of interpolated."""
        return self.trajectory not in (INTERPOLATE, STATIONARY, LINEAR_STOP)

    cdef void advance_clock(self, double at) noexcept nogil:
        """Set the server time of the frame at ``at``.

        Adjust the clock if the frame has a new snapshot.
        """
        cdef double newest = self.newest_of_all
        if not self.running:
            self.running, self.fresh = True, False
            self.delta = newest - at
            self.server_time = newest
        self.server_time = max(at + self.delta - self.cl_time_nudge, self.server_time)
        if at + self.delta >= newest - NEARLY:
            self.extrapolated = True
        if self.fresh:
            self.fresh = False
            self.adjust_clock(newest, newest - at)

    cdef void adjust_clock(self, double newest, double delta) noexcept nogil:
        cdef double off = fabs(delta - self.delta)
        if off > RESET:
            self.delta = delta
            self.server_time = newest
        elif off > HALVE:
            self.delta = self.read_time((self.delta + delta) / 2)
        elif self.extrapolated:
            self.extrapolated = False
            self.delta -= BACK
        else:
            self.delta += AHEAD

    cdef void drop_snapshots(self, size_t count, double at) noexcept nogil:
        """Drop the ``count`` oldest snapshots.

        Keep the jump of a predicted position as an error to fade.
        """
        cdef Vec3[double] before = self.evaluate_trajectory().position + self.compute_error(at)
        cdef Vec3[double] error
        cdef double size
        self.snapshots.drop_front(count)
        if not self.is_predicted():
            return
        error = before - self.evaluate_trajectory().position
        size = dot(error, error)
        if size > LEAST_ERROR * LEAST_ERROR and not is_beyond(error, self.snap_distance):
            self.error = error
            self.error_time = at
        else:
            self.error = Vec3[double]()

    cdef Vec3[double] compute_error(self, double at) noexcept nogil:
        """Return the part of the prediction error that is still shown at local time ``at``."""
        cdef double left = 0
        if self.cg_error_decay > 0:
            left = 1 - (at - self.error_time) / self.cg_error_decay
        if left <= 0 or left > 1 or (left == 1 and self.quirks):
            return Vec3[double]()
        return self.error * left

    cdef Motion evaluate_trajectory(self) noexcept nogil:
        """Return position and velocity on the drawn snapshot's trajectory at the server time."""
        cdef const Snapshot* base = &self.snapshots.front()
        return follow_trajectory(self.trajectory, base[0], self.server_time - base.time,
                                 self.tr_duration, self.gravity, self.quirks)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef size_t current
        at = self.read_time(at)
        self.advance_clock(at)
        current = self.snapshots.count_until(self.server_time)
        if current > 1:
            self.drop_snapshots(current - 1, at)
        if self.snapshots.size() > 1 and (
                self.trajectory == INTERPOLATE or self.trajectory == LINEAR_STOP):
            draw_at(self.snapshots[0], self.snapshots[1], self.server_time, self.snap_distance,
                    sample)
            if not is_farther(self.snapshots[0].position, self.snapshots[1].position,
                              self.snap_distance):
                angles_between(self.snapshots[0], self.snapshots[1], fraction_between(
                    self.snapshots[0].time, self.snapshots[1].time, self.server_time), sample)
        else:
            self.draw_trajectory(at, sample)
            if self.snapshots.front().turn.known():
                self.set_rotation(sample)

    cdef void draw_trajectory(self, double at, Sample& sample) noexcept nogil:
        cdef double age = self.server_time - self.snapshots.front().time
        cdef Motion motion = self.evaluate_trajectory()
        motion.position = motion.position + self.compute_error(at)
        if self.is_predicted() or self.trajectory == LINEAR_STOP and age <= self.tr_duration:
            sample.show(motion, EXTRAPOLATED)
        elif self.trajectory == LINEAR_STOP and age > self.tr_duration:
            sample.hold(motion, self.drawn, EXTRAPOLATED)
        else:
            sample.hold(motion, self.drawn, INTERPOLATED)

    cdef void set_rotation(self, Sample& sample) noexcept nogil:
        """Set the sample's rotation from the drawn snapshot's angles and their trajectory."""
        cdef const Snapshot* base = &self.snapshots.front()
        cdef Motion angles
        if self.angle_trajectory in (INTERPOLATE, STATIONARY):
            slerp_between(base[0], base[0], 0, sample)
        else:
            angles.position = angles_from_turn(base.turn.value().rotation)
            angles.velocity = angular_rates(base.turn.value())
            angles = follow_trajectory(self.angle_trajectory, angles, self.server_time - base.time,
                                       self.tr_duration, self.gravity, False)
            sample.turn.set(turn_from_degrees(angles.position, angles.velocity))


# ---------------- trajectories: the motion that a position and a velocity, sent once, imply
# In Quake III, client and server evaluate the same function, so an entity that flies or
# swings needs no more packets. With the age t since the timestamp, in seconds:
#     stationary, interpolate   p
#     linear                    p + v t
#     linear-stop               p + v min(t, duration)
#     sine                      p + v sin(2 pi t / duration)
#     gravity                   p + v t - g t^2 / 2 along z
# Source: Quake III Arena, BG_EvaluateTrajectory; formulas only (its code is GPL-2.0).


cpdef enum Trajectory:
    STATIONARY
    INTERPOLATE
    LINEAR
    LINEAR_STOP
    SINE
    GRAVITY


cdef inline Motion follow_trajectory(Trajectory kind, const Motion& start, double age,
                                     double duration,
                                     double gravity, bint quirks) noexcept nogil:
    """Return position and velocity on a trajectory, ``age`` seconds after its start.

    With ``quirks`` the velocity of ``sine`` is Quake's, which is not the derivative.
    """
    cdef Vec3[double] position = start.position, velocity
    cdef double phase
    if kind == LINEAR or kind == GRAVITY:
        position = start.position + start.velocity * age
        velocity = start.velocity
    elif kind == LINEAR_STOP:
        position = start.position + start.velocity * min(age, duration)
        if age <= duration:
            velocity = start.velocity
    elif kind == SINE:
        phase = 2 * M_PI * age / duration
        position = start.position + start.velocity * sin(phase)
        velocity = start.velocity * (cos(phase) * (0.5 if quirks else 2 * M_PI / duration))
    if kind == GRAVITY:
        position.z -= gravity * age * age / 2
        velocity.z -= gravity * age
    return Motion(position, velocity)
