"""How good a strategy is: truth, metrics and comparison.

``compare`` is the way in. It takes the packets of each entity and ``candidates``; ``entities``
finds those that can be judged, with their ``truth`` (given, or rebuilt from the packets) sampled at
the ticks (``sampled_truth``), and all of that is ``prepared`` once for any number of candidates; a
``measurement`` accumulates what each candidate draws beside it, and ``metrics`` are computed from
that. ``study`` makes one comparison of many recordings or
simulated ``networks``: its intervals, ranks and gaps (``certainty``) come from a bootstrap over
the sums of ``cells``, and ``advice`` says what it comes to, for the weights of a kind of game
(``games``). ``conditions`` are for programs that judge. What cannot be said is a value of
``notes``, for which views have the words. ``jobs`` shares the work out and remembers what came
of it. ``scenes`` are what pictures show. ``literature`` has metrics of published work as functions
of arrays.
"""
