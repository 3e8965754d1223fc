"""``epic lab``: a page in the browser whose sliders move while the engine computes.

An experiment is a frozen ``LabSpec`` (``spec``), which is the query of an address, and a line of
``epic compare``; both are made from the same tables of parameters, and so are the sliders
(``page``). ``ExperimentRunner`` (``run``) computes it with the functions of ``epic compare``: first
a picture, then the metrics of one network, of a few, of hundreds. Its page is that of ``--html``
with the lab's own script. The page talks with an ``ExperimentSession`` (``serving``), which hands
the newest spec to a thread, drops superseded ones, and sends by ``Outbox.put(key, frame)``: for
each key only the newest frame that has not been sent yet, so that a slow page loses frames and
delays no other page. The server, and the page of a running game, are those of ``live``.
"""
