// Rows of the demo's format, several at once: the fast path of append_epic_row().
//
//     pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f
//
// In two steps, the digits of some rows, then their text; within a step no row waits for another.
// A number is at first eight digits with all zeros in front ("000012.50,"), which a shuffle then
// moves to the first that is printed.
//
// A number is rounded by adding 2^52 to |value| * 10^decimals. That product is itself rounded, but
// never across a half: halves are doubles below 2^52, and what is above one is not rounded to
// less than it. So the whole number is printf's unless the product is a half; then the sign of what
// was lost in rounding it decides (Dekker, A floating-point technique for extending the available
// precision, 1971). Numbers of 10^8 or more and those that are not finite go to the plain code.
#pragma once

#include "text/print_number.h"
#include "text/fast_path/processor.h"

#if EPIC_HAS_WIDE

#include <immintrin.h>

namespace epic {

constexpr size_t kRowsAtOnce = 32;

// The numbers of a row. Their order in memory, x y z vx | vy vz time, makes pairs: 0 and 4,
// 1 and 5, 2 and 3; the time is number 6.
struct alignas(32) RowDigits {
    __m256i pair[3];       // 16 characters for each number
    __m128i time;
    uint32_t shown[2];     // a bit for each digit that is not 0: of 0, 1, 4, 5; of 2, 3, 6
    uint32_t negative;     // bit i: number i has a minus
    bool usual;            // all but the time
    bool time_usual;
};

struct DigitLanes {
    __m256i low;   // numbers 0, 1 | 4, 5
    __m256i high;  // numbers 2, 3 | 6
};

// Two digits in each 16 bits to one in each byte, the first digit first.
EPIC_WIDE __m256i split_twos(__m256i twos) {
    // tens + (twos - 10 * tens) * 2^8; 6554 / 2^16 is 1 / 10 for two digits
    const __m256i tens = _mm256_mulhi_epu16(twos, _mm256_set1_epi16(6554));
    return _mm256_sub_epi16(_mm256_slli_epi16(twos, 8),
                            _mm256_mullo_epi16(tens, _mm256_set1_epi16(2559)));
}

// The digits of whole numbers below 10^8, 0 to 3 in a and 4 to 6 in b: eight bytes each, the most
// significant digit first.
EPIC_WIDE DigitLanes digits_of(__m256d a, __m256d b) {
    const __m256d half = _mm256_set1_pd(0.5), myriadth = _mm256_set1_pd(1e-4);
    const __m128i a_high =
        _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_add_pd(a, half), myriadth));
    const __m128i b_high =
        _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_add_pd(b, half), myriadth));
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(a_high), b_high, 1);
    const __m256i all = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm256_cvttpd_epi32(a)), _mm256_cvttpd_epi32(b), 1);
    // high + (all - high * 10000) * 2^16: four digits in each 16 bits
    const __m256i fours = _mm256_sub_epi32(
        _mm256_add_epi32(high, _mm256_slli_epi32(all, 16)),
        _mm256_slli_epi32(_mm256_mullo_epi32(high, _mm256_set1_epi32(10000)), 16));
    // 10486 / 2^20 is 1 / 100 for four digits
    const __m256i hundreds =
        _mm256_srli_epi16(_mm256_mulhi_epu16(fours, _mm256_set1_epi16(10486)), 4);
    const __m256i rests =
        _mm256_sub_epi16(fours, _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100)));
    return {split_twos(_mm256_unpacklo_epi16(hundreds, rests)),
            split_twos(_mm256_unpackhi_epi16(hundreds, rests))};
}

// Magnitudes times 100 or 1000, rounded as printf rounds them.
EPIC_WIDE __m256d round_scaled(__m256d values, __m256d scale) {
    const __m256d sign = _mm256_set1_pd(-0.0), whole = _mm256_set1_pd(0x1p52);
    const __m256d half = _mm256_set1_pd(0.5);
    const __m256d products = _mm256_mul_pd(values, scale);
    const __m256d rounded = _mm256_sub_pd(_mm256_add_pd(products, whole), whole);
    const __m256d off = _mm256_andnot_pd(sign, _mm256_sub_pd(products, rounded));
    const __m256d halves = _mm256_cmp_pd(off, half, _CMP_EQ_OQ);
    if (__builtin_expect(_mm256_testz_pd(halves, halves), 1)) return rounded;
    // the products of 24 bits and of the other 29 are exact, and so is each step to what was lost
    const __m256d high = _mm256_cvtps_pd(_mm256_cvtpd_ps(values));
    const __m256d low = _mm256_sub_pd(values, high);
    const __m256d lost = _mm256_add_pd(_mm256_sub_pd(_mm256_mul_pd(high, scale), products),
                                       _mm256_mul_pd(low, scale));
    const __m256d beside = _mm256_add_pd(products, _mm256_or_pd(half, _mm256_and_pd(lost, sign)));
    const __m256d ties = _mm256_cmp_pd(lost, _mm256_setzero_pd(), _CMP_EQ_OQ);
    return _mm256_blendv_pd(rounded, beside, _mm256_andnot_pd(ties, halves));
}

// Which of the rounded numbers have eight digits at most: bit i, number i.
EPIC_WIDE uint32_t find_usual(__m256d rounded) {
    return uint32_t(_mm256_movemask_pd(
        _mm256_cmp_pd(rounded, _mm256_set1_pd(99999999), _CMP_LE_OQ)));
}

EPIC_WIDE void find_digits(const Sample& sample, RowDigits& row) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    const __m256d a = _mm256_loadu_pd(&sample.position.x);  // x y z vx
    const __m256d b = _mm256_insertf128_pd(                 // vy vz time 0
        _mm256_castpd128_pd256(_mm_loadu_pd(&sample.velocity.y)), _mm_load_sd(&sample.time), 1);
    const __m256d a_rounded =
        round_scaled(_mm256_andnot_pd(sign, a), _mm256_setr_pd(100, 100, 100, 1000));
    const __m256d b_rounded = round_scaled(_mm256_andnot_pd(sign, b), _mm256_set1_pd(1000));
    const uint32_t usual = find_usual(a_rounded) | find_usual(b_rounded) << 4;
    row.usual = (usual & 0b111111) == 0b111111;
    row.time_usual = usual >> 6 & 1;
    if (__builtin_expect(!row.usual, 0)) return;
    row.negative = uint32_t(_mm256_movemask_pd(a)) | uint32_t(_mm256_movemask_pd(b)) << 4;
    const DigitLanes digits = digits_of(a_rounded, b_rounded);
    const __m256i zero = _mm256_setzero_si256();
    row.shown[0] = ~uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(digits.low, zero)));
    row.shown[1] = ~uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(digits.high, zero)));
    // the left half has two decimals (positions), the right one three (velocities)
    constexpr char n = -1, o = '0';
    const __m256i even = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, n, 6, 7, n, n, n, n, n, n, n,
                                          0, 1, 2, 3, 4, n, 5, 6, 7, n, n, n, n, n, n, n);
    const __m256i odd = _mm256_setr_epi8(8, 9, 10, 11, 12, 13, n, 14, 15, n, n, n, n, n, n, n,
                                         8, 9, 10, 11, 12, n, 13, 14, 15, n, n, n, n, n, n, n);
    const __m256i around_0_4 =
        _mm256_setr_epi8(o, o, o, o, o, o, '.', o, o, ',', 0, 0, 0, 0, 0, 0,
                         o, o, o, o, o, '.', o, o, o, ',', 0, 0, 0, 0, 0, 0);
    const __m256i around_1_5 =
        _mm256_setr_epi8(o, o, o, o, o, o, '.', o, o, ',', 0, 0, 0, 0, 0, 0,
                         o, o, o, o, o, '.', o, o, o, ' ', ' ', 't', 'i', 'm', 'e', ':');
    const __m256i around_2_3 =
        _mm256_setr_epi8(o, o, o, o, o, o, '.', o, o, ' ', ' ', 'v', 'e', 'l', ':', ' ',
                         o, o, o, o, o, '.', o, o, o, ',', 0, 0, 0, 0, 0, 0);
    row.pair[0] = _mm256_or_si256(_mm256_shuffle_epi8(digits.low, even), around_0_4);
    row.pair[1] = _mm256_or_si256(_mm256_shuffle_epi8(digits.low, odd), around_1_5);
    const __m256i two_and_three = _mm256_permute4x64_epi64(digits.high, 0b01010000);
    row.pair[2] = _mm256_or_si256(_mm256_shuffle_epi8(two_and_three, even), around_2_3);
    const __m128i around_time =
        _mm_setr_epi8(o, o, o, o, o, '.', o, o, o, '\n', 0, 0, 0, 0, 0, 0);
    row.time = _mm_or_si128(_mm_shuffle_epi8(_mm256_extracti128_si256(digits.high, 1),
                                             _mm256_extracti128_si256(even, 1)),
                            around_time);
}

// Shuffles that leave out the first bytes: the one at kShifts + n leaves out n.
struct alignas(16) Shifts {
    uint8_t bytes[32];
    constexpr Shifts() : bytes() {
        for (int i = 0; i < 32; ++i) bytes[i] = i < 16 ? uint8_t(i) : 0x80;
    }
};
inline constexpr Shifts kShifts{};

// One number without the zeros in front; `whole` digits before the dot, `length` characters with
// what stands behind the number. Writes 17 bytes.
template <int whole, int length>
EPIC_WIDE char* put_number(char* out, const __m128i* text, uint32_t shown, uint32_t negative) {
    const uint32_t zeros = uint32_t(_tzcnt_u32(shown | 1u << (whole - 1)));
    const __m128i shift =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(kShifts.bytes + zeros));
    *out = '-';
    out += negative & 1;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_shuffle_epi8(_mm_load_si128(text), shift));
    return out + (length - zeros);
}

EPIC_WIDE char* put_row(char* out, const Sample& sample, const RowDigits& row,
                        SecondsText& seconds) {
    const auto* const text = reinterpret_cast<const __m128i*>(row.pair);
    const uint32_t low = row.shown[0], high = row.shown[1], negative = row.negative;
    std::memcpy(out, "pos: ", 5);
    out = put_number<6, 10>(out + 5, text + 0, low, negative);
    out = put_number<6, 10>(out, text + 2, low >> 8, negative >> 1);
    out = put_number<6, 16>(out, text + 4, high, negative >> 2);
    out = put_number<5, 10>(out, text + 5, high >> 8, negative >> 3);
    out = put_number<5, 10>(out, text + 1, low >> 16, negative >> 4);
    out = put_number<5, 16>(out, text + 3, low >> 24, negative >> 5);
    if (__builtin_expect(!row.time_usual, 0)) return append_time(out - 6, sample.time, seconds);
    *out = ' ';
    return put_number<5, 10>(out + 1, &row.time, high >> 16, negative >> 6);
}

// Appends up to kRowsAtOnce rows.
EPIC_WIDE_TARGET inline char* append_usual_rows(char* out, const Sample* samples, size_t count,
                                                SecondsText& seconds) {
    RowDigits rows[kRowsAtOnce];
    for (size_t i = 0; i < count; ++i) find_digits(samples[i], rows[i]);
    for (size_t i = 0; i < count; ++i)
        out = __builtin_expect(rows[i].usual, 1) ? put_row(out, samples[i], rows[i], seconds)
                                                 : append_epic_row(out, samples[i], seconds);
    return out;
}

}  // namespace epic

#endif
