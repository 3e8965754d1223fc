// A JSON document, an array of objects or objects one after the other, cut into a line for each;
// and the shape of objects: their names and nesting, without values.
// The array may be in an object, whose other values are left out, except the first object of each
// other array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epic {

// The place in the document at which a line begins: line and column, from 1.
struct DocumentPlace {
    int64_t line = 1, column = 1;
};

class ObjectCutter {
public:
    std::vector<DocumentPlace> places;  // of the lines that have begun

    // The first object of an array beside the one that was cut.
    struct Other {
        DocumentPlace place;
        std::string text;
    };
    std::vector<Other> others;

    // The next input follows the opening bracket of an array in this many other containers.
    void enter(const char* p, const char* end, int64_t around) {
        for (; p < end; ++p) step(*p);
        beside_ = around_ = around;
    }

    // Appends the lines of some more of the document. Blanks within an object become one; text
    // between objects is left out, except what does not belong there.
    void cut(const char* p, const char* end, std::string& out) {
        for (; p < end; ++p) {
            if (left_) leave(*p);
            else take(*p, out);
            step(*p);
        }
    }

    // Ends a line that has begun.
    void finish(std::string& out) {
        if (begun_) end_line(out);
    }

private:
    static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

    void step(char c) {
        if (c == '\n') {
            ++here_.line;
            here_.column = 1;
        } else {
            ++here_.column;
        }
    }

    // Skips what follows the array in the containers around it.
    void leave(char c) {
        if (looking_) look(c);
        if (quoted_) {
            if (escaped_) escaped_ = false;
            else if (c == '\\') escaped_ = true;
            else if (c == '"') quoted_ = false;
        } else if (c == '"') {
            quoted_ = true;
        } else if (c == '{' || c == '[') {
            if (c == '[' && left_ == beside_ && others.size() < kMostOthers) {
                looking_ = true;
                others.emplace_back();
            }
            ++left_;
        } else if (c == '}' || c == ']') {
            --left_;
            if (looking_ && left_ <= beside_ + 1) looking_ = false;
        }
    }

    // Keeps the beginning of another array.
    void look(char c) {
        Other& other = others.back();
        if (other.text.empty()) other.place = here_;
        if (other.text.size() < kLongestOther) {
            if (!other.text.empty() || !is_blank(c)) other.text += is_blank(c) ? ' ' : c;
        } else {
            looking_ = false;
        }
    }

    void take(char c, std::string& out) {
        if (quoted_) {
            out += c == '\n' || c == '\r' ? ' ' : c;  // not a line end, and not part of the text
            if (escaped_) escaped_ = false;
            else if (c == '\\') escaped_ = true;
            else if (c == '"') quoted_ = false;
            return;
        }
        if (depth_ == 0 && c == ']' && around_) {
            if (begun_) end_line(out);
            left_ = around_;
            around_ = 0;
            return;
        }
        if (depth_ == 0 && (is_blank(c) || c == ',' || c == '[' || c == ']')) {
            if (begun_ && c != ' ') end_line(out);
            return;
        }
        if (is_blank(c)) {
            blank_ = true;
            return;
        }
        if (!begun_) {
            begun_ = true;
            places.push_back(here_);
        } else if (blank_) {
            out += ' ';
        }
        blank_ = false;
        out += c;
        if (c == '"' && depth_) quoted_ = true;
        if (c == '{' || c == '[') ++depth_;
        if ((c == '}' || c == ']') && depth_ && --depth_ == 0) end_line(out);
    }

    void end_line(std::string& out) {
        out += '\n';
        begun_ = blank_ = quoted_ = escaped_ = false;
        depth_ = 0;
    }

    static constexpr size_t kMostOthers = 16, kLongestOther = 65536;

    DocumentPlace here_;
    int64_t depth_ = 0;
    int64_t around_ = 0;  // the containers around the array whose entries are cut
    int64_t beside_ = 0;  // as many, also behind that array
    int64_t left_ = 0;    // those that are still open behind it
    bool looking_ = false;
    bool begun_ = false, quoted_ = false, escaped_ = false, blank_ = false;
};

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
