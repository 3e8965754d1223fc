// Included in each module before its first line.
#pragma once

#define PY_SSIZE_T_CLEAN
#define _USE_MATH_DEFINES  // without it C++17 has no M_PI on Windows

// The stable interface of Python: what is compiled for 3.11 runs on all later versions (but not on
// free-threaded ones). pyproject.toml names the wheel after it.
#define Py_LIMITED_API 0x030b0000

// The constants of code objects that Cython needs (Include/cpython/code.h, the same in each version)
// are not part of that interface. Without them, each loaded module looks them up in `inspect`, and
// loading that takes a tenth of a replay of ten lines.
#define CO_OPTIMIZED 0x0001
#define CO_NEWLOCALS 0x0002
#define CO_VARARGS 0x0004
#define CO_VARKEYWORDS 0x0008
#define CO_GENERATOR 0x0020
#define CO_COROUTINE 0x0080
#define CO_ASYNC_GENERATOR 0x0200

// Keeps the special functions of C++17, unused here, from being instantiated in each module.
#define _GLIBCXX_BITS_SPECFUN_H

#include <Python.h>

#include <cstring>

// Given all of them, Cython 3.3 still loads it, and looks nothing up: `sys` will do.
inline PyObject* import_without_inspect(const char* name) {
    return PyImport_ImportModule(std::strcmp(name, "inspect") == 0 ? "sys" : name);
}
#define PyImport_ImportModule import_without_inspect
