// A sender's clock, judged by the delays of its packets: whether it was reset (a game that was
// restarted or suspended), and how it drifts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace epic {

// Follows the delays (s) of one sender's packets. They may have any value, and drift as a queue
// fills; but a sudden change by more than kStep that stays constant for kSpan seconds and kPackets
// packets means that the clock was reset. (A
// clock that stands still makes delays that grow by more than kAlike in that time.)
class SenderClock {
public:
    enum Verdict { kAsBefore, kDoubtful, kReset };

    // Added to the times in the packets (s).
    double shift() const { return shift_; }

    // The distance (s) by which the clock went back at its last reset.
    double step() const { return step_; }

    // Takes a packet's delay, shift included. A reset changes the shift such that the shortest of
    // the delays that showed it becomes 0.
    Verdict look(double arrival, double delay) {
        if (std::fabs(delay - level_) <= kStep) {
            level_ = delay;
            count_ = 0;
            return kAsBefore;
        }
        if (!count_ || std::fabs(delay - first_) > kAlike) {
            count_ = 0;
            begin_ = arrival;
            first_ = shortest_ = delay;
        }
        ++count_;
        shortest_ = std::min(shortest_, delay);
        if (count_ < kPackets || arrival - begin_ < kSpan) return kDoubtful;
        shift_ += shortest_;
        step_ = shortest_;
        level_ = delay - shortest_;
        count_ = 0;
        return kReset;
    }

private:
    static constexpr double kStep = 2, kAlike = 0.4, kSpan = 0.5;
    static constexpr int kPackets = 5;

    double shift_ = 0, step_ = 0, level_ = 0;
    double begin_ = 0, first_ = 0, shortest_ = 0;
    int count_ = 0;
};

// The drift of another clock, from the shortest delays, which have no queueing in them.
//
// Keeps the lowest delay of each stretch of time, at most kMost of them: more are merged in pairs,
// and stretches are twice as long from then on.
class LowestDelays {
public:
    void add(double time, double delay) {
        if (lows_.empty() || time >= begin_ + length_) {
            if (lows_.size() == kMost) merge();
            begin_ = time;
            lows_.push_back({time, delay});
        } else if (delay < lows_.back().delay) {
            lows_.back() = {time, delay};
        }
    }

    // The growth (s) of the delays per second; NaN: too little data. The
    // line below all points that is nearest to them in sum is the edge of their lower hull over
    // their mean time (Moon, Skelly and Towsley, INFOCOM 1999). It counts where it rises by more
    // than the points scatter above it.
    double drift() const {
        const double none = std::numeric_limits<double>::quiet_NaN();
        if (lows_.size() < 8) return none;
        std::vector<Low> hull;
        double mean = 0;
        for (const Low& low : lows_) {
            mean += low.time / double(lows_.size());
            while (hull.size() > 1 && !turns_up(hull[hull.size() - 2], hull.back(), low))
                hull.pop_back();
            hull.push_back(low);
        }
        size_t right = 1;
        while (right + 1 < hull.size() && hull[right].time < mean) ++right;
        const Low &a = hull[right - 1], &b = hull[right];
        const double slope = (b.delay - a.delay) / (b.time - a.time);
        std::vector<double> above;
        for (const Low& low : lows_)
            above.push_back(low.delay - (a.delay + slope * (low.time - a.time)));
        std::nth_element(above.begin(), above.begin() + long(above.size() / 2), above.end());
        const double noise = above[above.size() / 2];
        const double span = lows_.back().time - lows_.front().time;
        return std::fabs(slope) * span > 4 * noise + 0.0005 ? slope : 0.0;
    }

private:
    struct Low {
        double time, delay;
    };

    static constexpr size_t kMost = 256;

    static bool turns_up(const Low& a, const Low& b, const Low& c) {
        return (b.time - a.time) * (c.delay - a.delay) > (b.delay - a.delay) * (c.time - a.time);
    }

    void merge() {
        size_t kept = 0;
        for (size_t i = 0; i + 1 < lows_.size(); i += 2)
            lows_[kept++] = lows_[i].delay <= lows_[i + 1].delay ? lows_[i] : lows_[i + 1];
        lows_.resize(kept);
        length_ *= 2;
    }

    std::vector<Low> lows_;
    double begin_ = 0, length_ = 1;
};

}  // namespace epic
