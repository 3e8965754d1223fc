"""The strategies that a replay has in use."""

from epic_cli.engine.strategies.parts cimport Strategy


cdef int let_go_of(strategies) except -1:
    cdef Strategy strategy
    for strategy in strategies:
        strategy.let_go()
    return 0


class StrategiesInUse(list):
    """The strategies of one replay, which lets go of them when it is gone itself.

    A class of Python, because a compiled one gets no ``__del__`` in the stable interface.
    """

    def __del__(self):
        let_go_of(self)
