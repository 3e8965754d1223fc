"""What filters and dead reckoning draw between packets: a state that goes on."""

from libc.math cimport fabs

from epic_cli.engine.vectors cimport clamped, is_finite
from epic_cli.engine.packets cimport EXTRAPOLATED, HELD, Sample
from epic_cli.engine.vec3 cimport Vec3


cdef inline void draw_predicted(Sample& sample, Vec3[double] position, Vec3[double] velocity,
                                double ahead, double limit) noexcept nogil:
    """Draws position + velocity * ahead; no more than ``limit`` seconds ahead, then it holds."""
    sample.position = position + velocity * clamped(ahead, -limit, limit)
    sample.status = EXTRAPOLATED if fabs(ahead) <= limit else HELD
    if not is_finite(sample.position):
        sample.position = position      # numbers too large to predict with
    elif sample.status == EXTRAPOLATED:
        sample.velocity = velocity
