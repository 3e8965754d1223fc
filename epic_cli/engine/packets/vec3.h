// A three-component vector whose operators round after every operation, so that
// formulas over Vec3<float> give the bits that the C++ originals give.
#pragma once

namespace epic {

template <typename T>
struct Vec3 {
    T x = 0, y = 0, z = 0;

    Vec3() = default;
    Vec3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}

    Vec3 operator+(const Vec3& o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec3 operator-(const Vec3& o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec3 operator*(T f) const { return {x * f, y * f, z * f}; }
};

template <typename T>
inline T dot(const Vec3<T>& a, const Vec3<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <typename T>
inline Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Two NaN count as equal.
template <typename T>
inline bool differ(const Vec3<T>& a, const Vec3<T>& b) {
    return a.x < b.x || a.x > b.x || a.y < b.y || a.y > b.y || a.z < b.z || a.z > b.z;
}

inline Vec3<double> widened(const Vec3<float>& a) { return {a.x, a.y, a.z}; }
inline Vec3<float> narrowed(const Vec3<double>& a) { return {float(a.x), float(a.y), float(a.z)}; }

}  // namespace epic
