// The scanner of packet text, its two ways against each other, and the printer of numbers under
// libFuzzer, with its sanitizers.
#include "harness.h"

#include "packets/entities.h"
#include "text/print_number.h"
#include "text/scan.h"
#include "text/fast_path/lines.h"

namespace {

// What is printed with all its digits is read back as the same number.
void check_number(double value) {
    char text[400];
    char* end = epic::append_shortest(text, value);
    *end = '\0';
    epic::Number again;
    require(epic::scan_number(text, again) == end, "a number is not read back whole");
    require(again.value == value || (std::isnan(again.value) && std::isnan(value)),
            "a number is read back as another");
    require(epic::append_fixed<2>(text, value) - text <= epic::kLongestFixed, "too long");
    require(epic::append_fixed<3>(text, value) - text <= epic::kLongestFixed, "too long");
}

// A text as the engine goes through it: the usual lines at once or not, then piece by piece.
struct Read {
    epic::EntityNames names;
    std::vector<epic::Packet> packets;
    size_t refused = 0;

    Read(const char* const text, const char* const end, bool wide) {
        int64_t line = 1;
        bool at_start = true;
        for (const char* p = text; p < end;) {
            if (wide && at_start) p = epic::scan_usual_lines(p, end, text, packets, names, line);
            if (p == end) break;
            const char* const piece = p;
            while (p < end && p - piece < epic::kLongestPiece && *p != '\n') ++p;
            at_start = p - piece < epic::kLongestPiece;
            if (at_start && p < end) ++p;
            take(piece, size_t(p - piece), line);
            packets.back().offset = uint32_t(piece - text);
            if (packets.back().entity < 0) packets.pop_back(), ++refused;
            line += at_start;
        }
    }

    void take(const char* piece, size_t length, int64_t line) {
        const auto copy = apart(piece, length);
        const char* const end = copy.get() + length;
        packets.emplace_back();
        epic::Packet& packet = packets.back();
        packet.line = line;
        packet.length = uint32_t(length);
        packet.entity = -1;
        const epic::Scanned scanned = epic::scan_packet(copy.get(), end, packet);
        if (scanned.expected != epic::EXPECTED_NOTHING) {
            require(scanned.where >= copy.get() && scanned.where <= end, "beyond the line");
            return;
        }
        for (double value : {packet.position.x, packet.velocity.z, packet.time})
            check_number(value);
        const size_t before = names.size();
        packet.entity = names.assign_number(scanned.entity);
        if (packet.entity >= 0) {
            require(names.name(packet.entity) == scanned.entity, "another name");
            require(names.assign_number(scanned.entity) == packet.entity, "another number");
            require(scanned.entity.size() <= names.longest(), "a longer name");
        } else {
            require(names.size() == before && !epic::is_utf8(scanned.entity), "no name");
        }
    }
};

bool same(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool same(const epic::Packet& a, const epic::Packet& b) {
    return same(a.position.x, b.position.x) && same(a.position.y, b.position.y) &&
           same(a.position.z, b.position.z) && same(a.velocity.x, b.velocity.x) &&
           same(a.velocity.y, b.velocity.y) && same(a.velocity.z, b.velocity.z) &&
           same(a.single.position.x, b.single.position.x) &&
           same(a.single.position.y, b.single.position.y) &&
           same(a.single.position.z, b.single.position.z) &&
           same(a.single.velocity.x, b.single.velocity.x) &&
           same(a.single.velocity.y, b.single.velocity.y) &&
           same(a.single.velocity.z, b.single.velocity.z) && same(a.time, b.time) &&
           same(a.single.time, b.single.time) && same(a.arrival, b.arrival) &&
           same(a.delta, b.delta) && a.sequence == b.sequence && a.teleport == b.teleport &&
           a.entity == b.entity && a.line == b.line && a.offset == b.offset &&
           a.length == b.length && a.caret == b.caret;
}

Total total;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    total.bytes += size;
    // a usual line is looked for only where enough text stands before and behind it
    const auto text = apart(reinterpret_cast<const char*>(data), size);
    const Read plain(text.get(), text.get() + size, false);
    if (!epic::takes_wide_ways()) return 0;
    const Read wide(text.get(), text.get() + size, true);
    require(plain.refused == wide.refused, "another line is refused");
    require(plain.packets.size() == wide.packets.size(), "another number of packets");
    for (size_t i = 0; i < plain.packets.size(); ++i)
        require(same(plain.packets[i], wide.packets[i]), "another packet");
    require(plain.names.size() == wide.names.size(), "other names");
    for (size_t i = 0; i < plain.names.size(); ++i)
        require(plain.names.name(int32_t(i)) == wide.names.name(int32_t(i)), "another name");
    return 0;
}
