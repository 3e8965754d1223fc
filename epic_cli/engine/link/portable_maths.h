// Sine, exponential, logarithm, normal probability and random numbers with the same bits on every
// machine.
//
// The C library's sin, exp and log differ in their last bit from one machine to the next. IEEE 754
// rounds +, -, *, / and sqrt in one way only, and floor, frexp and ldexp are exact; the functions
// here use nothing else. They are right to about 1e-15, the normal probability to 1e-14.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace epic {

constexpr double kTurn = 6.283185307179586;  // 2 pi
constexpr double kLn2 = 0.6931471805599453;
constexpr double kHalfLnTurn = 0.9189385332046728;  // ln(2 pi) / 2

// The sine and the cosine of an angle in turns (1 turn is 360 degrees), which is brought to within
// an eighth of a turn of a multiple of a quarter, where the Taylor series end soon.
inline void sine_cosine(double turns, double& sine, double& cosine) {
    turns -= std::floor(turns);
    const double quarters = std::floor(turns * 4 + 0.5);
    const double angle = (turns - quarters / 4) * kTurn;
    const double square = angle * angle;
    double s = 1.0, c = 1.0;
    for (int n = 16; n > 0; n -= 2) {
        s = 1.0 - s * square / (n * (n + 1));
        c = 1.0 - c * square / (n * (n - 1));
    }
    s *= angle;
    switch (int(quarters) & 3) {
        case 0: sine = s, cosine = c; break;
        case 1: sine = c, cosine = -s; break;
        case 2: sine = -s, cosine = -c; break;
        default: sine = -c, cosine = s;
    }
}

// The exponential function, for x up to 709.
inline double exponential(double x) {
    if (x < -745) return 0.0;
    const double power = std::floor(x / kLn2 + 0.5);
    const double rest = x - power * kLn2;
    double result = 1.0;
    for (int n = 15; n > 0; --n) result = 1.0 + result * rest / n;
    return std::ldexp(result, int(power));
}

// The natural logarithm of a positive number: ln m = 2 artanh((m - 1) / (m + 1)), for a mantissa
// between 0.707 and 1.414.
inline double logarithm(double x) {
    int power;
    double mantissa = std::frexp(x, &power);
    if (mantissa < 0.7071067811865476) {
        mantissa *= 2;
        --power;
    }
    const double s = (mantissa - 1) / (mantissa + 1);
    const double square = s * s;
    double series = 0.0;
    for (int n = 23; n > 0; n -= 2) series = series * square + 1.0 / n;
    return 2 * s * series + power * kLn2;
}

// The share of a standard normal distribution that lies below z; never 0 or 1. The series of
// G. Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical Software 11 (4), 2004.
inline double normal_probability(double z) {
    z = std::max(-7.0, std::min(7.0, z));
    const double square = z * z;
    double term = z, total = z, before = 0.0;
    for (int n = 3; total != before; n += 2) {
        before = total;
        term *= square / n;
        total += term;
    }
    return 0.5 + total * exponential(-0.5 * square - kHalfLnTurn);
}

// The numbers of Python's random.Random.random(), which are the same on every machine.
//
// M. Matsumoto, T. Nishimura, "Mersenne Twister: A 623-Dimensionally Equidistributed Uniform
// Pseudo-Random Number Generator", ACM Transactions on Modeling and Computer Simulation 8 (1),
// 1998: MT19937. Python seeds it, and makes 53 bits of two of its words.
class Twister {
public:
    static constexpr size_t kWords = 624;

    // One of the words that Random.getstate() gives, and how many of them are used up.
    void set_word(size_t index, uint32_t word) { words_[index] = word; }
    void set_used(size_t used) { used_ = used; }

    // From 0 to below 1.
    double random() {
        const uint32_t high = next() >> 5;
        const uint32_t low = next() >> 6;
        return (high * 67108864.0 + low) / 9007199254740992.0;
    }

    // From the standard normal distribution, by Marsaglia's polar method (G. Marsaglia, T. A. Bray,
    // "A Convenient Method for Generating Normal Variables", SIAM Review 6 (3), 1964). The second
    // number that it would give is dropped: a draw keeps no state.
    double normal() {
        for (;;) {
            const double u = 2 * random() - 1;
            const double v = 2 * random() - 1;
            const double square = u * u + v * v;
            if (0 < square && square < 1) return u * std::sqrt(-2 * logarithm(square) / square);
        }
    }

private:
    static constexpr size_t kShift = 397;

    uint32_t next() {
        if (used_ >= kWords) twist();
        uint32_t y = words_[used_++];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        return y ^ (y >> 18);
    }

    void twist() {
        for (size_t i = 0; i < kWords; ++i) {
            const uint32_t y =
                (words_[i] & 0x80000000u) | (words_[(i + 1) % kWords] & 0x7fffffffu);
            words_[i] = words_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1u) ? 0x9908b0dfu : 0u);
        }
        used_ = 0;
    }

    std::array<uint32_t, kWords> words_{};
    size_t used_ = kWords;
};

}  // namespace epic
