// Preloaded: the FAIL_AT-th change to a file finds the disk full; FAIL_MARK is made when it does.
// Terminals, pipes and stderr are no files.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int full(void) {
    static long seen;
    const char* const at = getenv("FAIL_AT");
    const char* const mark = getenv("FAIL_MARK");
    if (!at || !mark || ++seen != atol(at)) return 0;
    syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
    errno = ENOSPC;
    return 1;
}

static int is_file(int descriptor) {
    struct stat about;
    return descriptor != 2 && !fstat(descriptor, &about) && S_ISREG(about.st_mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    if (size && is_file(descriptor) && full()) return -1;
    return syscall(SYS_write, descriptor, bytes, size);
}

// What is not the program's own to write: Python's compiled files.
static int creates(const char* path, int flags) {
    return (flags & O_CREAT) && !strstr(path, "__pycache__") && strncmp(path, "/dev/", 5);
}

int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int mode = va_arg(rest, int);
    va_end(rest);
    if (creates(path, flags) && full()) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int rename(const char* from, const char* to) {
    if (!strstr(to, "__pycache__") && full()) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
