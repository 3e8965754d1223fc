// The fields of a packet in tables and JSON: their numbers, names, and sets of them as bits.
#pragma once

#include <cstdint>

#include "packets/keys.h"

namespace epic {

enum Field : int32_t {
#define EPIC_ENTRY(ID, NAME) FIELD_##ID,
    EPIC_FIELDS(EPIC_ENTRY)
#undef EPIC_ENTRY
    FIELD_COUNT,
    FIELD_NONE = -1,
    FIELD_NO_ROTATION = -2,
};

constexpr const char* kFieldNames[] = {
#define EPIC_ENTRY(ID, NAME) NAME,
    EPIC_FIELDS(EPIC_ENTRY)
#undef EPIC_ENTRY
};

constexpr uint64_t bit(int field) { return uint64_t(1) << field; }
constexpr uint64_t bits(int first, int count) { return (bit(count) - 1) << first; }

constexpr uint64_t kTurnBits = bits(FIELD_QX, FIELD_COUNT - FIELD_QX);

}  // namespace epic
