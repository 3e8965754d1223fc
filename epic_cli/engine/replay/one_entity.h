// The replay loop for one entity, in numbers that stay in registers: the same steps that Replay
// takes for any number of entities. A pace is a pacing on a clock.
#pragma once

#include <cmath>
#include <vector>

#include "packets/packet.h"

namespace epic {

struct Run {
    const Packet* packet;  // the next one
    const Packet* end;
    std::vector<Sample>* out;
    size_t capacity;       // of out
    size_t taken = 0, discarded = 0;
    int32_t entity;
    double due;            // rows are drawn up to there
    double limit;          // packets that need rows beyond it are not admitted
    // the clock: single precision has a tick, the exact one an index and a ratio
    double now;
    float tick;
    double index, numerator, denominator;
    // the pacing: demo's promised time, or the newest arrival
    double promised;
    double newest, latency;
};

// SingleClock and ExactClock.
struct SingleTicks {
    float now, tick;

    explicit SingleTicks(const Run& run) : now(float(run.now)), tick(run.tick) {}
    void store(Run& run) const { run.now = now; }

    double following() const { return now + tick; }
    void step() { now += tick; }
    static double lead(const Packet& packet) { return packet.single.time + 0.15f; }
};

struct ExactTicks {
    double now, index, numerator, denominator, next;

    explicit ExactTicks(const Run& run)
        : now(run.now), index(run.index), numerator(run.numerator), denominator(run.denominator),
          next((index + 1) * numerator / denominator) {}
    void store(Run& run) const { run.now = now, run.index = index; }
    double following() const { return next; }
    void step() {
        now = next;
        index += 1;
        next = (index + 1) * numerator / denominator;
    }
    static double lead(const Packet& packet) { return packet.time + 0.15; }
};

// DemoPacing: a packet is applied at once, then rows are drawn while the clock is behind the
// packet's time + 0.15 s.
template <class Ticks>
struct DemoPace {
    Ticks clock;
    double limit;
    double promised;  // the furthest that any packet needs

    explicit DemoPace(const Run& run) : clock(run), limit(run.limit), promised(run.promised) {}
    void store(Run& run) const { clock.store(run), run.promised = promised; }
    bool behind(double due) const { return clock.now < due; }
    bool admits(const Packet& packet) const { return clock.lead(packet) <= limit; }
    double due_before(const Packet&) const { return -INFINITY; }
    double receives(const Packet&) const { return clock.now; }
    double due_after(const Packet& packet) {
        const double lead = clock.lead(packet);
        if (lead > promised) promised = lead;
        return lead;
    }
};

// ArrivalPacing: a packet is applied before the first tick at or after its arrival, which must not
// go back.
template <class Ticks>
struct ArrivalPace {
    Ticks clock;
    double limit;
    double newest;   // arrival
    double latency;  // of packets without an arrival; NaN: none

    explicit ArrivalPace(const Run& run)
        : clock(run), limit(run.limit), newest(run.newest), latency(run.latency) {}
    void store(Run& run) const { clock.store(run), run.newest = newest; }
    double arrival(const Packet& packet) const {
        return std::isnan(packet.arrival) ? packet.time + latency : packet.arrival;
    }
    double receives(const Packet& packet) const { return arrival(packet); }
    bool behind(double due) const { return clock.following() < due; }
    bool admits(const Packet& packet) const {
        const double arrived = arrival(packet);
        return newest <= arrived && arrived < limit;
    }
    double due_before(const Packet& packet) const { return arrival(packet); }
    double due_after(const Packet& packet) {
        newest = arrival(packet);
        return -INFINITY;
    }
};

// FramePacing: the same, but the receiver's time is that tick.
template <class Ticks>
struct FramePace : ArrivalPace<Ticks> {
    using ArrivalPace<Ticks>::ArrivalPace;
    double receives(const Packet&) const { return this->clock.following(); }
};

// Runs until the samples are full, the packets are used up, or one is not admitted or belongs to
// another entity.
template <class Pace, class Take, class Draw>
inline void follow(Run& run, void* strategy, Take take, Draw draw) {
    const Packet* packet = run.packet;
    std::vector<Sample>& out = *run.out;
    Pace pace(run);
    double due = run.due;
    for (;;) {
        while (pace.behind(due)) {
            if (out.size() >= run.capacity) goto stop;
            pace.clock.step();
            out.emplace_back();
            Sample& sample = out.back();
            sample.time = pace.clock.now;
            sample.entity = run.entity;
            draw(strategy, sample.time, sample);
        }
        if (packet == run.end || packet->entity != run.entity || !pace.admits(*packet)) break;
        const double before = pace.due_before(*packet);
        if (before > due) {
            due = before;
            if (pace.behind(due)) continue;
        }
        if (take(strategy, *packet, pace.receives(*packet))) ++run.taken;
        else ++run.discarded;
        const double after = pace.due_after(*packet++);
        if (after > due) due = after;
    }
stop:
    run.packet = packet;
    run.due = due;
    pace.store(run);
}

}  // namespace epic
