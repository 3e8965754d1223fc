"""``epic tune``: search a strategy's settings, and compute the delay that a network needs.

    TuneSpec -> divide -> search (Trials on an EvaluationSet) -> Tunings -> report

``delays`` computes from arrival times alone what each delay buffer needs. ``trials`` has the search
``Space``, the recordings, divided into a part to tune on and a part to judge on, and the trials, by
any executor. ``run`` has the search, the influence of each setting, and the cost of smoothness in
latency. ``design`` searches compositions of parts.
"""
