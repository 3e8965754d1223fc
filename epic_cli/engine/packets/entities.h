// The names of a recording's entities, numbered in the order of their first packets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace epic {

// Returns true if the bytes are UTF-8 (RFC 3629: no overlong forms, no surrogates).
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

// Names one after the other in one text, and a table of their numbers with open addressing: some
// 30 bytes an entity and the name itself, with no limit but memory.
class EntityNames {
public:
    static constexpr int32_t kNotText = -1;

    // The number of a name, a new one for a new name, or kNotText. Throws std::bad_alloc, and
    // nothing has changed then.
    int32_t assign_number(std::string_view name) {
        if (last_ < size() && at(last_) == name) return int32_t(last_);
        // recordings name their entities in the same order again and again
        const size_t next = last_ + 1 < size() ? last_ + 1 : 0;
        if (next < size() && at(next) == name) return int32_t(last_ = next);
        const uint32_t hash = hash_of(name);
        if (!slots_.empty()) {
            const Slot& slot = slots_[find_slot(name, hash)];
            if (slot.number >= 0) return int32_t(last_ = size_t(slot.number));
        }
        if (!is_utf8(name)) return kNotText;
        return add(name, hash);
    }

    // The name that has this number, until the next one is added.
    std::string_view name(int32_t number) const {
        if (number < 0 || size_t(number) >= size()) throw std::out_of_range("no such entity");
        return at(size_t(number));
    }

    size_t size() const { return ends_.size(); }

    // The length of the longest name, in bytes.
    size_t longest() const { return longest_; }

private:
    struct Slot {
        uint32_t hash = 0;
        int32_t number = -1;  // -1: empty
    };

    std::string_view at(size_t number) const {
        const size_t begin = number ? ends_[number - 1] : 0;
        return std::string_view(text_).substr(begin, ends_[number] - begin);
    }

    static uint32_t hash_of(std::string_view name) {
        return uint32_t(std::hash<std::string_view>()(name));
    }

    // The slot of a name: its own, or the empty one where it would be put.
    size_t find_slot(std::string_view name, uint32_t hash) const {
        const size_t mask = slots_.size() - 1;
        for (size_t place = hash & mask;; place = (place + 1) & mask) {
            const Slot& slot = slots_[place];
            if (slot.number < 0 || (slot.hash == hash && at(size_t(slot.number)) == name))
                return place;
        }
    }

    int32_t add(std::string_view name, uint32_t hash) {
        if (size() == size_t(std::numeric_limits<int32_t>::max())) throw std::bad_alloc();
        if (2 * (size() + 1) > slots_.size()) grow();
        text_.append(name);
        try {
            ends_.push_back(text_.size());
        } catch (...) {
            text_.resize(text_.size() - name.size());
            throw;
        }
        last_ = size() - 1;
        slots_[find_slot(name, hash)] = {hash, int32_t(last_)};
        longest_ = std::max(longest_, name.size());
        return int32_t(last_);
    }

    void grow() {
        std::vector<Slot> before(std::max<size_t>(2 * slots_.size(), 16));
        before.swap(slots_);
        const size_t mask = slots_.size() - 1;
        for (const Slot& slot : before) {
            if (slot.number < 0) continue;
            size_t place = slot.hash & mask;
            while (slots_[place].number >= 0) place = (place + 1) & mask;
            slots_[place] = slot;
        }
    }

    std::string text_;
    std::vector<size_t> ends_;  // of the names, in the text
    std::vector<Slot> slots_;
    size_t last_ = 0;  // the number found last
    size_t longest_ = 0;
};

}  // namespace epic
