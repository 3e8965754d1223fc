"""A small networked game: prediction, move replay, rewind and optimism over a bad network.

Example:
    >>> from epic_cli.play import Match, MatchSettings
    >>> match = Match(MatchSettings(seed=1))
    >>> match.run_until(2.0)
    >>> [round(value, 3) for value in match.server.body(0)[:2]]
    [8.295, 15.079]

"""

from epic_cli.play.match import Match
from epic_cli.play.settings import LinkConditions, MatchSettings, Seat

__all__ = ["LinkConditions", "Match", "MatchSettings", "Seat"]
