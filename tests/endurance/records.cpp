// Rows of tables, JSON lines and times under libFuzzer, with its sanitizers. The first bytes say
// what is read: the kind, the columns or the tree, the units; the rest are lines.
#include "harness.h"

#include "packets/entities.h"
#include "text/json.h"
#include "text/table.h"

namespace {

using epic::bit;

Total total;

constexpr int32_t kNone = epic::FIELD_NONE;

const int32_t kColumns[][12] = {
    {6, 0, 1, 2, 3, 4, 5, kNone, kNone, kNone, kNone, kNone},
    {6, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11},
    {8, kNone, 6, 0, 1, 7, kNone, 2, 11, 10, 9, kNone},
};
constexpr size_t kCounts[] = {7, 12, 11};
constexpr char kDelimiters[] = {',', ';', '\t', '|', ' '};

epic::TablePlan table(unsigned choice) {
    epic::TablePlan plan;
    const unsigned kind = choice % 3;
    plan.columns.assign(kColumns[kind], kColumns[kind] + kCounts[kind]);
    plan.delimiter = kDelimiters[choice / 3 % 5];
    return plan;
}

// {"time": , "x": , "y": , "z": ...} and {"t": , "p": {"at": [, , ]}, "v": [, , ], "id": }
epic::JsonPlan tree(unsigned choice) {
    static const char* const kFlat[] = {"x",    "y",       "z",      "vx",  "vy",       "vz",
                                        "time", "arrival", "entity", "seq", "teleport", "delta"};
    epic::JsonPlan plan;
    if (choice % 2) {
        for (int32_t field = 0; field < epic::FIELD_COUNT; ++field)
            plan.nodes[size_t(plan.step(0, kFlat[field]))].field = field;
        return plan;
    }
    plan.nodes[size_t(plan.step(0, "t"))].field = epic::FIELD_TIME;
    plan.nodes[size_t(plan.step(0, "id"))].field = epic::FIELD_ENTITY;
    const int32_t at = plan.step(plan.step(0, "p"), "at"), v = plan.step(0, "v");
    for (int32_t axis = 0; axis < 3; ++axis) {
        const std::string name(1, char('0' + axis));
        plan.nodes[size_t(plan.step(at, name))].field = axis;
        plan.nodes[size_t(plan.step(v, name))].field = 3 + axis;
    }
    return plan;
}

epic::Units units(unsigned choice) {
    epic::Units found;
    if (choice & 1) found.stamp.per_second = 1000;
    if (choice & 2) found.from_first = true;
    if (choice & 4) found.stamp.iso = true, found.stamp.per_second = 1;
    found.arrival = found.stamp;
    if (choice & 8) found.scales[0] = found.scales[4] = 0.01;
    if (choice & 16) found.axes[1] = 2, found.axes[2] = 1;
    if (choice & 32) found.axes[2] = -1;
    if (choice & 64) found.decimal_comma = true;
    if (choice & 128) found.moved = true, found.origin = epic::instant_of(1.7e12);
    return found;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A row once more, slowly: cut at each delimiter, every cell taken by its text. It has no quotes.
bool cut_row(const epic::TablePlan& plan, const epic::Units& units, std::string_view line,
             epic::Record& record, epic::Packet& packet) {
    const bool blank = plan.delimiter == ' ';
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    size_t column = 0;
    for (bool more = true; more; ++column) {
        if (blank) line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (blank && line.empty()) break;
        const size_t length = std::min(line.find(plan.delimiter), line.size());
        const auto cell = apart(line.data(), length);
        std::string_view text(cell.get(), length);
        more = length < line.size();
        line.remove_prefix(length + more);
        if (column == plan.columns.size()) return false;
        const int32_t field = plan.columns[column];
        if (field == kNone) continue;
        if (field != epic::FIELD_ENTITY) {
            while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
            while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
            cell[size_t(text.data() + text.size() - cell.get())] = '\0';
        }
        if (!text.empty() && !record.set(units, field, text, packet)) return false;
        if (field == epic::FIELD_ENTITY) record.entity = {};  // the cell is gone
    }
    return column == plan.columns.size();
}

void check_packet(const epic::Packet& one, const epic::Packet& other) {
    require(same(one.time, other.time), "another time");
    require(same(one.position.x, other.position.x), "another x");
    require(same(one.position.y, other.position.y), "another y");
    require(same(one.position.z, other.position.z), "another z");
    require(one.has_velocity == other.has_velocity, "another kind");
    require(!one.has_velocity || same(one.velocity.z, other.velocity.z), "another vz");
    require(same(one.arrival, other.arrival), "another arrival");
    require(one.sequence == other.sequence, "another number");
    require(one.teleport == other.teleport && same(one.delta, other.delta), "another state");
}

// A time means the same whatever stands around it, and is in order with its own parts.
void check_time(std::string_view text) {
    epic::Instant instant;
    epic::Number number;
    const auto copy = apart(text.data(), text.size());
    const std::string_view alone(copy.get(), text.size());
    if (epic::scan_instant(alone, instant)) {
        require(epic::scan_whole_number(alone, number), "an instant that is no number");
        const double value = double(instant.whole) + instant.part;
        const double most = 4e-16 * std::fabs(number.value);
        require(same(value, number.value) || std::fabs(value - number.value) <= most,
                "an instant far from its number");
    }
    if (epic::scan_iso(alone, instant)) {
        require(instant.part >= 0 && instant.part < 1 + 1e-12, "a second's part");
        require(std::llabs(instant.whole) < 400'000'000'000, "beyond the years");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    total.bytes += size;
    const bool is_table = data[0] & 1;
    const epic::TablePlan columns = table(data[1]);
    const epic::JsonPlan steps = tree(data[1]);
    epic::Units scale = units(data[2]);
    epic::EntityNames names;
    const char* p = reinterpret_cast<const char*>(data) + 3;
    const char* const end = reinterpret_cast<const char*>(data) + size;
    while (p < end) {
        const auto* newline = static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)));
        const size_t length = size_t((newline ? newline : end) - p);
        const auto line = apart(p, length);
        line[length] = '\n';
        p += length + 1;
        const char* const begin = line.get();
        if (length < 64) check_time({begin, length});
        if (!epic::is_text(begin, begin + length)) {
            require(!epic::is_utf8({begin, length}) || std::memchr(begin, 0, length), "text");
            continue;
        }
        epic::Packet packet;
        epic::Record record;
        const epic::Units before = scale;
        const bool taken =
            is_table ? epic::scan_row(columns, scale, begin, begin + length, record, packet)
                     : epic::scan_object(steps, scale, begin, begin + length, record, packet);
        if (!taken || record.finish(scale, packet) != kNone) continue;
        require(names.assign_number(record.entity) >= 0, "text has a name that is none");
        if (!record.entity.empty())
            require(record.entity.data() >= begin &&
                        record.entity.data() + record.entity.size() <= begin + length,
                    "a name from elsewhere");
        if (is_table && !std::memchr(begin, '"', length)) {
            epic::Units again = before;
            epic::Packet other;
            epic::Record slow;
            require(cut_row(columns, again, {begin, length}, slow, other), "a row that is none");
            require(slow.finish(again, other) == kNone, "a row that lacks something");
            check_packet(packet, other);
        }
    }
    return 0;
}
