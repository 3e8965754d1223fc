"""The possible faults of a drawing follow from its settings and a few figures of its frames."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.diagnose.remedies.buffer_faults import BufferFaults
from epic_cli.jobs.diagnose.remedies.chases import ChaseFaults

STAMPS = np.arange(0, 10, 0.05)

#: Frames at 60 Hz of packets at 20 Hz with 30 ms of jitter, some of them two in a frame.
FRAMES: Any = SimpleNamespace(
    interval=0.05,
    frame=1 / 60,
    times=np.arange(0, 10, 1 / 60),
    stamps=STAMPS,
    arrivals=STAMPS + np.resize([0.1, 0.12, 0.09], len(STAMPS)),
    late=0.02,
    missed_turns=0.1,
    usual_speed=5.0,
    high_speed=5.0,
)


@pytest.mark.parametrize(
    ("settings", "causes"),
    [
        ("how=exponential", "chase-lag"),
        ("how=share+share=1", "no-smoothing"),
        ("how=linear+time=1i+start=last", "no-margin"),
        ("how=linear+time=0.1+start=last", "wrong-interval"),
        ("how=linear+time=0.03+start=last", "early-arrival"),
        ("how=linear+time=1i+start=last+ahead=velocity", "predicted-turns"),
        ("how=eased+time=0.05+start=last", "speed-pulses no-margin"),
        ("how=interval+interval=0.02", "early-arrival"),
        ("how=interval+interval=0.1", "wrong-interval"),
        ("how=growing+time=0.05", "fed-back"),
        ("how=growing+time=0.2", ""),
        ("how=force+stiffness=90+damping=7", "swings"),
        ("how=force+stiffness=90+damping=19", "chase-lag"),
        ("how=speed+speed=9", "arrives-and-stands"),
        ("how=speed+speed=3", "falls-behind"),
        ("how=speed+speed=5", ""),
        ("how=speed+speed=9+axes=each", "axes-alone arrives-and-stands"),
        ("ahead=interval", "overshoot chase-lag"),
        ("ahead=interval+velocity_factor=3.6", "overshoot wrong-velocity chase-lag"),
        ("every=0.02", "ticks chase-lag"),
        ("every=0.02+between=lerp", "chase-lag"),
        ("every=0.01", "chase-lag"),  # shorter than frames
        ("how=share+share=0.6+every=packet+drift=1", "packet-jumps"),
        ("how=share+share=0.6+every=packet", "packet-steps"),
        ("how=lerp+time=0.1+every=packet", "message-time packet-steps"),
        ("how=linear+time=1i+interval=arrivals+start=last",
         "measured-interval two-in-a-frame no-margin"),
        ("how=linear+time=1i+interval=stamps+start=last", "no-margin"),
        ("how=linear+time=0.1+start=last+overlap=on", "added-ways"),
        ("how=linear+time=0.1+start=last+overshoot=1.5", "passes-goal wrong-interval"),
        ("how=linear+time=0.1+start=last+end=short+late=take",
         "late-as-new stops-short wrong-interval"),
        ("how=lerp+time=0.1+speed_most=3", "limited-speed chase-lag"),
        ("how=lerp+time=0.1+speed_most=6", "chase-lag"),
        ("how=linear+time=0.12+start=frame", "standing-frame wrong-interval"),
    ],
)  # fmt: skip
def test_the_faults_of_a_chase_follow_from_its_settings(settings: str, causes: str) -> None:
    found = ChaseFaults(read_spec(f"chase+{settings}"), FRAMES)
    assert [*found.iterate_causes()] == causes.split()


@pytest.mark.parametrize(
    ("settings", "empty", "causes"),
    [
        ("delay=0.1", 0.0, ""),
        ("stamps=ticks+clock=newest+delay=1i+late=insert", 0.0, "late-as-new"),
        ("every=0.02", 0.0, "ticks"),
        ("every=packet", 0.0, "packet-steps"),
        ("between=hold", 0.0, "state-steps"),
        ("catch_up=snap+reserve=1", 0.0, "spare-states"),
        ("low_pass=0.05", 0.0, "low-pass"),
        ("clock=first+catch_up=none", 0.0, ""),
        ("clock=first+catch_up=none", 0.1, "growing-delay"),
        ("stamps=ticks+interval=0.1", 0.0, "wrong-constant"),
        ("stamps=ticks+interval=0.04+clock=newest+delay=1i", 0.0, "early-arrival"),
        ("stamps=ticks+interval=0.06+clock=newest+delay=1i", 0.0, "wrong-interval"),
        ("stamps=ticks+interval=0.052", 0.0, ""),
        ("stamps=arrival+delay=1i+interval=arrivals", 0.0, "measured-interval"),
        ("stamps=arrival+delay=0.1+interval=arrivals", 0.0, ""),
        ("keep=3", 0.0, "few-states"),
        ("keep=10", 0.0, ""),
        ("beyond=repeat+keep=3", 0.0, "few-states"),
        ("beyond=0.5", 0.0, "long-extrapolation"),
        ("beyond=0.3", 0.0, ""),
        ("beyond=oldest+keep=3", 0.0, ""),
        ("beyond=oldest+keep=3", 0.1, "oldest-state"),
    ],
)
def test_the_faults_of_a_buffer_follow_from_its_settings(
    settings: str, empty: float, causes: str
) -> None:
    """Let the delay grow by as many seconds as the share of time for which it is ``empty``."""
    supply: Any = SimpleNamespace(empty=empty, grown=(0.1, 0.1 + empty))
    found: Any = SimpleNamespace(strategy=read_spec(f"buffer+{settings}"), supply=supply)
    trials: Any = SimpleNamespace(frames=FRAMES)
    assert [*dict(BufferFaults(found, trials, None).iterate_fixes())] == causes.split()
