// Cells of CSV from the values of columns.
#pragma once

#include <cstdint>
#include <cstring>

#include "text/decimal.h"
#include "text/print_number.h"

namespace epic {

// Bytes of the longest number: 17 digits, a sign, a point, four zeros and an exponent.
constexpr size_t kLongestNumberCell = 32;

// A text as a cell, quoted where it must be (RFC 4180); a line feed becomes a blank.
inline char* append_cell(char* out, const char* text, size_t length) {
    const auto has = [&](char c) { return std::memchr(text, c, length) != nullptr; };
    const bool quoted = length && (has(',') || has('"') || has('\r'));
    if (quoted) *out++ = '"';
    for (size_t i = 0; i < length; ++i) {
        if (text[i] == '"' && quoted) *out++ = '"';
        *out++ = text[i] == '\n' ? ' ' : text[i];
    }
    if (quoted) *out++ = '"';
    return out;
}

}  // namespace epic
