"""Eases for those who read drawings."""

from epic_cli.engine.strategies.parts.eases cimport ease


def compute_eases(Easing curve, const double[::1] u, double[::1] eased):
    """Write the fractions of a way that are covered at the fractions ``u`` of its duration."""
    cdef Py_ssize_t k
    for k in range(u.shape[0]):
        eased[k] = ease(<int>curve, u[k])
