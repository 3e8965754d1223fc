// Random lines of packet text through the fast scan and its plain twin: all bits must agree.
//
//     verify_lines LINES SEED

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "text/fast_path/lines.h"

using namespace epic;

static std::mt19937_64 generator;

static unsigned pick(unsigned count) { return unsigned(generator() % count); }

template <size_t count>
static const char* any_of(const char* const (&choices)[count]) {
    return choices[pick(count)];
}

static std::string digits(unsigned count) {
    std::string text;
    while (count--) text += char('0' + pick(10));
    return text;
}

// As "%.*f" prints a double that lies half-way between two floats: the text is at or near a tie.
static std::string near_a_tie() {
    auto bits = uint32_t(generator());
    bits = (bits & 0x807FFFFF) | ((110 + pick(40)) << 23);
    float single;
    std::memcpy(&single, &bits, sizeof single);
    double value = single;
    uint64_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    wide |= uint64_t(1) << 28;
    std::memcpy(&value, &wide, sizeof value);
    char text[80];
    std::snprintf(text, sizeof text, "%.*f", int(pick(10)), value);
    return text;
}

static std::string number() {
    static const char* const odd[] = {
        "", ".", "-", "5.", ".5", "1e3", "1e", "nan", "-inf", "0x10", "1.2.3", "1-2", "--1", "+1",
        "1..2", "..", "00", "-0", "-0.0", "16777217.0", "1,2", "1 ", " 1", "q", "1e5.3",
        "9007199.25474099", "8388608.5", "0.00000005", "9999999.9999999", "00000001", "-.5"};
    const unsigned kind = pick(200);
    if (kind < 1) return any_of(odd);
    if (kind < 20) return near_a_tie();
    const std::string sign = pick(2) ? "-" : "";
    if (kind < 100) return sign + digits(1 + pick(5)) + "." + digits(3);
    if (kind < 150) return sign + digits(1 + pick(7)) + "." + digits(pick(8));
    if (kind < 160) return sign + digits(1 + pick(7));
    if (kind < 164) return sign + digits(1 + pick(9)) + "." + digits(pick(10));
    if (kind < 180) return sign + "0." + digits(1 + pick(7));
    char text[80];
    std::snprintf(text, sizeof text, "%.*f", int(pick(8)),
                  (double(generator() % 2000000) - 1000000) / 8);
    return text;
}

static std::string line() {
    static const char* const separators[] = {",", ",", " / ", ",", ",", " / "};
    static const char* const odd_separators[] = {" , ", "/",    " /",    "/ ", "  / ", ";",
                                                 "",    "\t/ ", ",,",    " / , ", "\n"};
    static const char* const tails[] = {
        " ", "\r", " arrival=0.1", " seq=4 entity=a,b/c teleport=1", "x", "1", "e5", ",", "\t",
        " # 1.2/-3", "\v", "  ", " /", " / 4", " arrival=x", " entity=", " entity=b\xff",
        " arrival=1 delta=0.02 seq=99", " entity=tank", " entity=tank arrival=2.5",
        " arrival=-0.1250", " arrival=5.", " arrival=.5", " arrival=1e3", " arrival=", " arrival=-",
        " arrival=123456789.012345", " arrival=1234567890.123456", " delta=-0 seq=0",
        " seq=999999999999999", " seq=9223372036854775807", " seq=-1", " teleport=2", " arrival=1 ",
        " teleport=01", " entity=\x01", " entity==a", " delta=0.1#", " arrival=1  seq=2",
        " arrival=1 arrival=2", " xarrival=1", " arrivals=1", " arrival=007.50 entity=\xc3\xa9"};
    std::string text;
    for (int i = 0; i < 7; ++i) {
        text += number();
        if (i < 6) text += pick(1000) ? separators[i] : any_of(odd_separators);
    }
    if (pick(10) == 0) text += any_of(tails);
    if (pick(500) == 0) text += std::string(1, '\0') + " arrival=1";
    if (pick(500) == 0) text += " " + std::string(850 + pick(200), 'x');
    if (pick(300) == 0) text[pick(unsigned(text.size()))] = char(pick(256));
    return text + "\n";
}

static bool same(const Packet& one, const Packet& other) {
    const auto equal = [](const auto& a, const auto& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    };
    return equal(one.position, other.position) && equal(one.velocity, other.velocity) &&
           equal(one.time, other.time) && equal(one.single, other.single) &&
           equal(one.arrival, other.arrival) && equal(one.delta, other.delta) &&
           one.sequence == other.sequence && one.line == other.line &&
           one.column == other.column && one.offset == other.offset &&
           one.length == other.length && one.caret == other.caret &&
           one.entity == other.entity && one.teleport == other.teleport;
}

// The plain way; false: the line is refused.
static bool scan_plainly(const char* p, const char* end, const char* text, int64_t line,
                         EntityNames& names, Packet& packet) {
    const Scanned scanned = scan_packet(p, end, packet);
    if (scanned.expected != EXPECTED_NOTHING) return false;
    packet.entity = names.assign_number(scanned.entity);
    if (packet.entity < 0) return false;
    packet.line = line;
    packet.offset = uint32_t(p - text);
    packet.length = uint32_t(end - p);
    return true;
}

[[noreturn]] static void fail(const char* what, const char* p, const char* end) {
    std::printf("%s: %.*s\n", what, int(end - p), p);
    std::exit(1);
}

int main(int, char** arguments) {
    const auto wanted = size_t(std::atoll(arguments[1]));
    generator.seed(uint64_t(std::atoll(arguments[2])));
    size_t total = 0, fast = 0;
    while (total < wanted) {
        std::string block;
        const size_t size = 1 + pick(1 << (1 + pick(16)));
        while (block.size() < size) block += line();
        if (pick(2)) block.pop_back();
        // exactly as long as what is in it: a read beyond either end is seen by a sanitizer
        char* const text = static_cast<char*>(std::malloc(block.size() + 1));
        std::memcpy(text, block.data(), block.size());
        text[block.size()] = '\n';  // scan_number() needs an end
        const char* const end = text + block.size();
        EntityNames names, plain_names;
        std::vector<Packet> packets;
        int64_t number = 1, plain_number = 1;
        for (const char* p = text; p < end;) {
            packets.clear();
            const char* const stop =
                scan_usual_lines(p, end, text, packets, names, number);
            if (stop > end) fail("ran past the end", p, end);
            fast += packets.size();
            size_t index = 0;
            for (; p < stop; ++index, ++plain_number, ++total) {
                const auto* const newline =
                    static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)));
                if (!newline || newline - p >= kLongestPiece) fail("is no whole line", p, stop);
                Packet plain;
                if (!scan_plainly(p, newline + 1, text, plain_number, plain_names, plain))
                    fail("is refused", p, newline);
                if (index == packets.size() || !same(packets[index], plain))
                    fail("differs", p, newline);
                p = newline + 1;
            }
            if (index != packets.size() || number != plain_number) fail("one too many", p, end);
            // the line at which it stopped, as the scanner goes on there
            const auto* const newline =
                static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)));
            const char* const next = newline ? newline + 1 : end;
            Packet plain;
            if (p < end && next - p <= kLongestPiece) {
                Packet ignored;
                scan_plainly(p, next, text, number, names, ignored);
                scan_plainly(p, next, text, number, plain_names, plain);
            }
            ++total, ++number, ++plain_number;
            p = next;
        }
        std::free(text);
    }
    std::printf("%zu lines, %zu of them by the fast way: the same bits\n", total, fast);
    return fast > 0 || !processor_is_wide() ? 0 : 1;
}
