"""The network smoothing of Unreal's character movement."""

from libc.math cimport sqrt

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Quaternion, Sample, Turn, Vec3, clamped, dot,
    is_finite, nlerp, vector_between,
)
from epic_cli.engine.strategies.parts cimport Strategy

from epic_cli.engine.declaration import Declaration, LagVariation, Need
from epic_cli.engine.parameters import Choice, Number, Switch

cpdef enum Mode:
    EXPONENTIAL
    LINEAR
    DISABLED

# How far past the server's time the linear mode's clock may run, in correction intervals.
cdef double OVERSHOOT = 0.15

# How far behind the server's time that clock may be, in intervals between two timestamps.
cdef double MOST_BEHIND = 1.25


cdef class Unreal(Strategy):
    """The capsule jumps to each packet; the mesh, which is what the player sees, follows smoothly.

    The capsule takes the server's position and simulates on with its velocity: also in the frame
    that reads the packet, for all of that frame's time (``bNetworkSkipProxyPredictionOnNetUpdate``
    off). What is drawn is the capsule plus the offset of the mesh, which a correction sets so that
    nothing jumps, and which then goes to zero. With d = position of the capsule in the frame before
    - received position:

        |d| <= max_smooth distance:  offset = offset + d
        |d| <= no_smooth distance:   offset = offset + max_smooth distance * d / |d|
        otherwise:                   offset = 0: a teleport

    exponential, the default of the engine, takes a part of it away each frame of length dt:

        offset = offset * (1 - dt / smooth_time), or 0 if dt >= smooth_time

    with half the smooth time while the character stands. linear takes it away at a steady pace
    on a clock of its own. A packet sets that clock at most min(1.25 * the last step of the
    timestamps, max_client_smoothing_delta_time) behind its timestamp, and never ahead of it; D is
    how far it then is behind. It may run ahead of the timestamp by 15 % of D:

        percent = clamp((D - (timestamp - clock)) / D, 0, 1.15), or 1 if D = 0
        offset  = (offset at the correction) * (1 - percent)

    so that it overshoots by up to 15 % when the next packet is late, except at rest. Good: it is
    cheap, the capsule is never off by more than the network is, and large errors are not smoothed.
    Bad: exponential smoothing depends on the frame rate (at 20 Hz half of the offset goes in a
    frame, at 60 Hz 42 % in the same time), and distances are in the engine's centimeters: set them
    in your own unit.

    A packet with the newest timestamp or an earlier one is discarded. The velocity is the
    capsule's. Rows are ``extrapolated``; without ``prediction`` they are ``interpolated`` while
    there is an offset (``extrapolated`` where the linear mode overshoots), and ``held`` without.
    """

    declaration = Declaration(
        name="unreal",
        summary="Unreal's mesh smoothing: simulates on, fades the offset of each correction",
        needs=(Need.VELOCITY,),
        lag="the age of a packet at the frame before its arrival",
        on_loss="continues as received, forever",
        source="Unreal Engine, UCharacterMovementComponent, public documentation and ports of"
        " the formulas; Epic EULA, no source used",
        proof="formula",
        rotates="the mesh turns by nlerp to the received rotation: exponential, a fraction of the"
        " way each frame; linear, on the mode's clock",
        lag_varies=LagVariation(
            "by up to a frame: the frame that reads a packet simulates all of its own time",
            frames=1,
        ),
        settings=(
            Choice("network_smoothing_mode", "exponential", "how the offset fades to zero", Mode),
            Number("network_simulated_smooth_location_time", 0.1, "smooth time of the"
                   " exponential mode (listen servers: 0.04)", "s", 0, 60, tune=(0.02, 1.0),
                   scale="log"),
            Number("network_simulated_smooth_rotation_time", 0.05, "smooth time of rotations in the"
                   " exponential mode (listen servers: 0.033)", "s", 0, 60),
            Number("network_max_smooth_update_distance", 256.0, "the largest offset that a"
                   " correction adds", "length units", 0, 1e12),
            Number("network_no_smooth_update_distance", 384.0, "a longer correction is a"
                   " teleport", "length units", 0, 1e12),
            Number("max_client_smoothing_delta_time", 0.5, "how far the linear mode's clock may"
                   " be behind", "s", 0.001, 60),
            Switch("prediction", "on", "simulate on with the velocity between packets"),
        ),
    )

    cdef public Mode network_smoothing_mode
    cdef public bint prediction
    cdef public double network_simulated_smooth_location_time
    cdef public double network_simulated_smooth_rotation_time
    cdef public double network_max_smooth_update_distance, network_no_smooth_update_distance
    cdef public double max_client_smoothing_delta_time
    cdef double moved                   # the local time at which the capsule was as received
    cdef Motion capsule                 # as received
    cdef Vec3[double] offset
    cdef Vec3[double] corrected_offset  # the offset at the last correction, of the linear mode
    cdef double server_time, clock, behind      # of the linear mode: timestamp, clock, D
    cdef bint turns
    cdef Turn mesh                      # as drawn
    cdef Quaternion rotation, corrected_rotation    # received; the mesh's at the last correction

    cdef void clear(self) noexcept nogil:
        self.offset = Vec3[double]()
        self.corrected_offset = Vec3[double]()
        self.turns = False

    cdef Vec3[double] simulate_capsule(self, double at) noexcept nogil:
        """Return the capsule's position at local time ``at``, extrapolated if prediction is on."""
        if self.prediction:
            return self.capsule.position + self.capsule.velocity * (at - self.moved)
        return self.capsule.position

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint first = self.empty
        cdef Vec3[double] before
        if not first:
            if packet.time <= self.newest:
                return False
            before = self.simulate_capsule(self.drawn.time)
        self.moved = self.drawn.time        # the frame that reads it simulates on from the last
        self.capsule = packet
        if first:
            self.server_time = self.clock = packet.time
            self.behind = 0
        elif self.network_smoothing_mode != DISABLED:
            self.correct_offset(before - packet.position, packet.time)
        if packet.turn.known():
            self.rotation = packet.turn.value().rotation
            if not self.turns or self.network_smoothing_mode == DISABLED:
                self.mesh = Turn(self.rotation, Vec3[double]())
            self.turns = True
        self.corrected_rotation = self.mesh.rotation
        return True

    cdef void correct_offset(self, Vec3[double] displacement, double timestamp) noexcept nogil:
        """Add the capsule's displacement to the mesh's offset, so that a correction does not move
        the mesh.
        """
        cdef double step = timestamp - self.server_time
        cdef double distance = sqrt(dot(displacement, displacement))
        if distance > self.network_no_smooth_update_distance:
            self.offset = Vec3[double]()
        elif distance > self.network_max_smooth_update_distance:
            self.offset = self.offset + displacement * (
                self.network_max_smooth_update_distance / distance)
        else:
            self.offset = self.offset + displacement
        if not is_finite(self.offset):
            self.offset = Vec3[double]()
        self.corrected_offset = self.offset
        self.server_time = timestamp
        self.behind = clamped(timestamp - self.clock, 0, min(
            step * MOST_BEHIND, self.max_client_smoothing_delta_time))
        self.clock = timestamp - self.behind

    cdef void shrink_offset(self, double elapsed) noexcept nogil:
        """Shrink the mesh's offset by a frame of ``elapsed`` seconds."""
        cdef double time = self.network_simulated_smooth_location_time
        cdef bint stands = dot(self.capsule.velocity, self.capsule.velocity) == 0
        if self.network_smoothing_mode == LINEAR:
            self.clock += elapsed
            if self.behind > 0:
                self.clock = min(self.clock, self.server_time
                                 + (0 if stands else OVERSHOOT * self.behind))
            self.offset = self.corrected_offset * (1 - self.compute_lerp_percent())
            self.rotate_mesh(self.corrected_rotation, self.compute_lerp_percent(), elapsed)
            return
        if stands:
            time *= 0.5
        self.offset = self.offset * (1 - elapsed / time) if elapsed < time else Vec3[double]()
        time = self.network_simulated_smooth_rotation_time
        self.rotate_mesh(self.mesh.rotation, elapsed / time if elapsed < time else 1.0, elapsed)

    cdef void rotate_mesh(self, Quaternion start, double u, double elapsed) noexcept nogil:
        cdef Quaternion rotation
        if not self.turns:
            return
        rotation = nlerp(start, self.rotation, min(u, 1.0))
        self.mesh = Turn(rotation, vector_between(self.mesh.rotation, rotation) * (1 / elapsed))

    cdef double compute_lerp_percent(self) noexcept nogil:
        """Return the share, 0 to 1.15, of the offset that the linear mode has removed."""
        if not self.behind > 0:
            return 1
        return clamped((self.behind - (self.server_time - self.clock)) / self.behind, 0,
                       1 + OVERSHOOT)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Motion motion
        if self.since_drawn(at) > 0:
            self.shrink_offset(self.since_drawn(at))
        motion = Motion(self.simulate_capsule(at) + self.offset, self.capsule.velocity)
        if self.turns:
            sample.turn.set(self.mesh)
        if not is_finite(motion.position):
            motion.position = self.capsule.position     # numbers too large to simulate
        if self.prediction:
            sample.show(motion, EXTRAPOLATED)
        elif dot(self.offset, self.offset) == 0:
            sample.hold(motion, self.drawn, INTERPOLATED)
        elif self.network_smoothing_mode == LINEAR and self.compute_lerp_percent() > 1:
            sample.hold(motion, self.drawn, EXTRAPOLATED)   # past the capsule
        else:
            sample.show(motion, INTERPOLATED)
