// The velocity of packets that carry none, from earlier packets.
#pragma once

#include <cmath>
#include <limits>

#include "packets/packet.h"

namespace epic {

// The backward difference to the newest packet (by timestamp) so far,
//
//     velocity = (position - that position) / (time - that time)
//
// which for an overtaken packet is the slope between the same two, and never uses later ones. A
// packet with the same timestamp keeps the previous velocity. The first packet, and one after a
// teleport, gets zero.
class VelocityEstimate {
public:
    Vec3<double> of(const Packet& packet) const {
        if (time_ < -kLargest || packet.teleport) return {};
        const double elapsed = packet.time - time_;
        if (std::fabs(elapsed) < kSameTime) return velocity_;
        const Vec3<double> step = packet.position - position_;
        const Vec3<double> slope(step.x / elapsed, step.y / elapsed, step.z / elapsed);
        return is_finite(slope) ? slope : Vec3<double>();
    }

    // Records a packet with this velocity.
    void note(const Packet& packet, const Vec3<double>& velocity) {
        if (!(packet.time >= time_) || packet.time > kLargest) return;
        if (!is_finite(packet.position)) return;
        time_ = packet.time;
        position_ = packet.position;
        velocity_ = velocity;
    }

    // Gives the packet its velocity, and notes it.
    void fill(Packet& packet) {
        packet.velocity = of(packet);
        packet.single.velocity = narrowed(packet.velocity);
        packet.has_velocity = true;
        note(packet, packet.velocity);
    }

private:
    static constexpr double kSameTime = 1e-9;  // seconds; less is too short for a slope

    static constexpr double kLargest = std::numeric_limits<double>::max();

    // x - x is 0 for finite x only.
    static bool is_finite(const Vec3<double>& v) {
        return (v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0;
    }

    double time_ = -std::numeric_limits<double>::infinity();  // -1: none yet
    Vec3<double> position_, velocity_;
};

// The angular velocity of packets that have a rotation and none: the backward difference on the
// shorter way, by the same rules.
class SpinEstimate {
public:
    // Makes the packet's rotation a unit quaternion, and gives it its angular velocity.
    void fill(Packet& packet) {
        Turn& turn = packet.turn.value();
        turn.rotation = normalized(turn.rotation);
        const double elapsed = packet.time - time_;
        if (!packet.has_spin) {
            turn.spin = {};
            if (known_ && !packet.teleport)
                turn.spin = std::fabs(elapsed) < kSameTime
                                ? spin_
                                : vector_between(rotation_, turn.rotation) * (1 / elapsed);
        }
        if (known_ && !(elapsed >= 0)) return;
        known_ = true;
        time_ = packet.time;
        rotation_ = turn.rotation;
        spin_ = turn.spin;
    }

private:
    static constexpr double kSameTime = 1e-9;  // seconds; less is too short for a slope

    bool known_ = false;
    double time_ = 0;
    Quaternion rotation_;
    Vec3<double> spin_;
};

}  // namespace epic
