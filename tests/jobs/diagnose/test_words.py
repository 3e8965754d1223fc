"""A description says all that a composition's settings say."""

from __future__ import annotations

import pytest

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.jobs.diagnose.mechanism import Mechanism
from epic_cli.jobs.diagnose.report.compositions import describe_composition


def describe(spec: StrategySpec) -> str:
    return describe_composition(Mechanism(spec, 0.0, True, 0.05))


@pytest.mark.parametrize(
    "composition",
    [
        "chase+how=linear+time=1i+start=last+interval=frames+ahead=interval+every=0.04+between=lerp",
        "chase+how=share+share=0.3+every=0.017+phase=packet+start=last+between=lerp+axes=each"
        "+dead_zone=0.05+snap_near=0.02+steps=2+speed_most=4",
        "chase+how=eased+time=1i+interval=stamps+start=last+end=short+late=take"
        "+interval_least=0.03+interval_late=0.2",
        "chase+how=linear+time=1i+start=last+interval=frames+interval_share=0.1+overshoot=1.5",
        "chase+how=growing+time=1i+interval=arrivals+snap_after=0.6+dead_zone=0.03+rounding=0.017",
        "chase+how=speed+speed=3+axes=each+snap=2.17+ahead=arrival+age=absolute",
        "chase+how=speed+speed=fastest+interval=frames+snap=9",
        "chase+how=speed+speed=0.2+step_time=1+axes=each+dead_band=0.3",
        "chase+how=spring+every=0.02+drift=0.5+drift_share=0.5+velocity=before",
        "chase+how=force+stiffness=90+damping=7+integration=exact+ahead=velocity+velocity=arrivals",
        "chase+how=force+stiffness=90+damping=7+ahead=interval+velocity=stamps+velocity_share=0.4",
        "chase+how=force+stiffness=90+damping=7+speed_most=3+snap_near=0.01+steps=2",
        "chase+how=eased+ease=css-ease+time=7+step_time=1+start=frame",
        "chase+how=eased+ease=out-cubic+time=0.06+drift=0.7+end=short+every=0.02+start=last",
        "chase+how=eased+ease=in-out-sine+time=2.5i+interval=frames+overlap=on+start=frame+snap=4",
        "chase+how=linear+time=0.3+overlap=on+every=0.01+phase=packet+start=last",
        "chase+how=lerp+time=0.3+speed_least=2+speed_most=6+snap_near=0.05",
        "chase+how=lerp+time=0.2+every=packet+drift=1+repeated=drop",
        "chase+how=eased+ease=in-out-back+time=0.16+start=transition",
        "chase+how=share+share=0.05+share_far=0.3+far_from=0.1+far_at=0.5+mean_of=3+repeated=drop",
        "chase+how=linear+time=1i+start=last+interval=arrivals+times=milliseconds",
        "buffer+stamps=ticks+clock=median+delay=1.8i+jitter_margin=1+curve=catmull-rom"
        "+low_pass=0.03",
        "buffer+stamps=arrival+delay=1i+interval=arrivals+interval_most=0.06+late=sort+beyond=chase"
        "+beyond_lerp=0.1",
        "buffer+delay=1.5i+interval=stamps+interval_count=7+beyond=0.5i+jitter_margin=1"
        "+jitter=stamps+delay_rise=0.4",
        "buffer+clock=newest+delay=1i+interval=stamps+catch_up=none+catch_up_limit=0.1"
        "+when_empty=stop+reserve=1+reserve_time=0.1",
        "buffer+clock=mean+delay=0.15+catch_up=lerp+catch_up_rate=2+catch_up_near=0.01"
        "+catch_up_most=0.1+delay_from=newest",
        "buffer+stamps=arrival+late=insert+catch_up=dequeue+reserve=1",
        "buffer+clock=mean+clock_count=4+delay=0.08+every=packet+between=hold+jitter_margin=0.5"
        "+jitter=spread+jitter_count=6",
        "buffer+clock=median+clock_count=6+delay=0.02+jitter_margin=2+jitter=intervals"
        "+catch_up=rate+when_empty=run",
        "buffer+catch_up=fill+catch_up_rate=0.5+still=skip+pace=0.9+min_buffer=2",
        "buffer+stamps=arrival+delay=2i+interval=arrivals+interval_share=0.1+keep=3+before=newest"
        "+copy_before=0.04",
        "buffer+catch_up=clamp+keep=2+every=0.03+phase=frame",
        "buffer+catch_up=dequeue+every=0.03+phase=step+reserve=1",
        "buffer+clock=newest+delay=0.15+catch_up=rate+start=last+low_pass=0.02+times=milliseconds"
        "+jitter_margin=1+jitter=changes",
        "buffer+delay=0.15+catch_up=slow+catch_up_rate=0.1+curve=hermite+curve_time=0.07",
        "buffer+stamps=arrival+delay=0.03+jitter_margin=1+jitter=longest+jitter_count=8"
        "+delay_least=0.05+delay_most=0.25+forget=0.2+forget_keeps=2+rounding=0.01"
        "+rounding_of=states",
    ],
)
def test_each_setting_of_a_composition_is_said(composition: str) -> None:
    """Leave out each setting, and change each number: it says something else."""
    spec = read_spec(composition)
    said = describe(spec)
    for name, value in spec.settings.items():
        rest = {key: other for key, other in spec.settings.items() if key != name}
        others = [StrategySpec(spec.name, rest)]
        if isinstance(value, float):
            others.append(StrategySpec(spec.name, {**spec.settings, name: 2 * value}))
        for other in others:
            assert describe(other) != said, name
    assert said.count("  ") == 0
