/* Makes one call on files of a folder fail, or raises a signal in it: for tests, by LD_PRELOAD (tests/it/injection.rs).
 *
 * INJECT_FOLDER  the folder, as an absolute path
 * INJECT_COUNT   a file outside the folder, which gets a byte for each call
 * INJECT_AT      the number of the call, from zero
 * INJECT_WHAT    EIO: the call fails; ENOSPC: it and every later call that writes fails; or the name of a signal
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;

static int is_inside(const char *path) {
    const char *folder = getenv("INJECT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_inside_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

/* Counts a call; true if it is to fail, with errno set. */
static int fails(int writes) {
    const char *what = getenv("INJECT_WHAT"), *at = getenv("INJECT_AT"), *count = getenv("INJECT_COUNT");
    long call = atomic_fetch_add(&calls, 1);
    int fd = count ? REAL(open64)(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) {
        if (REAL(write)(fd, ".", 1) < 0) abort();
        REAL(close)(fd);
    }
    if (!what || !at) return 0;
    long number = atol(at);
    if (strcmp(what, "EIO") == 0) {
        errno = EIO;
        return call == number;
    }
    if (strcmp(what, "ENOSPC") == 0) {
        errno = ENOSPC;
        return writes && call >= number;
    }
    if (call == number) {
        int signals[] = {SIGINT, SIGTERM, SIGKILL};
        const char *names[] = {"INT", "TERM", "KILL"};
        for (int i = 0; i < 3; i++)
            if (strcmp(what, names[i]) == 0) kill(getpid(), signals[i]);
        /* The program notes a signal on a thread of its own. */
        usleep(5000);
    }
    return 0;
}

#define OPEN(name)                                                                    \
    int name(const char *path, int flags, ...) {                                      \
        va_list list;                                                                 \
        va_start(list, flags);                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;       \
        va_end(list);                                                                 \
        if (is_inside(path) && fails(flags & O_CREAT)) return -1;                     \
        return REAL(name)(path, flags, mode);                                         \
    }
OPEN(open)
OPEN(open64)

#define ON_FD(result, name, writes, given, passed)                                    \
    result name given {                                                               \
        if (is_inside_fd(fd) && fails(writes)) return -1;                             \
        return REAL(name) passed;                                                     \
    }
ON_FD(ssize_t, read, 0, (int fd, void *to, size_t size), (fd, to, size))
ON_FD(ssize_t, pread64, 0, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
ON_FD(ssize_t, write, 1, (int fd, const void *from, size_t size), (fd, from, size))
ON_FD(ssize_t, writev, 1, (int fd, const struct iovec *from, int count), (fd, from, count))
ON_FD(ssize_t, copy_file_range, 1, (int from, off64_t *at, int fd, off64_t *to, size_t size, unsigned flags),
      (from, at, fd, to, size, flags))
ON_FD(int, fsync, 1, (int fd), (fd))
ON_FD(int, fdatasync, 1, (int fd), (fd))

#define ON_PATH(name, writes, given, passed)                                          \
    int name given {                                                                  \
        if (is_inside(path) && fails(writes)) return -1;                              \
        return REAL(name) passed;                                                     \
    }
ON_PATH(mkdir, 1, (const char *path, mode_t mode), (path, mode))
ON_PATH(rename, 1, (const char *path, const char *to), (path, to))
ON_PATH(link, 1, (const char *path, const char *to), (path, to))
ON_PATH(unlink, 0, (const char *path), (path))
int linkat(int from, const char *path, int to, const char *name, int flags) {
    if (is_inside(path) && fails(1)) return -1;
    return REAL(linkat)(from, path, to, name, flags);
}
