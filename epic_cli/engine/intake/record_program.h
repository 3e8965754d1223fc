// Binary datagrams to packets, by the steps of a layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "packets/entities.h"
#include "packets/keys.h"
#include "packets/packet.h"

namespace epic {

// The target of a number.
enum RecordPart : int32_t {
#define EPIC_ENTRY(ID, NAME) PART_##ID,
    EPIC_PARTS(EPIC_ENTRY)
#undef EPIC_ENTRY
    PART_COUNT,
};

constexpr const char* kPartNames[] = {
#define EPIC_ENTRY(ID, NAME) NAME,
    EPIC_PARTS(EPIC_ENTRY)
#undef EPIC_ENTRY
};

struct RecordStep {
    enum Code : int32_t { kNumber, kText, kSkip, kLoop, kNext, kBranch, kJump, kUnknown, kEmit };
    static constexpr int32_t kRest = -2;  // the rest of the datagram

    int32_t code = kJump;
    int32_t part = -1;
    char kind = 0;          // as Python's struct has it: b B h H i I q Q e f d; t T have three bytes,
                            // n N `number` bits
    bool big = false;
    uint64_t mask = 0;      // of the bits that count, 0: all; they are shifted to the right end
    double scale = 1, per = 1, add = 0;
    int32_t source = -1;    // the variable with the number, length or count; -1: it is `number`
    int32_t variable = -1;  // that keeps the number
    int32_t jump = 0;       // to behind this step
    uint64_t number = 0;
    bool checked = false;   // whether `value` or `text` is expected
    uint64_t value = 0;
    std::string text;
    int32_t shift = 0;
};

// The place and the reason at which reading stopped; `binary.py` has the words.
struct RecordStop {
    enum Why : int32_t { kNot, kEmpty, kCut, kUnequal, kUnknown, kName, kNoTime };

    int32_t why = kNot, step = 0;
    size_t place = 0;     // in the datagram
    uint64_t record = 0;  // of the innermost group, from 1; 0: in none
    int64_t value = 0;    // that was found
};

// The bytes of a number, the first of which is the lowest one.
template <class T>
T take_number(const char* p, bool big) {
    char bytes[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = p[big ? sizeof(T) - 1 - i : i];
    const uint16_t probe = 1;
    char first;
    std::memcpy(&first, &probe, 1);
    if (!first)
        for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

// Three bytes, as a wider number whose lowest byte is 0.
inline uint32_t take_three(const char* p, bool big) {
    char wide[4] = {};
    std::memcpy(wide + !big, p, 3);
    return take_number<uint32_t>(wide, big);
}

inline int64_t take_whole(const char* p, char kind, bool big) {
    switch (kind) {
        case 'b': return take_number<int8_t>(p, big);
        case 'B': return take_number<uint8_t>(p, big);
        case 'h': return take_number<int16_t>(p, big);
        case 'H': return take_number<uint16_t>(p, big);
        case 't': return int32_t(take_three(p, big)) >> 8;
        case 'T': return take_three(p, big) >> 8;
        case 'i': return take_number<int32_t>(p, big);
        case 'I': return take_number<uint32_t>(p, big);
        default: return take_number<int64_t>(p, big);  // the bits of q and Q
    }
}

// IEEE 754 binary16.
inline double take_half(const char* p, bool big) {
    const uint16_t bits = take_number<uint16_t>(p, big);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                         : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                        : std::ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

// Bits of a text, after the first `from`: from the lowest of each byte on or, if `big`, the highest.
inline uint64_t take_bits(const char* p, int from, int count, bool big) {
    uint64_t value = 0;
    for (int done = 0; done < count;) {
        const int at = (from + done) % 8, some = std::min(8 - at, count - done);
        const uint64_t byte = uint8_t(p[(from + done) / 8]);
        const uint64_t part = byte >> (big ? 8 - at - some : at) & ((1u << some) - 1);
        value = big ? value << some | part : value | part << done;
        done += some;
    }
    return value;
}

class RecordProgram {
public:
    std::vector<RecordStep> steps;

    // Appends the packets of a datagram at `offset`. A round of any loop takes a byte at least,
    // which the layout has made sure of: what is read and made is bounded by the datagram.
    RecordStop read(const char* begin, const char* end, uint32_t offset, EntityNames& names,
                    std::vector<Packet>& packets) {
        RecordStop stop;
        const char* p = begin;
        if (p == end) stop.why = RecordStop::kEmpty;
        while (p < end && !stop.why) {
            loops_.clear();
            present_ = 0;
            bit_ = 0;
            message(p, end, offset + uint32_t(p - begin), names, packets, stop);
        }
        stop.place = size_t(p - begin);
        stop.record = loops_.empty() ? 0 : loops_.back().round;
        return stop;
    }

private:
    struct Loop {
        uint64_t left, round;
        uint32_t present;
    };

    static constexpr size_t kLongestName = 256;

    bool has(int32_t part) const { return present_ >> part & 1; }

    void message(const char*& p, const char* end, uint32_t offset, EntityNames& names,
                 std::vector<Packet>& packets, RecordStop& stop) {
        variables_.resize(steps.size());
        const char* const begin = p;
        for (size_t at = 0; at < steps.size(); ++at) {
            const RecordStep& step = steps[at];
            const bool rest = step.source == RecordStep::kRest;
            const bool skips = step.code == RecordStep::kSkip && step.number;
            if (step.code == RecordStep::kText || skips || rest) align(p);
            const auto room = uint64_t(end - p);
            const uint64_t amount =
                step.source >= 0 ? uint64_t(variables_[size_t(step.source)]) : step.number;
            switch (step.code) {
                case RecordStep::kNumber: {
                    const bool packed = step.kind == 'n' || step.kind == 'N';
                    const int bits = step.source >= 0 ? 0 : int(step.number) * (packed ? 1 : 8);
                    char moved[8];
                    auto whole = int64_t(amount);
                    if (8 * room < uint64_t(bit_ + bits)) {
                        stop.why = RecordStop::kCut;
                        break;
                    }
                    if (bits && (packed || bit_)) {
                        const uint64_t value = take_bits(p, bit_, bits, step.big);
                        const int left = 64 - bits;
                        whole = step.kind == 'n' ? int64_t(value << left) >> left : int64_t(value);
                        for (size_t i = 0; !packed && i < step.number; ++i)
                            moved[step.big ? step.number - 1 - i : i] = char(value >> 8 * i);
                    }
                    stop.why = number(step, bit_ ? moved : p, whole, stop.value);
                    if (stop.why) break;
                    p += (bit_ + bits) / 8;
                    bit_ = (bit_ + bits) % 8;
                    break;
                }
                case RecordStep::kText: {
                    const bool ended = rest;  // by a zero byte
                    const size_t size = ended ? std::string_view(p, room).find('\0') : amount;
                    if (room < size || room - size < ended) {
                        stop.why = RecordStop::kCut;
                        break;
                    }
                    const std::string_view text(p, size);
                    if (step.checked && text != step.text) stop.why = RecordStop::kUnequal;
                    if (step.part == PART_ID) {
                        const std::string_view name = text.substr(0, text.find('\0'));
                        if (name.size() > kLongestName) stop.why = RecordStop::kName;
                        else name_ = name;
                        present_ |= 1u << PART_ID;
                    }
                    if (!stop.why) p += size + ended;
                    break;
                }
                case RecordStep::kSkip:
                    if (rest) p = end;
                    else if (room < amount) stop.why = RecordStop::kCut;
                    else p += amount;
                    break;
                case RecordStep::kLoop: {
                    const uint64_t count = rest ? room : amount;
                    if (count) loops_.push_back({count, 1, present_});
                    else at = size_t(step.jump);
                    break;
                }
                case RecordStep::kNext: {
                    Loop& loop = loops_.back();
                    present_ = loop.present;
                    ++loop.round;
                    --loop.left;
                    if (rest ? room > 0 : loop.left > 0)
                        at = size_t(step.jump);
                    else
                        loops_.pop_back();
                    break;
                }
                case RecordStep::kBranch:
                    if (step.mask ? !(amount & step.mask) : amount != step.value)
                        at = size_t(step.jump);
                    break;
                case RecordStep::kJump: at = size_t(step.jump); break;
                case RecordStep::kUnknown:
                    stop.why = RecordStop::kUnknown;
                    stop.value = int64_t(amount);
                    break;
                default:
                    if (!has(PART_X)) break;
                    const std::string_view name = has(PART_ID) ? std::string_view(name_) : "";
                    const int32_t entity = names.assign_number(name);
                    if (!has(PART_TIME)) stop.why = RecordStop::kNoTime;
                    else if (entity < 0) stop.why = RecordStop::kName;
                    else emit(packets, entity, offset, uint32_t(p - begin));
            }
            stop.step = int32_t(at);
            if (stop.why) return;
        }
        align(p);
    }

    // Goes on to the next whole byte.
    void align(const char*& p) {
        p += bit_ > 0;
        bit_ = 0;
    }

    int32_t number(const RecordStep& step, const char* p, int64_t whole, int64_t& found) {
        double value = 0;
        if (step.kind == 'f') {
            value = take_number<float>(p, step.big);
        } else if (step.kind == 'd') {
            value = take_number<double>(p, step.big);
        } else if (step.kind == 'e') {
            value = take_half(p, step.big);
        } else {
            const bool packed = step.kind == 'n' || step.kind == 'N';
            if (step.source < 0 && !packed) whole = take_whole(p, step.kind, step.big);
            if (step.mask) whole = int64_t((uint64_t(whole) & step.mask) >> step.shift);
            found = whole;
            if (step.checked && uint64_t(whole) != step.value) return RecordStop::kUnequal;
            if (step.variable >= 0) variables_[size_t(step.variable)] = whole;
            value = step.kind == 'Q' || step.kind == 'N' ? double(uint64_t(whole)) : double(whole);
        }
        if (step.part < 0) return RecordStop::kNot;
        present_ |= 1u << step.part;
        if (step.part == PART_ID) {
            name_ = step.kind == 'Q' || step.kind == 'N' ? std::to_string(uint64_t(whole)) : std::to_string(whole);
        } else if (step.part == PART_SEQ) {
            sequence_ = whole & INT64_MAX;  // more could not be read back
        } else if (step.part == PART_TELEPORT) {
            teleport_ = value != 0;
        } else {
            if (step.scale != 1) value *= step.scale;
            if (step.per != 1) value /= step.per;
            if (step.add != 0) value += step.add;
            state_[step.part] = value;
        }
        return RecordStop::kNot;
    }

    double state(int32_t part) const { return has(part) ? state_[part] : 0; }

    void emit(std::vector<Packet>& packets, int32_t entity, uint32_t offset, uint32_t length) {
        packets.emplace_back();
        Packet& packet = packets.back();
        packet.position = {state(PART_X), state(PART_Y), state(PART_Z)};
        packet.velocity = {state(PART_VX), state(PART_VY), state(PART_VZ)};
        packet.time = state(PART_TIME);
        packet.single.position = narrowed(packet.position);
        packet.single.velocity = narrowed(packet.velocity);
        packet.single.time = float(packet.time);
        packet.has_velocity = has(PART_VX);
        packet.has_spin = has(PART_WX);
        packet.teleport = has(PART_TELEPORT) && teleport_;
        if (has(PART_SEQ)) packet.sequence = sequence_;
        const Turn turn({state(PART_QX), state(PART_QY), state(PART_QZ), state(PART_QW)},
                        {state(PART_WX), state(PART_WY), state(PART_WZ)});
        packet.zero_turn = has(PART_QX) && is_zero(turn.rotation);
        if (has(PART_QX) && is_turn(turn)) packet.turn.set(turn);
        else packet.has_spin = false;
        packet.entity = entity;
        packet.offset = offset;
        packet.length = length;
        packet.line = int64_t(packets.size());
    }

    int bit_ = 0;  // how many of the next byte have been read
    uint32_t present_ = 0;  // the parts that are known of the record being read
    double state_[PART_COUNT] = {};
    int64_t sequence_ = 0;
    bool teleport_ = false;
    std::string name_;
    std::vector<int64_t> variables_;
    std::vector<Loop> loops_;
};

}  // namespace epic
