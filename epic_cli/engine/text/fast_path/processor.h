// A test whether this processor can run the engine's fast paths.
//
// A fast path gives the same bits as the plain code, some three times faster, with vectors of 32
// bytes (x86-64 with AVX2, BMI and BMI2). Everywhere else, and with EPIC_ENGINE=plain in the
// environment, the plain code does all.
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#define EPIC_HAS_WIDE 1
#define EPIC_WIDE_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define EPIC_WIDE __attribute__((target("avx2,bmi,bmi2,lzcnt"), always_inline)) inline
#else
#define EPIC_HAS_WIDE 0
#endif

namespace epic {

inline bool processor_is_wide() {
#if EPIC_HAS_WIDE
    // The first two Zen generations have pext, but take some hundred cycles for it.
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
           !__builtin_cpu_is("znver2");
#else
    return false;
#endif
}

// Return whether to take the fast paths.
inline bool takes_wide_ways() {
    const char* const engine = std::getenv("EPIC_ENGINE");
    return !(engine && std::string_view(engine) == "plain") && processor_is_wide();
}

}  // namespace epic
