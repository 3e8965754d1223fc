// Packets and samples: input and output of a strategy.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "packets/quaternion.h"
#include "packets/vec3.h"

#define EPIC_RARELY(condition) __builtin_expect(!!(condition), 0)
#define EPIC_APART __attribute__((noinline))

namespace epic {

// A turn that most packets, states and samples do not have: those pay for a pointer, no more.
//
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

// A position and its velocity: one evaluation of a path gives both.
struct Motion {
    Vec3<double> position, velocity;

    Motion() = default;
    Motion(const Vec3<double>& p, const Vec3<double>& v) : position(p), velocity(v) {}

    Motion operator+(const Motion& o) const {
        return {position + o.position, velocity + o.velocity};
    }
    Motion operator-(const Motion& o) const {
        return {position - o.position, velocity - o.velocity};
    }
};

// The seven numbers of a packet in single precision, each rounded once from its text.
struct SingleState {
    Vec3<float> position, velocity;
    float time = 0;
};

struct Packet : Motion {
    double time = 0;        // sender's clock, s
    SingleState single;     // the same, for strategies that compute in float
    double arrival = std::numeric_limits<double>::quiet_NaN();  // receiver's clock, s; NaN: unknown
    double delta = 0;       // how long before its timestamp the state was true, s
    int64_t sequence = -1;  // -1: none
    int64_t line = 0;       // its line in the recording, from 1
    int64_t column = 0;     // where in that line its text begins, from 0
    uint32_t offset = 0;    // where in the block's text that is
    uint32_t length = 0;
    uint32_t caret = 0;     // where in its text the time stands, from 0
    int32_t entity = 0;
    bool teleport = false;
    bool has_velocity = true;   // false: the velocities above are zero, and unused
    bool has_spin = false;
    bool zero_turn = false;     // its rotation was four zeros: it is not known
    bool has_extras = false;    // its text may have values that are of no key
    OptionalTurn turn;          // its spin is an estimate unless has_spin

    Packet() {}  // not "= default", which would first fill it with zeros
};

enum Status : int32_t { NONE = 0, HELD = 1, INTERPOLATED = 2, EXTRAPOLATED = 3 };

struct Sample : Motion {
    double time = 0;        // local time of the tick, s
    int32_t status = NONE;
    int32_t entity = 0;
    OptionalTurn turn;

    Sample() {}

    void show(const Motion& motion, Status kind) {
        position = motion.position;
        velocity = motion.velocity;
        status = kind;
    }

    // Shows a fixed state: `held` if the row before showed it too, or there was none; otherwise
    // with `arrival`, the status of a row that has just reached it.
    void hold(const Motion& motion, const Sample& before, Status arrival) {
        bool moved = before.status != NONE && differ(motion.position, before.position);
        show(motion, moved ? arrival : HELD);
    }
};

}  // namespace epic
