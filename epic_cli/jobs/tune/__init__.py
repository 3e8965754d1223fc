"""Values for a strategy's settings: what a network needs, and what a search finds.

    TuneSpec -> divide -> search (Trials on an EvaluationSet) -> evaluate -> Tunings

``delays`` computes, from arrival times alone, the delay that each of the delay ``buffers`` needs.
``tune`` is the search: ``division`` splits recordings into what is tuned on and what the result is
evaluated on, each an ``EvaluationSet``; a ``space`` is what declarations call worth tuning, and
``search`` makes ``trials`` in it, whose ``figures`` any executor computes. ``influence`` says which
settings matter, ``front`` what smoothness costs in latency; ``result`` is what comes out.
"""
