// The keys of a packet. Written by engine/build.py from the table in engine/keys.py:
// change that.
//
// FIELD: a column, in the order of the engine's numbering. WORD: a word of packet
// text. SCALAR: a key that is one value: its name, its member of Packet, its type in
// text/scalar.h, and whether tables have it on request only. PART: a name in layouts
// of binary datagrams.
#pragma once

#define EPIC_FIELDS(FIELD) \
    FIELD(X, "x") \
    FIELD(Y, "y") \
    FIELD(Z, "z") \
    FIELD(VX, "vx") \
    FIELD(VY, "vy") \
    FIELD(VZ, "vz") \
    FIELD(TIME, "time") \
    FIELD(ARRIVAL, "arrival") \
    FIELD(ENTITY, "entity") \
    FIELD(SEQ, "seq") \
    FIELD(TELEPORT, "teleport") \
    FIELD(DELTA, "delta") \
    FIELD(QX, "qx") \
    FIELD(QY, "qy") \
    FIELD(QZ, "qz") \
    FIELD(QW, "qw") \
    FIELD(YAW, "yaw") \
    FIELD(PITCH, "pitch") \
    FIELD(ROLL, "roll") \
    FIELD(RX, "rx") \
    FIELD(RY, "ry") \
    FIELD(RZ, "rz") \
    FIELD(M00, "m00") \
    FIELD(M01, "m01") \
    FIELD(M02, "m02") \
    FIELD(M10, "m10") \
    FIELD(M11, "m11") \
    FIELD(M12, "m12") \
    FIELD(M20, "m20") \
    FIELD(M21, "m21") \
    FIELD(M22, "m22") \
    FIELD(WX, "wx") \
    FIELD(WY, "wy") \
    FIELD(WZ, "wz")

#define EPIC_WORDS(WORD) \
    WORD(ARRIVAL, "arrival") \
    WORD(ENTITY, "entity") \
    WORD(SEQ, "seq") \
    WORD(TELEPORT, "teleport") \
    WORD(DELTA, "delta") \
    WORD(ROTATION, "rotation") \
    WORD(YAW, "yaw") \
    WORD(PITCH, "pitch") \
    WORD(ROLL, "roll") \
    WORD(SPIN, "spin")

#define EPIC_SCALARS(SCALAR) \
    SCALAR(ARRIVAL, "arrival", arrival, Moment, 0) \
    SCALAR(ENTITY, "entity", entity, Name, 0) \
    SCALAR(SEQ, "seq", sequence, Count, 0) \
    SCALAR(TELEPORT, "teleport", teleport, Flag, 0) \
    SCALAR(DELTA, "delta", delta, Duration, 1)

#define EPIC_PARTS(PART) \
    PART(X, "x") \
    PART(Y, "y") \
    PART(Z, "z") \
    PART(VX, "vx") \
    PART(VY, "vy") \
    PART(VZ, "vz") \
    PART(TIME, "time") \
    PART(ID, "id") \
    PART(SEQ, "seq") \
    PART(TELEPORT, "teleport") \
    PART(QX, "qx") \
    PART(QY, "qy") \
    PART(QZ, "qz") \
    PART(QW, "qw") \
    PART(WX, "wx") \
    PART(WY, "wy") \
    PART(WZ, "wz")
