// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lets stopped processes continue when this process dies. What runs in the child takes no lock and no memory: it may
 * have been forked from one of many threads.
 */

#include "react/watchdog.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long programs are waited for that should be gone; then everybody goes on all the same. */
enum { GONE_PAUSES_MAX = 10000 };

/* The last programs may still be at their end: once more after each pause. */
enum { LOOKS = 3 };

static const struct timespec gone_pause = { .tv_nsec = 1000 * 1000 }, look_pause = { .tv_nsec = 20 * 1000 * 1000 };

struct react_watchdog {
	pid_t pid;
	int fd;
};

/* Whether the kernel still knows the program. Where asking is not permitted, it is taken to be gone. */
static bool is_loaded(uint32_t id)
{
	union bpf_attr attr = { 0 };

	attr.prog_id = id;
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof attr);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void await_programs(const struct react_stop_table *table)
{
	uint32_t count = __atomic_load_n(&table->program_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0, pauses = 0; i < count && i < REACT_STOP_PROGRAMS; i++)
		for (; pauses < GONE_PAUSES_MAX && is_loaded(table->programs[i]); pauses++)
			nanosleep(&gone_pause, NULL);
}

static void make_good(const struct react_watchdog_options *options)
{
	__atomic_store_n(&options->stops->open, 0, __ATOMIC_SEQ_CST);
	react_stops_continue(options->stops);
	await_programs(options->stops);
	react_stops_settle();
	for (int i = 0; i < LOOKS; i++) {
		react_stops_continue(options->stops);
		nanosleep(&look_pause, NULL);
	}
	if (options->undo)
		undo_all(options->undo);
}

/* parent: a pidfd, which becomes descriptor 0. */
__attribute__((noreturn)) static void be_watchdog(const struct react_watchdog_options *options, int parent, int ready)
{
	struct pollfd fds = { .fd = 0, .events = POLLIN };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "asterism-keep");
	syscall(SYS_setsid);
	/* The caller may have closed 0 and 1, so that these are among them. */
	parent = fcntl(parent, F_DUPFD, 2);
	ready = fcntl(ready, F_DUPFD, 2);
	dup2(parent, 0);
	dup2(ready, 1);
	syscall(SYS_close_range, 2, ~0u, 0);
	/* The process that waits for the word may be dead already: then there is all the more to do. */
	int moved = chdir("/");
	ssize_t reported = write(1, "", 1);

	(void)moved;
	(void)reported;
	close(1);
	while (poll(&fds, 1, -1) < 0 && errno == EINTR)
		;
	make_good(options);
	_exit(0);
}

/* Waits for the watchdog's word; 0 or -errno. */
static int await_word(int fd)
{
	char word;
	ssize_t got;

	do
		got = read(fd, &word, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? 0 : -EAGAIN;
}

/* A process whose end raises no signal here and which no wait() of the embedding program finds. */
static int start_watchdog_process(struct react_watchdog *watchdog, const struct react_watchdog_options *options,
				  int parent, int pipe[2])
{
	long pid = syscall(SYS_clone, CLONE_PIDFD, NULL, &watchdog->fd, NULL, 0);

	if (pid < 0)
		return -errno;
	if (pid == 0)
		be_watchdog(options, parent, pipe[1]);
	watchdog->pid = (pid_t)pid;
	close(pipe[1]);
	pipe[1] = -1;
	return await_word(pipe[0]);
}

int react_watchdog_start(const struct react_watchdog_options *options, struct asterism_diag *diag,
			 struct react_watchdog **made)
{
	struct react_watchdog *watchdog = alloc_zero(1, sizeof *watchdog);
	int pipe[2] = { -1, -1 };
	int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int result = parent < 0 || pipe2(pipe, O_CLOEXEC) ? -errno : 0;

	if (!watchdog)
		result = -ENOMEM;
	if (watchdog)
		watchdog->fd = -1;
	if (!result)
		result = start_watchdog_process(watchdog, options, parent, pipe);
	for (int i = 0; i < 2; i++)
		if (pipe[i] >= 0)
			close(pipe[i]);
	if (parent >= 0)
		close(parent);
	if (!result) {
		*made = watchdog;
		return 0;
	}
	react_watchdog_end(watchdog);
	return diag_error(diag, NULL, result,
			  "cannot start asterism-keep, the process that continues stopped processes: %s",
			  strerror(-result));
}

int react_watchdog_fd(const struct react_watchdog *watchdog)
{
	return watchdog->fd;
}

bool react_watchdog_lives(const struct react_watchdog *watchdog)
{
	struct pollfd fds = { .fd = watchdog->fd, .events = POLLIN };

	return poll(&fds, 1, 0) == 0;
}

void react_watchdog_end(struct react_watchdog *watchdog)
{
	if (!watchdog)
		return;
	if (watchdog->fd >= 0) {
		syscall(SYS_pidfd_send_signal, watchdog->fd, SIGKILL, NULL, 0);
		waitpid(watchdog->pid, NULL, __WALL);
		close(watchdog->fd);
	}
	alloc_free(watchdog);
}
