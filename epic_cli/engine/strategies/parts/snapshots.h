// Received states waiting to be drawn, oldest first: the basis of all delay buffers.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "packets/packet.h"

namespace epic {

struct Snapshot : Motion {
    double time = 0;     // sender's clock, s
    double arrival = 0;  // receiver's clock, s
    double stamp = 0;    // sender's clock, by which states are in order, s
    OptionalTurn turn;

    void take(const Packet& packet, double now) {
        static_cast<Motion&>(*this) = packet;
        time = packet.time;
        arrival = now;
        stamp = packet.time - packet.delta;
        turn = packet.turn;
    }
};

// A ring of fixed capacity, so that a buffer never grows with the recording. Inserting moves only
// newer ones, none if packets arrive in order.
class SnapshotBuffer {
public:
    // The default, enough for a few seconds: bounded, whatever the send rate.
    void set_capacity(std::size_t capacity = 1024) {
        ring_.assign(capacity, Snapshot());
        clear();
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    bool full() const { return size_ == ring_.size(); }

    Snapshot& operator[](std::size_t index) {
        std::size_t place = first_ + index;
        return ring_[place < ring_.size() ? place : place - ring_.size()];
    }
    Snapshot& front() { return (*this)[0]; }
    Snapshot& back() { return (*this)[size_ - 1]; }

    void clear() { first_ = size_ = 0; }

    void drop_front(std::size_t count) {
        first_ = (first_ + count) % ring_.size();
        size_ -= count;
    }
    void drop_back() { --size_; }

    // Return the number of snapshots with a timestamp of at most `time`.
    std::size_t count_until(double time) {
        std::size_t count = size_;
        while (count > 0 && (*this)[count - 1].time > time) --count;
        return count;
    }

    // Return the number of snapshots in front of one with this stamp.
    std::size_t count_sent_until(double stamp) {
        std::size_t count = size_;
        while (count > 0 && (*this)[count - 1].stamp > stamp) --count;
        return count;
    }

    // Makes room before the one that has this index now, to be filled; there must be some.
    Snapshot& made(std::size_t index) {
        for (std::size_t later = size_++; later > index; --later)
            (*this)[later] = std::move((*this)[later - 1]);
        return (*this)[index];
    }

    // Puts a snapshot before the one that has this index now; there must be room.
    void insert(std::size_t index, const Snapshot& snapshot) { made(index) = snapshot; }
    void insert(std::size_t index, const Packet& packet, double now) {
        made(index).take(packet, now);
    }

    // Appends a snapshot; a full ring drops the oldest.
    void append(const Snapshot& snapshot) { appended() = snapshot; }
    void append(const Packet& packet, double now) { appended().take(packet, now); }

private:
    Snapshot& appended() {
        if (full()) drop_front(1);
        return (*this)[size_++];
    }

    std::vector<Snapshot> ring_;
    std::size_t first_ = 0, size_ = 0;
};

inline Snapshot make_snapshot(const Packet& packet, double now) {
    Snapshot snapshot;
    snapshot.take(packet, now);
    return snapshot;
}

}  // namespace epic
