"""Good numbers for a strategy's settings: what a network needs, and what a search finds.

``closed_form`` computes, from the arrival times alone, which delay each of the delay ``buffers``
needs. ``tune`` is the search: ``validation`` divides recordings into what is tuned on and what is
judged on, each made ready on a ``bench``; the ``space`` of settings is what declarations call worth
tuning, and ``search`` asks for ``tries`` in it, which a ``memory`` may know already; the others are
judged here or ``elsewhere``. What a try is worth the ``goal`` says; ``influence`` tells which
settings matter, ``front`` what smoothness costs in latency; ``pictured`` draws before and after.
"""
