// Lines with one JSON object each to packets, by a tree of the wanted names. Common lines only:
// escapes, duplicate names and errors are left to the slow path, which decides.
#pragma once

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "record.h"

namespace epic {

// A value that is wanted (`field`), or an object or array that holds some.
struct JsonNode {
    struct Branch {
        std::string name;
        int32_t node;
    };
    std::vector<Branch> branches;
    int32_t field = FIELD_NONE;
};

struct JsonPlan {
    std::vector<JsonNode> nodes{1};

    // Adds a step below a node; returns the node it leads to.
    int32_t step(int32_t node, const std::string& name) {
        for (const auto& branch : nodes[size_t(node)].branches)
            if (branch.name == name) return branch.node;
        const auto next = int32_t(nodes.size());
        nodes.emplace_back();
        nodes[size_t(node)].branches.push_back({name, next});
        return next;
    }
};

// The plan of an object with an entry for each of several entities: the plan of what they share,
// the node in it whose value has the entries, and the plan of each.
struct EntriesPlan {
    JsonPlan shared, own;
    int32_t node = 0;
    bool numbered = true;  // array entries are named by their index
};

// The fields read of one entry.
struct Entry {
    Record record;
    Packet packet;
    char number[12];  // its name where it has none
};

class JsonScanner {
public:
    JsonScanner(const JsonPlan& plan, const Units& units, Record& record, Packet& packet,
                int32_t entries = -2)
        : plan_(plan), units_(units), record_(record), packet_(packet), entries_(entries) {}

    // Takes the line [p, end), which is followed by its newline.
    bool scan(const char* p, const char* end) {
        p_ = p;
        end_ = end;
        blanks();
        if (p_ == end_ || *p_ != '{' || !value(0, 0)) return false;
        blanks();
        return p_ == end_;
    }

    // Takes the entries of the line that has been scanned, each on top of what they share.
    bool take_entries(const EntriesPlan& plan, std::vector<Entry>& out) {
        if (!found_) return true;
        p_ = found_;
        const bool named = *p_++ == '{';
        const char close = named ? '}' : ']';
        if (is(close)) return true;
        int32_t count = 0;
        do {
            std::string_view name;
            if (named && (!string(name) || !is(':'))) return false;
            blanks();
            ++count;
            if (p_ < end_ && *p_ == 'n') {
                if (!word("null")) return false;
                continue;
            }
            out.push_back({record_, packet_, {}});
            Entry& entry = out.back();
            JsonScanner scanner(plan.own, units_, entry.record, entry.packet);
            scanner.p_ = p_;
            scanner.end_ = end_;
            if (!scanner.value(0, 1)) return false;
            p_ = scanner.p_;
            if (!entry.record.entity.empty()) continue;
            if (named) {
                entry.record.entity = name;
            } else if (plan.numbered) {
                std::to_chars(entry.number, entry.number + sizeof entry.number, count - 1);
                // of duplicates the last one counts
            }
        } while (is(','));
        for (Entry& entry : out)
            if (entry.record.entity.empty()) entry.record.entity = entry.number;
        return is(close);
    }

private:
    static constexpr int kDeepest = 32;

    void blanks() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
    }

    bool is(char c) {
        blanks();
        if (p_ == end_ || *p_ != c) return false;
        ++p_;
        return true;
    }

    // A string without escapes.
    bool string(std::string_view& out) {
        if (!is('"')) return false;
        const char* const begin = p_;
        while (p_ < end_ && *p_ != '"') {
            if (*p_ == '\\' || static_cast<unsigned char>(*p_) < ' ') return false;
            ++p_;
        }
        if (p_ == end_) return false;
        out = {begin, size_t(p_ - begin)};
        ++p_;
        return true;
    }

    // A number of JSON's grammar, which is stricter than scan_number().
    bool number(std::string_view& out) {
        const char* const begin = p_;
        if (p_ < end_ && *p_ == '-') ++p_;
        const char* const digits = p_;
        while (is_digit(*p_)) ++p_;
        if (p_ == digits || (*digits == '0' && p_ - digits > 1)) return false;
        if (*p_ == '.' && !some_digits(p_ + 1)) return false;
        if (*p_ == 'e' || *p_ == 'E') {
            ++p_;
            if (!some_digits(*p_ == '+' || *p_ == '-' ? p_ + 1 : p_)) return false;
        }
        out = {begin, size_t(p_ - begin)};
        return true;
    }

    bool some_digits(const char* from) {
        p_ = from;
        while (is_digit(*p_)) ++p_;
        return p_ > from;
    }

    bool word(const char* text) {
        const size_t length = std::strlen(text);
        if (size_t(end_ - p_) < length || std::memcmp(p_, text, length) != 0) return false;
        p_ += length;
        return true;
    }

    // The node to which a step leads; -1: to none that is wanted. Steps are in the same order in
    // most lines: `next` is where to look first.
    int32_t follow(const JsonNode& node, std::string_view name, size_t& next) {
        const size_t count = node.branches.size();
        for (size_t tried = 0; tried < count; ++tried, ++next) {
            if (next >= count) next = 0;
            if (node.branches[next].name == name) return node.branches[next++].node;
        }
        return -1;
    }

    // Takes a value that belongs to a node; -1: to none.
    bool value(int32_t at, int depth) {
        blanks();
        if (p_ == end_ || depth > kDeepest) return false;
        if (at == entries_) {
            if (*p_ != '{' && *p_ != '[') return *p_ == 'n' && word("null");
            found_ = p_;
            const bool before = packet_.has_extras;
            if (!value(-1, depth)) return false;
            packet_.has_extras = before;  // what an entry has is found when that is read
            return true;
        }
        static const JsonNode nothing;
        const JsonNode& node = at < 0 ? nothing : plan_.nodes[size_t(at)];
        if (*p_ == '{' || *p_ == '[') {
            if (node.field != FIELD_NONE) return false;
            return *p_ == '{' ? object(node, depth) : array(node, depth);
        }
        if (!node.branches.empty()) return *p_ == 'n' && word("null");
        std::string_view text;
        if (*p_ == '"') {
            if (!string(text)) return false;
            return node.field == FIELD_NONE || use(node.field, trimmed(node.field, text));
        }
        if (*p_ == '-' || is_digit(*p_))
            return number(text) && (node.field == FIELD_NONE || use(node.field, text));
        if (*p_ == 'n') return word("null");
        if (!word(*p_ == 't' ? "true" : "false")) return false;
        const char* const truth = p_[-2] == 'u' ? "1\n" : "0\n";
        return node.field == FIELD_NONE ||
               (node.field > FIELD_TIME && use(node.field, {truth, 1}));
    }

    static std::string_view trimmed(int32_t field, std::string_view text) {
        if (field == FIELD_ENTITY) return text;
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
        return text;
    }

    bool use(int32_t field, std::string_view text) {
        if (record_.seen & bit(field)) return false;
        return text.empty() || record_.set(units_, field, text, packet_);
    }

    bool object(const JsonNode& node, int depth) {
        ++p_;
        if (is('}')) return true;
        size_t next = 0;
        uint64_t visited = 0;
        do {
            std::string_view name;
            if (!string(name) || !is(':')) return false;
            const int32_t child = node.branches.empty() ? -1 : follow(node, name, next);
            packet_.has_extras |= child < 0;
            if (child >= 0) {
                const uint64_t mark = uint64_t(1) << (child & 63);
                if (visited & mark) return false;
                visited |= mark;
            }
            if (!value(child, depth + 1)) return false;
        } while (is(','));
        return is('}');
    }

    bool array(const JsonNode& node, int depth) {
        ++p_;
        if (is(']')) return true;
        size_t next = 0;
        int index = 0;
        do {
            int32_t child = -1;
            if (!node.branches.empty() && index < 100) {
                const char digits[2] = {char('0' + index / 10), char('0' + index % 10)};
                const std::string_view name(digits + (index < 10), size_t(2 - (index < 10)));
                child = follow(node, name, next);
            }
            ++index;
            packet_.has_extras |= child < 0;
            if (!value(child, depth + 1)) return false;
        } while (is(','));
        return is(']');
    }

    const JsonPlan& plan_;
    const Units& units_;
    Record& record_;
    Packet& packet_;
    const int32_t entries_;        // the node whose value has them
    const char* found_ = nullptr;  // where that begins
    const char* p_ = nullptr;
    const char* end_ = nullptr;
};

inline bool scan_object(const JsonPlan& plan, const Units& units, const char* p, const char* end,
                        Record& record, Packet& packet) {
    return JsonScanner(plan, units, record, packet).scan(p, end);
}

// Takes the entries of a line's object into `out`, which is empty.
inline bool scan_entries(const EntriesPlan& plan, const Units& units, const char* p,
                         const char* end, std::vector<Entry>& out) {
    Record record;
    Packet packet;
    JsonScanner scanner(plan.shared, units, record, packet, plan.node);
    return scanner.scan(p, end) && scanner.take_entries(plan, out);
}

}  // namespace epic
