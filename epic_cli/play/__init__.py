"""A small networked game over a bad network: prediction, move replay, rewind and optimism.

Each of these uses only those above it:

``world``       what both sides share: arena and rays, rules of movement, moves and events, times
``wire``        the packets
``clock``       the client's clock and what keeps it in step
``client``      the local player and remote players
``server``      the simulation that counts, weapons, lag compensation
``spec``        how a match is played; ``script`` and ``bots`` say by which input
``match``       clients, server and links, and how they are recorded
``statistics``  errors and counts; ``run`` makes rows without a screen, ``report`` writes them

Example:
    >>> from epic_cli.play import Match, MatchSpec
    >>> match = Match(MatchSpec(seed=1))
    >>> match.run_until(2.0)
    >>> [round(value, 3) for value in match.server.get_body(0)[:2]]
    [8.295, 15.079]

"""

from epic_cli.network.link import LinkConditions
from epic_cli.network.link_spec import TwoWays
from epic_cli.play.match import Match
from epic_cli.play.spec import MatchSpec, PlayerConfig

__all__ = ["LinkConditions", "Match", "MatchSpec", "PlayerConfig", "TwoWays"]
