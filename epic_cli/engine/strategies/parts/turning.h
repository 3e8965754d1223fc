// The rotation of drawn entities, for strategies that turn as they move. Without rotations, these
// classes do nothing.
#pragma once

#include "packets/packet.h"
#include "strategies/parts/snapshots.h"

namespace epic {

// The turn at the fraction u of a way between two states; what one lacks is held.
template <Turn (*Way)(const Turn&, const Turn&, double, double)>
EPIC_APART void turn_known(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    if (after.turn.known())
        out.turn.set(Way(before.turn.value(), after.turn.value(), after.time - before.time, u));
    else out.turn = before.turn;
}

template <Turn (*Way)(const Turn&, const Turn&, double, double)>
inline void turn_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    if (EPIC_RARELY(before.turn.known())) turn_known<Way>(before, after, u, out);
    else out.turn.clear();
}

// On the great circle.
inline void slerp_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    turn_between<slerp_turn>(before, after, u, out);
}

// On the chord of the great circle; unchecked: also of the longer way, where the signs differ.
inline Turn chord_turn(const Turn& from, const Quaternion& to, double duration, double u) {
    const Quaternion sum = from.rotation * (1 - u) + to * u;
    const Vec3<double> way = vector_between(from.rotation, to);
    return {length(sum) > 1e-9 ? normalized(sum) : from.rotation,
            duration > 0 ? way * (1 / duration) : Vec3<double>()};
}

inline Turn nlerp_turn(const Turn& from, const Turn& to, double duration, double u) {
    return chord_turn(from, near_to(to.rotation, from.rotation), duration, u);
}

inline Turn unchecked_turn(const Turn& from, const Turn& to, double duration, double u) {
    Turn turn = chord_turn(from, to.rotation, duration, u);
    const double rate = norm(turn.spin);
    if (dot(from.rotation, to.rotation) < 0 && rate > 0)  // round the other way
        turn.spin = turn.spin * (1 - 360 * kDegree / (rate * duration));
    return turn;
}

inline void nlerp_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    turn_between<nlerp_turn>(before, after, u, out);
}

inline void unchecked_between(const Snapshot& before, const Snapshot& after, double u,
                              Sample& out) {
    turn_between<unchecked_turn>(before, after, u, out);
}

// On the curve that matches their angular velocities.
inline void curve_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    turn_between<hermite_turn>(before, after, u, out);
}

// The axes of an engine's yaw, pitch and roll: z, y and x (Quake III), z, x and y (Panda3D), or y, x
// and z (Unity, Luanti).
enum AngleOrder { ZYX, ZXY, YXZ };

// A rotation about an engine's axes as one with the same angles about z, y and x, and back. Those of
// Panda3D are a mirror's, where all three angles turn round.
inline Quaternion to_zyx(const Quaternion& q, AngleOrder order) {
    if (order == ZXY) return {-q.y, -q.x, -q.z, q.w};
    return order == YXZ ? Quaternion{q.z, q.x, q.y, q.w} : q;
}

inline Quaternion from_zyx(const Quaternion& q, AngleOrder order) {
    if (order == ZXY) return to_zyx(q, order);
    return order == YXZ ? Quaternion{q.y, q.z, q.x, q.w} : q;
}

// Angles (degrees) as engines send them: pitch, yaw, roll.
inline Vec3<double> angles_from_turn(const Quaternion& q, AngleOrder order = ZYX) {
    const Angles angles = angles_of(to_zyx(q, order));
    return {angles.pitch, angles.yaw, angles.roll};
}

inline Quaternion of_degrees(const Vec3<double>& degrees, AngleOrder order = ZYX) {
    return from_zyx(of_angles({degrees.y, degrees.x, degrees.z}), order);
}

// Each angle the shorter way.
inline Vec3<double> shorter(const Vec3<double>& from, const Vec3<double>& to) {
    return {std::remainder(to.x - from.x, 360), std::remainder(to.y - from.y, 360),
            std::remainder(to.z - from.z, 360)};
}

// The same, of the two triples that are this rotation to the nearer one: a pitch goes beyond the
// vertical where that is less than turning round.
inline Vec3<double> shorter(const Vec3<double>& from, const Quaternion& to) {
    const Vec3<double> end = angles_from_turn(to);
    const Vec3<double> direct = shorter(from, end),
                       over = shorter(from, {180 - end.x, end.y + 180, end.z + 180});
    const auto size = [](const Vec3<double>& v) {
        return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z);
    };
    return size(over) < size(direct) ? over : direct;
}

// The turn of angles and of their rates (degrees/s).
inline Turn turn_from_degrees(const Vec3<double>& degrees, const Vec3<double>& rates) {
    const Quaternion yaw = about(2, degrees.y * kDegree);
    const Quaternion pitch = yaw * about(1, degrees.x * kDegree);
    return {of_degrees(degrees), (Vec3<double>(0, 0, rates.y) + turned(yaw, {0, rates.x, 0}) +
                                  turned(pitch, {rates.z, 0, 0})) * kDegree};
}

// The rates of the angles of a turn; at a pitch of 90 degrees, where yaw and roll are one, of roll 0.
inline Vec3<double> angular_rates(const Turn& turn) {
    const Vec3<double> degrees = angles_from_turn(turn.rotation);
    const Vec3<double> spin = turned(about(2, -degrees.y * kDegree), turn.spin) * (1 / kDegree);
    const double sine = std::sin(degrees.x * kDegree), cosine = std::cos(degrees.x * kDegree);
    const double roll = std::fabs(cosine) < 1e-6 ? 0 : spin.x / cosine;
    return {spin.y, spin.z + sine * roll, roll};
}

// The turn at the fraction u between two states whose pitch, yaw and roll change evenly, each the
// shorter way.
inline void angles_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    out.turn = before.turn;
    if (!before.turn.known() || !after.turn.known()) return;
    const double duration = after.time - before.time;
    const Vec3<double> start = angles_from_turn(before.turn.value().rotation);
    const Vec3<double> way = shorter(start, after.turn.value().rotation);
    out.turn.set(turn_from_degrees(start + way * u, way * (duration > 0 ? 1 / duration : 0)));
}

// The same of Panda3D's heading, pitch and roll, which know no way beyond the vertical.
inline void hpr_between(const Snapshot& before, const Snapshot& after, double u, Sample& out) {
    out.turn = before.turn;
    if (!before.turn.known() || !after.turn.known()) return;
    const double duration = after.time - before.time;
    const Vec3<double> start = angles_from_turn(before.turn.value().rotation, ZXY);
    const Vec3<double> way = shorter(start, angles_from_turn(after.turn.value().rotation, ZXY));
    Turn turn = turn_from_degrees(start + way * u, way * (duration > 0 ? 1 / duration : 0));
    turn.rotation = from_zyx(turn.rotation, ZXY);
    turn.spin = {-turn.spin.y, -turn.spin.x, -turn.spin.z};
    out.turn.set(turn);
}

// A turn from the drawn rotation towards the received one, by a fraction of the way in each frame.
class TurnChase {
public:
    void clear() { shown_.clear(), target_.clear(); }

    void aim(const Packet& packet) { aim(packet.turn); }

    void aim(const OptionalTurn& turn) {
        if (EPIC_RARELY(turn.known())) aim_known(turn);
    }

    bool known() const { return target_.known(); }

    // From the goal to where it is drawn, as a rotation vector and its rate.
    Motion offset() const {
        const Turn &shown = shown_.value(), &target = target_.value();
        const Vec3<double> way = vector_between(target.rotation, shown.rotation);
        return {way, rate_of_spin(way, shown.spin)};
    }

    // Draws it at an offset from the goal.
    void put(const Motion& offset, Sample& out) {
        shown_.set({normalized(rotation_of(offset.position) * target_.value().rotation),
                    spin_of_rate(offset.position, offset.velocity)});
        out.turn = shown_;
    }

    // Draws it as it is, at rest.
    void stay(Sample& out) const {
        if (shown_.known()) out.turn.set({shown_.value().rotation, {}});
    }

    // Turns by the fraction u of what is left; `elapsed` (s) is how long that took.
    void step(double u, double elapsed, Sample& out) {
        if (!target_.known()) return;
        Turn& shown = shown_.value();
        const Quaternion before = shown.rotation;
        shown.rotation = u != 1 ? slerp(before, target_.value().rotation, u)
                                : near_to(target_.value().rotation, before);
        shown.spin = elapsed > 0 ? vector_between(before, shown.rotation) * (1 / elapsed)
                                 : Vec3<double>();
        out.turn = shown_;
    }

private:
    EPIC_APART void aim_known(const OptionalTurn& turn) {
        target_ = turn;
        if (!shown_.known()) shown_.set(Turn(turn.value().rotation, {}));  // it begins at rest
    }

    OptionalTurn shown_, target_;
};

// A turn from the drawn rotation to that of the newest packet, by a fraction that the strategy
// computes; beyond 1 it goes on.
class TurnGlide {
public:
    void clear() { known_ = false; }

    void aim(const Packet& packet) {
        if (packet.turn.known()) {
            target_ = packet.turn.value().rotation;
            if (!known_) shown_ = target_;
            known_ = true;
        }
        start_ = shown_;
        way_ = vector_between(start_, target_);
    }

    void move(double u) {
        shown_ = u < 1 || u > 1 ? spun(start_, way_, u) : near_to(target_, start_);
    }

    // `rate` is how fast the fraction grows, 1/s.
    void show(double rate, Sample& out) const {
        if (known_) out.turn.set({shown_, way_ * rate});
    }

private:
    bool known_ = false;
    Quaternion start_, target_, shown_;
    Vec3<double> way_;
};

// A turn as the newest packet predicts it, plus an offset that keeps the drawn rotation.
// The offset is a motion in the tangent space, a rotation vector and its rate (a turn about the
// world's axes after the prediction); how it fades is up to the strategy, which does to it what it
// does to the offset of positions.
class TurnPrediction {
public:
    Motion offset;  // when the packet was taken

    void clear() {
        received_.clear();
        offset = {};
        acceleration_ = {};
    }

    // Before a packet is taken: what is drawn, with what is left of the offset.
    void depart(double at, const Motion& left) {
        if (received_.known()) drawn_ = drawn(at, left);
    }

    // Cuts an angular velocity of more than four times that of the last packet to twice that.
    void limit() {
        if (!received_.known()) return;
        const double speed2 = dot(drawn_.spin, drawn_.spin);
        const Vec3<double>& last = received_.value().spin;
        if (speed2 > 16 * dot(last, last))
            drawn_.spin = drawn_.spin * std::sqrt(4 * dot(last, last) / speed2);
    }

    // A packet that was true at the time `true_at`; after departing, the offset to it at `now`. A
    // period (s) above 0 is the time from the last one, for the acceleration.
    void receive(const Packet& packet, double true_at, double now, double period = 0) {
        const bool first = !received_.known();
        if (packet.turn.known()) {
            if (!first && period > 0)
                acceleration_ =
                    (packet.turn.value().spin - received_.value().spin) * (1 / period);
            received_ = packet.turn;
            true_at_ = true_at;
        }
        offset = {};
        if (first || !received_.known()) return;
        const Turn to = predicted(now);
        offset.position = vector_between(to.rotation, drawn_.rotation);
        offset.velocity =
            rate_of_spin(offset.position, drawn_.spin - turned(rotation_of(offset.position), to.spin));
    }

    void show(double at, const Motion& left, Sample& out) const {
        if (received_.known()) out.turn.set(drawn(at, left));
    }

private:
    Turn predicted(double at) const {
        const Turn& turn = received_.value();
        const double t = at - true_at_;
        return {spun(turn.rotation, turn.spin * t + acceleration_ * (0.5 * t * t), 1),
                turn.spin + acceleration_ * t};
    }

    Turn drawn(double at, const Motion& left) const {
        const Turn turn = predicted(at);
        const Quaternion by = rotation_of(left.position);
        return {normalized(by * turn.rotation),
                spin_of_rate(left.position, left.velocity) + turned(by, turn.spin)};
    }

    OptionalTurn received_;
    Turn drawn_;
    Vec3<double> acceleration_;
    double true_at_ = 0;
};

// A rotation and a spin that a filter estimates; it gives the gains.
class TurnFilter {
public:
    Vec3<double> residual;  // of the newest packet, from the prediction to it: a rotation vector
    Vec3<double> spin, acceleration;  // rad/s, rad/s^2

    void begin(const Packet& packet) {
        known_ = packet.turn.known();
        residual = spin = acceleration = {};
        if (known_) rotation_ = packet.turn.value().rotation, spin = packet.turn.value().spin;
    }

    // Turns on for so long, and compares with a packet.
    void predict(const Packet& packet, double period) {
        if (!known_) return begin(packet);
        rotation_ = spun(rotation_, spin * period + acceleration * (0.5 * period * period), 1);
        spin = spin + acceleration * period;
        residual = {};
        if (packet.turn.known())
            residual = vector_between(rotation_, packet.turn.value().rotation);
    }

    // Turns by a part of the residual, and changes the spin by another (1/s).
    void correct(double part, double of_spin) {
        rotation_ = spun(rotation_, residual, part);
        spin = spin + residual * of_spin;
    }

    // The same for a measured spin: parts of its difference (s, and none).
    void correct_spin(const Packet& packet, double part, double of_spin) {
        if (!packet.turn.known()) return;
        const Vec3<double> difference = packet.turn.value().spin - spin;
        rotation_ = spun(rotation_, difference, part);
        spin = spin + difference * of_spin;
    }

    // Drawn so long after the packet, turning or not.
    void show(double ahead, bool turns, Sample& out) const {
        if (known_) out.turn.set({spun(rotation_, spin, ahead), turns ? spin : Vec3<double>()});
    }

private:
    bool known_ = false;
    Quaternion rotation_;
};

// A turn at a constant rate from the drawn rotation to the one that a packet predicts, and on.
class TurnLine {
public:
    void clear() { known_ = false; }
    bool known() const { return known_; }

    // The packet's prediction, `ahead` of its timestamp, is to be reached in `duration` (s); within
    // less than a tenth of a millisecond, it is the packet's own rotation, at once.
    void aim(const Packet& packet, double ahead, double duration) {
        if (EPIC_RARELY(packet.turn.known())) aim_turn(packet, ahead, duration);
    }

    // Turn to the rotation `elapsed` (s) after the packet's timestamp.
    void move(double elapsed) {
        if (EPIC_RARELY(known_)) turn_on(elapsed);
    }

    void show(bool turns, Sample& out) const {
        if (EPIC_RARELY(known_)) show_turn(turns, out);
    }

private:
    EPIC_APART void aim_turn(const Packet& packet, double ahead, double duration) {
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

    EPIC_APART void turn_on(double elapsed) { shown_ = spun(start_, slope_, elapsed); }

    EPIC_APART void show_turn(bool turns, Sample& out) const {
        out.turn.set({shown_, turns ? slope_ : Vec3<double>()});
    }

    bool known_ = false;
    Quaternion start_, shown_;
    Vec3<double> slope_;
};

}  // namespace epic
