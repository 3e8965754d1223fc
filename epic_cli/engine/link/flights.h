// Datagrams on their way, each with its packets, in the order in which they will arrive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "link/rounding.h"
#include "packets/packet.h"

namespace epic {

class Flights {
public:
    bool empty() const { return heap_.empty(); }

    // Returns the arrival of the next datagram; there must be one.
    double next_arrival() const { return heap_.front().arrival; }

    void add(double arrival, int64_t sequence, int copy, const std::vector<Packet>& packets) {
        size_t slot = packets_.size();
        if (free_.empty()) {
            packets_.push_back(packets);
        } else {
            slot = free_.back();
            free_.pop_back();
            packets_[slot] = packets;
        }
        heap_.push_back({arrival, sequence, copy, slot});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    // Appends the packets of the next datagram; returns its sequence number.
    int64_t land(std::vector<Packet>& arrived) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Flight flight = heap_.back();
        heap_.pop_back();
        for (Packet& packet : packets_[flight.slot]) {
            packet.arrival = round_to_millionth(flight.arrival);
            packet.sequence = flight.sequence;
            packet.line = int64_t(arrived.size()) + 1;
            arrived.push_back(packet);
        }
        free_.push_back(flight.slot);
        return flight.sequence;
    }

private:
    struct Flight {
        double arrival;
        int64_t sequence;
        int copy;
        size_t slot;
    };

    static bool later(const Flight& one, const Flight& other) {
        if (one.arrival != other.arrival) return one.arrival > other.arrival;
        if (one.sequence != other.sequence) return one.sequence > other.sequence;
        return one.copy > other.copy;
    }

    std::vector<Flight> heap_;
    std::vector<std::vector<Packet>> packets_;  // by slot
    std::vector<size_t> free_;
};

}  // namespace epic
