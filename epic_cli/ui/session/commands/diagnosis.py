"""Why what is typed or loaded jitters: ``:diagnose``."""

from __future__ import annotations

from epic_cli.ui.session.command_table import command
from epic_cli.ui.session.dialogue import Dialogue


@command("diagnose")
def diagnose(dialogue: Dialogue) -> None:
    """Say why the packets so far jitter: causes, evidence and cures.

    If the session's strategy has a delay buffer, how often it runs empty is looked at, too.
    """
    from epic_cli.analysis.diagnosis.diagnose import diagnose as run
    from epic_cli.analysis.diagnosis.spec import DiagnoseSpec
    from epic_cli.analysis.diagnosis.traffic import TooFewPackets, traffic_of
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay import separate
    from epic_cli.views.diagnosis.report import report
    from epic_cli.views.text import ReportText

    session = dialogue.session
    entities: dict[str, PacketBlock] = {}
    for _, block in session.packets.blocks():
        separate(block, entities)
    view = session.view
    own = view.strategy._replace(label=view.strategy.name)
    try:
        found = run(traffic_of(entities, DiagnoseSpec((own,))))
    except TooFewPackets as error:
        dialogue.screen.say(f"not enough to say yet: {error}")
        return
    dialogue.screen.show(ReportText(report("this session", found)))


COMMANDS = [diagnose]
