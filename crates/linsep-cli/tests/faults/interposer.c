/*
 * Stands between the program and the C library, and lets one call fail.
 *
 * Only calls on files of one folder count, so that the loader and the threads of the program are left
 * alone. A relative path counts: the program works in that folder. Every call that counts is logged with
 * its number, its path and the error that it was given, 0 for none.
 *
 *   FAULT_ROOM   the folder, without links and without a slash at its end
 *   FAULT_LOG    the file for the log, outside the folder
 *   FAULT_CALL   the number of the call that fails, from 1
 *   FAULT_ERRNO  its error
 *   FAULT_BYTES  how many bytes the disk takes before it is full
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 1024
#define LENGTH 512

static char room[LENGTH];
static size_t room_length;
static int log_file = -1;
static long fail_at, fail_with, disk = -1;
static atomic_long calls, written;
/* The path of each open file of the folder; empty for all others. */
static char paths[FILES][LENGTH];

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
	const char *folder = getenv("FAULT_ROOM"), *log = getenv("FAULT_LOG");
	if (!folder || !log)
		return;
	snprintf(room, sizeof room, "%s", folder);
	room_length = strlen(room);
	fail_at = number("FAULT_CALL", 0);
	fail_with = number("FAULT_ERRNO", EIO);
	disk = number("FAULT_BYTES", -1);
	int file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	/* The program is to see the numbers of its files that it always sees. */
	log_file = fcntl(file, F_DUPFD_CLOEXEC, FILES - 1);
	syscall(SYS_close, file);
}

static int inside(const char *path)
{
	if (log_file < 0 || !path)
		return 0;
	return path[0] != '/' || (strncmp(path, room, room_length) == 0
		&& (path[room_length] == '/' || path[room_length] == 0));
}

static int known(int file)
{
	return file >= 0 && file < FILES && paths[file][0];
}

static void note(long call, const char *name, const char *path, long error)
{
	char line[LENGTH + 100];
	int length = snprintf(line, sizeof line, "%ld\t%s\t%s\t%ld\n", call, name, path, error);
	if (syscall(SYS_write, log_file, line, (size_t)length) < 0)
		abort();
}

/* Counts a call and says whether it fails. */
static int fails(const char *name, const char *path)
{
	long call = atomic_fetch_add(&calls, 1) + 1;
	int fault = call == fail_at;
	note(call, name, path, fault ? fail_with : 0);
	if (fault)
		errno = (int)fail_with;
	return fault;
}

/* How many of so many bytes the disk still takes; -1 if it is full. */
static long taken(const char *path, size_t bytes)
{
	if (disk < 0)
		return (long)bytes;
	long before = atomic_fetch_add(&written, (long)bytes), left = disk - before;
	if (left >= (long)bytes)
		return (long)bytes;
	if (left > 0)
		return left;
	note(0, "write", path, ENOSPC);
	errno = ENOSPC;
	return bytes ? -1 : 0;
}

#define REAL(result, name, ...) \
	static result (*real)(__VA_ARGS__); \
	if (!real) \
		*(void **)&real = dlsym(RTLD_NEXT, name)

static int opened(int folder, const char *path, int flags, mode_t mode)
{
	int counts = folder == AT_FDCWD && inside(path);
	if (counts && fails("open", path))
		return -1;
	int file = (int)syscall(SYS_openat, folder, path, flags, mode);
	if (file >= 0 && file < FILES)
		snprintf(paths[file], LENGTH, "%s", counts ? path : "");
	return file;
}

#define MODE(flags) \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list list; \
		va_start(list, flags); \
		mode = va_arg(list, mode_t); \
		va_end(list); \
	}

int open(const char *path, int flags, ...)
{
	MODE(flags)
	return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	MODE(flags)
	return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	MODE(flags)
	return opened(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
	MODE(flags)
	return opened(folder, path, flags | O_LARGEFILE, mode);
}

ssize_t read(int file, void *bytes, size_t size)
{
	REAL(ssize_t, "read", int, void *, size_t);
	if (known(file) && fails("read", paths[file]))
		return -1;
	return real(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	if (!known(file))
		return real(file, bytes, size);
	if (fails("write", paths[file]))
		return -1;
	long some = taken(paths[file], size);
	return some < 0 ? -1 : real(file, bytes, (size_t)some);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
	REAL(ssize_t, "writev", int, const struct iovec *, int);
	if (!known(file))
		return real(file, parts, count);
	if (fails("write", paths[file]))
		return -1;
	/* One part after the other, as a write may do less than it was asked for. */
	size_t size = count > 0 ? parts[0].iov_len : 0;
	long some = taken(paths[file], size);
	return some < 0 ? -1 : syscall(SYS_write, file, parts[0].iov_base, (size_t)some);
}

/* The disk itself is not waited for: nobody pulls its plug here. */
int fsync(int file)
{
	return known(file) && fails("fsync", paths[file]) ? -1 : 0;
}

int fdatasync(int file)
{
	return fsync(file);
}

int fchmod(int file, mode_t mode)
{
	REAL(int, "fchmod", int, mode_t);
	return known(file) && fails("fchmod", paths[file]) ? -1 : real(file, mode);
}

int ftruncate(int file, off_t size)
{
	REAL(int, "ftruncate", int, off_t);
	return known(file) && fails("ftruncate", paths[file]) ? -1 : real(file, size);
}

int ftruncate64(int file, off64_t size)
{
	REAL(int, "ftruncate64", int, off64_t);
	return known(file) && fails("ftruncate", paths[file]) ? -1 : real(file, size);
}

int close(int file)
{
	REAL(int, "close", int);
	if (!known(file))
		return real(file);
	char path[LENGTH];
	memcpy(path, paths[file], LENGTH);
	paths[file][0] = 0;
	/* A file is closed even where that reports an error. */
	int result = real(file);
	return fails("close", path) ? -1 : result;
}

int rename(const char *from, const char *to)
{
	REAL(int, "rename", const char *, const char *);
	return inside(to) && fails("rename", to) ? -1 : real(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);
	return inside(to) && fails("rename", to) ? -1 : real(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
	REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
	return inside(to) && fails("rename", to) ? -1
		: real(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
	REAL(int, "unlink", const char *);
	return inside(path) && fails("unlink", path) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags)
{
	REAL(int, "unlinkat", int, const char *, int);
	return inside(path) && fails("unlink", path) ? -1 : real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(int, "mkdir", const char *, mode_t);
	return inside(path) && fails("mkdir", path) ? -1 : real(path, mode);
}
