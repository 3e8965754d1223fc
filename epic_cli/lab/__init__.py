"""``epic lab``: a page in the browser whose sliders move, and the engine computes.

An experiment is a frozen ``LabSpec`` (``spec``), which is a query of an address, and a line of
``epic compare``; both are made from the same tables of parameters, and so are the sliders
(``controls``). ``Bench`` (``bench``) computes it with what ``epic compare`` uses: first a picture,
then the figures of one network, of a few, of hundreds. The ``server`` listens on this machine
alone, and gives each page one WebSocket, over which a page talks with its *rooms* (``rooms``): a
message says in ``room`` which one it is for, and a room answers with frames (``frames``: a line of
JSON, then typed arrays). A room is made for each page, is given its messages one by one, and sends
by ``Outbox.put(key, frame)``, which keeps only the newest frame of each key that has not left yet:
who looks on slowly loses frames, and holds up nobody. ``ExperimentRoom`` hands the newest spec to
a thread, which drops what has been overtaken. A running game (``live``) has a server with a room of
its own: one thread draws its views (``live_view``, the terminal's screen without lines) and lets
each page's ``LiveRoom`` make frames of what has changed, as fast as the page answers them. ``page``
assembles the pages of the parts of ``--html`` and of the lab's own.
"""
