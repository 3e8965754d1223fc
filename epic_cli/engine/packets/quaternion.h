// Rotations as unit quaternions, x y z w, in double precision: (x, y, z) is the axis times
// sin(angle / 2), w is cos(angle / 2). q and -q are the same rotation; what lies between two of
// them is on the shorter way. `a * b` first turns by b, then by a.
//
// A rotation vector is an axis times an angle (rad); an angular velocity (rad/s) is one per second,
// about the axes of the world. The formulas are those of Shoemake (Animating rotation with
// quaternion curves, 1985) and of Kim, Kim and Shin (A general construction scheme for unit
// quaternion curves, 1995), angles by atan2 after Kahan: exact near 0 and near half a turn.
#pragma once

#include <cmath>

#include "packets/vec3.h"

namespace epic {

struct Quaternion {
    double x = 0, y = 0, z = 0, w = 1;

    Quaternion() = default;
    Quaternion(double x_, double y_, double z_, double w_) : x(x_), y(y_), z(z_), w(w_) {}

    Quaternion operator*(const Quaternion& o) const {
        return {w * o.x + x * o.w + y * o.z - z * o.y,
                w * o.y - x * o.z + y * o.w + z * o.x,
                w * o.z + x * o.y - y * o.x + z * o.w,
                w * o.w - x * o.x - y * o.y - z * o.z};
    }
    Quaternion operator+(const Quaternion& o) const { return {x + o.x, y + o.y, z + o.z, w + o.w}; }
    Quaternion operator*(double f) const { return {x * f, y * f, z * f, w * f}; }
    Quaternion operator-() const { return {-x, -y, -z, -w}; }
};

inline double dot(const Quaternion& a, const Quaternion& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

inline double length(const Quaternion& q) { return std::sqrt(dot(q, q)); }

// Returns true if it can be a rotation, of any length: not (almost) zero nor out of all range.
inline bool is_rotation(const Quaternion& q) {
    const double size = length(q);
    return 1e-6 < size && size < 1e6;
}

// Returns true for four zeros, which loggers write before the first rotation is known.
inline bool is_zero(const Quaternion& q) { return length(q) <= 1e-6; }

// The inverse rotation.
inline Quaternion inverse(const Quaternion& q) { return {-q.x, -q.y, -q.z, q.w}; }

// Normalizes to length 1; leaves one of that length, up to rounding; zero becomes the identity.
inline Quaternion normalized(const Quaternion& q) {
    const double square = dot(q, q);
    if (std::fabs(square - 1) <= 4 * 2.220446049250313e-16) return q;
    const double norm = std::sqrt(square);
    if (!(norm > 0)) return {};
    return {q.x / norm, q.y / norm, q.z / norm, q.w / norm};
}

// Returns q or -q, whichever is nearer to the other quaternion.
inline Quaternion near_to(const Quaternion& q, const Quaternion& other) {
    return dot(q, other) < 0 ? -q : q;
}

inline double norm(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

// The rotation of a rotation vector (the exponential map).
inline Quaternion rotation_of(const Vec3<double>& vector) {
    const double angle = norm(vector), half = angle / 2;
    const double f = angle < 1e-4 ? 0.5 - angle * angle / 48 : std::sin(half) / angle;
    return {vector.x * f, vector.y * f, vector.z * f, std::cos(half)};
}

// The rotation vector, of half a turn at most (the logarithm).
inline Vec3<double> vector_of(const Quaternion& q) {
    const Vec3<double> part(q.x, q.y, q.z);
    const double sine = norm(part);
    const double sign = q.w < 0 ? -1 : 1;
    if (sine < 1e-9) return part * (2 * sign);
    return part * (2 * std::atan2(sine, sign * q.w) * sign / sine);
}

// The rotation vector from one rotation to another, on the shorter way.
inline Vec3<double> vector_between(const Quaternion& from, const Quaternion& to) {
    return vector_of(to * inverse(from));
}

// The same, plus whole turns about its axis if that is nearer to the expected vector.
inline Vec3<double> vector_between(const Quaternion& from, const Quaternion& to,
                                   const Vec3<double>& expected) {
    constexpr double kTurn = 6.283185307179586;
    const Vec3<double> way = vector_between(from, to);
    const double angle = norm(way);
    if (!(angle > 0)) {
        const double whole = std::nearbyint(norm(expected) / kTurn);
        return whole > 0 ? expected * (whole * kTurn / norm(expected)) : way;
    }
    const double turns = std::nearbyint((dot(expected, way) / angle - angle) / kTurn);
    return way * (1 + turns * kTurn / angle);
}

// Rotates a vector.
inline Vec3<double> turned(const Quaternion& q, const Vec3<double>& v) {
    const Vec3<double> part(q.x, q.y, q.z);
    const Vec3<double> twice = cross(part, v) * 2.0;
    return v + twice * q.w + cross(part, twice);
}

// The angular velocity of rotation_of(vector) while the vector changes at this rate (the left
// Jacobian of the exponential map), and the rate that has a given angular velocity (its inverse,
// for less than a whole turn).
inline Vec3<double> spin_of_rate(const Vec3<double>& vector, const Vec3<double>& rate) {
    const double angle = norm(vector), square = angle * angle;
    const Vec3<double> once = cross(vector, rate), twice = cross(vector, once);
    if (angle < 1e-3) return rate + once * (0.5 - square / 24) + twice * (1.0 / 6 - square / 120);
    return rate + once * ((1 - std::cos(angle)) / square) +
           twice * ((angle - std::sin(angle)) / (square * angle));
}

inline Vec3<double> rate_of_spin(const Vec3<double>& vector, const Vec3<double>& spin) {
    const double angle = norm(vector), square = angle * angle;
    const Vec3<double> once = cross(vector, spin), twice = cross(vector, once);
    if (angle < 1e-3) return spin - once * 0.5 + twice * (1.0 / 12 + square / 720);
    return spin - once * 0.5 + twice * (1 / square - 0.5 / (angle * std::tan(angle / 2)));
}

// The rotation after this many seconds of an angular velocity.
inline Quaternion spun(const Quaternion& q, const Vec3<double>& spin, double elapsed) {
    return normalized(rotation_of(spin * elapsed) * q);
}

// Spherical linear interpolation: at a constant angular velocity along the shorter way. Beyond 0 and
// 1 it goes on.
inline Quaternion slerp(const Quaternion& from, const Quaternion& to, double u) {
    const Quaternion end = near_to(to, from);
    const Quaternion sum = from + end, difference = end + -from;
    const double angle = 2 * std::atan2(length(difference), length(sum));
    const double sine = std::sin(angle);
    if (sine < 1e-9) return normalized(from * (1 - u) + end * u);
    return normalized(from * (std::sin((1 - u) * angle) / sine) +
                      end * (std::sin(u * angle) / sine));
}

// Normalized linear interpolation: the same way, faster in its middle.
inline Quaternion nlerp(const Quaternion& from, const Quaternion& to, double u) {
    return normalized(from * (1 - u) + near_to(to, from) * u);
}

// Angles about the axes of the turning body, in degrees: yaw about z, then pitch about y, then roll
// about x, which is forward. At a pitch of 90 degrees, where yaw and roll turn about one axis, roll
// is 0.
struct Angles {
    double yaw = 0, pitch = 0, roll = 0;
};

constexpr double kDegree = 0.017453292519943295;  // pi / 180

inline Angles angles_of(const Quaternion& q) {
    const double sine = 2 * (q.w * q.y - q.z * q.x) / dot(q, q);
    if (std::fabs(sine) > 1 - 1e-12) {
        const double yaw = 2 * std::atan2(q.z, q.w);
        return {std::remainder(yaw / kDegree, 360), sine < 0 ? -90.0 : 90.0, 0};
    }
    return {std::atan2(2 * (q.w * q.z + q.x * q.y), q.w * q.w + q.x * q.x - q.y * q.y - q.z * q.z) /
                kDegree,
            std::asin(sine) / kDegree,
            std::atan2(2 * (q.w * q.x + q.y * q.z), q.w * q.w - q.x * q.x - q.y * q.y + q.z * q.z) /
                kDegree};
}

// A turn about one of the axes, 0 to 2.
inline Quaternion about(int axis, double angle) {
    const double sine = std::sin(angle / 2);
    return {axis == 0 ? sine : 0, axis == 1 ? sine : 0, axis == 2 ? sine : 0, std::cos(angle / 2)};
}

inline Quaternion of_angles(const Angles& angles) {
    return about(2, angles.yaw * kDegree) * about(1, angles.pitch * kDegree) *
           about(0, angles.roll * kDegree);
}

// From a matrix by rows, for column vectors (Shepperd, Quaternion from rotation matrix, 1978).
inline Quaternion of_matrix(const double (&m)[9]) {
    const double trace = m[0] + m[4] + m[8];
    const double squares[4] = {1 + 2 * m[0] - trace, 1 + 2 * m[4] - trace, 1 + 2 * m[8] - trace,
                               1 + trace};
    int largest = 3;
    for (int i = 0; i < 3; ++i)
        if (squares[i] > squares[largest]) largest = i;
    switch (largest) {
        case 0: return normalized({squares[0], m[1] + m[3], m[2] + m[6], m[7] - m[5]});
        case 1: return normalized({m[1] + m[3], squares[1], m[5] + m[7], m[2] - m[6]});
        case 2: return normalized({m[2] + m[6], m[5] + m[7], squares[2], m[3] - m[1]});
        default: return normalized({m[7] - m[5], m[2] - m[6], m[3] - m[1], squares[3]});
    }
}

// The direction of something and how fast it turns.
struct Turn {
    Quaternion rotation;
    Vec3<double> spin;  // rad/s, about the axes of the world

    Turn() = default;
    Turn(const Quaternion& r, const Vec3<double>& s) : rotation(r), spin(s) {}
};

// Returns true if the rotation can be one (is_rotation) and the spin is finite.
inline bool is_turn(const Turn& turn) {
    return is_rotation(turn.rotation) && std::isfinite(turn.spin.x) &&
           std::isfinite(turn.spin.y) && std::isfinite(turn.spin.z);
}

// On the great circle between two rotations, a duration (s) apart.
inline Turn slerp_turn(const Turn& from, const Turn& to, double duration, double u) {
    const Vec3<double> way = vector_between(from.rotation, to.rotation);
    return {slerp(from.rotation, to.rotation, u),
            duration > 0 ? way * (1 / duration) : Vec3<double>()};
}

// The cubic that matches rotations and angular velocities at both ends, a duration (s) apart: the
// cumulative Bezier curve of Kim, Kim and Shin, about the axes of the world. A constant angular
// velocity is drawn as that, also of more than half a turn.
struct TurnPiece {
    Quaternion begin;
    Vec3<double> first, middle, last;
};

inline TurnPiece turn_piece(const Turn& from, const Turn& to, double duration) {
    const Vec3<double> first = from.spin * (duration / 3), last = to.spin * (duration / 3);
    const Quaternion begun = rotation_of(first) * from.rotation;
    const Quaternion left = inverse(rotation_of(last)) * to.rotation;
    return {from.rotation, first, vector_between(begun, left), last};
}

inline Quaternion rotation_at(const TurnPiece& piece, double u) {
    const double v = 1 - u;
    const Quaternion a = rotation_of(piece.first * (1 - v * v * v));
    const Quaternion b = rotation_of(piece.middle * (u * u * (3 - 2 * u)));
    const Quaternion c = rotation_of(piece.last * (u * u * u));
    return normalized(c * b * a * piece.begin);
}

inline Turn hermite_turn(const Turn& from, const Turn& to, double duration, double u) {
    const TurnPiece piece = turn_piece(from, to, duration);
    const double v = 1 - u;
    const Quaternion b = rotation_of(piece.middle * (u * u * (3 - 2 * u)));
    const Quaternion c = rotation_of(piece.last * (u * u * u));
    const Vec3<double> begun = piece.first * (3 * v * v), middle = piece.middle * (6 * u * v);
    const Vec3<double> spin = piece.last * (3 * u * u) + turned(c, middle + turned(b, begun));
    return {rotation_at(piece, u), duration > 0 ? spin * (1 / duration) : Vec3<double>()};
}

// The angle between two rotations, 0 to pi; exact near both ends (Kahan).
inline double angle_between(const Quaternion& q, const Quaternion& other) {
    const double apart = length(q + -other), sum = length(q + other);
    return 4 * std::atan2(std::fmin(apart, sum), std::fmax(apart, sum));
}

}  // namespace epic
