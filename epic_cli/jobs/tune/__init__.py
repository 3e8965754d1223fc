"""Values for a strategy's settings: what a network needs, and what a search finds.

    TuneSpec -> divide -> search (Trials on an EvaluationSet) -> Tunings -> report

``delays`` computes, from arrival times alone, what each delay buffer needs. ``trials`` has what is
searched (a ``Space``), on what (recordings, divided into what is tuned on and what the result is
evaluated on), and what has been tried, by any executor. ``run`` is the search, which settings
matter, and what smoothness costs in latency. ``design`` searches compositions of parts by it.
"""
