// A common line of packet text, all of it at once: the fast path of scan_packet().
//
//     -?d{1,7}(.d{0,7})?     seven times, with  ,  ,  " / "  ,  ,  " / "  between them
//
// with fewer than eight digits in a row. Anything else is left to scan_packet().
//
// 64 characters are classified at once, a bit for each. The ends of the numbers come from the
// carries of additions: the bits of the numbers' beginnings added to those of all digits run
// through each number's digits and stop behind them.
//
// A number's digits are then 16 characters around its dot, and its value
//
//     value = (whole * 10^8 + fraction) / 10^8
//
// has a numerator below 10^15 < 2^53 and an exact divisor, so that there is a single rounding, that
// of the division: it is the double nearest to the text (Clinger, How to read floating point
// numbers accurately, 1990).
//
// The float nearest to that double is the float nearest to the text. They could differ only if the
// double were half-way between two floats, H * 2^e with H odd and below 2^25, and the text were
// beside it, by at most half a unit in the double's last place: with m = value * 10^8,
//
//     0 < |m - H * 2^e * 10^8| <= 2^-53 * H * 2^e * 10^8
//
// Both terms of the difference are multiples of 2^min(0, e + 8), and so is the difference. But the
// right side is below 10^15 * 2^-53 < 1, and, since H * 10^8 < 2^52, below 2^(e - 1) as well.
#pragma once

#include "text/fast_path/processor.h"

#if EPIC_HAS_WIDE

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "packets/packet.h"

namespace epic {

// The bytes read before and behind a line's first character, whatever its length.
constexpr ptrdiff_t kReadBefore = 6, kReadBehind = 160;

// The numbers of a line or of a part of it, as bits for the 64 characters from its beginning.
struct Shape {
    uint64_t points;    // where each number's dot is, or would be
    uint64_t dots;      // where there is one
    uint32_t negative;  // bit i: number i has a minus
    uint32_t last;      // where the last number begins
    uint32_t end;       // and where it ends
};

enum class Part {
    LINE,   // x,y,z / vx,vy,vz / t
    FIRST,  // x,y,z /
    SECOND  // vx,vy,vz / t
};

EPIC_WIDE uint64_t bits_of(__m256i low, __m256i high) {
    return uint32_t(_mm256_movemask_epi8(low)) |
           uint64_t(uint32_t(_mm256_movemask_epi8(high))) << 32;
}

struct Characters {
    __m256i low, high;
};

EPIC_WIDE uint64_t where(const Characters& text, char c) {
    const __m256i same = _mm256_set1_epi8(c);
    return bits_of(_mm256_cmpeq_epi8(text.low, same), _mm256_cmpeq_epi8(text.high, same));
}

EPIC_WIDE uint64_t where_digits(const Characters& text) {
    const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
    const __m256i low = _mm256_sub_epi8(text.low, zero), high = _mm256_sub_epi8(text.high, zero);
    return bits_of(_mm256_cmpeq_epi8(_mm256_min_epu8(low, nine), low),
                   _mm256_cmpeq_epi8(_mm256_min_epu8(high, nine), high));
}

// Finds the numbers of a line, or of a part of it, that lies within the 64 characters from p;
// false: its shape is uncommon, or it is longer.
template <Part part>
EPIC_WIDE bool find_shape(const char* p, Shape& shape) {
    const Characters text = {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
                             _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
    const uint64_t digits = where_digits(text), dots = where(text, '.');
    const uint64_t minus = where(text, '-'), blanks = where(text, ' ');
    const uint64_t all_slashes = where(text, '/');
    const uint64_t first = _blsi_u64(all_slashes);
    const uint64_t last = part == Part::LINE ? _blsi_u64(_blsr_u64(all_slashes)) : first;
    const uint64_t slashes = first | last;
    const uint64_t commas = where(text, ',') & (last - 1);

    // a separator is a comma, or the blank before a slash
    const uint64_t separators = commas | slashes >> 1;
    const uint64_t around = slashes << 1 | slashes >> 1;
    uint64_t bad = _pext_u64(slashes >> 1, separators) ^ (part == Part::LINE ? 0b100100 : 0b100);
    bad |= around & ~blanks;

    uint64_t begins = 1 | commas << 1;
    if (part != Part::FIRST) begins |= slashes << 2;
    const uint64_t signs = minus & begins;
    bad |= ((begins ^ signs) | signs << 1) & ~digits;  // a digit must be there

    const uint64_t run = digits | minus;
    const uint64_t points = (run + begins) & ~run;
    const uint64_t dotted = points & dots;
    const uint64_t ends = (points ^ dotted) | ((digits + (dotted << 1)) & ~digits);
    const uint64_t rest = ends ^ separators;  // the last number's end is no separator
    uint64_t line;
    if (part == Part::FIRST) {
        bad |= rest;
        line = last - 1;
    } else {
        bad |= _blsr_u64(rest);
        bad |= rest <= last << 2;  // 0: the number continues beyond the 64 characters
        line = rest - 1;
        shape.end = uint32_t(_tzcnt_u64(rest));
        shape.last = uint32_t(_tzcnt_u64(last)) + 2;
    }
    bad |= (minus ^ signs) & line;
    uint64_t eight = digits & line;
    eight &= eight >> 1;
    eight &= eight >> 2;
    eight &= eight >> 4;
    bad |= eight;
    shape.points = points;
    shape.dots = dotted;
    shape.negative = uint32_t(_pext_u64(minus, begins));
    return bad == 0;
}

// The digits of two numbers, a byte each, from 16 characters around the dot of either: at first
// seven before it, the last of them first, then eight behind it. `all_dotted`: there is a dot.
template <bool all_dotted>
EPIC_WIDE __m256i digits_around(__m256i text) {
    const __m256i order = _mm256_setr_epi8(
        6, 5, 4, 3, 2, 1, 0, -1, 8, 9, 10, 11, 12, 13, 14, 15,
        6, 5, 4, 3, 2, 1, 0, -1, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i digits =
        _mm256_sub_epi8(_mm256_shuffle_epi8(text, order), _mm256_set1_epi8('0'));
    __m256i run = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    if (!all_dotted) {  // behind any character but a dot nothing belongs to the number
        const __m256i middle = _mm256_setr_epi8(
            -1, -1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7,
            -1, -1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7, 7, 7, 7);
        const __m256i dot = _mm256_setr_epi8(
            0, 0, 0, 0, 0, 0, 0, 0, '.', '.', '.', '.', '.', '.', '.', '.',
            0, 0, 0, 0, 0, 0, 0, 0, '.', '.', '.', '.', '.', '.', '.', '.');
        run = _mm256_and_si256(run, _mm256_cmpeq_epi8(_mm256_shuffle_epi8(text, middle), dot));
    }
    // of each eight bytes, the unbroken run next to the dot: x & ~(x + 1)
    run = _mm256_andnot_si256(_mm256_sub_epi64(run, _mm256_set1_epi64x(-1)), run);
    return _mm256_and_si256(digits, run);
}

struct alignas(32) SignBits {
    uint64_t of[16][4];
    constexpr SignBits() : of() {
        for (int i = 0; i < 16; ++i)
            for (int j = 0; j < 4; ++j) of[i][j] = (i >> j & 1) ? uint64_t(1) << 63 : 0;
    }
};
inline constexpr SignBits kSignBits{};

// Four numbers, 0 and 2 in the halves of a, 1 and 3 in those of b; bit i of `negative`: number i
// has a minus.
template <bool all_dotted>
EPIC_WIDE __m256d convert_four(__m256i a, __m256i b, uint32_t negative) {
    const __m256i tens = _mm256_setr_epi8(
        1, 10, 1, 10, 1, 10, 1, 10, 10, 1, 10, 1, 10, 1, 10, 1,
        1, 10, 1, 10, 1, 10, 1, 10, 10, 1, 10, 1, 10, 1, 10, 1);
    const __m256i hundreds = _mm256_setr_epi16(
        1, 100, 1, 100, 100, 1, 100, 1, 1, 100, 1, 100, 100, 1, 100, 1);
    const __m256i myriads = _mm256_setr_epi16(
        1, 10000, 10000, 1, 1, 10000, 10000, 1, 1, 10000, 10000, 1, 1, 10000, 10000, 1);
    a = _mm256_madd_epi16(_mm256_maddubs_epi16(digits_around<all_dotted>(a), tens), hundreds);
    b = _mm256_madd_epi16(_mm256_maddubs_epi16(digits_around<all_dotted>(b), tens), hundreds);
    // whole and fraction of 0, of 1; of 2, of 3
    const __m256i both = _mm256_madd_epi16(_mm256_packus_epi32(a, b), myriads);
    const __m256i sorted =
        _mm256_permutevar8x32_epi32(both, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    const __m256d whole = _mm256_cvtepi32_pd(_mm256_castsi256_si128(sorted));
    const __m256d fraction = _mm256_cvtepi32_pd(_mm256_extracti128_si256(sorted, 1));
    const __m256d scale = _mm256_set1_pd(1e8);
    const __m256d value =
        _mm256_div_pd(_mm256_add_pd(_mm256_mul_pd(whole, scale), fraction), scale);
    return _mm256_xor_pd(
        value, _mm256_load_pd(reinterpret_cast<const double*>(kSignBits.of[negative & 15])));
}

EPIC_WIDE __m256i around(const char* one, const char* other) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(one - 7))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(other - 7)), 1);
}

EPIC_WIDE const char* next_point(const char* p, uint64_t& points) {
    const char* const at = p + _tzcnt_u64(points);
    points = _blsr_u64(points);
    return at;
}

// A common line: where its numbers are.
struct UsualLine {
    const char* begin;
    const char* second;     // where its second part begins; null: there is one part
    const char* numbers_end;
    const char* newline;
    uint64_t points;
    uint64_t second_points;
    uint32_t negative;
    uint32_t caret;         // where the last number begins
    bool all_dotted;
};

template <bool all_dotted>
EPIC_WIDE void convert(const UsualLine& line, Packet& packet) {
    const char* p = line.begin;
    uint64_t points = line.points;
    const char* const x = next_point(p, points);
    const char* const y = next_point(p, points);
    const char* const z = next_point(p, points);
    if (line.second) p = line.second, points = line.second_points;
    const char* const vx = next_point(p, points);
    const char* const vy = next_point(p, points);
    const char* const vz = next_point(p, points);
    const char* const time = next_point(p, points);
    const __m256d first =
        convert_four<all_dotted>(around(x, z), around(y, vx), line.negative);
    const __m256d second =
        convert_four<all_dotted>(around(vy, time), around(vz, vz), line.negative >> 4);
    alignas(32) double value[8];
    alignas(16) float single[8];
    _mm256_store_pd(value, first);
    _mm256_store_pd(value + 4, second);
    _mm_store_ps(single, _mm256_cvtpd_ps(first));
    _mm_store_ps(single + 4, _mm256_cvtpd_ps(second));
    packet.position = {value[0], value[1], value[2]};
    packet.velocity = {value[3], value[4], value[5]};
    packet.time = value[6];
    packet.single.position = {single[0], single[1], single[2]};
    packet.single.velocity = {single[3], single[4], single[5]};
    packet.single.time = single[6];
}

// Return whether the numbers of the line that begins at p are common ones; fill in their places,
// except `newline`. kReadBehind characters from p on must be readable.
EPIC_WIDE bool find_numbers(const char* p, UsualLine& line) {
    Shape shape;
    line.begin = p;
    line.second = nullptr;
    if (__builtin_expect(find_shape<Part::LINE>(p, shape), 1)) {
        line.points = shape.points;
        line.negative = shape.negative;
        line.numbers_end = p + shape.end;
        line.caret = shape.last;
        line.all_dotted = shape.points == shape.dots;
        return true;
    }
    if (!find_shape<Part::FIRST>(p, shape)) return false;
    Shape second;
    line.second = static_cast<const char*>(std::memchr(p, '/', 64)) + 2;
    if (!find_shape<Part::SECOND>(line.second, second)) return false;
    line.points = shape.points;
    line.second_points = second.points;
    line.negative = shape.negative | second.negative << 3;
    line.numbers_end = line.second + second.end;
    line.caret = uint32_t(line.second - p) + second.last;
    line.all_dotted = shape.points == shape.dots && second.points == second.dots;
    return true;
}

}  // namespace epic

#endif
