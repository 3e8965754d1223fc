// The fields of one packet, from table columns or JSON values, in the recording's own units.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "geo.h"
#include "packets/entities.h"
#include "instant.h"
#include "packets/packet.h"
#include "text/field.h"
#include "text/scalar.h"

namespace epic {

// Return whether a line is UTF-8 without a NUL; most are ASCII.
inline bool is_text(const char* p, const char* end) {
    constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
    const char* at = p;
    for (uint64_t eight; end - at >= 8; at += 8) {
        std::memcpy(&eight, at, 8);
        if (((eight - kOnes) | eight) & kHigh) break;
    }
    while (at < end && *at && !(static_cast<unsigned char>(*at) & 0x80)) ++at;
    return at == end ||
           (!std::memchr(at, '\0', size_t(end - at)) && is_utf8({p, size_t(end - p)}));
}

// The way in which angles make a rotation: `order` is that of yaw, pitch and roll (0 to 2), about
// the axes of the turning body, which are `axis`, `sign` times.
struct EulerAngles {
    int32_t order[3] = {0, 1, 2};
    int32_t axis[3] = {2, 1, 0};
    double sign[3] = {1, 1, 1};

    Quaternion rotation(const double* angles) const {
        Quaternion q;
        for (const int32_t i : order) q = q * about(axis[i], sign[i] * angles[i]);
        return q;
    }
};

// The unit of one column of times.
struct TimeUnit {
    double per_second = 1;
    bool iso = false;  // dates or times of day

    bool is_seconds() const { return per_second == 1 && !iso; }
};

// The conversion of a recording's numbers to seconds and lengths.
struct Units {
    TimeUnit stamp, arrival;
    double delta_per_second = 1;
    bool from_first = false;    // the first packet's time becomes 0, once it is known, or its
                                // arrival where that is on another clock
    bool moved = false;         // `origin` becomes 0
    bool arrival_moves = true;  // arrivals are on the stamps' clock: `origin` becomes 0 there, too
    Instant origin;             // in the stamps' unit
    Instant arrival_origin;     // the same in the arrivals' unit
    double scales[6] = {1, 1, 1, 1, 1, 1};  // what position and velocity are multiplied by
    bool scaled = false;
    int32_t axes[3] = {0, 1, 2};  // which of its axes ours are; -1: 0
    bool decimal_comma = false;
    std::string time_format;  // of its dates; empty: ISO 8601
    int64_t midnights = 0;    // that times of day have passed, and the latest of them
    int64_t latest = 0;
    EulerAngles euler;
    double angle = kDegree;   // radians, of a unit of its angles
    double radian = 1;        // as much, of rotation vectors and of spins
    bool delta = false;       // what a packet lacks is as in the entity's packet before
    bool geo = false;         // x and y are longitude and latitude in degrees, scaled
    Plane plane;
    double missing = std::numeric_limits<double>::quiet_NaN();  // of x and y, of no place

    bool plain_stamp() const { return stamp.is_seconds() && !from_first && !moved; }
    bool plain_arrival() const {
        return arrival.is_seconds() && !(arrival_moves && (from_first || moved));
    }
    void set_origin(Instant at) {
        moved = true;
        origin = at;
        if (arrival_moves)
            arrival_origin = stamp.per_second == arrival.per_second
                                 ? at
                                 : converted(at, stamp.per_second, arrival.per_second);
    }
    bool plain_space() const {
        return !scaled && axes[0] == 0 && axes[1] == 1 && axes[2] == 2 && !geo;
    }
    // Times of day without a date go on past midnight.
    Instant past_midnight(Instant at) {
        constexpr int64_t kDay = 86400;
        if (at.whole < -kDay || at.whole > 2 * kDay) return at;  // it has a date
        at.whole += midnights * kDay;
        if (at.whole < latest - kDay / 2) {
            at.whole += kDay;
            ++midnights;
        } else if (midnights && at.whole > latest + kDay / 2) {
            at.whole -= kDay;  // a late one, from before
        }
        if (at.whole > latest) latest = at.whole;
        return at;
    }
    // A vector about axes: as a reflection turns it, where the axes are one.
    Vec3<double> axial(double x, double y, double z) const {
        const double from[3] = {x, y, z};
        int32_t all[3];
        int free = 3;  // the axis that is not taken
        for (const int32_t axis : axes) free -= axis < 0 ? 0 : axis;
        int missing = 0;
        for (int i = 0; i < 3; ++i) {
            all[i] = axes[i];
            missing += axes[i] < 0;
        }
        if (missing == 1) {
            for (int i = 0; i < 3; ++i)
                if (all[i] < 0) all[i] = free;
        } else if (missing == 2) {
            for (int i = 1; i < 3; ++i) all[i] = (all[0] + i) % 3;
        }
        const bool even = (all[1] - all[0] + 3) % 3 == 1;
        const double sign = even ? 1 : -1;
        return {sign * from[all[0]], sign * from[all[1]], sign * from[all[2]]};
    }
    bool scan_stamp(std::string_view text, Instant& out) const {
        return time_format.empty() ? scan_iso(text, out) : scan_date(text, time_format, out);
    }
    // Arrivals are dates as the stamps are, or as ISO 8601 has them.
    bool scan_arrival(std::string_view text, Instant& out) const {
        return scan_stamp(text, out) || (!time_format.empty() && scan_iso(text, out));
    }

    // The bits of the three components, or those of them that the axes take.
    uint64_t vector(int first) const {
        uint64_t bits = 0;
        for (const int32_t axis : axes)
            if (axis >= 0) bits |= bit(first + axis);
        return bits;
    }
};

// The fields of one packet as they are read; `finish` makes the packet of them.
struct Record {
    Number numbers[7];  // up to the time
    Instant time, arrival;
    double arrival_seconds = 0;
    uint64_t seen = 0;
    double turn[FIELD_COUNT - FIELD_QX];
    std::string_view entity;

    // NaN and infinity are missing, as an empty text is: of a row's numbers at once.
    void drop_unreal() {
        double sum = 0;
        for (const Number& number : numbers) sum += number.value;
        if (std::isfinite(sum)) return;
        for (int field = 0; field < 7; ++field)
            if (!std::isfinite(numbers[field].value)) seen &= ~bit(field);
    }

    // Takes a field from its text, which is not empty. False: not valid for this field.
    bool set(const Units& units, int field, std::string_view text, Packet& packet) {
        seen |= bit(field);
        if (parse(units, field, text, packet)) return true;
        seen &= ~bit(field);
        return is_none(text);
    }

    // Takes a field from its finite number, as from the shortest text of that number. False: the
    // text must be read.
    bool set_number(const Units& units, int field, double value) {
        if (field <= FIELD_TIME) {
            if (field == FIELD_TIME ? !units.plain_stamp() : units.geo && field <= FIELD_Y)
                return false;
            if (!rounds_as_its_text(value)) return false;
            numbers[field].value = value;
            numbers[field].single = float(value);
        } else if (field >= FIELD_QX) {
            turn[field - FIELD_QX] = value;
        } else if (field == FIELD_ARRIVAL && units.plain_arrival()) {
            arrival_seconds = value;
        } else {
            return false;
        }
        seen |= bit(field);
        return true;
    }

    // Takes what it lacks of position, velocity and rotation from the record before.
    void fill(const Record& before) {
        for (int field = FIELD_QX; field < FIELD_COUNT; ++field)
            if (before.seen & ~seen & bit(field)) {
                turn[field - FIELD_QX] = before.turn[field - FIELD_QX];
                seen |= bit(field);
            }
        for (int field = FIELD_X; field <= FIELD_VZ; ++field)
            if (before.seen & ~seen & bit(field)) {
                numbers[field] = before.numbers[field];
                seen |= bit(field);
            }
    }

    // Makes the packet. Returns FIELD_NONE, the missing field, or FIELD_NO_ROTATION.
    int32_t finish(Units& units, Packet& packet) const {
        const uint64_t positions = units.vector(FIELD_X), velocities = units.vector(FIELD_VX);
        const uint64_t needed = positions | bit(FIELD_TIME) | (seen & velocities ? velocities : 0);
        if ((seen & needed) != needed) return first_of(needed & ~seen);
        if (!std::isnan(units.missing) && is_nowhere(units)) return first_of(positions);
        if (units.geo)
            for (const int field : {FIELD_X, FIELD_Y})
                if (!in_degrees(units, field)) return field;
        packet.has_velocity = seen & velocities;
        if (units.plain_space()) {
            packet.position = {numbers[0].value, numbers[1].value, numbers[2].value};
            packet.single.position = {numbers[0].single, numbers[1].single, numbers[2].single};
            if (packet.has_velocity) {
                packet.velocity = {numbers[3].value, numbers[4].value, numbers[5].value};
                packet.single.velocity = {numbers[3].single, numbers[4].single, numbers[5].single};
            }
        } else {
            place_position(units, packet);
            if (packet.has_velocity) place(units, 3, packet.velocity, packet.single.velocity);
        }
        if (seen & kTurnBits) {
            const int32_t missing = take_turn(units, packet);
            if (missing != FIELD_NONE) return missing;
        }
        const bool first = units.from_first && !units.moved;
        if (units.plain_stamp()) {
            packet.time = numbers[6].value;
            packet.single.time = numbers[6].single;
        } else {
            const Instant sent = units.stamp.iso ? units.past_midnight(time) : time;
            if (first) units.set_origin(sent);
            packet.time = difference(sent, units.origin) / units.stamp.per_second;
            packet.single.time = float(packet.time);
        }
        if (!(seen & bit(FIELD_ARRIVAL))) return FIELD_NONE;
        if (units.plain_arrival()) {
            packet.arrival = arrival_seconds;
        } else {
            const Instant came = units.arrival.iso ? units.past_midnight(arrival) : arrival;
            packet.arrival = difference(came, units.arrival_origin) / units.arrival.per_second;
        }
        if (first && !units.arrival_moves && std::isfinite(packet.arrival)) {
            // two clocks: the first packet sets that of stamps, as if it had taken no time
            Instant origin = units.origin;
            origin.part -= packet.arrival * units.stamp.per_second;
            units.set_origin(origin);
            packet.time = packet.arrival;
            packet.single.time = float(packet.time);
        }
        return FIELD_NONE;
    }

private:
    // Return whether a double and its text are rounded to the same single: unless it lies in the
    // middle of two singles, no such middle lies between the double and its text. Singles below
    // 2^-126 have other middles.
    static bool rounds_as_its_text(double value) {
        constexpr uint64_t kBelowSingle = (uint64_t(1) << 29) - 1, kMiddle = uint64_t(1) << 28;
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return (bits & kBelowSingle) != kMiddle &&
               (value == 0 || std::fabs(value) >= double(std::numeric_limits<float>::min()));
    }

    // Return whether two of the axes have the number that marks a missing position.
    bool is_nowhere(const Units& units) const {
        int count = 0;
        for (const int32_t axis : units.axes)
            count += axis >= 0 && numbers[axis].value == units.missing;
        return count > 1;
    }

    // NaN and infinity, spelt out or too large.
    static bool is_none(std::string_view text) {
        Number number;
        return scan_whole_number(text, number) && !std::isfinite(number.value);
    }

    // Return whether x can be a longitude, or y a latitude.
    bool in_degrees(const Units& units, int field) const {
        return std::fabs(numbers[field].value * units.scales[field]) <= (field ? 90 : 360);
    }

    bool scan_finite(std::string_view text, int field) {
        return scan_whole_number(text, numbers[field]) && std::isfinite(numbers[field].value);
    }

    bool parse(const Units& units, int field, std::string_view text, Packet& packet) {
        char copy[kLongestToken + 1];
        if (field == FIELD_ENTITY) {
            entity = text;
            return true;
        }
        const bool date = (field == FIELD_TIME && units.stamp.iso) ||
                          (field == FIELD_ARRIVAL && units.arrival.iso);
        if (units.decimal_comma && !date && text.find(',') != text.npos) {
            if (text.size() > size_t(kLongestToken) || text.find('.') != text.npos) return false;
            std::replace_copy(text.begin(), text.end(), copy, ',', '.');
            copy[text.size()] = '\0';
            text = {copy, text.size()};
        }
        switch (field) {
            case FIELD_TIME:
                if (date) return units.scan_stamp(text, time);
                return scan_finite(text, field) && (units.plain_stamp() || scan_instant(text, time));
            case FIELD_ARRIVAL:
                if (date) return units.scan_arrival(text, arrival);
                return scan_seconds(text, arrival_seconds) &&
                       (units.plain_arrival() || scan_instant(text, arrival));
            case FIELD_DELTA:
                if (!scan_seconds(text, packet.delta)) return false;
                packet.delta /= units.delta_per_second;
                return true;
            case FIELD_SEQ:
                return Count::scan(text, packet.sequence, entity);
            case FIELD_TELEPORT:
                if (text.size() == 4 || text.size() == 5) return scan_bool(text, packet.teleport);
                return Flag::scan(text, packet.teleport, entity);
            default:
                if (field >= FIELD_QX) return scan_seconds(text, turn[field - FIELD_QX]);
                if (!scan_finite(text, field)) return false;
                return !units.geo || field > FIELD_Y || in_degrees(units, field);
        }
    }

    // Return whether any of the fields has been seen; `missing` is the first field that has not.
    bool all_or_none(int first, int count, int32_t& missing) const {
        const uint64_t wanted = bits(first, count);
        if (missing == FIELD_NONE && (seen & wanted) && (seen & wanted) != wanted)
            missing = first_of(wanted & ~seen);
        return seen & wanted;
    }

    // The rotation, from whichever way it is written, and the spin. FIELD_NONE, a missing field, or
    // FIELD_NO_ROTATION.
    int32_t take_turn(const Units& units, Packet& packet) const {
        Turn found;
        int32_t missing = FIELD_NONE;
        const double* const n = turn;
        const auto at = [](int field) { return field - FIELD_QX; };
        if (all_or_none(FIELD_QX, 4, missing)) {
            found.rotation = {n[0], n[1], n[2], n[3]};
        } else if (all_or_none(FIELD_M00, 9, missing)) {
            double matrix[9];
            std::copy(n + at(FIELD_M00), n + at(FIELD_M00) + 9, matrix);
            const bool some = std::any_of(matrix, matrix + 9, [](double m) { return m != 0; });
            found.rotation = some ? of_matrix(matrix) : Quaternion{0, 0, 0, 0};
        } else if (all_or_none(FIELD_RX, 3, missing)) {
            const double* const r = n + at(FIELD_RX);
            found.rotation =
                rotation_of(Vec3<double>(r[0], r[1], r[2]) * units.radian);
        } else if (seen & bits(FIELD_YAW, 3)) {
            double angles[3];
            for (int i = 0; i < 3; ++i)
                angles[i] = seen & bit(FIELD_YAW + i) ? n[at(FIELD_YAW) + i] * units.angle : 0;
            found.rotation = units.euler.rotation(angles);
        } else {
            return missing;  // a spin alone
        }
        if (missing != FIELD_NONE) return missing;
        packet.zero_turn = is_zero(found.rotation);
        if (packet.zero_turn) return FIELD_NONE;
        if (!is_rotation(found.rotation)) return FIELD_NO_ROTATION;
        const Vec3<double> part =
            units.axial(found.rotation.x, found.rotation.y, found.rotation.z);
        found.rotation = {part.x, part.y, part.z, found.rotation.w};
        packet.has_spin = all_or_none(FIELD_WX, 3, missing);
        if (packet.has_spin) {
            const double* const w = n + at(FIELD_WX);
            found.spin = units.axial(w[0], w[1], w[2]) * units.radian;
        }
        if (missing == FIELD_NONE) packet.turn.set(found);
        return missing;
    }

    static int32_t first_of(uint64_t bits) {
        int32_t field = 0;
        while (!(bits & bit(field))) ++field;
        return field;
    }

    static bool scan_bool(std::string_view text, bool& out) {
        char word[6] = {};
        for (size_t i = 0; i < text.size(); ++i) word[i] = lower(text[i]);
        out = std::string_view(word) == "true";
        return out || std::string_view(word) == "false";
    }

    void place_position(Units& units, Packet& packet) const {
        place(units, 0, packet.position, packet.single.position);
        if (!units.geo) return;
        const double longitude = numbers[0].value * units.scales[0];
        const double latitude = numbers[1].value * units.scales[1];
        if (!units.plane.begun) units.plane.begin(longitude, latitude);
        double at[3] = {0, 0, numbers[2].value * units.scales[2]}, values[3];
        units.plane.place(longitude, latitude, at[0], at[1]);
        for (int i = 0; i < 3; ++i) values[i] = units.axes[i] < 0 ? 0 : at[units.axes[i]];
        packet.position = {values[0], values[1], values[2]};
        packet.single.position = {float(values[0]), float(values[1]), float(values[2])};
    }

    void place(const Units& units, int first, Vec3<double>& out, Vec3<float>& single) const {
        double values[3];
        float singles[3];
        for (int i = 0; i < 3; ++i) {
            const Number number =
                units.axes[i] < 0 ? Number() : numbers[first + units.axes[i]];
            const double scale = units.axes[i] < 0 ? 1 : units.scales[first + units.axes[i]];
            values[i] = scale == 1 ? number.value : number.value * scale + 0.0;  // no -0
            singles[i] = scale == 1 ? number.single : float(values[i]);
        }
        out = {values[0], values[1], values[2]};
        single = {singles[0], singles[1], singles[2]};
    }
};

}  // namespace epic
