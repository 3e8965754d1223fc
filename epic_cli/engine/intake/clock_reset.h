// Detects a reset of a sender's clock: a game that was restarted or suspended.
#pragma once

#include <algorithm>
#include <cmath>

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

    // How far (s) the clock went back at its last reset.
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

}  // namespace epic
