// Numbers of packets as text: as Python's repr writes them, without the ".0" of whole ones.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/print_number.h"

namespace epic {

enum class PacketFormat : int32_t { TEXT, TABLE, JSON };

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

}  // namespace epic
