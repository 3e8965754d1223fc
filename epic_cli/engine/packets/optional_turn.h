// A turn that most packets, states and samples do not have: those pay for a pointer, no more.
#pragma once

#include <utility>

#include "packets/quaternion.h"

namespace epic {

// Copied with what it is part of, as a value is.
class OptionalTurn {
public:
    OptionalTurn() = default;
    OptionalTurn(const OptionalTurn& o) : turn_(o.turn_ ? new Turn(*o.turn_) : nullptr) {}
    OptionalTurn(OptionalTurn&& o) noexcept : turn_(std::exchange(o.turn_, nullptr)) {}
    ~OptionalTurn() {
        if (turn_) delete turn_;
    }
    OptionalTurn& operator=(const OptionalTurn& o) {
        if (o.turn_) set(*o.turn_);
        else clear();
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
    void clear() {
        if (turn_) delete std::exchange(turn_, nullptr);
    }

private:
    Turn* turn_ = nullptr;
};

}  // namespace epic
