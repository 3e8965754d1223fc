// Times of recordings: numbers in any unit, or ISO 8601 dates and times of day.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "scan_number.h"

namespace epic {

// A time in the recording's own unit, in two parts: a Unix time of a nanosecond has more digits
// than a double, and its difference to the first one has not.
struct Instant {
    int64_t whole = 0;
    double part = 0;
};

inline double difference(const Instant& a, const Instant& b) {
    return double(a.whole - b.whole) + (a.part - b.part);
}

inline Instant instant_of(double value) {
    Instant out;
    if (std::fabs(value) < 4e18) out.whole = int64_t(std::trunc(value));
    out.part = value - double(out.whole);
    return out;
}

// The same time where as many of another unit are a second; whole ones stay exact.
inline Instant converted(const Instant& at, double from, double to) {
    const auto whole = [](double count) { return count >= 1 && count == std::floor(count); };
    const auto seconds = whole(from) ? double(at.whole / int64_t(from)) : 0;
    if (!whole(from) || !whole(to) || from > 1e10 || to > 1e10 || std::fabs(seconds) * to > 4e18)
        return instant_of((double(at.whole) + at.part) / from * to);
    const double rest = (double(at.whole % int64_t(from)) + at.part) / from * to;
    Instant out = instant_of(rest);
    out.whole += int64_t(seconds) * int64_t(to);
    return out;
}

// The largest number to which a digit can be added: a Unix time in nanoseconds has 19 digits.
constexpr int64_t kMostBeforeDigit = (INT64_MAX - 9) / 10;

// A decimal of up to 18 or 19 digits before the point, exactly; any other number as a double.
// The text must be followed by a character that is not part of a number.
inline bool scan_instant(std::string_view text, Instant& out) {
    const char* p = text.data();
    const char* const end = p + text.size();
    const bool negative = p < end && *p == '-';
    if (negative) ++p;
    const char* const digits = p;
    int64_t whole = 0;
    while (p < end && is_digit(*p) && whole <= kMostBeforeDigit) whole = whole * 10 + (*p++ - '0');
    if (p > digits && p == end) {
        out = {negative ? -whole : whole, 0};
        return true;
    }
    if (p > digits && *p == '.' && end - p <= 16) {
        const char* const fraction = ++p;
        int64_t part = 0;
        while (p < end && is_digit(*p)) part = part * 10 + (*p++ - '0');
        if (p == end) {
            const double value = double(part) / kPowersOfTen[p - fraction];
            out = negative ? Instant{-whole, -value} : Instant{whole, value};
            return true;
        }
    }
    Number number;
    if (scan_number(text.data(), number) != end) return false;
    out = instant_of(number.value);
    return true;
}

// Days from 1970-01-01 in the Gregorian calendar (Howard Hinnant, days_from_civil).
inline int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

// A reader of digits with a fixed width.
struct DateText {
    const char* p;
    const char* end;

    bool digits(int count, int64_t low, int64_t high, int64_t& out) {
        out = 0;
        if (end - p < count) return false;
        for (; count; --count, ++p) {
            if (!is_digit(*p)) return false;
            out = out * 10 + (*p - '0');
        }
        return out >= low && out <= high;
    }
    // Numbers without leading zeros have fewer digits.
    bool up_to(int count, int64_t low, int64_t high, int64_t& out) {
        int found = 0;
        while (found < count && p + found < end && is_digit(p[found])) ++found;
        return found && digits(found, low, high, out);
    }
    bool is(char c) {
        if (p == end || *p != c) return false;
        ++p;
        return true;
    }
    // One of three-letter words one behind the other, in either case; its number, from 0.
    bool word(const char* words, int64_t count, int64_t& out) {
        for (out = 0; out < count && end - p >= 3; ++out, words += 3)
            if ((p[0] | 32) == words[0] && (p[1] | 32) == words[1] && (p[2] | 32) == words[2]) {
                while (p < end && ((*p | 32) >= 'a' && (*p | 32) <= 'z')) ++p;
                return true;
            }
        return false;
    }
    bool fraction(double& out) {
        double unit = 1;
        int64_t digits = 0;
        if (p == end || !is_digit(*p)) return false;
        for (; p < end && is_digit(*p); ++p)
            if (unit < 1e15) digits = digits * 10 + (*p - '0'), unit *= 10;
        out = double(digits) / unit;
        return true;
    }
    // +02:00, +0200 or +02, in seconds east of UTC.
    bool offset(int64_t& out) {
        int64_t hours, minutes = 0;
        const bool west = p < end && *p == '-';
        if (!west && !(p < end && *p == '+')) return false;
        ++p;
        if (!digits(2, 0, 23, hours)) return false;
        is(':');
        if (p < end && is_digit(*p) && !digits(2, 0, 59, minutes)) return false;
        out = (west ? -1 : 1) * (hours * 60 + minutes) * 60;
        return true;
    }
};

// ISO 8601 in its extended form: 2024-05-01T12:34:56.789Z, with a blank for the T, an offset such
// as +02:00, or UTC, for the Z, or only the time of day, whose hour may have one digit. Where the
// second of two numbers has a fraction, they are minutes and seconds. Seconds since 1970, or since
// midnight; a time without an offset is UTC.
inline bool scan_iso(std::string_view text, Instant& out) {
    DateText in{text.data(), text.data() + text.size()};
    int64_t year, month, day, hour, minute = 0, second = 0, days = 0;
    if (text.size() > 10 && (text[4] == '-' || text[4] == '/')) {
        const char separator = text[4];
        if (!in.digits(4, 0, 9999, year) || !in.is(separator) || !in.digits(2, 1, 12, month) ||
            !in.is(separator) || !in.digits(2, 1, 31, day))
            return false;
        if (!in.is('T') && !in.is('t') && !in.is(' ')) return false;
        days = days_from_civil(year, month, day);
    }
    if (!in.up_to(3, 0, 999, hour) || !in.is(':') || !in.digits(2, 0, 59, minute)) return false;
    const bool seconds = in.is(':');
    if (seconds && !in.digits(2, 0, 60, second)) return false;
    out.part = 0;
    if (in.is('.') || in.is(',')) {
        if (!in.fraction(out.part)) return false;
        if (!seconds) second = minute, minute = hour, hour = 0;
    }
    if (hour > 24 && days) return false;
    out.whole = ((days * 24 + hour) * 60 + minute) * 60 + second;
    in.is(' ');
    const std::string_view zone(in.p, size_t(in.end - in.p));
    if (zone.empty() || zone == "Z" || zone == "z" || zone == "UTC" || zone == "GMT") return true;
    int64_t offset;
    if (!in.offset(offset)) return false;
    out.whole -= offset;
    return in.p == in.end;
}

// A date in a format of strptime: %Y %y %m %b %d %H %I %M %S %f %p %z. Numbers may lack leading
// zeros, and seconds may have a fraction, behind a point or a comma.
inline bool scan_date(std::string_view text, std::string_view format, Instant& out) {
    DateText in{text.data(), text.data() + text.size()};
    int64_t year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, offset = 0, half = 0;
    bool dated = false, halves = false;
    out = {};
    for (size_t i = 0; i < format.size(); ++i) {
        bool fits = true;
        if (format[i] == ' ') {
            fits = in.p < in.end && *in.p == ' ';
            while (in.is(' ')) {}
        } else if (format[i] != '%' || i + 1 == format.size()) {
            fits = in.is(format[i]);
        } else switch (format[++i]) {
            case 'Y': fits = dated = in.digits(4, 0, 9999, year); break;
            case 'y':
                fits = dated = in.digits(2, 0, 99, year);
                year += year < 69 ? 2000 : 1900;  // as POSIX has it
                break;
            case 'm': fits = in.up_to(2, 1, 12, month); break;
            case 'b':
                fits = in.word("janfebmaraprmayjunjulaugsepoctnovdec", 12, month);
                ++month;
                break;
            case 'd': fits = dated = in.up_to(2, 1, 31, day); break;
            case 'H': fits = in.up_to(2, 0, 24, hour); break;
            case 'I': fits = in.up_to(2, 1, 12, hour); break;
            case 'M': fits = in.up_to(2, 0, 59, minute); break;
            case 'S':
                fits = in.up_to(2, 0, 60, second);
                if (fits && format.substr(std::min(i + 2, format.size()), 2) != "%f" && (in.is('.') || in.is(',')))
                    fits = in.fraction(out.part);
                break;
            case 'f': fits = in.fraction(out.part); break;
            case 'p':
                halves = true;
                fits = in.p + 1 < in.end && (in.p[1] | 32) == 'm'
                    && ((in.p[0] | 32) == 'a' || (in.p[0] | 32) == 'p');
                if (fits) half = (in.p[0] | 32) == 'p', in.p += 2;
                break;
            case 'z': fits = in.is('Z') || in.offset(offset); break;
            case '%': fits = in.is('%'); break;
            default: fits = false;
        }
        if (!fits) return false;
    }
    if (halves) hour = hour % 12 + 12 * half;
    const int64_t days = dated ? days_from_civil(year, month, day) : 0;
    out.whole = ((days * 24 + hour) * 60 + minute) * 60 + second - offset;
    return in.p == in.end;
}

}  // namespace epic
