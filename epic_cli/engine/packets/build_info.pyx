"""How the engine was built."""


cdef extern from *:
    """
    #if defined(__clang__)
    #define EPIC_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define EPIC_COMPILER "g++ " __VERSION__
    #else
    #define EPIC_COMPILER "an unknown compiler"
    #endif
    #ifndef EPIC_FLAGS
    #define EPIC_FLAGS ""
    #endif
    """
    const char* EPIC_COMPILER
    const char* EPIC_FLAGS
    int CYTHON_HEX_VERSION


def describe_build():
    """The compiler, flags and Cython version that the engine was built with."""
    cdef int version = CYTHON_HEX_VERSION
    cython = f"{version >> 24}.{version >> 16 & 255}.{version >> 8 & 255}"
    return f"{EPIC_COMPILER.decode()} {EPIC_FLAGS.decode()}, Cython {cython}"
