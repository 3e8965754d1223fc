// Link conditions as plain numbers; network/link.py documents and checks them.
#pragma once

#include <cstdint>
#include <limits>

namespace epic {

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

}  // namespace epic
