"""Shows what a networked game would draw: packets in, smoothed positions out.

Example:
    >>> from epic_cli import Packet, replay
    >>> packets = [Packet((t * 10, 0.0, 0.0), (10.0, 0.0, 0.0), t) for t in (0.0, 0.1, 0.2)]
    >>> for sample in replay(packets):
    ...     print(f"{sample.time:.2f} {sample.position[0]:.2f} {sample.status}")
    0.05 0.50 interpolated
    0.10 1.00 interpolated
    0.15 1.50 interpolated
    0.20 2.25 interpolated
    0.25 2.62 interpolated
    0.30 3.31 interpolated
    0.35 3.66 interpolated

"""

from __future__ import annotations

TYPE_CHECKING = False  # typing is loaded within ``main.run``, which an interrupt ends in silence
if TYPE_CHECKING:
    from typing import Any

    from epic_cli.api.arrays import replay_array
    from epic_cli.api.comparing import compare
    from epic_cli.api.diagnosing import Explanation, diagnose, explain, link_of
    from epic_cli.api.inspecting import inspect
    from epic_cli.api.listening import PacketListener, listen
    from epic_cli.api.reading import PacketReader, RecordingWarning, RefusedLine, read_packets
    from epic_cli.api.replaying import RefusedPacket, replay
    from epic_cli.api.tuning import tune, tune_bytes
    from epic_cli.engine.contract import Packet, Sample, SmoothingStrategy, Status, Vector
    from epic_cli.engine.declaration import Declaration
    from epic_cli.engine.failures import StrategyFailed, StrategyInUse
    from epic_cli.engine.parameters import Choice, Number, Setting, SettingError, Switch
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.engine.strategies import UnknownStrategy
    from epic_cli.jobs.diagnose.detectors import Detector, Finding
    from epic_cli.jobs.diagnose.run import Diagnosis
    from epic_cli.jobs.inspect.run import Inspection
    from epic_cli.jobs.tune.bytes_front import BytesFronts
    from epic_cli.jobs.tune.design import Design
    from epic_cli.jobs.tune.run import Tuning, Tunings
    from epic_cli.metrics.comparison import Comparison, Result
    from epic_cli.recordings.read_spec import ReadSpec

__version__ = "0.1.0"

__all__ = [
    "BytesFronts",
    "Choice",
    "Comparison",
    "Declaration",
    "Design",
    "Detector",
    "Diagnosis",
    "Explanation",
    "Finding",
    "Inspection",
    "Number",
    "Packet",
    "PacketListener",
    "PacketReader",
    "ReadSpec",
    "RecordingWarning",
    "RefusedLine",
    "RefusedPacket",
    "Result",
    "Sample",
    "Setting",
    "SettingError",
    "SmoothingStrategy",
    "Status",
    "StrategyFailed",
    "StrategyInUse",
    "Switch",
    "Timing",
    "Tuning",
    "Tunings",
    "UnknownStrategy",
    "Vector",
    "__version__",
    "compare",
    "diagnose",
    "explain",
    "inspect",
    "link_of",
    "listen",
    "read_packets",
    "replay",
    "replay_array",
    "strategies",
    "strategy",
    "tune",
    "tune_bytes",
]  # fmt: skip

#: Where the names above are. The command line starts faster without most of them.
_PLACES = {
    "epic_cli.metrics.comparison": ("Comparison", "Result"),
    "epic_cli.jobs.diagnose.run": ("Diagnosis",),
    "epic_cli.jobs.diagnose.detectors": ("Detector", "Finding"),
    "epic_cli.jobs.tune.bytes_front": ("BytesFronts",),
    "epic_cli.jobs.tune.design": ("Design",),
    "epic_cli.jobs.tune.run": ("Tuning", "Tunings"),
    "epic_cli.api.arrays": ("replay_array",),
    "epic_cli.api.comparing": ("compare",),
    "epic_cli.api.diagnosing": ("Explanation", "diagnose", "explain", "link_of"),
    "epic_cli.api.listening": ("PacketListener", "listen"),
    "epic_cli.jobs.inspect.run": ("Inspection",),
    "epic_cli.api.inspecting": ("inspect",),
    "epic_cli.api.reading": ("PacketReader", "RecordingWarning", "RefusedLine", "read_packets"),
    "epic_cli.api.replaying": ("RefusedPacket", "replay"),
    "epic_cli.api.tuning": ("tune", "tune_bytes"),
    "epic_cli.engine.contract": ("Packet", "Sample", "SmoothingStrategy", "Status", "Vector"),
    "epic_cli.engine.declaration": ("Declaration",),
    "epic_cli.engine.failures": ("StrategyFailed", "StrategyInUse"),
    "epic_cli.engine.parameters": ("Choice", "Number", "Setting", "SettingError", "Switch"),
    "epic_cli.engine.strategies": ("UnknownStrategy",),
    "epic_cli.recordings.read_spec": ("ReadSpec",),
    "epic_cli.engine.replay.playback": ("Timing",),
}


def strategy(name: str, **settings: float | str) -> SmoothingStrategy:
    """Return a new strategy by its name, with the settings that differ from their defaults.

    Raises ``UnknownStrategy`` or ``SettingError`` (both are ``ValueError``), with the nearest
    name or the allowed range, and ``StrategyFailed`` where somebody's own strategy raises
    something when it is loaded or made.
    """
    from epic_cli.engine.strategies import create

    return create(name, settings)


def strategies() -> list[Declaration]:
    """Return the declarations of all strategies: name, settings, needs and source.

    Warns (``RuntimeWarning``) of those of other packages that cannot be used.
    """
    import warnings

    from epic_cli.engine.strategies import list_declarations, list_unusable

    for plugin in list_unusable():
        warnings.warn(str(plugin), RuntimeWarning, stacklevel=2)
    return list_declarations()


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _PLACES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
