// One line of packet text to one packet:
//
//     x,y,z / vx,vy,vz / t [key=value ...]
//
// The seven numbers follow C's sscanf("%f , %f , %f / %f , %f , %f / %f") as glibc reads
// them. The original ignores what follows the seventh number; the words of keys.h are read there,
// any other word is skipped.
#pragma once

#include <string_view>

#include "packets/keys.h"
#include "packets/packet.h"
#include "text/scalar.h"

namespace epic {

// The expected piece at the place where a line is wrong. 0 to 12 are the pieces of the
// line in their order: x , y , z / vx , vy , vz / t. The others follow them.
enum Expected : int32_t {
    EXPECTED_TIME = 12,
    EXPECTED_NOTHING = 13,
#define EPIC_ENTRY(ID, NAME) EXPECTED_##ID,
    EPIC_WORDS(EPIC_ENTRY)
#undef EPIC_ENTRY
    EXPECTED_TEXT,  // the name of the entity is not UTF-8
};

struct Scanned {
    Expected expected = EXPECTED_NOTHING;  // EXPECTED_NOTHING: all is well
    const char* where = nullptr;           // the character that is wrong
    std::string_view entity;
    bool junk = false;                     // behind the numbers stands what is no key=value
};

inline const char* skip_blanks(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p;
}

// This many finite numbers with commas between them.
inline bool scan_numbers(std::string_view text, double* out, int count) {
    for (int i = 0; i < count; ++i) {
        const size_t comma = i + 1 < count ? text.find(',') : text.size();
        if (comma == text.npos || !scan_seconds(text.substr(0, comma), out[i])) return false;
        text.remove_prefix(i + 1 < count ? comma + 1 : comma);
    }
    return true;
}

// The rotation that the words of a line give.
struct TurnWords {
    Turn turn;
    Angles angles;
    bool angled = false;
    bool has_rotation = false;
    bool has_spin = false;

    // Takes a word, if it is one of these; then `result` has what was expected, if it is wrong.
    bool take(std::string_view key, std::string_view value, Expected& result) {
        double n[4];
        bool right;
        if (key == "rotation") {
            result = EXPECTED_ROTATION;
            right = scan_numbers(value, n, 4);
            turn.rotation = {n[0], n[1], n[2], n[3]};
            right = right && (is_rotation(turn.rotation) || is_zero(turn.rotation));
            has_rotation = true;
        } else if (key == "spin") {
            result = EXPECTED_SPIN;
            right = scan_numbers(value, n, 3);
            turn.spin = {n[0], n[1], n[2]};
            has_spin = true;
        } else {
            result = key == "yaw"     ? EXPECTED_YAW
                     : key == "pitch" ? EXPECTED_PITCH
                     : key == "roll"  ? EXPECTED_ROLL
                                      : EXPECTED_NOTHING;
            if (result == EXPECTED_NOTHING) return false;
            right = scan_seconds(value, result == EXPECTED_YAW     ? angles.yaw
                                        : result == EXPECTED_PITCH ? angles.pitch
                                                                   : angles.roll);
            angled = true;
        }
        if (right) result = EXPECTED_NOTHING;
        return true;
    }

    // A rotation goes before angles; a spin needs one of the two.
    void finish(Packet& packet) {
        packet.zero_turn = has_rotation && is_zero(turn.rotation);
        if (packet.zero_turn || (!has_rotation && !angled)) return;
        if (!has_rotation) turn.rotation = of_angles(angles);
        packet.turn.set(turn);
        packet.has_spin = has_spin;
    }
};

// Sets one named field of a packet from its text; returns what was expected where that fails. An
// unknown name is not an error.
inline Expected scan_field(std::string_view key, std::string_view value, Packet& packet,
                           std::string_view& entity) {
#define EPIC_SCAN(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
    if (key == NAME) \
        return TYPE::scan(value, packet.MEMBER, entity) ? EXPECTED_NOTHING : EXPECTED_##ID;
    EPIC_SCALARS(EPIC_SCAN)
#undef EPIC_SCAN
    packet.has_extras = true;
    return EXPECTED_NOTHING;
}

// The key=value words after the seventh number, up to a '#'.
inline void scan_tail(const char* p, const char* end, Packet& packet, Scanned& result) {
    TurnWords turn;
    result.junk = p < end && !is_blank(*p);
    while (p < end && !is_blank(*p)) ++p;  // glued to the number: part of no word
    for (p = skip_blanks(p, end); p < end && *p != '#'; p = skip_blanks(p, end)) {
        const char* const word = p;
        const char* equals = nullptr;
        for (; p < end && !is_blank(*p); ++p)
            if (*p == '=' && !equals) equals = p;
        if (!equals) {
            result.junk = true;
            continue;
        }
        const std::string_view key(word, size_t(equals - word));
        const std::string_view value(equals + 1, size_t(p - equals - 1));
        Expected expected;
        if (!turn.take(key, value, expected))
            expected = scan_field(key, value, packet, result.entity);
        if (expected != EXPECTED_NOTHING) {
            result.expected = expected;
            result.where = equals + 1;
            return;
        }
    }
    turn.finish(packet);
}

// The place of something missing at the end of a line: before its newline.
inline const char* before_newline(const char* p, const char* line) {
    while (p > line && (p[-1] == '\n' || p[-1] == '\r')) --p;
    return p;
}

// Reads the line [p, end), which ends with a newline or before a NUL. A NUL within
// ends it early, as it ends a C string.
inline Scanned scan_packet(const char* p, const char* end, Packet& packet) {
    static constexpr char kSeparators[] = {',', ',', '/', ',', ',', '/'};
    const char* const line = p;
    Scanned result;
    Number n[7];
    for (int i = 0; i < 7; ++i) {
        p = skip_blanks(p, end);
        if (i == 6) packet.caret = uint32_t(p - line);
        const char* const after = p < end ? scan_number(p, n[i]) : nullptr;
        if (!after) {
            result.expected = Expected(2 * i);
            result.where = p == end ? before_newline(p, line) : p;
            return result;
        }
        p = after;
        if (i == 6) break;
        p = skip_blanks(p, end);
        if (p == end || *p != kSeparators[i]) {
            result.expected = Expected(2 * i + 1);
            result.where = p == end ? before_newline(p, line) : p;
            return result;
        }
        ++p;
    }
    packet.position = {n[0].value, n[1].value, n[2].value};
    packet.velocity = {n[3].value, n[4].value, n[5].value};
    packet.time = n[6].value;
    packet.single.position = {n[0].single, n[1].single, n[2].single};
    packet.single.velocity = {n[3].single, n[4].single, n[5].single};
    packet.single.time = n[6].single;
    if (end - p > 1) {
        const void* const nul = std::memchr(p, '\0', size_t(end - p));
        scan_tail(p, nul ? static_cast<const char*>(nul) : end, packet, result);
    }
    return result;
}

}  // namespace epic
