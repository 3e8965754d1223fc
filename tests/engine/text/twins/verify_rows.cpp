// Random samples as rows by the fast way, its plain twin and C's printf: all bytes must agree.
//
//     verify_rows ROWS SEED

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "text/fast_path/rows.h"

using namespace epic;

static std::mt19937_64 generator;

static unsigned pick(unsigned count) { return unsigned(generator() % count); }

static double whole(unsigned below) {
    return double(int64_t(generator() % (2 * uint64_t(below) + 1)) - int64_t(below));
}

static double any_value() {
    static const double odd[] = {
        0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 99999.9994, 99999.9995, 99999.9996, 999999.994,
        999999.995, 999999.996, 1e5, 1e6, 0.0005, 0.005, 0.00049999999, 5e-324, -5e-324,
        4194303.9999, 2147483.647, 4e6, -0.001, -0.0005, -0.004, 99999.999, -99999.9995};
    const unsigned kind = pick(100);
    if (kind < 20) return float(whole(1000000) / 1000);
    if (kind < 35) return whole(1000000) / (1 << pick(12));  // ties
    if (kind < 50) return whole(1000000) / 2000;             // ties, but for the rounding
    if (kind < 60) return whole(10000000) / 100;
    if (kind < 70) {
        const auto bits = uint32_t(generator());
        float single;
        std::memcpy(&single, &bits, sizeof single);
        return single;
    }
    if (kind < 78) {
        const uint64_t bits = generator();
        double any;
        std::memcpy(&any, &bits, sizeof any);
        return any;
    }
    if (kind < 80) return odd[pick(sizeof odd / sizeof *odd)];
    if (kind < 90) return (pick(2) ? -1.0 : 1.0) * (float(pick(1000000)) + 0.125f * float(pick(8)));
    return std::nextafter(whole(1000000) / 2000, pick(2) ? INFINITY : -INFINITY);
}

static double value() {
    const double one = any_value();
#if defined(_WIN32)
    if (std::isnan(one)) return NAN;  // whose sign printf leaves out there
#endif
    return one;
}

int main(int, char** arguments) {
    const auto wanted = size_t(std::atoll(arguments[1]));
    generator.seed(uint64_t(std::atoll(arguments[2])));
    SecondsText seconds, plain_seconds;
    size_t total = 0;
    std::vector<char> rows(2600 * 32), plain_rows(2600 * 32);
    while (total < wanted) {
        Sample samples[32];
        auto time = float(pick(100000));
        const bool plain = pick(2) == 0;
        for (Sample& sample : samples) {
            time += 0.05f;
            const auto next = [&] { return plain ? double(float(whole(10000000) / 1000)) : value(); };
            sample.time = pick(50) ? double(time) : value();
            sample.position = {next(), next(), next()};
            sample.velocity = {next(), next(), next()};
        }
        const size_t count = 1 + pick(32);
        std::string expected;
        char* p = plain_rows.data();
        for (size_t i = 0; i < count; ++i) {
            const Sample& s = samples[i];
            char row[2600];
            std::snprintf(row, sizeof row,
                          "pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f\n", s.position.x,
                          s.position.y, s.position.z, s.velocity.x, s.velocity.y, s.velocity.z,
                          s.time);
            expected += row;
            p = append_epic_row(p, s, plain_seconds);
        }
        std::string fast = expected;
#if EPIC_HAS_WIDE
        if (processor_is_wide())
            fast.assign(rows.data(), append_usual_rows(rows.data(), samples, count, seconds));
#endif
        if (fast != expected || std::string(plain_rows.data(), p) != expected) {
            std::printf("differs:\n%s\n%s", expected.c_str(), fast.c_str());
            return 1;
        }
        total += count;
    }
    std::printf("%zu rows, as printf writes them\n", total);
    return 0;
}
