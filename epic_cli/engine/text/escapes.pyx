"""Names in rows: escaped or quoted, so that they cannot control a terminal or end a row."""

from libc.string cimport memcpy
from libcpp.string cimport string

from epic_cli.engine.packets cimport string_view, view


cdef extern from "text/print_number.h" namespace "epic" nogil:
    char* append(char* out, const char* text)


cdef bytes escaped(str text, const char* prefix, bint quotes):
    """Return the text with control characters escaped, as ``append_escaped``."""
    cdef bytes name = text.encode()
    cdef string out
    out.resize(6 * len(name) + 1)
    out.resize(append_escaped(&out[0], view(name), prefix, quotes) - out.data())
    return out


cdef bytes quoted(str text, bint shown):
    """Return a CSV field, as ``append_quoted``."""
    cdef bytes name = text.encode()
    cdef string out
    out.resize(4 * len(name) + 2)
    out.resize(append_quoted(&out[0], view(name), shown) - out.data())
    return out


cdef char* append_string(char* out, const string& text) noexcept nogil:
    memcpy(out, text.data(), text.size())
    return out + text.size()


cdef const char* HEX = b"0123456789abcdef"


cdef int control_at(string_view text, size_t index) noexcept nogil:
    """Return the bytes of the UTF-8 control character here (C0, delete, C1); 0 if there is none."""
    cdef unsigned char c = <unsigned char>text[index]
    if c < 0x20 or c == 0x7F:
        return 1
    if c != 0xC2 or index + 1 == text.size():
        return 0
    return 2 if 0x80 <= <unsigned char>text[index + 1] < 0xA0 else 0


cdef char* append_hex(char* out, const char* prefix, char last) noexcept nogil:
    """Append a control character as its number, which is in its last byte."""
    cdef unsigned char c = <unsigned char>last
    out = append(out, prefix)
    out[0] = HEX[c >> 4]
    out[1] = HEX[c & 15]
    return out + 2


cdef char* append_escaped(char* out, string_view text, const char* prefix,
                          bint quotes) noexcept nogil:
    """Append a text with its control characters escaped: a name must not control a terminal."""
    cdef char c
    cdef int length
    cdef size_t index = 0
    while index < text.size():
        length = control_at(text, index)
        if length:
            index += length
            out = append_hex(out, prefix, text[index - 1])
            continue
        c = text[index]
        index += 1
        if c == b"\\" or (quotes and c == b'"'):
            out[0] = b"\\"
            out += 1
        out[0] = c
        out += 1
    return out


cdef char* append_quoted(char* out, string_view text, bint shown) noexcept nogil:
    """Append a CSV field, quoted if needed (RFC 4180); ``shown``: without control characters.

    ``shown``: without control characters.
    """
    cdef char c
    cdef int length
    cdef size_t index
    cdef bint quote = False
    for index in range(text.size()):
        c = text[index]
        quote = quote or c == b"," or c == b'"' or c == b"\n" or c == b"\r"
    if quote:
        out = append(out, b'"')
    index = 0
    while index < text.size():
        length = control_at(text, index) if shown else 0
        if length:
            index += length
            out = append_hex(out, b"\\x", text[index - 1])
            continue
        c = text[index]
        index += 1
        if c == b'"':
            out = append(out, b'"')
        out[0] = c
        out += 1
    return append(out, b'"') if quote else out
