// The velocity of packets that carry none, from the packets that came before.
#pragma once

#include <cmath>
#include <limits>

#include "packets/packet.h"

namespace epic {

// The backward difference to the packet of the newest stamp that has come,
//
//     velocity = (position - that position) / (time - that time)
//
// which for a packet that was overtaken is the slope between the same two, and never uses what
// comes later. A packet of the same stamp keeps the velocity before it. The first packet has
// none to look back at, and nothing moves across a teleport: zero.
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

    // The packet has come, with this velocity.
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
    static constexpr double kSameTime = 1e-9;  // seconds; no slope can be told from less

    static constexpr double kLargest = std::numeric_limits<double>::max();

    // What is not finite is not 0 when it is taken from itself.
    static bool is_finite(const Vec3<double>& v) {
        return (v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0;
    }

    double time_ = -std::numeric_limits<double>::infinity();  // that: none has come
    Vec3<double> position_, velocity_;
};

}  // namespace epic
