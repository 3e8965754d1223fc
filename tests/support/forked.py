"""The process that has imported ``epic`` and is forked for each command (``support/forks.py``)."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pickle
import pkgutil
import socket
import sys
import threading

from support.forks import NUMBER, Order

#: What has the modules that a forked process need not load any more.
ROOMS = (
    "shell",
    "jobs",
    "metrics",
    "show",
    "live",
    "play",
    "lab",
    "work",
    "engine",
    "network",
    "recordings",
)

#: What those load only when a command needs it.
LATER = ("epic_cli.main", "numpy.ma", "numpy.random", "difflib", "encodings.utf_8_sig")

#: What only a terminal has a use for, and what only compiles.
NOT_THESE = ("epic_cli.live.screen", "epic_cli.play.screen", "epic_cli.engine.build")

#: What loads SciPy, where that is installed: a fork copies the tables of all that memory.
TUNING = "cmaes"


def _load(*, tuning: bool) -> None:
    """Import what commands need, except what only some of them or a terminal need."""
    before = os.environ.copy()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads is not to be forked
    for room in ROOMS:
        package = importlib.import_module(f"epic_cli.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(NOT_THESE):
                importlib.import_module(module.name)
    for module_name in (*LATER, TUNING) if tuning else LATER:
        importlib.import_module(module_name)
    os.environ.clear()
    os.environ.update(before)
    gc.freeze()


def _wait_for_an_order(control: socket.socket) -> Order | None:
    """Fork for each order; return the order in the child, and None in the parent at the end."""
    while True:
        head, files, _, _ = socket.recv_fds(control, NUMBER.size, 3)
        if not head:
            return None
        (size,) = NUMBER.unpack(head)
        content = control.recv(size, socket.MSG_WAITALL)
        child = os.fork()
        if not child:
            for standard, descriptor in enumerate(files):
                os.dup2(descriptor, standard)
                os.close(descriptor)
            order = pickle.loads(content)
            assert isinstance(order, Order)
            return order
        for descriptor in files:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        control.sendall(NUMBER.pack(status))


def _leave(ended: SystemExit) -> None:
    """End the process as Python does, but free no memory.

    That would first copy all shared pages.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what was left open is warned of
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(ended.code if isinstance(ended.code, int) else 0)


if __name__ == "__main__":
    _load(tuning="tuning" in sys.argv)
    with socket.socket(fileno=int(sys.argv[1])) as control:
        order = _wait_for_an_order(control)
    if order is not None:
        os.environ.clear()
        os.environ.update(order.environment)
        os.chdir(order.folder)
        sys.argv = ["epic", *order.words]
        sys.path[:1] = [] if "PYTHONSAFEPATH" in order.environment else [order.folder]
        try:
            importlib.import_module("epic_cli.main").run()
        except SystemExit as ended:
            _leave(ended)
