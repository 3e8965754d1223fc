// One direction of a simulated link, one packet at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "link/delays.h"

namespace epic {

// Two times closer than this (s) are the same: sums of decimals have smaller errors.
constexpr double kSameTime = 1e-9;

// Decides if a packet is lost, given the state in which the packet before it left the link.
class Losses {
public:
    explicit Losses(const Twister& source) : source_(source) {}

    void change(const Conditions& now) {
        now_ = now;
        bad_ &= now.bursts;
    }

    bool next() {
        const double share = bad_ ? now_.loss_if_bad : now_.loss_if_good;
        const double correlation = now_.loss_correlation;
        const double limit = correlation ? correlation * lost_ + (1 - correlation) * share : share;
        lost_ = source_.random() < limit;
        bad_ ^= source_.random() < (bad_ ? now_.to_good : now_.to_bad);
        return lost_;
    }

private:
    Twister source_;
    Conditions now_;
    bool bad_ = false, lost_ = false;
};

// Decides if a packet overtakes all others: at most one of every `reorder_gap`.
class Reordering {
public:
    explicit Reordering(const Twister& source) : source_(source) {}

    bool next(const Conditions& now) {
        const double correlation = now.reorder_correlation;
        const double limit =
            correlation ? correlation * jumped_ + (1 - correlation) * now.reorder : now.reorder;
        const bool drawn = source_.random() < limit;
        if (++since_ < now.reorder_gap) return false;
        jumped_ = drawn;
        if (jumped_) since_ = 0;
        return jumped_;
    }

private:
    Twister source_;
    int64_t since_ = 0;
    bool jumped_ = false;
};

// The queue of a link with limited bandwidth: first in, first out, with tail drop. A queued packet
// leaves at the bandwidth that the link had when it was queued.
class Queue {
public:
    static constexpr double kDropped = std::numeric_limits<double>::infinity();

    // When a packet queued at `time` that takes `transmission` (s) to send has left; kDropped: the
    // queue was full.
    double pass(double time, double transmission, const Conditions& now) {
        if (!transmission && free_at_ <= time) return time;
        while (!starts_.empty() && starts_.front() <= time + kSameTime) starts_.pop_front();
        const double start = std::max(time, free_at_);
        if (start > time + kSameTime) {
            if (int64_t(starts_.size()) >= now.most_waiting) return kDropped;
            if (start - time > now.longest_wait + kSameTime) return kDropped;
            starts_.push_back(start);
        }
        free_at_ = start + transmission;
        return free_at_;
    }

private:
    double free_at_ = -std::numeric_limits<double>::infinity();
    std::deque<double> starts_;  // of those that wait: when the transmission of each begins
};

// Counts of copies of packets that the arrivals do not show.
struct LinkCounts {
    int64_t dropped = 0;    // by the full queue
    int64_t corrupted = 0;  // and so discarded by the receiver
    int64_t clipped = 0;    // arrived, with a delay clipped to 0
};

class Link {
public:
    enum Stream { LOSS, DELAY, DUPLICATE_DELAY, DUPLICATE, REORDER, CORRUPT, STREAMS };

    // `sources` has one for each stream; `steps` are in the order of their times, the first at 0.
    Link(const std::vector<Twister>& sources, std::vector<Conditions> steps)
        : steps_(std::move(steps)),
          losses_(sources[LOSS]),
          delays_(sources[DELAY]),
          copy_delays_(sources[DUPLICATE_DELAY]),
          duplicates_(sources[DUPLICATE]),
          reordering_(sources[REORDER]),
          corruption_(sources[CORRUPT]) {
        begin_step();
    }

    // Sets the conditions from now on.
    void change(const Conditions& now) {
        steps_.assign(1, now);
        step_ = 0;
        begin_step();
    }

    // When a packet of this many bytes (0: the default size) sent at `time` arrives: returns how many
    // times, up to two, and fills them in.
    int send(double time, double bytes, double* arrivals) {
        if (std::isnan(origin_)) origin_ = time;
        while (step_ + 1 < steps_.size() && time - origin_ + kSameTime >= steps_[step_ + 1].since) {
            ++step_;
            begin_step();
        }
        const Conditions& now = steps_[step_];
        const bool lost = losses_.next();
        const int copies = 1 + (duplicates_.random() < now.duplicate) - lost;
        bool clipped[2], corrupt[2];
        const double delays[2] = {delays_.next(clipped[0]), copy_delays_.next(clipped[1])};
        for (bool& one : corrupt) one = corruption_.random() < now.corrupt;
        const bool jumps = reordering_.next(now);
        const double transmission = 8.0 * (bytes ? bytes : now.packet_size) / now.rate;
        int count = 0;
        for (int copy = 0; copy < copies; ++copy) {
            const double sent = jumps ? time : queue_.pass(time, transmission, now);
            if (sent == Queue::kDropped) {
                ++counts_.dropped;
            } else if (corrupt[copy]) {
                ++counts_.corrupted;
            } else {
                counts_.clipped += clipped[copy] && !jumps;
                arrivals[count++] = sent + (jumps ? 0.0 : delays[copy]);
            }
        }
        if (count == 2 && arrivals[1] < arrivals[0]) std::swap(arrivals[0], arrivals[1]);
        for (int n = 0; now.in_order && n < count; ++n)
            last_ = arrivals[n] = std::max(arrivals[n], last_);
        return count;
    }

    const LinkCounts& counts() const { return counts_; }

private:
    void begin_step() {
        losses_.change(steps_[step_]);
        delays_.change(steps_[step_]);
        copy_delays_.change(steps_[step_]);
    }

    std::vector<Conditions> steps_;
    double origin_ = std::numeric_limits<double>::quiet_NaN();  // when the first packet was sent
    size_t step_ = 0;
    Losses losses_;
    Delays delays_, copy_delays_;
    Twister duplicates_;
    Reordering reordering_;
    Twister corruption_;
    Queue queue_;
    double last_ = -std::numeric_limits<double>::infinity();
    LinkCounts counts_;
};

}  // namespace epic
