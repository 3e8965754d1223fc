// Whether a sender's clock has been set: a game that was started again, or that stood still.
#pragma once

#include <algorithm>
#include <cmath>

namespace epic {

// Follows the delays (s) of one sender's packets. They may be anything, and change little by
// little, as a queue fills; but where they are suddenly longer or shorter by more than kStep, and
// all alike for kSpan seconds and kPackets packets, the clock that stamps them is another one. (A
// clock that stands still makes delays that grow by more than kAlike in that time.)
class SenderClock {
public:
    enum Verdict { kAsBefore, kDoubtful, kReset };

    // What is added to the times in the packets (s).
    double shift() const { return shift_; }

    // How far (s) the clock had gone back when it was last found to be another one.
    double step() const { return step_; }

    // A packet with this delay, shift included. Once the clock was reset the shift is another,
    // with which the shortest of the delays that said so is 0.
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
