// Cells of CSV from the values of columns.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/decimal.h"
#include "text/print_number.h"

namespace epic {

// Bytes of the longest number: 17 digits, a sign, a point, four zeros and an exponent.
constexpr size_t kLongestNumberCell = 32;

// True for a text that would be taken for a number or a truth, or for nothing.
inline bool looks_like_value(std::string_view text) {
    return text.find_first_not_of("0123456789+-.eE") == text.npos || text == "true" || text == "false";
}

// A text as a cell, quoted where it must be (RFC 4180) or, if `typed`, where it looks like another
// value; a line feed becomes a blank.
inline char* append_cell(char* out, const char* text, size_t length, bool typed) {
    const auto has = [&](char c) { return std::memchr(text, c, length) != nullptr; };
    const bool quoted = (length && (has(',') || has('"') || has('\r'))) ||
                        (typed && looks_like_value({text, length}));
    if (quoted) *out++ = '"';
    for (size_t i = 0; i < length; ++i) {
        if (text[i] == '"' && quoted) *out++ = '"';
        *out++ = text[i] == '\n' ? ' ' : text[i];
    }
    if (quoted) *out++ = '"';
    return out;
}

}  // namespace epic
