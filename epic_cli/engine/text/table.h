// Rows of CSV and other delimited tables to packets, by a plan that says which column is which
// field. Common rows only: rare or wrong ones are left to the slow path, which decides.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "record.h"

namespace epic {

struct TablePlan {
    std::vector<int32_t> columns;  // the field of each; FIELD_NONE: none
    char delimiter = ',';          // ' ': any number of blanks
};

class RowScanner {
public:
    RowScanner(const TablePlan& plan, const Units& units, const char* p, const char* end)
        : plan_(plan), units_(units), p_(p), end_(end) {}

    // Takes one cell, which is all of [p, end) and is followed by a newline.
    bool scan_cell(Record& record, int32_t field, Packet& packet) {
        return take_cell(record, field, packet) && p_ == end_;
    }

    // Takes all cells of the row [p, end), which is followed by its newline.
    bool scan(Record& record, Packet& packet) {
        if (end_ > p_ && end_[-1] == '\r') --end_;
        const size_t count = plan_.columns.size();
        const bool plain_stamp = units_.plain_stamp();
        for (size_t i = 0; i < count; ++i) {
            if (plan_.delimiter == ' ')
                while (p_ < end_ && *p_ == ' ') ++p_;
            const int32_t field = plan_.columns[i];
            const bool number = (field >= 0 && field < FIELD_TIME) ||
                                (field == FIELD_TIME && plain_stamp);
            if (!(number ? take_number(record, field, packet) : take_cell(record, field, packet)))
                return false;
            if (i + 1 == count) break;
            if (p_ == end_ || *p_ != plan_.delimiter) return false;
            ++p_;
        }
        if (plan_.delimiter == ' ')
            while (p_ < end_ && *p_ == ' ') ++p_;
        record.drop_unreal();
        return p_ == end_;
    }

private:
    bool take_number(Record& record, int32_t field, Packet& packet) {
        const char* const cell = p_;
        if (plan_.delimiter != ' ')
            while (p_ < end_ && *p_ == ' ') ++p_;
        if (p_ < end_) {
            const bool quoted = p_ == cell && *p_ == '"' && plan_.delimiter != ' ';
            const char* after = scan_number(p_ + quoted, record.numbers[field]);
            if (after && (!quoted || *after == '"')) {
                after += quoted;
                if (!quoted && plan_.delimiter != ' ')
                    while (after < end_ && *after == ' ') ++after;
                if (after == end_ || *after == plan_.delimiter) {
                    record.seen |= bit(field);
                    p_ = after;
                    return true;
                }
            }
        }
        p_ = cell;
        return take_cell(record, field, packet);
    }

    // Any cell: empty, quoted without quotes in it, or plain.
    bool take_cell(Record& record, int32_t field, Packet& packet) {
        const char* begin = p_;
        if (p_ < end_ && *p_ == '"' && plan_.delimiter != ' ') {
            begin = ++p_;
            while (p_ < end_ && *p_ != '"' && *p_ != '\r') ++p_;
            if (p_ == end_ || *p_ != '"') return false;
            const std::string_view text(begin, size_t(p_ - begin));
            ++p_;
            if (p_ < end_ && *p_ != plan_.delimiter) return false;
            packet.has_extras |= field == FIELD_NONE;  // an empty text is one, too
            return use(record, field, text, packet);
        }
        while (p_ < end_ && *p_ != plan_.delimiter && *p_ != '\r') ++p_;
        if (p_ < end_ && *p_ == '\r') return false;
        if (plan_.delimiter == ' ' && (p_ == begin || std::any_of(begin, p_, is_blank)))
            return false;  // a word is missing, or there are several
        return use(record, field, {begin, size_t(p_ - begin)}, packet);
    }

    bool use(Record& record, int32_t field, std::string_view text, Packet& packet) {
        if (field == FIELD_NONE) {
            packet.has_extras |= !text.empty();
            return true;
        }
        if (field != FIELD_ENTITY) {
            while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
            while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
        }
        return text.empty() || record.set(units_, field, text, packet);
    }

    const TablePlan& plan_;
    const Units& units_;
    const char* p_;
    const char* end_;
};

inline bool scan_cell(const TablePlan& plan, const Units& units, const char* p, const char* end,
                      int32_t field, Record& record, Packet& packet) {
    return RowScanner(plan, units, p, end).scan_cell(record, field, packet);
}

inline bool scan_row(const TablePlan& plan, const Units& units, const char* p, const char* end,
                     Record& record, Packet& packet) {
    return RowScanner(plan, units, p, end).scan(record, packet);
}

}  // namespace epic
