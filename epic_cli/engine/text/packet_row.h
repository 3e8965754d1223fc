// Packets to rows of packet text, of tables and to lines of JSON: numbers as Python's repr writes
// them, without the ".0" of whole ones.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "packets/packet.h"
#include "text/print_number.h"

namespace epic {

enum class PacketFormat : int32_t { TEXT, TABLE, JSON };

// More than any row needs without the name of its entity.
constexpr size_t kLongestPacketRow = 1024;

inline char* append_view(char* out, std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

// A decimal of up to six digits behind the point, and 15 in all, that reads back as the value,
// which makes it the shortest. nullptr: the shortest needs the general method.
inline char* append_short_decimal(char* out, double value) {
    const double magnitude = std::fabs(value);
    if (!(magnitude < 1e9) || (magnitude < 1e-4 && magnitude != 0)) return nullptr;
    const double scaled = std::nearbyint(magnitude * 1e6);
    if (scaled / 1e6 != magnitude) return nullptr;
    const auto digits = uint64_t(scaled);
    auto tail = uint32_t(digits % 1000000);
    if (std::signbit(value)) *out++ = '-';
    out = append_unsigned(out, digits / 1000000);
    if (!tail) return out;
    *out++ = '.';
    for (uint32_t unit = 100000; tail; unit /= 10) {
        *out++ = char('0' + tail / unit);
        tail %= unit;
    }
    return out;
}

// The shortest decimal that reads back as the same double, which is finite.
inline char* append_repr(char* out, double value) {
    if (char* const end = append_short_decimal(out, value)) return end;
    char text[32];
    const auto end = std::to_chars(text, text + 32, value, std::chars_format::scientific).ptr;
    const char* const mark = static_cast<const char*>(std::memchr(text, 'e', size_t(end - text)));
    int exponent = 0;
    std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, exponent);
    if (exponent < -4 || exponent >= 16) return append_view(out, {text, size_t(end - text)});
    const char* p = text;
    if (*p == '-') *out++ = *p++;
    char digits[20];
    int count = 0;
    for (; p < mark; ++p)
        if (*p != '.') digits[count++] = *p;
    const int whole = exponent + 1;  // digits in front of the point
    if (whole <= 0) {
        out = append(out, "0.");
        for (int i = whole; i < 0; ++i) *out++ = '0';
        return append_view(out, {digits, size_t(count)});
    }
    for (int i = 0; i < whole; ++i) *out++ = i < count ? digits[i] : '0';
    if (count <= whole) return out;
    *out++ = '.';
    return append_view(out, {digits + whole, size_t(count - whole)});
}

// NaN and infinity are missing everywhere but in packet text.
inline char* append_number(char* out, double value, PacketFormat format) {
    if (std::isfinite(value)) return append_repr(out, value);
    if (format == PacketFormat::TABLE) return out;
    if (format == PacketFormat::JSON) return append(out, "null");
    if (std::isnan(value)) return append(out, "nan");
    return append(out, value < 0 ? "-inf" : "inf");
}

// Added to the times of packets as they are written.
struct PacketRow {
    PacketFormat format = PacketFormat::TEXT;
    char separator = ',';
    bool delta = false;  // tables have a column for it
    bool turns = false;  // as much, for rotations and spins
    double shift = 0;

    // Whether a packet has a plain row; the others are handled one by one.
    bool usual(const Packet& packet) const {
        if (!std::isfinite(packet.delta) || std::isinf(packet.arrival)) return false;
        if (packet.turn.known() && !is_turn(packet.turn.value())) return false;
        if (format == PacketFormat::TEXT) return packet.has_velocity;
        if (format == PacketFormat::JSON) return true;
        return (delta || packet.delta == 0) && (turns || !packet.turn.known());
    }

    char* append_to(char* out, const Packet& packet, std::string_view name) const {
        const double time = shift != 0 ? packet.time + shift : packet.time;
        const double arrival = shift != 0 ? packet.arrival + shift : packet.arrival;
        switch (format) {
            case PacketFormat::TEXT: return text(out, packet, time, arrival, name);
            case PacketFormat::TABLE: return table(out, packet, time, arrival, name);
            default: return json(out, packet, time, arrival, name);
        }
    }

private:
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

    char* text(char* out, const Packet& packet, double time, double arrival,
               std::string_view name) const {
        out = append(three(out, packet.position, ","), " / ");
        out = append(three(out, packet.velocity, ","), " / ");
        out = append_number(out, time, format);
        if (!std::isnan(arrival)) out = append_number(append(out, " arrival="), arrival, format);
        if (!name.empty()) out = append_view(append(out, " entity="), name);
        if (packet.sequence >= 0)
            out = append_unsigned(append(out, " seq="), uint64_t(packet.sequence));
        if (packet.teleport) out = append(out, " teleport=1");
        if (packet.delta != 0) out = append_number(append(out, " delta="), packet.delta, format);
        if (packet.turn.known()) out = rotation(append(out, " rotation="), packet, ",");
        if (packet.has_spin) out = three(append(out, " spin="), packet.turn.value().spin, ",");
        *out++ = '\n';
        return out;
    }

    char* table(char* out, const Packet& packet, double time, double arrival,
                std::string_view name) const {
        const char between[2] = {separator, '\0'};
        out = append_view(out, name);
        *out++ = separator;
        out = append_number(out, time, format);
        *out++ = separator;
        out = three(out, packet.position, between);
        *out++ = separator;
        if (packet.has_velocity) {
            out = three(out, packet.velocity, between);
        } else {
            *out++ = separator;
            *out++ = separator;
        }
        *out++ = separator;
        if (!std::isnan(arrival)) out = append_number(out, arrival, format);
        *out++ = separator;
        if (packet.sequence >= 0) out = append_unsigned(out, uint64_t(packet.sequence));
        *out++ = separator;
        *out++ = packet.teleport ? '1' : '0';
        if (delta) {
            *out++ = separator;
            out = append_number(out, packet.delta, format);
        }
        if (turns) {
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

    char* json(char* out, const Packet& packet, double time, double arrival,
               std::string_view name) const {
        out = append_number(append(out, "{\"time\": "), time, format);
        out = append_number(append(out, ", \"x\": "), packet.position.x, format);
        out = append_number(append(out, ", \"y\": "), packet.position.y, format);
        out = append_number(append(out, ", \"z\": "), packet.position.z, format);
        if (packet.has_velocity) {
            out = append_number(append(out, ", \"vx\": "), packet.velocity.x, format);
            out = append_number(append(out, ", \"vy\": "), packet.velocity.y, format);
            out = append_number(append(out, ", \"vz\": "), packet.velocity.z, format);
        }
        if (!std::isnan(arrival)) out = append_number(append(out, ", \"arrival\": "), arrival, format);
        if (!name.empty()) out = append_view(append(out, ", \"entity\": "), name);
        if (packet.sequence >= 0)
            out = append_unsigned(append(out, ", \"seq\": "), uint64_t(packet.sequence));
        if (packet.delta != 0) out = append_number(append(out, ", \"delta\": "), packet.delta, format);
        if (packet.teleport) out = append(out, ", \"teleport\": 1");
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
