// A turn that most packets, states and samples do not have: those pay for a pointer, no more.
#pragma once

#include <utility>

#include "packets/quaternion.h"

#define EPIC_RARELY(condition) __builtin_expect(!!(condition), 0)
#define EPIC_APART __attribute__((noinline))

namespace epic {

// Copied with what it is part of, as a value is. What only those with a turn do is out of line, so that
// the others' copies and ends stay small enough to be inlined: a comparison each.
class OptionalTurn {
public:
    OptionalTurn() = default;
    OptionalTurn(const OptionalTurn& o) {
        if (EPIC_RARELY(o.turn_)) assign(o);
    }
    OptionalTurn(OptionalTurn&& o) noexcept : turn_(std::exchange(o.turn_, nullptr)) {}
    ~OptionalTurn() {
        if (EPIC_RARELY(turn_)) drop();
    }
    OptionalTurn& operator=(const OptionalTurn& o) {
        if (EPIC_RARELY(turn_ != o.turn_)) assign(o);  // two of the same turn are one, or both none
        return *this;
    }
    OptionalTurn& operator=(OptionalTurn&& o) noexcept {
        std::swap(turn_, o.turn_);
        return *this;
    }

    bool known() const { return turn_; }
    const Turn& value() const { return *turn_; }
    Turn& value() { return *turn_; }
    void set(const Turn& turn) {
        if (turn_) *turn_ = turn;
        else turn_ = new Turn(turn);
    }
    // The assignment for Cython, which would go by way of another one.
    void copy(const OptionalTurn& o) { *this = o; }
    void clear() {
        if (EPIC_RARELY(turn_)) drop();
    }

private:
    EPIC_APART void assign(const OptionalTurn& o) {
        if (o.turn_) set(*o.turn_);
        else drop();
    }
    EPIC_APART void drop() noexcept { delete std::exchange(turn_, nullptr); }

    Turn* turn_ = nullptr;
};

}  // namespace epic
