"""Engines and games that a strategy imitates, under the names that their users know.

``SYSTEMS`` are public ones: each is a strategy of that name, or a composition that is used under
the system's name (``-s pun2``). Their settings are given in the engine's own words and units.
``CLOSED`` are systems whose source may not be read, or not be used, and those that no composition
imitates. All were read in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from epic_cli.engine.parameters import Setting, parse_plain_number


class EngineWord(NamedTuple):
    """A setting under the name and in the unit that an engine's users know.

    ``words`` is the engine's name for the setting, ``setting`` the strategy's. ``unit`` is empty
    where it is the strategy's unit.
    """

    words: str
    setting: str
    unit: str = ""

    @property
    def is_rate(self) -> bool:
        """True if the engine gives a rate where the strategy's setting is a time."""
        return self.unit in ("Hz", "ticks/s")

    def convert(self, value: float | str) -> str:
        """Return a value in the engine's unit as the text of the strategy's setting.

        A word is returned unchanged.
        """
        number = parse_plain_number(value)
        if number is None or not self.unit:
            return str(value)
        return f"1/{number:.6g}" if self.is_rate else f"{number / 1e3:.6g}"


class System(NamedTuple):
    """An engine or a game, with the strategy or composition that imitates it.

    ``strategy`` is a strategy of the same ``name``, or a composition. ``title`` is the engine and
    its component, ``known_as`` further words of its users. ``source`` is the project, ``license``
    its terms; ``leaves_out`` says what the strategy does not do. ``reads_by_frames`` is True if
    packets are stamped with the time of the frame that reads them; None: unknown. ``example`` are
    usual values of its ``words``.
    """

    name: str
    title: str
    strategy: str
    known_as: tuple[str, ...] = ()
    source: str = ""
    license: str = ""
    leaves_out: str = ""
    reads_by_frames: bool | None = True
    words: tuple[EngineWord, ...] = ()
    example: tuple[tuple[str, float | str], ...] = ()

    @property
    def is_composition(self) -> bool:
        """True if the system is a composition, not a strategy of the same name."""
        return self.strategy != self.name

    @property
    def base(self) -> str:
        """The name of the strategy that the system is a composition of."""
        return self.strategy.partition("+")[0]

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the composition as a dict of texts."""
        return dict(each.split("=", 1) for each in self.strategy.split("+")[1:])

    def write_example(self) -> tuple[str, str]:
        """Return example settings in the engine's words, and as a strategy with settings."""
        own = {word.words: word for word in self.words}
        theirs = [f"{words} {value}" for words, value in self.example]
        ours = [
            f"+{own[words].setting}={own[words].convert(value)}" for words, value in self.example
        ]
        return ", ".join([self.title, *theirs]), "".join([self.name, *ours])


class ClosedSystem(NamedTuple):
    """A system with closed source: what its documentation says, and the nearest strategy."""

    title: str
    documented: str
    nearest: str = ""
    known_as: tuple[str, ...] = ()


def _iterate_words(names: str, unit: str = "") -> Iterator[EngineWord]:
    """Yield an ``EngineWord`` for each pair of engine's name and setting's name in ``names``."""
    parts = iter(names.split())
    for theirs, ours in zip(parts, parts, strict=True):
        yield EngineWord(theirs, ours, unit)


def _iterate_same_names(names: str) -> Iterator[EngineWord]:
    """Yield an ``EngineWord`` for each setting that the engine calls by the same name."""
    for name in names.split():
        yield EngineWord(name, name)


def _iterate_camel_case_names(names: str, first: str = "") -> Iterator[EngineWord]:
    """Yield an ``EngineWord`` for each setting whose name the engine writes in camel case.

    ``first="upper"`` capitalizes the first letter.
    """
    for name in names.split():
        head, *rest = name.split("_")
        theirs = (head.capitalize() if first else head) + "".join(map(str.capitalize, rest))
        yield EngineWord(theirs, name)


_MIRROR = (
    "MirrorNetworking/Mirror", "MIT",
    "it takes packets for the server's time snapshots, which go on while an entity rests",
)  # fmt: skip

SYSTEMS = (
    System(
        "mirror", "Mirror: SnapshotInterpolation", "mirror", ("SnapshotInterpolationSettings",),
        words=(
            EngineWord("Send Rate", "send_interval", "Hz"),
            *_iterate_camel_case_names(
                "buffer_time_multiplier buffer_limit catchup_negative_threshold"
                " catchup_positive_threshold catchup_speed slowdown_speed drift_ema_duration"
                " dynamic_adjustment dynamic_adjustment_tolerance delivery_time_ema_duration"),
        ),
        example=(("Send Rate", 30), ("bufferTimeMultiplier", 2)),
    ),
    System(
        "unity-ngo", "Unity Netcode for GameObjects: NetworkTransform, Interpolate on", "unity-ngo",
        ("BufferedLinearInterpolator", "NetworkManager", "NGO"),
        words=(
            EngineWord("Tick Rate", "tick_rate"),
            EngineWord("Position Interpolation Type", "mode"),
            EngineWord("Position Lerp Smoothing", "position_lerp_smoothing"),
            EngineWord("Position Max Interpolation Time", "position_max_interpolation_time"),
            *_iterate_words(
                "TickLatency tick_latency ServerBufferSec server_buffer HardResetThresholdSec"
                " hard_reset AdjustmentRatio adjustment_ratio"),
        ),
        example=(("Tick Rate", 30),),
    ),
    System(
        "source", "Source: remote entities", "source",
        ("CInterpolatedVar", "sv_maxupdaterate", "sv_minupdaterate", "cl_cmdrate", "net_graph",
         "Garry's Mod", "Counter-Strike", "Team Fortress 2"),
        words=(
            *_iterate_same_names(
                "cl_interp cl_interp_ratio cl_updaterate cl_extrapolate cl_extrapolate_amount"),
            EngineWord("-tickrate", "tick_interval", "ticks/s"),
        ),
        example=(("cl_interp_ratio", 2), ("cl_updaterate", 66), ("-tickrate", 66)),
    ),
    System(
        "quake3", "Quake III Arena: CG_CalcEntityLerpPositions", "quake3",
        ("sv_fps", "snaps", "cl_maxpackets", "ioquake3", "OpenArena", "Xonotic"),
        words=(
            EngineWord("cl_timeNudge", "cl_time_nudge", "ms"),
            EngineWord("cg_errorDecay", "cg_error_decay", "ms"),
            EngineWord("g_gravity", "gravity"),
        ),
        example=(("cl_timeNudge", -10),),
    ),
    System(
        "tick-interpolation", "netfox: TickInterpolator", "tick-interpolation",
        ("Godot physics interpolation", "bevy overstep", "naia", "Fix Your Timestep"),
        words=(
            EngineWord("netfox/time/tickrate", "tick_interval", "Hz"),
            EngineWord("physics_ticks_per_second", "tick_interval", "Hz"),
        ),
        example=(("netfox/time/tickrate", 30),),
    ),
    System(
        "lightyear", "lightyear: InterpolationConfig and SyncConfig", "lightyear", ("bevy",),
        words=(
            EngineWord("tick_duration", "tick_interval"),
            *_iterate_same_names(
                "send_interval min_delay send_interval_ratio jitter_multiple jitter_margin"
                " error_margin max_error_margin consecutive_errors_threshold speedup_factor"),
        ),
        example=(("send_interval_ratio", 1.7), ("min_delay", 0.005)),
    ),
    System(
        "geckos", "geckos.io: SnapshotInterpolation", "geckos", ("Vault", "Phaser"),
        reads_by_frames=False,
        words=(
            EngineWord("serverFPS", "server_fps"),
            EngineWord("interpolationBuffer", "interpolation_buffer", "ms"),
            EngineWord("autoCorrectTimeOffset", "auto_correct_time_offset"),
            EngineWord("setMaxSize", "vault_size"),
        ),
        example=(("serverFPS", 15),),
    ),
    System(
        "luanti", "Luanti (Minetest): SmoothTranslator", "luanti", ("GenericCAO",),
        words=(EngineWord("dedicated_server_step", "update_interval"),),
        example=(("dedicated_server_step", 0.09),),
    ),
    System(
        "unreal", "Unreal Engine: CharacterMovementComponent", "unreal",
        ("ReplicatedMovement", "SmoothClientPosition", "UE5"),
        words=(*_iterate_camel_case_names(
            "network_smoothing_mode network_simulated_smooth_location_time"
            " network_simulated_smooth_rotation_time network_max_smooth_update_distance"
            " network_no_smooth_update_distance max_client_smoothing_delta_time",
            "upper"),),
        example=(("NetworkSimulatedSmoothLocationTime", 0.1),),
    ),
    System(
        "ddnet", "DDNet, Teeworlds: CSmoothTime", "ddnet", ("predicted game tick",),
        words=(EngineWord("SERVER_TICK_SPEED", "tick_interval", "ticks/s"),),
        example=(("SERVER_TICK_SPEED", 50),),
    ),
    System(
        "james-frowen", "NetworkPositionSync: SyncPositionBehaviour", "james-frowen",
        ("Mirage", "InterpolationTime"),
    ),
    System(
        "panda3d", "Panda3D: SmoothMover", "panda3d", ("DistributedSmoothNode",),
        words=(
            *_iterate_words(
                "set_delay delay set_max_position_age max_position_age set_accept_clock_skew"
                " accept_clock_skew set_default_to_standing_still default_to_standing_still"
                " set_expected_broadcast_period expected_broadcast_period"
                " set_reset_velocity_age reset_velocity_age"),
        ),
        example=(("set_delay", 0.2),),
    ),
    System(
        "gambetta", "Gabriel Gambetta's live demo", "gambetta", ("entity interpolation",),
        words=(EngineWord("server update rate", "update_rate"),),
        example=(("server update rate", 3),),
    ),
    System(
        "netcode-for-entities", "Unity Netcode for Entities: interpolated ghosts",
        "netcode-for-entities", ("GhostAuthoringComponent", "NetworkTimeSystem", "DOTS", "N4E"),
        words=(
            EngineWord("SimulationTickRate", "sim_rate"),
            EngineWord("NetworkTickRate", "net_rate"),
            EngineWord("InterpolationTimeNetTicks", "want"),
            EngineWord("MaxExtrapolationTimeSimTicks", "max_extrapolation"),
            EngineWord("InterpolationDelayJitterScale", "jitter_scale"),
            EngineWord("InterpolationDelayMaxDeltaTicksFraction", "delay_max_delta"),
            EngineWord("InterpolationDelayCorrectionFraction", "correction"),
            EngineWord("InterpolationTimeScaleMin", "scale_min"),
            EngineWord("InterpolationTimeScaleMax", "scale_max"),
            EngineWord("ClampPartialTicksThreshold", "clamp_partial"),
            EngineWord("Quantization", "quantization"),
            EngineWord("MaxSmoothingDistance", "snap_distance"),
        ),
        example=(("SimulationTickRate", 60), ("NetworkTickRate", 20)),
    ),
    System(
        "minecraft", "Minecraft Java, up to 26.2", "minecraft",
        ("lerpSteps", "partialTick", "ClassiCube", "mineflayer", "Paper", "Spigot"),
        words=(
            EngineWord("lerpSteps", "steps"), EngineWord("TPS", "tick", "ticks/s"),
        ),
        example=(("lerpSteps", 3), ("TPS", 20)),
    ),
    System(
        "chrono", "Chrono: characters on Roblox", "chrono", ("Roblox", "InterpolationBuffer"),
        words=(
            EngineWord("MIN_BUFFER", "least"), EngineWord("MAX_BUFFER", "most"),
            EngineWord("BUFFER", "buffer"), EngineWord("TICK_RATE", "tick"),
        ),
        example=(("MIN_BUFFER", 0.09), ("MAX_BUFFER", 0.5)),
    ),
    # ---------------------------------------------------------- compositions under their own names
    System(
        "bevy-replicon-snap", "bevy_replicon_snap",
        "buffer+stamps=ticks+interval=0.05+clock=newest+delay=1i",
        ("bevy_replicon", "max_tick_rate"), "Bendzae/bevy_replicon_snap 0.2.4", "MIT",
        "", words=(EngineWord("max_tick_rate", "interval", "Hz"),),
        example=(("max_tick_rate", 20),),
    ),
    System(
        "colyseus", "Colyseus: the tutorial with Phaser", "chase+how=share+share=0.2",
        ("Phaser.Math.Linear", "Schema"), "colyseus/tutorial-phaser", "MIT",
        "its steps depend on the frame rate: draw it at the game's (--tick 60hz)",
        words=(EngineWord("Linear", "share"),), example=(("Linear", 0.2),),
    ),
    System(
        "goldsrc", "GoldSrc (Half-Life, Counter-Strike 1.6)", "buffer+delay=0.1+beyond=0.2i",
        ("HLDS",), "Half-Life SDK (Valve)",
        "Half-Life SDK license, formulas only",
        "its clock was not read: clocks must agree here",
        words=(EngineWord("ex_interp", "delay"),), example=(("ex_interp", 0.1),),
    ),
    System(
        "mirror-reliable", "Mirror: NetworkTransform (Reliable)",
        "mirror+timeline_offset=1+pause=5i", ("NetworkTransformReliable", "timelineOffset"),
        *_MIRROR, words=(EngineWord("Send Rate", "send_interval", "Hz"),),
        example=(("Send Rate", 60),),
    ),
    System(
        "mirror-unreliable", "Mirror: NetworkTransform (Unreliable)",
        "mirror+timeline_offset=1+pause=5i+buffer_reset_multiplier=3",
        ("NetworkTransformUnreliable", "bufferResetMultiplier"), *_MIRROR,
        words=(
            EngineWord("Send Rate", "send_interval", "Hz"),
            EngineWord("bufferResetMultiplier", "buffer_reset_multiplier"),
        ),
        example=(("Send Rate", 60), ("bufferResetMultiplier", 3)),
    ),
    System(
        "naia", "naia: the demo", "tick-interpolation", ("naia-bevy",), "naia-lib/naia",
        "MIT or Apache-2.0",
    ),
    System(
        "networked-aframe", "networked-aframe, Mozilla Hubs: buffered-interpolation",
        "buffer+stamps=arrival+delay=0.1+beyond=reuse+equal=last",
        ("A-Frame", "InterpolationBuffer"), "InfiniteLee/buffered-interpolation 0.1.0",
        "MPL-2.0, formulas only",
    ),
    System(
        "photon-tutorial", "Photon's tutorial: lag compensation", "chase+how=linear+time=1i",
        ("OnPhotonSerializeView",), "Photon's documentation", "formulas only",
        "by formula, not run",
    ),
    System(
        "pun2", "Photon PUN 2: PhotonTransformView",
        "chase+how=interval+ahead=step+ahead_time=unlimited",
        ("PhotonNetwork.SerializationRate", "Photon Unity Networking"),
        "Photon Unity Networking 2 (Exit Games)", "Exit Games' terms, formulas only", "",
        words=(EngineWord("SerializationRate", "interval", "Hz"),),
        example=(("SerializationRate", 10),),
    ),
    System(
        "pun2-rigidbody", "Photon PUN 2: PhotonRigidbodyView",
        "chase+how=interval+interval=0.2+every=0.02",
        ("PhotonRigidbodyView", "m_SynchronizeVelocity", "Photon Unity Networking"),
        "Photon Unity Networking 2 (Exit Games)", "Exit Games' terms, formulas only",
        "Synchronize Velocity, with which physics moves the body, too; the interval is the fixed"
        " time step times the SerializationRate",
        words=(EngineWord("Fixed Timestep", "every"),), example=(("Fixed Timestep", 0.02),),
    ),
    System(
        "purrnet", "PurrNet: NetworkTransform, classic interpolation",
        "buffer+stamps=ticks+interval=0.05+clock=first+delay=0+catch_up=none+max_buffer=2",
        ("TickManager", "Interpolated"), "PurrNet/PurrNet 1.20", "MIT",
        "adaptive sync, which skips sends and draws arcs, is off",
        words=(
            EngineWord("Tick Rate", "interval", "Hz"),
            EngineWord("Min Buffer Size", "min_buffer"),
            EngineWord("Max Buffer Size", "max_buffer"),
        ),
        example=(("Tick Rate", 20), ("Min Buffer Size", 2), ("Max Buffer Size", 5)),
    ),
    System(
        "sauerbraten", "Sauerbraten, Red Eclipse",
        "dead-reckoning+age=rtt+rtt=0+correction_time=0.075+snap_distance=32",
        ("smoothmove", "smoothdist", "Cube 2"), "Cube 2: Sauerbraten", "zlib",
        "by formula, not run",
        words=(EngineWord("smoothmove", "correction_time", "ms"),
               EngineWord("smoothdist", "snap_distance")),
        example=(("smoothmove", 75), ("smoothdist", 32)),
    ),
    System(
        "sbox", "s&box: NetworkTransform", "buffer+stamps=arrival+delay=0.1+forget=0.3+equal=last",
        ("s&box", "Facepunch", "InterpolationBuffer"), "Facepunch/sbox-public", "MIT",
    ),
    System(
        "second-life", "Second Life, Firestorm: LLViewerObject",
        "chase+how=share+share=1+ahead=velocity+age=arrival+ahead_time=unlimited+fade_after=2",
        ("phase out update interpolation", "OpenSim", "InterpolationTime"),
        "secondlife/viewer", "LGPL-2.1, formulas only",
        "its motion fades out after 2 s without packets of the entity, not of the whole circuit",
    ),
    System(
        "ss14", "Space Station 14: RobustToolbox",
        "tick-interpolation+buffer_size=2+snap_distance=2",
        ("RobustToolbox", "TransformSystem", "GameStateProcessor"), "space-wizards/RobustToolbox",
        "MIT", "less than 0.001 units a tick, which it draws at the next tick, is drawn on the way",
        words=(
            EngineWord("net.tickrate", "tick_interval", "Hz"),
            EngineWord("net.buffer_size", "buffer_size"),
        ),
        example=(("net.tickrate", 30), ("net.buffer_size", 2)),
    ),
    System(
        "state-synchronization", "Gaffer On Games: State Synchronization",
        "chase+how=share+share=0.05+share_far=0.15+start=last+ahead=velocity+age=arrival"
        "+ahead_time=unlimited+drift=1+playout_delay=0.075",
        ("jitter buffer", "visual smoothing", "error reduction"), "Glenn Fiedler's article",
        "formulas only", "its shares are those of 60 frames a second",
    ),
)  # fmt: skip

CLOSED = (
    ClosedSystem(
        "Photon Fusion", "remote objects are drawn between two snapshots, at a time of their own"
        " that is behind the server's", "mirror", ("NetworkTransform", "RemoteTimeframe"),
    ),
    ClosedSystem(
        "Photon Quantum", "frames are predicted and rolled back; views are drawn between two frames"
        " and errors fade", "tick-interpolation", ("QuantumEntityView",),
    ),
    ClosedSystem(
        "Netick", "NetworkTransform draws between two snapshots, behind the server's time",
        "mirror", ("NetworkTransform", "Interpolation Source"),
    ),
    ClosedSystem(
        "Roblox' own replication", "200 to 500 ms behind, as Chrono's page says",
        "buffer+delay=0.3", ("Roblox",),
    ),
    ClosedSystem(
        "FiveM", "the game's own code blends; nothing of it is documented", "", ("GTA", "RAGE"),
    ),
    ClosedSystem(
        "Unreal Mover", "simulated actors are drawn between two states of a buffer, in fixed ticks",
        "buffer+delay=0.1", ("NetworkPrediction", "FixedTickInterpolationBufferedMS"),
    ),
    ClosedSystem(
        "Unreal Iris", "it replicates properties; how they are drawn is the component's",
        "unreal", ("ReplicationSystem",),
    ),
    ClosedSystem(
        "Unity's HLAPI (UNet): NetworkTransform", "without a rigidbody it draws the newest state;"
        " a rigidbody gets the velocity that leads to the newest state in one send interval, and"
        " physics moves it on", "chase+how=lerp+time=0.1+every=0.02",
        ("m_InterpolateMovement", "UNet", "NetworkTransform"),
    ),
    ClosedSystem(
        "Space Station 14 (RobustToolbox)", "each tick takes the next state of a buffer of four,"
        " frames are drawn between two ticks, and ticks are up to a tenth faster or slower for each"
        " state that the buffer has too many or too few", "tick-interpolation+snap_distance=2",
        ("SS14", "net.buffer_size", "net.interp", "net.state_buf_merge_threshold"),
    ),
    ClosedSystem(
        "FishNet", "its license bars networking software from using what its source says",
    ),
)  # fmt: skip


@cache
def compositions() -> Mapping[str, System]:
    """Return the systems that are compositions, by name."""
    return {system.name: system for system in SYSTEMS if system.is_composition}


def find_system(name: str) -> System | None:
    """Return the system with this name, or None."""
    return next((system for system in SYSTEMS if system.name == name), None)


class FoundWord(NamedTuple):
    """A search result: a system, and the setting if the searched word is one of its settings."""

    system: System | ClosedSystem
    word: EngineWord | None = None


def find_word(text: str) -> list[FoundWord]:
    """Return the systems that know a word; systems with a setting of that name come first."""
    wanted = simplify_word(text)
    if not wanted:
        return []
    words = [
        FoundWord(system, word)
        for system in SYSTEMS
        for word in system.words
        if wanted in (simplify_word(word.words), simplify_word(word.setting))
    ]
    taken = [found.system for found in words]
    names = [
        FoundWord(system)
        for system in (*SYSTEMS, *CLOSED)
        if system not in taken
        and any(wanted in simplify_word(name) for name in _list_names(system))
    ]
    return words + names


def _list_names(system: System | ClosedSystem) -> tuple[str, ...]:
    own = (system.name, system.source) if isinstance(system, System) else ()
    return system.title, *own, *system.known_as


def simplify_word(text: str) -> str:
    """Return the letters and digits of a word, in lower case."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def find_setting(word: EngineWord, settings: tuple[Setting, ...]) -> Setting:
    """Return the strategy's setting that an engine's word stands for."""
    return next(setting for setting in settings if setting.name == word.setting)
