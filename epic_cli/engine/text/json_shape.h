// The shape of JSON objects: their names and nesting, without values.
#pragma once

#include <string>

namespace epic {

// Appends the shape of the object that begins at p; returns its end. nullptr: it is unterminated,
// or not a single line.
inline const char* append_shape(const char* p, const char* end, std::string& shape) {
    int depth = 0;
    for (; p < end; ++p) {
        switch (*p) {
            case '{':
            case '[':
                ++depth;
                shape += *p;
                break;
            case '}':
            case ']':
                shape += *p;
                if (--depth == 0) return p + 1;
                break;
            case ',': shape += ','; break;
            case '\n':
            case '\r':
            case '\0': return nullptr;
            case '"': {
                const char* const begin = p++;
                while (p < end && *p != '"' && static_cast<unsigned char>(*p) >= ' ')
                    p += *p == '\\' ? 2 : 1;
                if (p >= end || *p != '"') return nullptr;
                const char* behind = p + 1;
                while (behind < end && *behind == ' ') ++behind;
                if (behind < end && *behind == ':') shape.append(begin, behind);
                break;
            }
            default: break;  // blanks and values
        }
    }
    return nullptr;
}

// Objects of one shape, one after the other or in an array, as a line each. False: they are not.
inline bool cut_alike(const char* p, const char* end, size_t longest, std::string& shape,
                      std::string& lines) {
    const auto pass_blanks = [&] {
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    };
    const bool array = p < end && *p == '[';
    if (array) ++p;
    std::string other;
    for (bool first = true;; first = false) {
        pass_blanks();
        if (!first && p == end) return !array;
        if (!first && array) {
            if (*p == ']') return p + 1 == end;
            if (*p++ != ',') return false;
            pass_blanks();
        }
        if (p == end || *p != '{') return false;
        other.clear();
        const char* const behind = append_shape(p, end, first ? shape : other);
        if (!behind || size_t(behind - p) > longest || (!first && other != shape)) return false;
        lines.append(p, behind);
        lines += '\n';
        p = behind;
    }
}

}  // namespace epic
