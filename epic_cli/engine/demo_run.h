// The demo's loop for one entity on the single-precision clock: a packet is applied at once, then
// rows are drawn while the clock is behind the packet's time + 0.15 s. What Replay does with any
// pacing, clock and number of entities, in numbers that stay in registers.
#pragma once

#include <vector>

#include "packet.h"

namespace epic {

struct DemoRun {
    const Packet* packet;  // the next one
    const Packet* end;
    std::vector<Sample>* out;
    size_t capacity;       // of out
    size_t taken = 0, discarded = 0;
    double due;            // rows are drawn up to there
    double promised;       // the farthest that any packet has asked for
    float now, tick;       // the clock
    float stall;           // where it stands still
    int32_t entity;
};

// Goes on until the samples are full, the packets are used up, or one comes that has no place on
// the clock or is another entity's.
template <class Take, class Draw>
inline void follow_demo(DemoRun& run, void* strategy, Take take, Draw draw) {
    const Packet* packet = run.packet;
    std::vector<Sample>& out = *run.out;
    float now = run.now;
    double due = run.due;
    for (;;) {
        while (now < due) {
            if (out.size() >= run.capacity) goto stop;
            now += run.tick;
            out.emplace_back();
            Sample& sample = out.back();
            sample.time = now;
            sample.entity = run.entity;
            draw(strategy, double(now), sample);
        }
        if (packet == run.end || packet->entity != run.entity) break;
        const double lead = packet->single.time + 0.15f;
        if (!(lead <= run.stall)) break;
        if (take(strategy, *packet, double(now))) ++run.taken;
        else ++run.discarded;
        ++packet;
        if (lead > run.promised) run.promised = lead;
        if (lead > due) due = lead;
    }
stop:
    run.packet = packet;
    run.now = now;
    run.due = due;
}

}  // namespace epic
