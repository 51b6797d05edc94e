// SPDX-License-Identifier: BSD-2-Clause
/*
 * Passes the listener from the child to the parent. The child must not keep it, or its calls would wait for ever for a
 * dead parent; but closing it is a system call, which may be held itself. So the parent takes the listener first, told
 * of it through shared memory because that needs no call, and then answers whatever the child does until execve. Should
 * the parent die in between, the child is killed.
 */

#include "session/seccomp/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.6: who answers wakes who waits as if by a function call. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

enum { SYNC_WAKE_UP = 1, NOT_STARTED = 127, PAUSE_MS = 1 };

struct listener_page {
	_Atomic int fd; /* of the child, + 1; 0: not yet; -errno: there is none */
	_Atomic bool no_new_privs, taken;
};

static struct listener_page *new_page(void)
{
	void *page =
		mmap(NULL, sizeof(struct listener_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

int listener_init(struct listener *listener, const struct sock_fprog *filter, struct asterism_diag *diag)
{
	struct seccomp_notif_sizes sizes;

	*listener = (struct listener){ .filter = filter, .parent = getpid(), .fd = -1 };
	if (!filter)
		return 0;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) || sizes.seccomp_notif > sizeof listener->start ||
	    sizes.seccomp_data != sizeof(struct seccomp_data))
		return diag_error(diag, NULL, -EOPNOTSUPP, "this kernel cannot hold system calls for Veto");
	listener->page = new_page();
	return listener->page ? 0 : diag_no_memory(diag);
}

/* Once received, a call waits for its answer whatever signals come, so that it is never reported twice. */
static int install(const struct listener *listener)
{
	const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, listener->filter);

	if (fd < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
		atomic_store(&listener->page->no_new_privs, true);
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, listener->filter);
	}
	return fd < 0 ? -errno : (int)fd;
}

void listener_be_child(const struct listener *listener)
{
	int fd;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != listener->parent)
		_exit(NOT_STARTED);
	fd = install(listener);
	atomic_store(&listener->page->fd, fd < 0 ? fd : fd + 1);
	if (fd < 0)
		_exit(NOT_STARTED);
	while (!atomic_load(&listener->page->taken))
		__builtin_ia32_pause();
	close(fd);
	prctl(PR_SET_PDEATHSIG, 0);
}

static int explain_seccomp_error(struct asterism_diag *diag, int error)
{
	switch (error) {
	case -EINVAL:
		return diag_error(diag, NULL, -EOPNOTSUPP, "Veto needs Linux 5.19 to hold system calls");
	case -EBUSY:
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "Veto is not possible here: another program already holds asterism's own system "
				  "calls, and Linux allows only one such holder");
	default:
		return diag_error(diag, NULL, error == -EPERM ? error : -EAGAIN, "cannot hold system calls: %s",
				  strerror(-error));
	}
}

static bool has_ended(int pidfd, int wait_ms)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return poll(&fd, 1, wait_ms) == 1;
}

/* Answers what the child does on its way to execve. */
static int await_start(struct listener *listener, int pidfd)
{
	struct pollfd fds[] = { { .fd = listener->fd, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };
	int result;

	do {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			return -ESRCH;
		if (!(fds[0].revents & POLLIN))
			continue;
		result = listener_receive(listener->fd, &listener->start);
		if (!result && listener->start.reported.data.nr == SYS_execve)
			return 0;
		if (!result)
			result = listener_answer(listener->fd, &listener->start, 0);
	} while (!result || result == -ENOENT || result == -EINTR);
	return result;
}

int listener_take(struct listener *listener, int pidfd, struct asterism_diag *diag)
{
	int reported = 0;

	if (!listener->page)
		return 0;
	while (!reported && !has_ended(pidfd, PAUSE_MS))
		reported = atomic_load(&listener->page->fd);
	if (!reported)
		reported = atomic_load(&listener->page->fd);
	if (reported < 0)
		return explain_seccomp_error(diag, reported);
	listener->fd = reported ? (int)syscall(SYS_pidfd_getfd, pidfd, reported - 1, 0) : -1;
	if (listener->fd < 0)
		return reported ? explain_seccomp_error(diag, -errno) : explain_seccomp_error(diag, -ESRCH);
	ioctl(listener->fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP); /* only faster */
	atomic_store(&listener->page->taken, true);
	if (atomic_load(&listener->page->no_new_privs))
		diag_add(diag, ASTERISM_NOTE, NULL, "with CAP_SYS_ADMIN, Veto does not need no_new_privs",
			 "the command cannot gain privileges by setuid programs (no_new_privs)");
	reported = await_start(listener, pidfd);
	return reported ? explain_seccomp_error(diag, reported) : 0;
}

void listener_fini(struct listener *listener)
{
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->page)
		munmap(listener->page, sizeof *listener->page);
	*listener = (struct listener){ .fd = -1 };
}

int listener_receive(int listener, union listener_call *call)
{
	memset(call, 0, sizeof *call);
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) ? -errno : 0;
}

int listener_answer(int listener, const union listener_call *call, int error)
{
	union {
		struct seccomp_notif_resp answer;
		char room[512];
	} answer = { .room = { 0 } };

	answer.answer = (struct seccomp_notif_resp){
		.id = call->reported.id,
		.error = -error,
		.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) ? -errno : 0;
}

bool listener_is_valid(int listener, const union listener_call *call)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->reported.id) == 0;
}
