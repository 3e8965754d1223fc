// The numbers of Python's random.Random.random(), which are the same on every machine.
//
// M. Matsumoto, T. Nishimura, "Mersenne Twister: A 623-Dimensionally Equidistributed Uniform
// Pseudo-Random Number Generator", ACM Transactions on Modeling and Computer Simulation 8 (1),
// 1998: MT19937. Python seeds it, and makes 53 bits of two of its words.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "link/portable_maths.h"

namespace epic {

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
