// Samples of several groups, kept as bytes, and drawn in order of their times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "packets/packet.h"

namespace epic {

// A stored sample: plain bytes, followed by its turn, if it has one.
class Spool {
public:
    std::vector<char> memory;   // what has not been moved to a file

    void add(const Sample& sample) {
        bool turns = sample.turn.known();
        size_t at = memory.size();
        int32_t status = sample.status | (turns ? kTurns : 0);
        memory.resize(at + kPlain + (turns ? sizeof(Turn) : 0));
        char* out = memory.data() + at;
        std::memcpy(out, static_cast<const void*>(&sample), kPlain);
        std::memcpy(out + offsetof(Sample, status), &status, sizeof status);
        if (turns) std::memcpy(out + kPlain, static_cast<const void*>(&sample.turn.value()),
                               sizeof(Turn));
        if (kept_.empty() || kept_.back().group != group_) kept_.push_back({at, at, group_});
        kept_.back().end = memory.size();
    }

    void next_group() { ++group_; }

    // The memory has been written to the end of the file.
    void moved() {
        for (const Stretch& one : kept_) {
            if (moved_.empty() || moved_.back().group != one.group)
                moved_.push_back({moved_size_ + one.begin, 0, one.group});
            moved_.back().end = moved_size_ + one.end;
        }
        moved_size_ += memory.size();
        memory.clear();
        kept_.clear();
    }

    size_t size() const { return moved_size_ + memory.size(); }

    // Nothing is added from now on; `file` is the content of the file.
    void begin(const char* file) {
        for (const Stretch& one : moved_) enter(file + one.begin, file + one.end, one.group);
        for (const Stretch& one : kept_)
            enter(memory.data() + one.begin, memory.data() + one.end, one.group);
        std::make_heap(heads_.begin(), heads_.end());
    }

    // Adds the next samples by time, those of one time by group; false: these were the last.
    bool draw(std::vector<Sample>& out, size_t capacity) {
        while (!heads_.empty() && out.size() < capacity) {
            std::pop_heap(heads_.begin(), heads_.end());
            Head head = heads_.back();
            heads_.pop_back();
            do {
                out.emplace_back();
                head.at = restore(head.at, out.back());
                if (head.at == head.end) break;
                head.look();
            } while (out.size() < capacity && (heads_.empty() || !(head < heads_.front())));
            if (head.at != head.end) {
                heads_.push_back(head);
                std::push_heap(heads_.begin(), heads_.end());
            }
        }
        return !heads_.empty();
    }

private:
    static constexpr size_t kPlain = offsetof(Sample, turn);
    static constexpr int32_t kTurns = 256;

    struct Stretch {
        size_t begin, end, group;
    };

    struct Head {
        const char *at, *end;
        size_t group;
        double time;

        void look() { std::memcpy(&time, at + offsetof(Sample, time), sizeof time); }
        bool operator<(const Head& o) const {   // the heap has its greatest in front
            return time > o.time || (time == o.time && group > o.group);
        }
    };

    static const char* restore(const char* from, Sample& sample) {
        std::memcpy(static_cast<void*>(&sample), from, kPlain);
        if (!(sample.status & kTurns)) return from + kPlain;
        Turn turn;
        std::memcpy(static_cast<void*>(&turn), from + kPlain, sizeof turn);
        sample.status &= ~kTurns;
        sample.turn.set(turn);
        return from + kPlain + sizeof turn;
    }

    void enter(const char* at, const char* end, size_t group) {
        heads_.push_back({at, end, group, 0});
        heads_.back().look();
    }

    std::vector<Stretch> kept_, moved_;
    std::vector<Head> heads_;
    size_t group_ = 0, moved_size_ = 0;
};

}  // namespace epic
