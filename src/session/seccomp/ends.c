// SPDX-License-Identifier: BSD-2-Clause
/* Watches the ends of processes and threads: each once, by a descriptor of its own, which its end takes away. */

#include "session/seccomp/ends.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NUMBERS = 4 * 1024 * 1024, /* PID_MAX_LIMIT */
	FDS_FIRST = 64,
	FDS_LEFT = 64, /* for everything else: who calls is read from a file */
	PIDFD_THREAD_FLAG = O_EXCL,
};

int ends_init(struct ends *ends)
{
	/* Pages of it are taken when numbers on them are. */
	void *watched =
		mmap(NULL, NUMBERS / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*ends = (struct ends){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	ends->watched = watched == MAP_FAILED ? NULL : watched;
	return !ends->watched ? -ENOMEM : ends->epoll_fd < 0 ? -errno : 0;
}

void ends_fini(struct ends *ends)
{
	for (size_t i = 0; i < ends->fd_count; i++)
		if (ends->of_fd[i].pid)
			close((int)i);
	alloc_free(ends->of_fd);
	if (ends->watched)
		munmap(ends->watched, NUMBERS / 8);
	if (ends->epoll_fd >= 0)
		close(ends->epoll_fd);
	*ends = (struct ends){ .epoll_fd = -1 };
}

static bool is_watched(const struct ends *ends, pid_t tid)
{
	return ends->watched[tid / 8] >> tid % 8 & 1;
}

static int reserve_fd(struct ends *ends, int fd)
{
	size_t count = ends->fd_count ? ends->fd_count : FDS_FIRST;
	struct ends_task *more;

	while (count <= (size_t)fd)
		count *= 2;
	if (count == ends->fd_count)
		return 0;
	more = alloc_resize(ends->of_fd, count, sizeof *more);
	if (!more)
		return -ENOMEM;
	memset(more + ends->fd_count, 0, (count - ends->fd_count) * sizeof *more);
	ends->of_fd = more;
	ends->fd_count = count;
	return 0;
}

/* Descriptors are given from the lowest free number on. */
static bool leaves_enough(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + FDS_LEFT < limit.rlim_cur;
}

static int watch_task(struct ends *ends, struct ends_task task)
{
	int fd = (int)syscall(SYS_pidfd_open, task.tid, task.tid == task.pid ? 0 : PIDFD_THREAD_FLAG);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	int result;

	if (fd < 0)
		return -errno;
	result = leaves_enough(fd) ? reserve_fd(ends, fd) : -EMFILE;
	if (!result && epoll_ctl(ends->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		result = -errno;
	if (result) {
		close(fd);
		return result;
	}
	ends->of_fd[fd] = task;
	ends->watched[task.tid / 8] |= (uint8_t)(1U << task.tid % 8);
	return 0;
}

int ends_watch(struct ends *ends, struct ends_task task)
{
	const struct ends_task process = { task.pid, task.pid };
	int result = 0;

	if (task.pid <= 0 || task.pid >= NUMBERS || task.tid <= 0 || task.tid >= NUMBERS)
		return -EINVAL;
	if (!is_watched(ends, task.pid))
		result = watch_task(ends, process);
	if (!result && !is_watched(ends, task.tid))
		result = watch_task(ends, task);
	return result;
}

bool ends_next(struct ends *ends, struct ends_task *ended)
{
	struct epoll_event event;

	if (epoll_wait(ends->epoll_fd, &event, 1, 0) != 1)
		return false;
	*ended = ends->of_fd[event.data.fd];
	ends->of_fd[event.data.fd].pid = 0;
	ends->watched[ended->tid / 8] &= (uint8_t) ~(1U << ended->tid % 8);
	epoll_ctl(ends->epoll_fd, EPOLL_CTL_DEL, event.data.fd,
		  NULL); /* a child that is being started may have a copy */
	close(event.data.fd);
	return true;
}
