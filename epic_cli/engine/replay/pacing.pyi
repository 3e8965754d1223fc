from epic_cli.engine.replay.clocks import Clock

class Pacing:
    @property
    def clock(self) -> Clock: ...

class DemoPacing(Pacing):
    def __init__(self, clock: Clock) -> None: ...

class ArrivalPacing(Pacing):
    def __init__(self, clock: Clock, latency: float = ...) -> None: ...
