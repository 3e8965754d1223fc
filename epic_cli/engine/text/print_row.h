// A row of the demo's format, as its printf writes it:
//
//     pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f
#pragma once

#include "packets/packet.h"
#include "text/print_number.h"

namespace epic {

// By status: none, held, interpolated, extrapolated.
constexpr const char* kStatus[4] = {"none", "held", "interpolated", "extrapolated"};

// "  time: " and the whole seconds of the row before, since most rows have the same.
struct SecondsText {
    uint32_t whole = ~uint32_t(0);
    uint32_t length = 0;
    char text[24] = "";
};

inline char* append_time(char* out, double time, SecondsText& seconds) {
    uint32_t thousandths;
    if (std::signbit(time) || !round_scaled<3>(time, thousandths)) {
        out = append(out, " time: ");
        out = append_fixed<3>(out, time);
        return append(out, "\n");
    }
    const uint32_t whole = thousandths / 1000, tail = thousandths % 1000;
    if (whole != seconds.whole) {
        char* p = append(seconds.text, " time: ");
        p = append_unsigned(p, whole);
        *p++ = '.';
        seconds.length = uint32_t(p - seconds.text);
        seconds.whole = whole;
    }
    std::memcpy(out, seconds.text, sizeof seconds.text);
    out += seconds.length;
    *out++ = char('0' + tail / 100);
    std::memcpy(out, kPairs + 2 * (tail % 100), 2);
    out[2] = '\n';
    return out + 3;
}

inline char* append_epic_row(char* out, const Sample& sample, SecondsText& seconds) {
    out = append(out, "pos: ");
    out = append_fixed<2>(out, sample.position.x);
    *out++ = ',';
    out = append_fixed<2>(out, sample.position.y);
    *out++ = ',';
    out = append_fixed<2>(out, sample.position.z);
    out = append(out, "  vel: ");
    out = append_fixed<3>(out, sample.velocity.x);
    *out++ = ',';
    out = append_fixed<3>(out, sample.velocity.y);
    *out++ = ',';
    out = append_fixed<3>(out, sample.velocity.z);
    *out++ = ' ';
    return append_time(out, sample.time, seconds);
}

}  // namespace epic
