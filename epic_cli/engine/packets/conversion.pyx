"""Packets and samples of the Python API, in and out."""

from libc.math cimport isnan


# The Python API's Packet and Sample; the command line starts faster without them.
cdef object contract = None


cdef object python_contract():
    global contract
    if contract is None:
        from epic_cli.engine import contract as loaded
        contract = loaded
    return contract


cdef string_view view(bytes text):
    return string_view(<const char*>text, len(text))


cdef object no_packet(object source):
    from epic_cli.engine.no_packet import why_no_packet

    return TypeError(why_no_packet(source))


cdef str entity_of(object source):
    """The name of a packet's entity; raises ``TypeError`` where it is no text."""
    entity = getattr(source, "entity", None)
    if not isinstance(entity, str):
        raise no_packet(source)
    return entity


cdef int packet_from_python(object source, Packet& packet) except -1:
    """Raises ``TypeError`` if it is not a packet."""
    try:
        x, y, z = source.position
        packet.position = Vec3[double](x, y, z)
        if source.velocity is None:
            packet.has_velocity = False
        else:
            x, y, z = source.velocity
            packet.velocity = Vec3[double](x, y, z)
        packet.time = source.time
        if source.arrival is not None:
            packet.arrival = source.arrival
        packet.teleport = source.teleport
        packet.delta = source.delta
        if source.sequence is not None:
            packet.sequence = source.sequence
        # packets of people's own classes need not have these
        turn_from_python(getattr(source, "rotation", None), getattr(source, "spin", None),
                         packet.turn)
        packet.zero_turn = packet.turn.known() and is_zero(packet.turn.value().rotation)
        if packet.zero_turn:
            packet.turn.clear()
        packet.has_spin = packet.turn.known() and source.spin is not None
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise no_packet(source) from error
    packet.single.position = narrowed(packet.position)
    packet.single.velocity = narrowed(packet.velocity)
    packet.single.time = <float>packet.time
    return 0


cdef int turn_from_python(rotation, spin, OptionalTurn& turn) except -1:
    """Sets the turn of a packet or a sample, where there is a rotation."""
    cdef Turn found
    if rotation is None:
        return 0
    x, y, z, w = rotation
    found.rotation = Quaternion(x, y, z, w)
    if spin is not None:
        x, y, z = spin
        found.spin = Vec3[double](x, y, z)
    turn.set(found)
    return 0


def is_quaternion(rotation):
    """Whether four numbers can be a rotation; they need not be of length 1."""
    x, y, z, w = rotation
    return is_rotation(Quaternion(x, y, z, w))


def turn_between(start, end, double duration, double u):
    """The rotation and the spin at the fraction u of the way between two, so long (s) apart.

    Each is a quaternion of any length, and a spin (rad/s) or None. The curve matches both spins
    (``hermite_turn``); without one of them it is the great circle, at a constant spin.
    """
    cdef OptionalTurn first, last
    turn_from_python(start[0], start[1], first)
    turn_from_python(end[0], end[1], last)
    first.value().rotation = normalized(first.value().rotation)
    last.value().rotation = normalized(last.value().rotation)
    if start[1] is None or end[1] is None:
        first.set(slerp_turn(first.value(), last.value(), duration, u))
    else:
        first.set(hermite_turn(first.value(), last.value(), duration, u))
    return rotation_of_turn(first), components(first.value().spin)


def angles(rotation):
    """Yaw about z, pitch about y, roll about x, in degrees."""
    x, y, z, w = rotation
    cdef Angles found = angles_of(Quaternion(x, y, z, w))
    return found.yaw, found.pitch, found.roll


cdef tuple rotation_of_turn(const OptionalTurn& turn):
    """The rotation as Python's tuple; None: there is none."""
    cdef Quaternion q
    if not turn.known():
        return None
    q = turn.value().rotation
    return q.x, q.y, q.z, q.w


def check_packets(packets):
    """Raises ``TypeError`` for the first that is not a packet."""
    cdef Packet packet
    for source in packets:
        packet_from_python(source, packet)
        entity_of(source)


cdef object packet_to_python(const Packet& packet, str entity):
    return python_contract().Packet(
        (packet.position.x, packet.position.y, packet.position.z),
        (packet.velocity.x, packet.velocity.y, packet.velocity.z) if packet.has_velocity else None,
        packet.time,
        None if isnan(packet.arrival) else packet.arrival,
        entity,
        bool(packet.teleport),
        None if packet.sequence < 0 else packet.sequence,
        packet.delta,
        rotation_of_turn(packet.turn),
        components(packet.turn.value().spin) if packet.has_spin else None,
    )


cdef object sample_to_python(const Sample& sample, str entity):
    return python_contract().Sample(
        sample.time,
        (sample.position.x, sample.position.y, sample.position.z),
        (sample.velocity.x, sample.velocity.y, sample.velocity.z),
        python_contract().STATUSES[sample.status],
        entity,
        rotation_of_turn(sample.turn),
        components(sample.turn.value().spin) if sample.turn.known() else None,
    )
