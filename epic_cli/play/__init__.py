"""A small networked game over a bad network: prediction, move replay, rewind and optimism.

Rooms, each of which uses only those above it:

``world``   what both sides share: arena and rays, rules of movement, moves and events, times
``wire``    the packets
``client``  the local player, remote players, the client's clock and what keeps it in step
``server``  the simulation that counts, weapons, lag compensation
``match``   who plays, over which links, by which bots and scripts; how it is recorded
``report``  rows, errors, statistics, and what three screens show

Example:
    >>> from epic_cli.play import Match, MatchSpec
    >>> match = Match(MatchSpec(seed=1))
    >>> match.run_until(2.0)
    >>> [round(value, 3) for value in match.server.body(0)[:2]]
    [8.295, 15.079]

"""

from epic_cli.network.link import LinkConditions
from epic_cli.play.match.match import Match
from epic_cli.play.match.spec import MatchSpec, PlayerConfig

__all__ = ["LinkConditions", "Match", "MatchSpec", "PlayerConfig"]
