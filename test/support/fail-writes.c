/*
 * Makes the Nth writing call below a folder fail, for the campaign of failing writes. Loaded by LD_PRELOAD; what to do
 * stands in the file named by FIRMLAKE_FAIL_CONTROL, which is mapped and may be changed while the process runs:
 *
 *   int32[0] 1: count and fail, 0: let everything pass   int32[1] kind: 1 ENOSPC, 2 EIO, 3 short writes, 4 SIGKILL
 *   int32[2] 1: from the Nth call on, 0: only the Nth     int32[3] N, counted from 1; 0 only counts
 *   int32[4] calls counted so far                         int32[5] calls that failed so far
 *   int32[6] to [8] of those counted: writes, other calls that take room, calls that do not
 *   int32[9] 1: a file gets no second name (EPERM, as another user's), unless it is a temporary one
 *   at 64: the folder, NUL at its end                     at 1088: the first call that failed, in words
 *
 * With FIRMLAKE_FAIL_TRACE every counted call is appended to that file, a line each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ARMED, KIND, FOREVER, NTH, COUNTED, FAILED, OF_WHAT, NO_NAMES = 9 };
enum { NO_SPACE = 1, IO_ERROR = 2, SHORT = 3, KILL = 4 };
/* What a call does: only a write can be short, and only what takes room finds the disk full. */
enum { WRITES, TAKES_ROOM, CHANGES };
enum { FOLDER_AT = 64, CALL_AT = 1088, TEXT_BYTES = 1024, CONTROL_BYTES = 4096 };

static char *control = NULL;
static int trace = -1;

#define REAL(name) ((__typeof__(&name))real(#name, &real_##name))
#define DECLARE(name) static void *real_##name = NULL;

static void *real(const char *name, void **known) {
  void *found = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  if (!found) {
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, found, __ATOMIC_RELEASE);
  }
  return found;
}

DECLARE(open) DECLARE(open64) DECLARE(openat) DECLARE(openat64) DECLARE(creat)
DECLARE(write) DECLARE(pwrite) DECLARE(pwrite64) DECLARE(writev) DECLARE(pwritev) DECLARE(pwritev64)
DECLARE(fsync) DECLARE(fdatasync) DECLARE(ftruncate) DECLARE(ftruncate64)
DECLARE(link) DECLARE(linkat) DECLARE(rename) DECLARE(renameat) DECLARE(mkdir) DECLARE(mkdirat)
DECLARE(unlink) DECLARE(unlinkat) DECLARE(rmdir)

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FIRMLAKE_FAIL_CONTROL");
  if (!path) return;
  int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) control = mapped;
  const char *lines = getenv("FIRMLAKE_FAIL_TRACE");
  if (lines) trace = REAL(open)(lines, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int *number(int at) { return (int *)control + at; }

static int is_below(const char *path) {
  const char *folder = control + FOLDER_AT;
  size_t length = strnlen(folder, TEXT_BYTES);
  return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void absolute(int folder, const char *path, char *whole) {
  char name[64];
  ssize_t length = 0;
  whole[0] = 0;
  if (path[0] != '/') {
    if (folder == AT_FDCWD) {
      if (getcwd(whole, PATH_MAX)) length = (ssize_t)strlen(whole);
    } else {
      snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
      length = readlink(name, whole, PATH_MAX - 1);
    }
    if (length < 0) length = 0;
    whole[length++] = '/';
  }
  snprintf(whole + length, (size_t)(PATH_MAX - length), "%s", path);
}

/* Whether this call shall fail: 0 when not, else the kind. */
static int judge(const char *call, int what, const char *path) {
  if (!control || !__atomic_load_n(number(ARMED), __ATOMIC_ACQUIRE)) return 0;
  int kind = *number(KIND);
  if (kind == SHORT && what != WRITES) return 0;
  if (kind == NO_SPACE && what == CHANGES) return 0;
  int before = errno;
  int result = 0;
  if (is_below(path)) {
    int count = __atomic_add_fetch(number(COUNTED), 1, __ATOMIC_ACQ_REL);
    __atomic_add_fetch(number(OF_WHAT + what), 1, __ATOMIC_ACQ_REL);
    int nth = *number(NTH);
    if (nth > 0 && (count == nth || (*number(FOREVER) && count > nth))) {
      if (__atomic_fetch_add(number(FAILED), 1, __ATOMIC_ACQ_REL) == 0)
        snprintf(control + CALL_AT, TEXT_BYTES, "%s %s", call, path);
      if (kind == KILL) kill(getpid(), SIGKILL);
      result = kind;
    }
    if (trace >= 0) dprintf(trace, "%d %s %s\n", count, call, path);
  }
  errno = before;
  return result;
}

static int judge_file(const char *call, int what, int file) {
  char name[64], path[PATH_MAX];
  if (!control || !__atomic_load_n(number(ARMED), __ATOMIC_ACQUIRE)) return 0;
  int before = errno;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  errno = before;
  if (length <= 0) return 0;
  path[length] = 0;
  return judge(call, what, path);
}

static int judge_path(const char *call, int what, int folder, const char *path) {
  char whole[PATH_MAX];
  if (!control || !__atomic_load_n(number(ARMED), __ATOMIC_ACQUIRE)) return 0;
  absolute(folder, path, whole);
  return judge(call, what, whole);
}

static int fails(int kind) {
  if (kind == 0) return 0;
  errno = kind == NO_SPACE ? ENOSPC : EIO;
  return 1;
}

static size_t half(size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

ssize_t write(int file, const void *bytes, size_t length) {
  int kind = judge_file("write", WRITES, file);
  if (kind == SHORT) return REAL(write)(file, bytes, half(length));
  return fails(kind) ? -1 : REAL(write)(file, bytes, length);
}

#define POSITIONED_WRITE(name, offset)                                                \
  ssize_t name(int file, const void *bytes, size_t length, offset at) {               \
    int kind = judge_file(#name, WRITES, file);                                       \
    if (kind == SHORT) return REAL(name)(file, bytes, half(length), at);              \
    return fails(kind) ? -1 : REAL(name)(file, bytes, length, at);                    \
  }
POSITIONED_WRITE(pwrite, off_t)
POSITIONED_WRITE(pwrite64, off64_t)

/* A short one takes half of the first piece. */
ssize_t writev(int file, const struct iovec *pieces, int count) {
  int kind = judge_file("writev", WRITES, file);
  if (kind == SHORT && count > 0) return REAL(write)(file, pieces[0].iov_base, half(pieces[0].iov_len));
  return fails(kind) ? -1 : REAL(writev)(file, pieces, count);
}

#define POSITIONED_PIECES(name, offset)                                                       \
  ssize_t name(int file, const struct iovec *pieces, int count, offset at) {                  \
    int kind = judge_file(#name, WRITES, file);                                               \
    if (kind == SHORT && count > 0)                                                           \
      return REAL(pwrite64)(file, pieces[0].iov_base, half(pieces[0].iov_len), at);           \
    return fails(kind) ? -1 : REAL(name)(file, pieces, count, at);                            \
  }
POSITIONED_PIECES(pwritev, off_t)
POSITIONED_PIECES(pwritev64, off64_t)

#define OF_FILE(name, what)                                                     \
  int name(int file) { return fails(judge_file(#name, what, file)) ? -1 : REAL(name)(file); }
OF_FILE(fsync, TAKES_ROOM)
OF_FILE(fdatasync, TAKES_ROOM)

/* To make a file longer takes room, to cut it does not. */
static int cuts(int file, off64_t length) {
  struct stat found;
  return fstat(file, &found) == 0 && length <= found.st_size;
}

#define CUT(name, offset)                                                              \
  int name(int file, offset length) {                                                  \
    int what = cuts(file, length) ? CHANGES : TAKES_ROOM;                              \
    return fails(judge_file(#name, what, file)) ? -1 : REAL(name)(file, length);       \
  }
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

#define OPEN(name)                                                                             \
  int name(const char *path, int flags, ...) {                                                 \
    mode_t mode = 0;                                                                           \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
      va_list rest;                                                                            \
      va_start(rest, flags);                                                                   \
      mode = va_arg(rest, mode_t);                                                             \
      va_end(rest);                                                                            \
      if (fails(judge_path(#name, TAKES_ROOM, AT_FDCWD, path))) return -1;                     \
    }                                                                                          \
    return REAL(name)(path, flags, mode);                                                      \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                          \
  int name(int folder, const char *path, int flags, ...) {                                     \
    mode_t mode = 0;                                                                           \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
      va_list rest;                                                                            \
      va_start(rest, flags);                                                                   \
      mode = va_arg(rest, mode_t);                                                             \
      va_end(rest);                                                                            \
      if (fails(judge_path(#name, TAKES_ROOM, folder, path))) return -1;                       \
    }                                                                                          \
    return REAL(name)(folder, path, flags, mode);                                              \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

int creat(const char *path, mode_t mode) {
  return fails(judge_path("creat", TAKES_ROOM, AT_FDCWD, path)) ? -1 : REAL(creat)(path, mode);
}
int mkdir(const char *path, mode_t mode) {
  return fails(judge_path("mkdir", TAKES_ROOM, AT_FDCWD, path)) ? -1 : REAL(mkdir)(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
  return fails(judge_path("mkdirat", TAKES_ROOM, folder, path)) ? -1 : REAL(mkdirat)(folder, path, mode);
}
static int refuses_name(const char *from) {
  if (!control || !__atomic_load_n(number(ARMED), __ATOMIC_ACQUIRE) || !*number(NO_NAMES)) return 0;
  const char *slash = strrchr(from, '/');
  if (strncmp(slash ? slash + 1 : from, ".tmp-", 5) == 0) return 0;
  errno = EPERM;
  return 1;
}

int link(const char *from, const char *to) {
  if (refuses_name(from)) return -1;
  return fails(judge_path("link", TAKES_ROOM, AT_FDCWD, to)) ? -1 : REAL(link)(from, to);
}
int linkat(int folder, const char *from, int other, const char *to, int flags) {
  if (refuses_name(from)) return -1;
  return fails(judge_path("linkat", TAKES_ROOM, other, to)) ? -1 : REAL(linkat)(folder, from, other, to, flags);
}
int rename(const char *from, const char *to) {
  return fails(judge_path("rename", TAKES_ROOM, AT_FDCWD, to)) ? -1 : REAL(rename)(from, to);
}
int renameat(int folder, const char *from, int other, const char *to) {
  return fails(judge_path("renameat", TAKES_ROOM, other, to)) ? -1 : REAL(renameat)(folder, from, other, to);
}
int unlink(const char *path) {
  return fails(judge_path("unlink", CHANGES, AT_FDCWD, path)) ? -1 : REAL(unlink)(path);
}
int unlinkat(int folder, const char *path, int flags) {
  return fails(judge_path("unlinkat", CHANGES, folder, path)) ? -1 : REAL(unlinkat)(folder, path, flags);
}
int rmdir(const char *path) {
  return fails(judge_path("rmdir", CHANGES, AT_FDCWD, path)) ? -1 : REAL(rmdir)(path);
}
