// Binary records: numbers at fixed places, in either order of their bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "packets/packet.h"

namespace epic {

// What a field becomes; `binary.pyx` has their names.
enum RecordPart : int32_t {
    PART_X, PART_Y, PART_Z, PART_VX, PART_VY, PART_VZ, PART_TIME, PART_ID, PART_SEQUENCE,
    PART_TELEPORT, PART_QX, PART_QY, PART_QZ, PART_QW, PART_WX, PART_WY, PART_WZ, PART_COUNT,
};

struct RecordField {
    int32_t part;
    char kind;      // as Python's struct has it: b B h H i I q Q f d
    int32_t offset; // in the record
    double scale;
};

// The bytes of a number, the first of which is the lowest one.
template <class T>
T take_number(const char* p, bool big) {
    char bytes[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = p[big ? sizeof(T) - 1 - i : i];
    const uint16_t probe = 1;
    char first;
    std::memcpy(&first, &probe, 1);
    if (!first)
        for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

inline int64_t take_whole(const char* p, char kind, bool big) {
    switch (kind) {
        case 'b': return take_number<int8_t>(p, big);
        case 'B': return take_number<uint8_t>(p, big);
        case 'h': return take_number<int16_t>(p, big);
        case 'H': return take_number<uint16_t>(p, big);
        case 'i': return take_number<int32_t>(p, big);
        case 'I': return take_number<uint32_t>(p, big);
        default: return take_number<int64_t>(p, big);  // the bits of q and Q
    }
}

inline double take_value(const char* p, char kind, bool big) {
    switch (kind) {
        case 'f': return take_number<float>(p, big);
        case 'd': return take_number<double>(p, big);
        case 'Q': return double(take_number<uint64_t>(p, big));
        default: return double(take_whole(p, kind, big));
    }
}

// Makes a packet of a record, but for its entity: `id` has the bits of that, where there is one.
inline void take_record(const char* record, const std::vector<RecordField>& fields, bool big,
                        Packet& packet, int64_t& id) {
    double state[PART_COUNT] = {};
    bool turns = false;
    for (const RecordField& field : fields) {
        const char* const p = record + field.offset;
        switch (field.part) {
            case PART_ID: id = take_whole(p, field.kind, big); break;
            case PART_SEQUENCE:  // more than 63 bits could not be read back
                packet.sequence = take_whole(p, field.kind, big) & INT64_MAX;
                break;
            case PART_TELEPORT: packet.teleport = take_value(p, field.kind, big) != 0; break;
            default: {
                const double value = take_value(p, field.kind, big);
                state[field.part] = field.scale == 1 ? value : value * field.scale;
                turns |= field.part >= PART_QX;
                packet.has_spin |= field.part >= PART_WX;
            }
        }
    }
    packet.position = {state[0], state[1], state[2]};
    packet.velocity = {state[3], state[4], state[5]};
    packet.time = state[6];
    packet.single.position = {float(state[0]), float(state[1]), float(state[2])};
    packet.single.velocity = {float(state[3]), float(state[4]), float(state[5])};
    packet.single.time = float(state[6]);
    const double* const q = state + PART_QX;
    const Turn turn({q[0], q[1], q[2], q[3]}, {q[4], q[5], q[6]});
    if (turns && is_turn(turn)) packet.turn.set(turn);
}

}  // namespace epic
