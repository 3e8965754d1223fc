// The cells of packets in columns: 8 bytes each, a double or a whole number.
#pragma once

#include <cmath>
#include <cstring>

#include "packets/keys.h"
#include "packets/packet.h"
#include "text/field.h"
#include "text/scalar.h"

namespace epic {

// Writes what a packet has for a field: NaN, or a count of -1, where it has none. `shift` (s) is
// added to times.
inline void put_cell(char* out, const Packet& packet, int field, double shift) {
    double cell = std::nan("");
    const Turn* const turn = packet.turn.known() ? &packet.turn.value() : nullptr;
    const RowContext row{PacketFormat::TABLE, shift, {}};
    switch (Field(field)) {
        case FIELD_X: cell = packet.position.x; break;
        case FIELD_Y: cell = packet.position.y; break;
        case FIELD_Z: cell = packet.position.z; break;
        case FIELD_VX: if (packet.has_velocity) cell = packet.velocity.x; break;
        case FIELD_VY: if (packet.has_velocity) cell = packet.velocity.y; break;
        case FIELD_VZ: if (packet.has_velocity) cell = packet.velocity.z; break;
        case FIELD_TIME: cell = shift != 0 ? packet.time + shift : packet.time; break;
        case FIELD_QX: if (turn) cell = turn->rotation.x; break;
        case FIELD_QY: if (turn) cell = turn->rotation.y; break;
        case FIELD_QZ: if (turn) cell = turn->rotation.z; break;
        case FIELD_QW: if (turn) cell = turn->rotation.w; break;
        case FIELD_WX: if (packet.has_spin) cell = turn->spin.x; break;
        case FIELD_WY: if (packet.has_spin) cell = turn->spin.y; break;
        case FIELD_WZ: if (packet.has_spin) cell = turn->spin.z; break;
#define EPIC_PUT(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        case FIELD_##ID: { \
            const auto value = TYPE::cell(packet.MEMBER, row); \
            static_assert(sizeof value == sizeof cell); \
            std::memcpy(out, &value, sizeof value); \
            return; \
        }
        EPIC_SCALARS(EPIC_PUT)
#undef EPIC_PUT
        default: break;
    }
    std::memcpy(out, &cell, sizeof cell);
}

}  // namespace epic
