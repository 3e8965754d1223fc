// Packets to rows of packet text, of tables and to lines of JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "packets/keys.h"
#include "packets/packet.h"
#include "text/decimal.h"
#include "text/field.h"
#include "text/scalar.h"

namespace epic {

// More than any row needs without the name of its entity.
constexpr size_t kLongestPacketRow = 1024;

// The form of a row: which format, and for a table its separator and its columns on request.
struct PacketRow {
    PacketFormat format = PacketFormat::TEXT;
    char separator = ',';
    uint64_t columns = 0;  // bits of the fields on request for which a table has a column
    double shift = 0;      // added to times as they are written, s

    bool has(Field field) const { return columns & bit(field); }

    // True if a packet has a plain row; the others are handled one by one.
    bool usual(const Packet& packet) const {
        if (packet.turn.known() && !is_turn(packet.turn.value())) return false;
#define EPIC_CHECK(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (!TYPE::is_plain(packet.MEMBER)) return false;
        EPIC_SCALARS(EPIC_CHECK)
#undef EPIC_CHECK
        if (format == PacketFormat::TEXT) return packet.has_velocity;
        if (format == PacketFormat::JSON) return true;
#define EPIC_CHECK(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (ON_REQUEST && !has(FIELD_##ID) && TYPE::is_known(packet.MEMBER, {})) return false;
        EPIC_SCALARS(EPIC_CHECK)
#undef EPIC_CHECK
        return has(FIELD_QX) || !packet.turn.known();
    }

    char* append_to(char* out, const Packet& packet, std::string_view name) const {
        switch (format) {
            case PacketFormat::TEXT: return text(out, packet, name);
            case PacketFormat::TABLE: return table(out, packet, name);
            default: return json(out, packet, name);
        }
    }

private:
    char* time(char* out, const Packet& packet) const {
        return append_number(out, shift != 0 ? packet.time + shift : packet.time, format);
    }

    char* three(char* out, const Vec3<double>& v, const char* between) const {
        out = append_number(out, v.x, format);
        out = append_number(append(out, between), v.y, format);
        return append_number(append(out, between), v.z, format);
    }

    char* rotation(char* out, const Packet& packet, const char* between) const {
        const Quaternion& q = packet.turn.value().rotation;
        out = append(three(out, {q.x, q.y, q.z}, between), between);
        return append_number(out, q.w, format);
    }

    char* text(char* out, const Packet& packet, std::string_view name) const {
        const RowContext row{format, shift, name};
        out = append(three(out, packet.position, ","), " / ");
        out = append(three(out, packet.velocity, ","), " / ");
        out = time(out, packet);
#define EPIC_WRITE(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (TYPE::is_known(packet.MEMBER, row)) \
            out = TYPE::write(append(out, " " NAME "="), packet.MEMBER, row);
        EPIC_SCALARS(EPIC_WRITE)
#undef EPIC_WRITE
        if (packet.turn.known()) out = rotation(append(out, " rotation="), packet, ",");
        if (packet.has_spin) out = three(append(out, " spin="), packet.turn.value().spin, ",");
        *out++ = '\n';
        return out;
    }

    char* table(char* out, const Packet& packet, std::string_view name) const {
        const RowContext row{format, shift, name};
        const char between[2] = {separator, '\0'};
        out = append_view(out, name);
        *out++ = separator;
        out = time(out, packet);
        *out++ = separator;
        out = three(out, packet.position, between);
        *out++ = separator;
        if (packet.has_velocity) {
            out = three(out, packet.velocity, between);
        } else {
            *out++ = separator;
            *out++ = separator;
        }
#define EPIC_WRITE(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (!TYPE::kLeads && (!ON_REQUEST || has(FIELD_##ID))) { \
            *out++ = separator; \
            if (TYPE::kHasDefault || TYPE::is_known(packet.MEMBER, row)) \
                out = TYPE::write(out, packet.MEMBER, row); \
        }
        EPIC_SCALARS(EPIC_WRITE)
#undef EPIC_WRITE
        if (has(FIELD_QX)) {
            *out++ = separator;
            if (packet.turn.known()) {
                out = rotation(out, packet, between);
            } else {
                for (int i = 0; i < 3; ++i) *out++ = separator;
            }
            *out++ = separator;
            if (packet.has_spin) {
                out = three(out, packet.turn.value().spin, between);
            } else {
                for (int i = 0; i < 2; ++i) *out++ = separator;
            }
        }
        *out++ = '\n';
        return out;
    }

    char* json(char* out, const Packet& packet, std::string_view name) const {
        const RowContext row{format, shift, name};
        out = time(append(out, "{\"time\": "), packet);
        out = append_number(append(out, ", \"x\": "), packet.position.x, format);
        out = append_number(append(out, ", \"y\": "), packet.position.y, format);
        out = append_number(append(out, ", \"z\": "), packet.position.z, format);
        if (packet.has_velocity) {
            out = append_number(append(out, ", \"vx\": "), packet.velocity.x, format);
            out = append_number(append(out, ", \"vy\": "), packet.velocity.y, format);
            out = append_number(append(out, ", \"vz\": "), packet.velocity.z, format);
        }
#define EPIC_WRITE(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (TYPE::is_known(packet.MEMBER, row)) \
            out = TYPE::write(append(out, ", \"" NAME "\": "), packet.MEMBER, row);
        EPIC_SCALARS(EPIC_WRITE)
#undef EPIC_WRITE
        if (packet.turn.known()) {
            const Turn& turn = packet.turn.value();
            out = append_number(append(out, ", \"qx\": "), turn.rotation.x, format);
            out = append_number(append(out, ", \"qy\": "), turn.rotation.y, format);
            out = append_number(append(out, ", \"qz\": "), turn.rotation.z, format);
            out = append_number(append(out, ", \"qw\": "), turn.rotation.w, format);
            if (packet.has_spin) {
                out = append_number(append(out, ", \"wx\": "), turn.spin.x, format);
                out = append_number(append(out, ", \"wy\": "), turn.spin.y, format);
                out = append_number(append(out, ", \"wz\": "), turn.spin.z, format);
            }
        }
        return append(out, "}\n");
    }
};

}  // namespace epic
