"""The strategies in use by a replay."""

from epic_cli.engine.strategies.parts cimport Strategy


cdef int let_go_of(strategies) except -1:
    cdef Strategy strategy
    for strategy in strategies:
        strategy.let_go()
    return 0


class StrategiesInUse(list):
    """The strategies of one replay, released when the replay is deleted.

    A class of Python, because a compiled one gets no ``__del__`` in the stable interface.
    """

    def __del__(self):
        let_go_of(self)
