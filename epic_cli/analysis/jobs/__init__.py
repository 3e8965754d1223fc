"""Work over an archive of recordings: on the cores of one machine, or on the machines of a cluster.

``runner.run_jobs`` gives jobs to any ``concurrent.futures`` executor and returns what came of
each in the order in which they were asked, so that the answer depends on nobody's number or haste.
``executors.Processes`` are such an executor on this machine. ``journal.Journal`` keeps what is
known, one line for each answer under the ``key`` of what was asked, so that no question is asked
twice whatever has died meanwhile.
"""
