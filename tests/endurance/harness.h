// What the harnesses of libFuzzer share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// A copy in memory of its own with a NUL behind it, so that a step beyond its end is seen.
inline std::unique_ptr<char[]> apart(const char* text, size_t length) {
    std::unique_ptr<char[]> copy(new char[length + 1]);
    std::memcpy(copy.get(), text, length);
    copy[length] = '\0';
    return copy;
}

// How much was scanned is said at the end.
struct Total {
    unsigned long long bytes = 0;
    ~Total() { std::fprintf(stderr, "%llu bytes\n", bytes); }
};
