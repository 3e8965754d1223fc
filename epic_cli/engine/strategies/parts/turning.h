// How strategies turn what they draw, beside how they move it. Where nothing has a rotation, these
// do nothing.
#pragma once

#include "packets/packet.h"
#include "strategies/parts/snapshots.h"

namespace epic {

// The turn at the fraction u between two states, on the great circle; what one lacks is held.
inline void slerp_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    if (before.turn.known() && after.turn.known())
        out.turn.set(slerp_turn(before.turn.value(), after.turn.value(), after.time - before.time, u));
    else out.turn = before.turn;
}

// As much, on the curve that matches their angular velocities.
inline void curve_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    if (before.turn.known() && after.turn.known())
        out.turn.set(
            hermite_turn(before.turn.value(), after.turn.value(), after.time - before.time, u));
    else out.turn = before.turn;
}

// What turns from where it is drawn towards what was received, a fraction of the way in each frame.
class TurnChase {
public:
    void clear() { shown_.clear(), target_.clear(); }

    void aim(const Packet& packet) {
        if (!packet.turn.known()) return;
        target_ = packet.turn;
        if (!shown_.known()) shown_ = target_;
    }

    // Turns by the fraction u of what is left; `elapsed` (s) is how long that took.
    void step(double u, double elapsed, Sample& out) {
        if (!target_.known()) return;
        Turn& shown = shown_.value();
        const Quaternion before = shown.rotation;
        shown.rotation = u < 1 ? slerp(before, target_.value().rotation, u)
                               : near_to(target_.value().rotation, before);
        shown.spin = elapsed > 0 ? vector_between(before, shown.rotation) * (1 / elapsed)
                                 : Vec3<double>();
        out.turn = shown_;
    }

private:
    OptionalTurn shown_, target_;
};

// What turns at a constant rate from where it is drawn to where a packet predicts it, and on.
class TurnLine {
public:
    void clear() { known_ = false; }

    // The packet's prediction, `ahead` of its timestamp, is to be reached in `duration` (s); within
    // less than a tenth of a millisecond, it is the packet's own rotation, at once.
    void aim(const Packet& packet, double ahead, double duration) {
        if (!packet.turn.known()) return;
        const Turn& turn = packet.turn.value();
        if (!known_ || duration < 1e-4) {
            known_ = true;
            shown_ = start_ = turn.rotation;
            slope_ = turn.spin;
        } else {
            start_ = shown_;
            slope_ = vector_between(start_, spun(turn.rotation, turn.spin, ahead),
                                    turn.spin * duration) * (1 / duration);
        }
    }

    // As it is `elapsed` (s) after the packet's timestamp.
    void move(double elapsed) {
        if (known_) shown_ = spun(start_, slope_, elapsed);
    }

    void show(Sample& out) const {
        if (known_) out.turn.set({shown_, slope_});
    }

private:
    bool known_ = false;
    Quaternion start_, shown_;
    Vec3<double> slope_;
};

}  // namespace epic
