from __future__ import annotations

import itertools
from typing import Any

from epic_cli.play.legend import describe_event
from epic_cli.play.spec import MatchSpec
from epic_cli.play.world import Event


def test_what_a_shot_would_be_in_the_other_world_is_said_where_it_differs() -> None:
    for rewound, present, hit in itertools.product([False, True], repeat=3):
        worlds: dict[str, Any] = {"hit": hit, "rewound": rewound, "present": present}
        shot = Event(0.0, "server", "shot", "A", worlds | {"moved": 1.0, "behind_cover": False})
        said = describe_event(shot, MatchSpec(), "A")
        assert said.startswith(f"A's shot {'HITS' if hit else 'MISSES'}")
        assert ("with rewind and without" in said) == (not rewound and not present)
        assert ("with rewind: hit" in said, "without: hit" in said) == (rewound, present)
