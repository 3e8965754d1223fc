"""Jobs over many recordings: on the cores of one machine, or on the machines of a cluster.

``runner.run_jobs`` gives jobs to any ``concurrent.futures`` executor and returns what came of each
in their order, so that the answer does not depend on who was faster. ``executors`` are threads and
processes of this machine, a ``cluster`` that of Dask. A ``journal`` keeps what is known, a line for
each result under the ``key`` of what was asked, so that nothing is done twice whatever has died
meanwhile; ``values`` are results as JSON and back.
"""
