// SPDX-License-Identifier: BSD-2-Clause
#include "session/live/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int live_loop_open(struct live_loop *loop, struct asterism_diag *diag)
{
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->epoll_fd < 0 || loop->timer_fd < 0)
		return diag_error(diag, NULL, -errno, "cannot create an epoll descriptor: %s", strerror(errno));
	return live_loop_watch(loop, loop->timer_fd, LIVE_WAKE_TIMER, diag);
}

void live_loop_close(struct live_loop *loop)
{
	if (loop->timer_fd >= 0)
		close(loop->timer_fd);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = loop->timer_fd = -1;
}

int live_loop_watch(const struct live_loop *loop, int fd, uint64_t what, struct asterism_diag *diag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = what };

	if (fd < 0 || epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return diag_error(diag, NULL, -errno, "cannot wait for events: %s", strerror(errno));
}

void live_loop_forget(const struct live_loop *loop, int fd)
{
	if (fd >= 0)
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int live_loop_arm(const struct live_loop *loop, uint64_t at_ns)
{
	struct itimerspec when = { 0 };

	if (at_ns == 0)
		at_ns = 1;
	if (at_ns != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		when.it_value.tv_nsec = (long)(at_ns % 1000000000);
	}
	return timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0 ? 0 : -errno;
}

int live_loop_take(const struct live_loop *loop, uint64_t woken[LIVE_WOKEN_MAX], struct asterism_diag *diag)
{
	struct epoll_event events[LIVE_WOKEN_MAX];
	int count = epoll_wait(loop->epoll_fd, events, LIVE_WOKEN_MAX, 0);
	uint64_t expirations;

	if (count < 0 && errno != EINTR)
		return diag_error(diag, NULL, -errno, "cannot wait for events: %s", strerror(errno));
	for (int i = 0; i < count; i++) {
		woken[i] = events[i].data.u64;
		if (woken[i] == LIVE_WAKE_TIMER && read(loop->timer_fd, &expirations, sizeof expirations) < 0)
			continue; /* it was set again meanwhile */
	}
	return count < 0 ? 0 : count;
}
