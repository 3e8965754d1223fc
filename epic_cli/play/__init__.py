"""A small networked game over a bad network: prediction, move replay, rewind and optimism.

Rooms, each of which uses only those above it: ``world`` (what server and clients share), ``wire``
(the packets), ``client`` and ``server``, ``match`` (who plays, over which links), ``report``.


Example:
    >>> from epic_cli.play import Match, MatchSpec
    >>> match = Match(MatchSpec(seed=1))
    >>> match.run_until(2.0)
    >>> [round(value, 3) for value in match.server.body(0)[:2]]
    [8.295, 15.079]

"""

from epic_cli.network.conditions import LinkConditions
from epic_cli.play.match.match import Match
from epic_cli.play.match.spec import MatchSpec, PlayerConfig

__all__ = ["LinkConditions", "Match", "MatchSpec", "PlayerConfig"]
