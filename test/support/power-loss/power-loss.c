/*
 * Preloaded into a process (LD_PRELOAD): records each operation of the process on the files below one folder, and each
 * sync, so that `lossy-disk.ts` can rebuild the folder as a disk has it after its power was lost.
 *
 *   POWER_LOSS_FOLDER    absolute path of the folder, without a link in it
 *   POWER_LOSS_JOURNAL   file that records are appended to
 *
 * A record is appended after its operation, and before the caller learns that the operation is done. A sync names the length that the
 * journal had when it began: it makes durable what was written before that, and nothing that came meanwhile.
 * Pages that are mapped and written to in memory (LMDB's lock files) are not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Same value as in journal.ts. */
enum kind { WRITE = 1, WRITE_DURABLE, WHOLE, TRUNCATE, SYNC, CREATE, RENAME, UNLINK, SYNC_FOLDER };

struct header {
  uint32_t kind;
  uint32_t path_bytes;
  uint64_t inode;
  /* Place in the file, its new length, or the length of the journal when a sync began. */
  uint64_t offset;
  uint64_t data_bytes;
};

#define STREAMS_MAX 4096
#define PIECES_MAX 1024

static const char *folder;
static size_t folder_bytes;
static int journal = -1;
/* An operation and its record are one step, so that records stand in the order of the operations. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
/* Files that the C library writes to by itself (fopen): recorded as a whole when they are synced. */
static uint64_t streams[STREAMS_MAX];
static int stream_count;

static void fail(const char *why) {
  dprintf(2, "power-loss.c: %s: %s\n", why, strerror(errno));
  abort();
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("POWER_LOSS_JOURNAL");
  const char *watched_folder = getenv("POWER_LOSS_FOLDER");
  if (watched_folder == NULL || path == NULL) return;
  /* Redis writes its title over the variables. */
  folder = strdup(watched_folder);
  folder_bytes = strlen(folder);
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) fail("cannot open the journal");
  journal = fcntl(fd, F_DUPFD_CLOEXEC, 500);
  if (journal < 0) fail("cannot keep the journal");
  syscall(SYS_close, fd);
}

static int is_inside(const char *path) {
  return strncmp(path, folder, folder_bytes) == 0 && (path[folder_bytes] == '/' || path[folder_bytes] == 0);
}

/* True for a watched file or folder; `path` gets PATH_MAX bytes. */
static int watched(int fd, struct stat *stat, char *path) {
  int saved = errno;
  int found = 0;
  char link[64];
  if (journal >= 0 && fd >= 0 && fstat(fd, stat) == 0 && (S_ISREG(stat->st_mode) || S_ISDIR(stat->st_mode))) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    found = is_inside(path);
  }
  errno = saved;
  return found;
}

/* Resolves the folder of the path, and keeps the name as given; true when the folder is watched. */
static int locate(int at, const char *path, char *real) {
  if (journal < 0) return 0;
  int saved = errno;
  char text[PATH_MAX], dir[PATH_MAX] = "";
  if (path[0] != '/' && at != AT_FDCWD) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, dir, PATH_MAX - 2);
    if (length < 0) fail("cannot find a folder");
    dir[length] = '/';
    dir[length + 1] = 0;
  }
  snprintf(text, sizeof text, "%s%s", dir, path);
  char *slash = strrchr(text, '/');
  const char *name = slash == NULL ? text : slash + 1;
  char parent[PATH_MAX];
  if (slash == NULL) strcpy(parent, ".");
  else snprintf(parent, sizeof parent, "%.*s", (int)(slash - text) + (slash == text), text);
  char found[PATH_MAX];
  int inside = 0;
  if (realpath(parent, found) != NULL) {
    if (snprintf(real, PATH_MAX, "%s/%s", found, name) >= PATH_MAX) fail("a path is too long");
    inside = is_inside(real);
  }
  errno = saved;
  return inside;
}

static void record(enum kind kind, uint64_t inode, uint64_t offset, const char *path, const struct iovec *data, int count,
                   uint64_t bytes) {
  int saved = errno;
  struct iovec pieces[PIECES_MAX + 2];
  struct header header = {kind, path == NULL ? 0 : strlen(path), inode, offset, bytes};
  pieces[0] = (struct iovec){&header, sizeof header};
  pieces[1] = (struct iovec){(void *)path, header.path_bytes};
  if (count > PIECES_MAX) fail("a write has too many pieces");
  int n = 2;
  uint64_t left = bytes;
  for (int i = 0; i < count && left > 0; i++) {
    size_t length = data[i].iov_len < left ? data[i].iov_len : left;
    pieces[n++] = (struct iovec){data[i].iov_base, length};
    left -= length;
  }
  ssize_t expected = sizeof header + header.path_bytes + bytes;
  if (syscall(SYS_writev, journal, pieces, n) != expected) fail("cannot write to the journal");
  errno = saved;
}

static void record_pair(const char *from, const char *to) {
  struct iovec data = {(void *)to, strlen(to)};
  record(RENAME, 0, 0, from, &data, 1, data.iov_len);
}

/* Records the bytes of a write; `at` below 0: at the file's current position minus the bytes written. */
static void written(int fd, const struct stat *stat, const struct iovec *data, int count, int64_t at, ssize_t bytes) {
  if (bytes <= 0) return;
  int flags = fcntl(fd, F_GETFL);
  if (at < 0) at = lseek(fd, 0, SEEK_CUR) - bytes;
  else if (flags & O_APPEND) fail("pwrite to a file that is appended to");
  record(flags & O_DSYNC ? WRITE_DURABLE : WRITE, stat->st_ino, at, NULL, data, count, bytes);
}

#define WRITING(call, data, count, at)                                                                                        \
  struct stat stat;                                                                                                           \
  char path[PATH_MAX];                                                                                                        \
  if (!watched(fd, &stat, path)) return call;                                                                                 \
  pthread_mutex_lock(&turn);                                                                                                  \
  ssize_t bytes = call;                                                                                                       \
  int saved = errno;                                                                                                          \
  written(fd, &stat, data, count, at, bytes);                                                                                 \
  errno = saved;                                                                                                              \
  pthread_mutex_unlock(&turn);                                                                                                \
  return bytes;

ssize_t write(int fd, const void *bytes_, size_t length) {
  struct iovec data = {(void *)bytes_, length};
  WRITING(syscall(SYS_write, fd, bytes_, length), &data, 1, -1)
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  WRITING(syscall(SYS_writev, fd, data, count), data, count, -1)
}

ssize_t pwrite(int fd, const void *bytes_, size_t length, off_t at) {
  struct iovec data = {(void *)bytes_, length};
  WRITING(syscall(SYS_pwrite64, fd, bytes_, length, at), &data, 1, at)
}

ssize_t pwrite64(int fd, const void *bytes_, size_t length, off64_t at) { return pwrite(fd, bytes_, length, at); }

ssize_t pwritev(int fd, const struct iovec *data, int count, off_t at) {
  WRITING(syscall(SYS_pwritev, fd, data, count, at, 0), data, count, at)
}

ssize_t pwritev64(int fd, const struct iovec *data, int count, off64_t at) { return pwritev(fd, data, count, at); }

int ftruncate(int fd, off_t length) {
  struct stat stat;
  char path[PATH_MAX];
  if (!watched(fd, &stat, path)) return syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&turn);
  int result = syscall(SYS_ftruncate, fd, length);
  if (result == 0) record(TRUNCATE, stat.st_ino, length, NULL, NULL, 0, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

static int is_stream(uint64_t inode) {
  for (int i = 0; i < stream_count; i++) {
    if (streams[i] == inode) return 1;
  }
  return 0;
}

static void record_whole(int fd, const struct stat *stat) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int file = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
  struct stat now;
  if (file < 0 || fstat(file, &now) != 0) fail("cannot read a file again");
  char *all = malloc(now.st_size + 1);
  if (all == NULL || pread(file, all, now.st_size, 0) != now.st_size) fail("cannot read a file again");
  struct iovec data = {all, now.st_size};
  record(WHOLE, stat->st_ino, 0, NULL, &data, 1, now.st_size);
  free(all);
  syscall(SYS_close, file);
}

static int sync_with(long number, int fd) {
  struct stat stat;
  char path[PATH_MAX];
  if (!watched(fd, &stat, path)) return syscall(number, fd);
  pthread_mutex_lock(&turn);
  if (is_stream(stat.st_ino)) record_whole(fd, &stat);
  uint64_t begun = lseek(journal, 0, SEEK_END);
  pthread_mutex_unlock(&turn);
  int result = syscall(number, fd);
  if (result != 0) return result;
  pthread_mutex_lock(&turn);
  if (S_ISDIR(stat.st_mode)) record(SYNC_FOLDER, 0, begun, path, NULL, 0, 0);
  else record(SYNC, stat.st_ino, begun, NULL, NULL, 0, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int fsync(int fd) { return sync_with(SYS_fsync, fd); }

int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

/* Records an open; `was_there`: the file existed before. */
static void opened(int fd, int was_there, int truncates, int is_a_stream) {
  struct stat stat;
  char path[PATH_MAX];
  if (!watched(fd, &stat, path) || !S_ISREG(stat.st_mode)) return;
  if (!was_there) record(CREATE, stat.st_ino, 0, path, NULL, 0, 0);
  else if (truncates) record(TRUNCATE, stat.st_ino, 0, NULL, NULL, 0, 0);
  if (!is_a_stream || is_stream(stat.st_ino)) return;
  if (stream_count == STREAMS_MAX) fail("too many streams");
  streams[stream_count++] = stat.st_ino;
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
  char real[PATH_MAX];
  int changes = flags & (O_CREAT | O_TRUNC);
  if (!changes || !locate(at, path, real)) return syscall(SYS_openat, at, path, flags, mode);
  pthread_mutex_lock(&turn);
  int was_there = access(real, F_OK) == 0;
  int fd = syscall(SYS_openat, at, path, flags, mode);
  int saved = errno;
  if (fd >= 0) opened(fd, was_there, flags & O_TRUNC, 0);
  errno = saved;
  pthread_mutex_unlock(&turn);
  return fd;
}

#define MODE_OF(flags)                                                                                                        \
  mode_t mode = 0;                                                                                                            \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                                                    \
    va_list rest;                                                                                                             \
    va_start(rest, flags);                                                                                                    \
    mode = va_arg(rest, mode_t);                                                                                              \
    va_end(rest);                                                                                                             \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_at(at, path, flags, mode);
}

static FILE *open_stream(const char *function, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, function);
  char real[PATH_MAX];
  if (mode[0] == 'r' || !locate(AT_FDCWD, path, real)) return next(path, mode);
  pthread_mutex_lock(&turn);
  int was_there = access(real, F_OK) == 0;
  FILE *stream = next(path, mode);
  int saved = errno;
  if (stream != NULL) opened(fileno(stream), was_there, mode[0] == 'w', 1);
  errno = saved;
  pthread_mutex_unlock(&turn);
  return stream;
}

FILE *fopen(const char *path, const char *mode) { return open_stream("fopen", path, mode); }

FILE *fopen64(const char *path, const char *mode) { return open_stream("fopen64", path, mode); }

int renameat(int at, const char *from, int to_at, const char *to) {
  char real[PATH_MAX], real_to[PATH_MAX];
  if (!locate(at, from, real) || !locate(to_at, to, real_to)) return syscall(SYS_renameat2, at, from, to_at, to, 0);
  pthread_mutex_lock(&turn);
  int result = syscall(SYS_renameat2, at, from, to_at, to, 0);
  if (result == 0) record_pair(real, real_to);
  pthread_mutex_unlock(&turn);
  return result;
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int at, const char *path, int flags) {
  char real[PATH_MAX];
  if (flags & AT_REMOVEDIR || !locate(at, path, real)) return syscall(SYS_unlinkat, at, path, flags);
  pthread_mutex_lock(&turn);
  int result = syscall(SYS_unlinkat, at, path, flags);
  if (result == 0) record(UNLINK, 0, 0, real, NULL, 0, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
