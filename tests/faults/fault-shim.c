// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes one system call of a program fail: loaded before libc (LD_PRELOAD), it stands in for the functions through
 * which asterism and libbpf make the calls that tests/faults/run.py is about. Calls are counted by class. The
 * environment says which one fails, and how, and where the counts go:
 *
 *   FAULT=write:3:ENOSPC   the third call of the class fails with this error; "short": it does half of its work
 *   FAULT_COUNTS=FILE      a line "CLASS COUNT" per class, when the program ends
 *
 * It works in the process that it is loaded into alone: neither in what that forks nor in what it executes.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum class { WRITE, OPEN, MMAP, EPOLL, BPF, PERF, WAITED, CLASSES };

static const char *const class_names[] = { "write", "open", "mmap", "epoll", "bpf", "perf", "waited" };

static const struct {
	const char *name;
	int number; /* -1: a short write */
} errors[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO },       { "EINTR", EINTR }, { "ENOMEM", ENOMEM },
	       { "EPERM", EPERM },   { "EMFILE", EMFILE }, { "short", -1 } };

static atomic_ulong counts[CLASSES];
static pid_t own;
static enum class fault_class = CLASSES;
static unsigned long fault_at;
static int fault_error;
static char counts_file[512];

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *file = getenv("FAULT_COUNTS");
	char name[16], error[16];

	own = getpid();
	if (file)
		snprintf(counts_file, sizeof counts_file, "%s", file);
	if (fault && sscanf(fault, "%15[^:]:%lu:%15s", name, &fault_at, error) == 3) {
		for (int i = 0; i < CLASSES; i++)
			fault_class = strcmp(name, class_names[i]) ? fault_class : (enum class)i;
		for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
			fault_error = strcmp(error, errors[i].name) ? fault_error : errors[i].number;
	}
	unsetenv("FAULT");
	unsetenv("FAULT_COUNTS");
	unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
	char text[64];
	int fd;

	if (getpid() != own || !*counts_file)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, counts_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < CLASSES; i++) {
		int length = snprintf(text, sizeof text, "%s %lu\n", class_names[i], atomic_load(&counts[i]));

		syscall(SYS_write, fd, text, length);
	}
	syscall(SYS_close, fd);
}

/* What this call is to fail with: 0: nothing. */
static int fault_of(enum class class)
{
	if (getpid() != own)
		return 0;
	return atomic_fetch_add(&counts[class], 1) + 1 == fault_at && class == fault_class ? fault_error : 0;
}

static bool fails(enum class class)
{
	int error = fault_of(class);

	errno = error > 0 ? error : errno;
	return error > 0;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	int error = fault_of(WRITE);

	if (error > 0) {
		errno = error;
		return -1;
	}
	return syscall(SYS_write, fd, bytes, error && length > 1 ? length / 2 : length);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	int error = fault_of(WRITE);

	if (error > 0) {
		errno = error;
		return -1;
	}
	return syscall(SYS_writev, fd, pieces, error && count > 1 ? count - 1 : count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at)
{
	return fails(WRITE) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}

int ftruncate64(int fd, off64_t length)
{
	return fails(WRITE) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int fsync(int fd)
{
	return fails(WRITE) ? -1 : (int)syscall(SYS_fsync, fd);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	mode_t mode = mode_of(flags, args);

	va_end(args);
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	mode_t mode = mode_of(flags, args);

	va_end(args);
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) = next("fopen64");

	return fails(OPEN) ? NULL : real(path, mode);
}

int mkdir(const char *path, mode_t mode)
{
	return fails(OPEN) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

/* Declared here, as the others are called, by the call's number. */
void *mmap64(void *at, ...);

void *mmap64(void *at, ...)
{
	long a[5];
	va_list args;

	va_start(args, at);
	for (int i = 0; i < 5; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	return fails(MMAP) ? (void *)-1 : (void *)syscall(SYS_mmap, at, a[0], (int)a[1], (int)a[2], (int)a[3], a[4]);
}

int epoll_create1(int flags)
{
	return fails(EPOLL) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int epoll_ctl(int fd, int what, int watched, struct epoll_event *event)
{
	return fails(EPOLL) ? -1 : (int)syscall(SYS_epoll_ctl, fd, what, watched, event);
}

int epoll_wait(int fd, struct epoll_event *events, int most, int wait_ms)
{
	return fails(EPOLL) ? -1 : (int)syscall(SYS_epoll_pwait, fd, events, most, wait_ms, (void *)NULL, 8);
}

int eventfd(unsigned value, int flags)
{
	return fails(WAITED) ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}

int timerfd_create(int clock, int flags)
{
	return fails(WAITED) ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *before)
{
	return fails(WAITED) ? -1 : (int)syscall(SYS_timerfd_settime, fd, flags, when, before);
}

int pipe2(int fds[2], int flags)
{
	return fails(WAITED) ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

/* bpf and perf_event_open have no functions of their own. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		real = (long (*)(long, ...))next("syscall");
	if ((number == SYS_bpf && fails(BPF)) || (number == SYS_perf_event_open && fails(PERF)))
		return -1;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
