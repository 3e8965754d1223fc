// Geographic positions as meters in a plane around the first of them.
#pragma once

#include <cmath>

namespace epic {

// Transverse Mercator on the WGS-84 ellipsoid, about the meridian of the first place, which becomes
// 0, 0; x goes east and y north. L. Krueger's series to the third order of the flattening n, as in
// K. Kawase, A General Formula for Calculating Meridian Arc Length and its Application to
// Coordinate Conversion in the Gauss-Krueger Projection, 2011: exact to less than a millimeter.
// Angles are kept; lengths are too long by (x / 9020 km)^2: 1 mm in a kilometer at 9 km, 1 m at 285.
class Plane {
public:
    bool begun = false;
    double longitude = 0, latitude = 0;  // of the first place

    void begin(double first_longitude, double first_latitude) {
        longitude = first_longitude;
        latitude = first_latitude;
        begun = true;
        double x;
        project(longitude, latitude, x, north_);
    }

    // From degrees to meters from the first place.
    void place(double east, double north, double& x, double& y) const {
        project(east, north, x, y);
        y -= north_;
    }

private:
    static constexpr double kRadius = 6378137.0, kFlattening = 1 / 298.257223563;
    static constexpr double n = kFlattening / (2 - kFlattening);
    static constexpr double kMean = kRadius / (1 + n) * (1 + n * n / 4 + n * n * n * n / 64);
    static constexpr double kDegree = 0.017453292519943295;

    void project(double east_degrees, double north_degrees, double& x, double& y) const {
        const double kAlpha[] = {n / 2 - n * n * 2 / 3 + n * n * n * 5 / 16,
                                 n * n * 13 / 48 - n * n * n * 3 / 5, n * n * n * 61 / 240};
        const double east = std::remainder(east_degrees - longitude, 360) * kDegree;
        const double sine = std::sin(north_degrees * kDegree), e = 2 * std::sqrt(n) / (1 + n);
        const double t = std::sinh(std::atanh(sine) - e * std::atanh(e * sine));
        const double xi = std::atan2(t, std::cos(east));
        const double eta = std::atanh(std::sin(east) / std::hypot(1, t));
        x = eta;
        y = xi;
        for (int i = 0; i < 3; ++i) {
            const double twice = 2 * (i + 1);
            x += kAlpha[i] * std::cos(twice * xi) * std::sinh(twice * eta);
            y += kAlpha[i] * std::sin(twice * xi) * std::cosh(twice * eta);
        }
        x *= kMean;
        y *= kMean;
    }

    double north_ = 0;
};

}  // namespace epic
