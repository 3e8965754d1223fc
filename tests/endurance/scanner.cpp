// The scanner of packet text and the printer of numbers under libFuzzer, with its sanitizers.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "entities.h"
#include "text/print_number.h"
#include "text/scan.h"

namespace {

constexpr size_t kLongestPiece = 1023;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

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

// How much was scanned is said at the end.
struct Total {
    unsigned long long bytes = 0;
    ~Total() { std::fprintf(stderr, "%llu bytes\n", bytes); }
} total;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    epic::EntityNames names;
    total.bytes += size;
    for (size_t begin = 0; begin < size;) {
        // in memory of its own, so that a step beyond its end is seen
        size_t length = 0;
        while (length < kLongestPiece && begin + length < size && data[begin + length] != '\n')
            ++length;
        if (length < kLongestPiece && begin + length < size) ++length;
        std::unique_ptr<char[]> piece(new char[length + 1]);
        std::memcpy(piece.get(), data + begin, length);
        piece[length] = '\0';
        epic::Packet packet;
        const char* const end = piece.get() + length;
        const epic::Scanned scanned = epic::scan_packet(piece.get(), end, packet);
        if (scanned.expected == epic::EXPECTED_NOTHING) {
            for (double value : {packet.position.x, packet.velocity.z, packet.time})
                check_number(value);
            const size_t before = names.size();
            const int32_t number = names.number_of(scanned.entity);
            if (number >= 0) {
                require(names.name(number) == scanned.entity, "another name");
                require(names.number_of(scanned.entity) == number, "another number");
                require(scanned.entity.size() <= names.longest(), "a longer name");
            } else {
                require(names.size() == before && !epic::is_utf8(scanned.entity), "no name");
            }
        } else {
            require(scanned.where >= piece.get() && scanned.where <= end, "beyond the line");
        }
        begin += length;
    }
    return 0;
}
