// The conditions of a link, and how long packets take: a latency, and jitter of a chosen
// distribution around it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "link/portable_maths.h"

namespace epic {

// Link conditions as plain numbers; network/link.py documents and checks them.
enum Distribution : int32_t { UNIFORM, NORMAL, PARETO, PARETONORMAL, GAMMA, PARETO_UNBOUNDED };

struct Conditions {
    double since = 0;  // s after the first packet
    double latency = 0, jitter = 0;  // s
    int32_t distribution = UNIFORM;
    double correlation = 0;
    // Gilbert-Elliott; `bursts`: it is that, and not random loss, whose share is `loss_if_good`
    bool bursts = false;
    double to_bad = 0, to_good = 1, loss_if_bad = 1, loss_if_good = 0;
    double loss_correlation = 0;
    double duplicate = 0;
    double reorder = 0, reorder_correlation = 0;
    int64_t reorder_gap = 1;
    double corrupt = 0;
    double rate = std::numeric_limits<double>::infinity();  // bit/s
    double packet_size = 100;  // bytes, of packets that do not say how long they are
    double longest_wait = std::numeric_limits<double>::infinity();  // s in its queue
    int64_t most_waiting = std::numeric_limits<int64_t>::max();     // packets in its queue
    bool in_order = false;
};

// The Pareto distribution with shape 3, of mean 0 and standard deviation 1: x = (1 - u)^(-1/3)
// has the mean 3/2 and the variance 3/4.
inline double cube_root_tail(double u) { return exponential(-logarithm(1 - u) / 3) - 1.5; }

inline double unbounded_pareto_quantile(double u) { return cube_root_tail(u) / std::sqrt(0.75); }

// netem's table is scaled by the variance instead of its root, and ends at 4.
inline double pareto_quantile(double u) { return std::min(cube_root_tail(u) * (4.0 / 3), 4.0); }

// The gamma distribution with shape 2, of mean 0 and standard deviation 1.
//
// 1 - u = (1 + x) exp(-x), solved by Newton's method from an upper bound (I. Chatzigeorgiou,
// "Bounds on the Lambert Function", IEEE Communications Letters 17 (8), 2013), from where it comes
// down to the root without passing it. x has the mean 2 and the variance 2.
inline double gamma_quantile(double u) {
    const double left = -logarithm(1 - u);
    double x = std::sqrt(2 * left) + left;
    for (int n = x > 0 ? 6 : 0; n > 0; --n) x -= (x - logarithm(1 + x) - left) * (1 + x) / x;
    return (x - 2) / std::sqrt(2.0);
}

class Delays {
public:
    explicit Delays(const Twister& source) : source_(source) {}

    // Continues under other conditions.
    void change(const Conditions& now) {
        latency_ = now.latency;
        jitter_ = now.jitter;
        distribution_ = Distribution(now.distribution);
        correlation_ = now.correlation;
        fresh_ = std::sqrt(1 - correlation_ * correlation_);
        if (correlation_ && !correlated_) z_ = source_.normal();
        correlated_ = correlation_ != 0;
    }

    // The delay of the next packet in seconds, 0 at the least; `clipped`: it would have been less.
    double next(bool& clipped) {
        clipped = false;
        if (!jitter_) return latency_;
        const double delay = latency_ + jitter_ * deviation();
        clipped = delay < 0;
        return clipped ? 0.0 : delay;
    }

private:
    double deviation() {
        const bool by_z = distribution_ == NORMAL || distribution_ == PARETONORMAL;
        if (!by_z && !correlation_) return quantile(source_.random());
        z_ = correlation_ * z_ + fresh_ * source_.normal();
        if (distribution_ == NORMAL) return z_;
        if (distribution_ == PARETONORMAL)
            return 0.25 * std::max(-4.0, std::min(4.0, z_)) +
                   0.75 * pareto_quantile(normal_probability(z_));
        return quantile(normal_probability(z_));
    }

    double quantile(double u) const {
        switch (distribution_) {
            case PARETO: return pareto_quantile(u);
            case GAMMA: return gamma_quantile(u);
            case PARETO_UNBOUNDED: return unbounded_pareto_quantile(u);
            default: return 2 * u - 1;
        }
    }

    Twister source_;
    double latency_ = 0, jitter_ = 0, correlation_ = 0, fresh_ = 1, z_ = 0;
    Distribution distribution_ = UNIFORM;
    bool correlated_ = false;
};

}  // namespace epic
