// The names of a recording's entities, numbered in the order of their first packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace epic {

// Whether the bytes are UTF-8 (RFC 3629: no overlong forms, no surrogates).
inline bool is_utf8(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i++]);
        if (c < 0x80) continue;
        const int more = c >= 0xC2 && c < 0xE0   ? 1
                         : (c & 0xF0) == 0xE0    ? 2
                         : c >= 0xF0 && c < 0xF5 ? 3
                                                 : 0;
        if (!more) return false;
        uint32_t code = c & (0x3Fu >> more);
        for (int k = 0; k < more; ++k) {
            if (i == text.size()) return false;
            const auto next = static_cast<unsigned char>(text[i++]);
            if ((next & 0xC0) != 0x80) return false;
            code = code << 6 | (next & 0x3Fu);
        }
        if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000)) return false;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    }
    return true;
}

class EntityNames {
public:
    // Every entity costs a strategy; a recording that names a new one on each line must
    // not take memory without end.
    static constexpr size_t kMost = 4096;

    static constexpr int32_t kTooMany = -1, kNotText = -2;

    // The number of a name, or one of the two above.
    int32_t number_of(std::string_view name) {
        if (last_ >= 0 && names_[size_t(last_)] == name) return last_;
        key_.assign(name.data(), name.size());
        const auto found = numbers_.find(key_);
        if (found != numbers_.end()) return last_ = found->second;
        if (!is_utf8(name)) return kNotText;
        if (names_.size() == kMost) return kTooMany;
        names_.push_back(key_);
        last_ = int32_t(names_.size()) - 1;
        numbers_.emplace(key_, last_);
        return last_;
    }

    const std::string& name(int32_t number) const { return names_.at(size_t(number)); }
    size_t size() const { return names_.size(); }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, int32_t> numbers_;
    std::string key_;
    int32_t last_ = -1;
};

}  // namespace epic
