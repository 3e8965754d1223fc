"""The lines of the guide for games to copy, run as they stand there."""

import re
import shutil
import subprocess
from pathlib import Path

from support.datagrams import Receiver, receiver
from support.places import ROOT

from epic_cli.engine.contract import Packet
from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout

GUIDE = (ROOT / "epic_cli" / "live" / "README.md").read_text()

#: What the guide's lines are put into: main programs that report one state.
MAINS = {
    "js": '{}\nreport("tank", 0.5, 1, 2, 3);\nsetTimeout(() => udp.close(), 200);\n',
    "cpp": "{}\nint main() {{ report(State{{500, 1, 2, 3, 7}}); }}\n",
    "py": '{}\nreport("tank", 0.5, 1, 2, 3)\n',
}


def lines_for(kind: str, game: Receiver) -> str:
    """Return the first example in a language within a main program, sent to this port."""
    found = re.search(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)
    assert found
    assert found[1].count("9870") == 1
    return MAINS[kind].format(found[1].replace("9870", game.port))


def only_packet(decoder: Decoder, datagram: bytes) -> Packet:
    """Return the only packet of a datagram."""
    (decoded,) = decoder.read([datagram])
    assert decoded.block is not None
    assert len(decoded.block) == 1
    return decoded.block[0]


def test_what_python_and_javascript_send_is_read(tmp_path: Path) -> None:
    for kind, program in (("py", "python3"), ("js", "node")):
        if shutil.which(program) is None:
            continue  # Python is there
        with receiver() as game:
            path = tmp_path / f"sender.{kind}"
            path.write_text(lines_for(kind, game))
            subprocess.run([program, path], check=True, timeout=600)
            packet = only_packet(Decoder(), game.one())
        assert (packet.entity, packet.time, packet.position) == ("tank", 0.5, (1, 2, 3))


def test_what_cpp_sends_is_read(tmp_path: Path) -> None:
    layout = re.search(r"C\+\+, binary, for `--layout '(.*?)'`", GUIDE)
    assert layout
    with receiver() as game:
        path = tmp_path / "sender.cpp"
        path.write_text(lines_for("cpp", game))
        subprocess.run(["g++", "-o", tmp_path / "sender", path], check=True, timeout=600)
        subprocess.run([tmp_path / "sender"], check=True, timeout=600)
        packet = only_packet(Decoder(records=RecordLayout(layout[1])), game.one())
    assert (packet.entity, packet.time, packet.position) == ("7", 0.5, (1, 2, 3))
