// Random numbers as shortest decimals by the fast way and its plain twin: all bytes must agree.
//
//     verify_shortest NUMBERS SEED

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include "text/fast_path/shortest.h"

using namespace epic;

static std::mt19937_64 generator;

static uint64_t pick(uint64_t count) { return generator() % count; }

static double with_bits(uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

static double number() {
    const uint64_t exponent = (975 + pick(110)) << 52, sign = pick(2) << 63;
    switch (pick(8)) {
        case 0: return with_bits(generator());
        case 1: return with_bits((generator() & 0xFFFFFFFFFFFFF) | exponent | sign);
        case 2: return float(double(int64_t(generator())) / 1e15);
        case 3: return double(int64_t(pick(2000001)) - 1000000) / 1000;
        case 4: return double(pick(100000000000)) / 1e7;
        case 5: return double(pick(1000)) / kTens[pick(20)];
        case 6: return double(pick(uint64_t(1) << 53)) / double(uint64_t(1) << pick(52));
        default:  // few bits are set, next to a power of two
            return with_bits((pick(4096) * (pick(2) ? 1 : uint64_t(1) << 40)) | exponent | sign);
    }
}

int main(int, char** arguments) {
    const auto wanted = size_t(std::atoll(arguments[1]));
    generator.seed(uint64_t(std::atoll(arguments[2])));
    size_t fast = 0;
    for (size_t total = 0; total < wanted; ++total) {
        const double value = number();
        char text[64], plain[64];
        char* end = text;
        if (!take_shortest(end, value)) continue;
        ++fast;
        const std::string_view taken(text, size_t(end - text));
        const std::string_view given(plain, size_t(append_shortest(plain, value) - plain));
        if (taken != given) {
            std::printf("%a: %.*s\n", value, int(taken.size()), taken.data());
            return 1;
        }
    }
    std::printf("%zu numbers, %zu of them by the fast way: the same\n", wanted, fast);
    return fast < wanted / 2;
}
