"""A simulated bad network: movement, a sender, a link, and the packets that arrive.

Example:
    >>> from epic_cli.network.link import Link, LinkConditions
    >>> from epic_cli.network.movement_spec import MovementSpec
    >>> from epic_cli.network.simulation import simulate
    >>> movement = MovementSpec.parse("circle,speed=5,size=3").make_movement()
    >>> link = Link(LinkConditions(latency=0.08, jitter=0.02), seed=1)
    >>> for packet in simulate(movement, send_rate=10, duration=0.2, channel=link):
    ...     print(packet.sequence, packet.position, packet.arrival)
    0 (3.0, 0.0, 0.0) 0.092922
    1 (2.95843, 0.497688, 0.0) 0.173525
    2 (2.834871, 0.981584, 0.0) 0.286387

A program that drives a connection itself sends one packet at a time:
    >>> conditions = LinkConditions(latency=0.05)
    >>> up, down = Link(conditions, purpose="up"), Link(conditions, purpose="down")
    >>> up.send(1.0)
    (1.05,)

"""
