"""Sends states to `epic listen 9870`, and writes them to a file that `epic inspect` reads.

Rotations are quaternions x, y, z, w; units, axes and handedness are your game's (see README.md).
"""

import json
import socket


class Reporter:
    """Where states go; the file is one as game.jsonl."""

    def __init__(self, host="127.0.0.1", port=9870, file=None):
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.target = host, port
        self.file = file and open(file, "w", encoding="utf-8")  # noqa: SIM115, PTH123

    def report(self, entity, time, position, rotation=None):
        state = {"entity": entity, "time": time, **dict(zip("xyz", position, strict=True))}
        if rotation is not None:
            state |= zip(("qx", "qy", "qz", "qw"), rotation, strict=True)
        line = json.dumps(state) + "\n"
        self.udp.sendto(line.encode(), self.target)
        if self.file:
            self.file.write(line)

    def close(self):
        self.udp.close()
        if self.file:
            self.file.close()
