from libcpp.string cimport string

from epic_cli.engine.packets cimport string_view


cdef bytes escaped(str text, const char* prefix, bint quotes)
cdef bytes quoted(str text, bint shown)
cdef char* append_string(char* out, const string& text) noexcept nogil
cdef char* append_escaped(char* out, string_view text, const char* prefix,
                          bint quotes) noexcept nogil
cdef char* append_quoted(char* out, string_view text, bint shown) noexcept nogil
