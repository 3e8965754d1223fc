// What follows a drawn point or a received one, however the frames fall.
#pragma once

#include <algorithm>
#include <cmath>

#include "strategies/parts/turning.h"

namespace epic {

// The share of the rest that an exponential approach with this time constant (s) goes.
inline double exponential_share(double elapsed, double time) { return 1 - std::exp(-elapsed / time); }

// The nearest point whose coordinates are multiples of `grid`; halves go up, as Math.round has it.
inline double rounded(double x, double grid) {
    const double whole = std::floor(x / grid + 0.5) * grid;
    return std::isfinite(whole) ? whole : x;
}

inline Vec3<double> rounded(const Vec3<double>& point, double grid) {
    return {rounded(point.x, grid), rounded(point.y, grid), rounded(point.z, grid)};
}

// A time of playback that goes on by `elapsed` and towards `target`, at most `rate` seconds a
// second faster or slower; what is further off than `limit` (s; 0: nothing is) is there at once.
inline double caught_up(double time, double target, double elapsed, double rate, double limit) {
    const double off = target - (time + elapsed);
    if (limit > 0 && std::fabs(off) > limit) return target;
    return time + elapsed + std::min(std::max(off, -rate * elapsed), rate * elapsed);
}

// A low-pass over what is drawn, of one time constant (s), which the length of frames does not
// change. Where that is further away than `snap` (0: never) it is there at once.
class LowPass {
public:
    void clear() { begun_ = false, turn_.clear(); }

    void filter(Sample& sample, const Sample& before, double elapsed, double time, double snap) {
        const Motion motion = sample;
        const Vec3<double> rest = sample.position - shown_;
        double share = begun_ ? exponential_share(elapsed, time) : 1;
        if (snap > 0 && dot(rest, rest) > snap * snap) share = 1;
        const Vec3<double> last = begun_ ? shown_ : motion.position;
        shown_ = share < 1 ? last + rest * share : motion.position;
        begun_ = true;
        turn_.aim(sample.turn);
        turn_.step(share, elapsed, sample);
        const int32_t status = sample.status;
        sample.hold({shown_, elapsed > 0 ? (shown_ - last) * (1 / elapsed) : Vec3<double>()}, before,
                    INTERPOLATED);
        if (status == EXTRAPOLATED) sample.status = EXTRAPOLATED;
    }

private:
    bool begun_ = false;
    Vec3<double> shown_;
    TurnChase turn_;
};

}  // namespace epic
