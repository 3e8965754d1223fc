"""The running of jobs over many recordings, on the cores of one machine or on a cluster.

``runner.run_jobs`` gives jobs to any ``concurrent.futures`` executor and returns their results in
the order of the jobs, so that the answer does not depend on which was faster. ``executors`` are
threads and processes of this machine, and a Dask ``cluster``. A ``journal`` saves each result on a
line under the ``key`` of its job, so that no job runs twice even if a process has died; it converts
results to JSON and back.
"""
