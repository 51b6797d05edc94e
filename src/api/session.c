// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a session waits and hands out. Everything that can wake it - rules, processes, time - is behind one epoll
 * descriptor. While a dispatch is under way nothing that it may stand in is freed: callbacks only mark, and the end of
 * the dispatch settles.
 */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/run-time.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void destroy(struct asterism_session *session)
{
	while (session->units) {
		struct asterism_rules *next = session->units->next;

		api_rules_free(session->units);
		session->units = next;
	}
	api_processes_fini(session);
	if (session->measure_fd >= 0)
		close(session->measure_fd);
	if (session->timer_fd >= 0)
		close(session->timer_fd);
	if (session->epoll_fd >= 0)
		close(session->epoll_fd);
	asterism_diag_free(session->diag);
	alloc_free(session->error);
	alloc_free(session);
}

void asterism_session_free(struct asterism_session *session)
{
	if (session && session->dispatching)
		session->doomed = true;
	else if (session)
		destroy(session);
}

int api_session_wake_on(struct asterism_session *session, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	if (epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return diag_error(session->diag, NULL, -errno, "waiting for events is not possible: %s", strerror(errno));
}

/* Makes the descriptor readable at a time of CLOCK_MONOTONIC, and not before; 0: now, UINT64_MAX: never. */
static void arm(const struct asterism_session *session, uint64_t at_ns)
{
	struct itimerspec when = { 0 };

	if (at_ns == 0)
		at_ns = 1;
	if (at_ns != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		when.it_value.tv_nsec = (long)(at_ns % 1000000000);
	}
	timerfd_settime(session->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int api_session_watch(struct asterism_session *session, const struct asterism_rules *rules)
{
	int result = api_session_wake_on(session, executor_fd(rules->executor), API_WAKE_RULES);

	if (!result && rules->responses.questions)
		result = api_session_wake_on(session, questions_fd(rules->responses.questions), API_WAKE_RULES);
	if (!result)
		arm(session, 0);
	return result;
}

static int check_options(const struct asterism_session_options *options, struct asterism_diag *diag)
{
	if (options->scope > ASTERISM_SCOPE_ALL)
		return diag_error(diag, NULL, -EINVAL, "there is no scope %d", (int)options->scope);
	return 0;
}

static int open_descriptors(struct asterism_session *session)
{
	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (session->epoll_fd < 0 || session->timer_fd < 0)
		return diag_error(session->diag, NULL, -errno, "no descriptors to wait with: %s", strerror(errno));
	if (session->options.measure) {
		session->measure_fd = ebpf_measure(session->diag);
		if (session->measure_fd < 0)
			return session->measure_fd;
	}
	return api_session_wake_on(session, session->timer_fd, API_WAKE_TIMER);
}

static void copy_messages(const struct asterism_diag *from, struct asterism_diag *to)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(from, i)); i++)
		diag_add(to, message->severity, NULL, message->hint, "%s", message->text);
}

int asterism_session_open(const struct asterism_session_options *options, struct asterism_diag *diag,
			  struct asterism_session **opened)
{
	static const struct asterism_session_options none = { .size = sizeof none };
	struct asterism_session *session;
	int result;

	if (!opened)
		return -EINVAL;
	session = alloc_zero(1, sizeof *session);
	if (!session)
		return diag_no_memory(diag);
	session->epoll_fd = session->timer_fd = session->measure_fd = -1;
	session->diag = asterism_diag_new();
	session->error = alloc_zero(API_ERROR_BYTES, 1);
	if (!session->diag || !session->error)
		result = diag_no_memory(session->diag ? session->diag : diag);
	else if (sized_take(&session->options, sizeof session->options, options ? options : &none))
		result = diag_error(session->diag, NULL, -EINVAL, "the options are none that this library knows");
	else
		result = check_options(&session->options, session->diag);
	if (!result)
		result = api_policy_open(session);
	if (!result)
		result = open_descriptors(session);
	if (result) {
		if (session->diag)
			copy_messages(session->diag, diag);
		destroy(session);
		return result;
	}
	*opened = session;
	return 0;
}

int asterism_session_fd(const struct asterism_session *session)
{
	return session->epoll_fd;
}

/* What woke the session. */
struct woken {
	struct epoll_event events[16];
	int count;
};

static int take_events(struct asterism_session *session, struct woken *woken)
{
	woken->count = epoll_wait(session->epoll_fd, woken->events, sizeof woken->events / sizeof *woken->events, 0);
	if (woken->count < 0 && errno != EINTR)
		return diag_error(session->diag, NULL, -errno, "waiting for events failed: %s", strerror(errno));
	return 0;
}

static void tell_ends(struct asterism_session *session, const struct woken *woken)
{
	for (int i = 0; i < woken->count && !session->doomed; i++) {
		uint64_t data = woken->events[i].data.u64;

		if ((data & ((1u << API_WAKE_BITS) - 1)) == API_WAKE_PROCESS)
			api_process_ended(session, (pid_t)(data >> API_WAKE_BITS));
	}
}

/* Everything that is pending, and when the next look is due. Those that were observed last go last. */
static int hand_out(struct asterism_session *session, uint64_t *wait_ns)
{
	*wait_ns = UINT64_MAX;
	for (struct asterism_rules *unit = session->units; unit; unit = unit->next) {
		uint64_t unit_wait_ns;
		int result;

		if (!unit->executor || unit->leaving)
			continue;
		result = api_work_poll(unit, &unit_wait_ns);
		if (result == EXECUTOR_PAUSE)
			unit_wait_ns = result = 0;
		if (!result)
			result = session->answer;
		if (result < 0)
			return result;
		if (unit_wait_ns < *wait_ns)
			*wait_ns = unit_wait_ns;
	}
	return 0;
}

int asterism_session_dispatch(struct asterism_session *session)
{
	struct woken woken;
	uint64_t wait_ns = 0, now;
	int result;

	if (session->dispatching)
		return -EBUSY;
	asterism_diag_clear(session->diag);
	session->dispatching = true;
	session->handed = session->answer = 0;
	result = take_events(session, &woken);
	/* The end of a process is known before its last matches are read, but told after them. */
	if (!result)
		result = hand_out(session, &wait_ns);
	if (!result)
		tell_ends(session, &woken);
	session->dispatching = false;
	if (session->doomed) {
		destroy(session);
		return -ECANCELED;
	}
	api_rules_settle(session);
	now = clock_now_ns();
	arm(session, result ? 0 : wait_ns < UINT64_MAX - now ? now + wait_ns : UINT64_MAX);
	return result ? result : session->handed;
}

int asterism_session_wait(struct asterism_session *session, int timeout_ms)
{
	struct pollfd fd = { .fd = session->epoll_fd, .events = POLLIN };

	if (session->dispatching)
		return -EBUSY;
	if (poll(&fd, 1, timeout_ms) < 0 && errno != EINTR) {
		asterism_diag_clear(session->diag);
		return diag_error(session->diag, NULL, -errno, "waiting for events failed: %s", strerror(errno));
	}
	return fd.revents ? asterism_session_dispatch(session) : 0;
}

int asterism_session_stats(const struct asterism_session *session, struct asterism_session_stats *stats)
{
	struct asterism_session_stats own = {
		.matches = session->matches,
		.events = session->past_events,
		.lost = session->past_lost,
	};

	for (const struct asterism_rules *unit = session->units; unit; unit = unit->next) {
		api_rules_count(unit);
		own.events += unit->now.events;
		own.lost += unit->now.lost;
	}
	return sized_give(stats, &own, sizeof own);
}

const struct asterism_diag *asterism_session_diag(const struct asterism_session *session)
{
	return session->diag;
}

/* "file:line:column: ", as far as they are known. */
static int print_place(char *text, size_t size, const struct asterism_message *message)
{
	if (!message->file)
		return 0;
	if (message->line)
		return snprintf(text, size, "%s:%u:%u: ", message->file, message->line, message->column);
	return snprintf(text, size, "%s: ", message->file);
}

const char *asterism_session_error(const struct asterism_session *session)
{
	const struct asterism_message *message;
	int at;

	session->error[0] = 0;
	for (size_t i = 0; (message = asterism_diag_get(session->diag, i)); i++) {
		if (message->severity != ASTERISM_ERROR)
			continue;
		at = print_place(session->error, API_ERROR_BYTES, message);
		if (at < API_ERROR_BYTES)
			snprintf(session->error + at, (size_t)(API_ERROR_BYTES - at), message->hint ? "%s (%s)" : "%s",
				 message->text, message->hint);
		break;
	}
	return session->error;
}
