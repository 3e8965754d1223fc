"""Fixed simulation steps whose states are sent and stamped at other times."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import VELOCITIES, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.stamps import mend_stamps
from epic_cli.jobs.diagnose.remedies.packets import measure_needed_delay
from epic_cli.metrics.arrays import compute_quantile
from epic_cli.metrics.traffic import USUAL_RATES, Traffic, measure_concentration

#: Mean resultant lengths: the states' is at least this, the stamps' at most that.
STATES = 0.95
STAMPS = 0.92

#: This share of the intervals is within this many simulation steps of the stamps'.
NEARLY_ALL, MOST = 0.98, 1.05

#: If this share of the steps takes the same number of simulation steps, nothing beats.
ALIKE = 0.97


def detect(traffic: Traffic) -> list[Finding]:
    """Find a usual tick rate that fits the times of the states, but not their stamps."""
    for stream in (entity.excerpt for entity in traffic.streams):
        steady = stream.elapsed
        if steady is None:
            continue
        stamped = stream.intervals[steady.steps]
        # a beat takes or gives a step, and none goes back
        off = compute_quantile(np.abs(steady.took - stamped), NEARLY_ALL)
        if float((steady.took > 0).mean()) < NEARLY_ALL:
            continue
        for rate in USUAL_RATES:
            if off > MOST / rate:
                continue
            counts = np.round(steady.took * rate)
            usual = counts[stamped < 1.5 * stream.period]  # not those in which packets were lost
            if len(usual) and np.unique(usual, return_counts=True)[1].max() > ALIKE * len(usual):
                continue  # always as many steps
            by_states = measure_concentration(steady.took, 1 / rate)
            by_stamps = measure_concentration(stamped, 1 / rate)
            if by_states > STATES and by_stamps < STAMPS:
                return [
                    Finding(
                        "fixed-step",
                        min(1.0, 1 / rate / stream.period),
                        by_states,
                        STATES,
                        {"rate": float(rate), "step": 1 / rate, "stamps": by_stamps},
                        entities=stream.entities,
                        remedy=mend_stamps(1 / rate, measure_needed_delay(traffic)),
                    )
                ]
    return []


DETECTOR = Detector(
    "fixed-step",
    "the simulation's step beats against the frames",
    "By their velocities, states are multiples of {step:s} apart ({rate:number} Hz), but their"
    " stamps are not.",
    "One packet has a simulation step more than the next: what is drawn speeds up and slows down"
    " with the beat of the two rates.",
    "Send and stamp in the simulation step (FixedUpdate, _physics_process), or send the state"
    " interpolated to the frame's time.",
    "mean cosine of the phases of displacement over velocity, and of the stamps' intervals, on the"
    " lattices of usual rates",
    f"it is above {STATES} for the states and below {STAMPS} for the stamps",
    'Rayleigh\'s test (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    detect,
    needs=(VELOCITIES,),
    explains=("stamps",),
    rank=69,
)
