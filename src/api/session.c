// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for a session and hands out what it finds. Everything that can wake it - rules, processes, time - is behind one
 * epoll descriptor. While a dispatch is under way nothing that it may stand in is freed: callbacks only mark, and the
 * end of the dispatch settles.
 */

#include "api/api-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/run-time.h"
#include "ebpf/source/scope.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What woke a session. */
struct api_woken {
	uint64_t by[LIVE_WOKEN_MAX];
	int count;
};

static void destroy(struct asterism_session *session)
{
	while (session->monitors)
		asterism_monitor_stop(session->monitors);
	while (session->recordings)
		asterism_recording_stop(session->recordings);
	while (session->units) {
		struct asterism_rules *next = session->units->next;

		api_rules_free(session->units);
		session->units = next;
	}
	live_processes_fini(&session->processes);
	live_filter_free(session->filter);
	live_loop_close(&session->loop);
	if (session->measure_fd >= 0)
		close(session->measure_fd);
	asterism_diag_free(session->diag);
	alloc_free(session->error);
	alloc_free(session);
}

void asterism_session_free(struct asterism_session *session)
{
	if (!session)
		return;
	if (!session->dispatching) {
		destroy(session);
		return;
	}
	session->doomed = true;
	for (struct asterism_rules *unit = session->units; unit; unit = unit->next)
		unit->work.muted = true;
}

static int check_session_options(const struct asterism_session_options *options, struct asterism_diag *diag)
{
	if (options->scope > ASTERISM_SCOPE_ALL)
		return diag_error(diag, NULL, -EINVAL, "invalid scope %d", (int)options->scope);
	return 0;
}

static struct live_filter_list list_of(const char *const *items)
{
	struct live_filter_list list = { items, 0 };

	while (items && items[list.count])
		list.count++;
	return list;
}

static int open_filter(struct asterism_session *session)
{
	const struct asterism_session_options *options = &session->options;
	const struct live_filter_names names = {
		.cgroups = list_of(options->cgroups),
		.containers = list_of(options->containers),
		.units = list_of(options->units),
		.comms = list_of(options->comms),
		.users = list_of(options->users),
	};

	return live_filter_new(&names, session->diag, &session->filter);
}

static int open_descriptors(struct asterism_session *session)
{
	int result = live_loop_open(&session->loop, session->diag);

	if (result || !session->options.measure)
		return result;
	session->measure_fd = ebpf_measure(session->diag);
	return session->measure_fd < 0 ? session->measure_fd : 0;
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
	session->loop = (struct live_loop){ -1, -1 };
	session->processes.loop = &session->loop;
	session->names_processes = ebpf_ids_are_own();
	session->measure_fd = -1;
	session->diag = asterism_diag_new();
	session->error = alloc_zero(API_ERROR_BYTES, 1);
	if (!session->diag || !session->error)
		result = diag_no_memory(session->diag ? session->diag : diag);
	else if (sized_take(&session->options, sizeof session->options, options ? options : &none))
		result = sized_refuse(session->diag, "options", options, sizeof session->options);
	else
		result = check_session_options(&session->options, session->diag);
	if (!result)
		result = api_policy_open(session);
	if (!result)
		result = open_filter(session);
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
	return session->loop.epoll_fd;
}

/*
 * Whether everybody is to be looked at: where a process has ended, as its last matches come first; where something woke
 * us that belongs to no unit; and where nothing did, but we are asked.
 */
static bool wakes_all(const struct api_woken *woken)
{
	for (int i = 0; i < woken->count; i++) {
		uint64_t what = woken->by[i] & ((UINT64_C(1) << LIVE_WAKE_BITS) - 1);

		if (what != LIVE_WAKE_TIMER && (what != LIVE_WAKE_RULES || !(woken->by[i] >> LIVE_WAKE_BITS)))
			return true;
	}
	return !woken->count;
}

/* A look at a unit costs some microseconds, and there may be hundreds: only at who woke us, and whose time has come. */
static bool is_due(const struct api_woken *woken, const struct asterism_rules *unit)
{
	const uint64_t own = LIVE_WAKE_RULES | (uint64_t)unit->number << LIVE_WAKE_BITS;

	for (int i = 0; i < woken->count; i++)
		if (woken->by[i] == own)
			return true;
	return unit->work.due_ns <= clock_now_ns();
}

/* What is pending at the unit; notes when the next look is due. */
static int hand_out_unit(struct asterism_rules *unit)
{
	uint64_t wait_ns = UINT64_MAX, now;
	int result;

	unit->work.due_ns = 0;
	result = live_unit_poll(&unit->work, &wait_ns);
	now = clock_now_ns();
	if (result == EXECUTOR_PAUSE)
		result = 0;
	else if (!result)
		unit->work.due_ns = wait_ns < UINT64_MAX - now ? now + wait_ns : UINT64_MAX;
	return result ? result : unit->session->answer;
}

/* Everything that is pending, and when the next look is due. Those that were observed last go last. */
static int hand_out_pending(struct asterism_session *session, const struct api_woken *woken, uint64_t *due_ns)
{
	bool all = wakes_all(woken);
	uint64_t wait_ns = UINT64_MAX, now;
	int result;

	*due_ns = UINT64_MAX;
	for (struct asterism_rules *unit = session->units; unit; unit = unit->next) {
		if (!unit->work.executor || unit->work.muted)
			continue;
		result = all || is_due(woken, unit) ? hand_out_unit(unit) : 0;
		if (result < 0)
			return result;
		if (unit->work.due_ns < *due_ns)
			*due_ns = unit->work.due_ns;
	}
	api_recordings_poll(session, &wait_ns);
	result = api_monitors_poll(session, &wait_ns);
	now = clock_now_ns();
	if (wait_ns < UINT64_MAX - now && now + wait_ns < *due_ns)
		*due_ns = now + wait_ns;
	return result;
}

/* A dispatch, or what counts as one, is over; true: the session was freed in it. */
static bool end_dispatch(struct asterism_session *session)
{
	bool is_doomed = session->doomed;

	session->dispatching = false;
	if (is_doomed)
		destroy(session);
	else
		api_rules_settle(session);
	return is_doomed;
}

int asterism_session_dispatch(struct asterism_session *session)
{
	struct api_woken woken;
	uint64_t due_ns = 0;
	int result;

	if (session->dispatching)
		return -EBUSY;
	asterism_diag_clear(session->diag);
	session->dispatching = true;
	session->handed = session->answer = 0;
	woken.count = live_loop_take(&session->loop, woken.by, session->diag);
	/* The end of a process is known before its last matches are read, but told after them. */
	result = woken.count < 0 ? woken.count : hand_out_pending(session, &woken, &due_ns);
	for (int i = 0; i < woken.count && !result && !session->doomed; i++)
		api_process_ended(session, woken.by[i]);
	if (end_dispatch(session))
		return -ECANCELED;
	live_loop_arm(&session->loop, result ? 0 : due_ns);
	return result ? result : session->handed;
}

int asterism_rules_finish(struct asterism_rules *rules)
{
	struct asterism_session *session = rules->session;
	int result;

	asterism_diag_clear(session->diag);
	if (session->dispatching)
		return diag_error(session->diag, NULL, -EBUSY, "a unit cannot be finished from within a callback");
	if (!rules->work.executor)
		return diag_error(session->diag, NULL, -EINVAL, "%s is not active", rules->name);
	session->dispatching = true;
	result = api_work_finish(rules);
	return end_dispatch(session) ? -ECANCELED : result;
}

/* Telling of the verdict is a dispatch: callbacks may want anything that they may want in one. */
static int answer_ticket(struct asterism_rules *rules, uint64_t ticket, enum session_verdict verdict)
{
	struct asterism_session *session = rules->session;
	bool is_inside = session->dispatching;
	int result;

	session->dispatching = true;
	result = verdicts_answer(rules->work.responses.verdicts, ticket, verdict);
	if (!is_inside && end_dispatch(session))
		return -ECANCELED;
	if (result == -ENOENT)
		diag_error(session->diag, NULL, result, "no verdict request with this ticket is pending");
	return result;
}

int asterism_ask_answer(struct asterism_session *session, uint64_t ticket, enum asterism_verdict verdict)
{
	const uint64_t own = ticket & ((UINT64_C(1) << API_TICKET_BITS) - 1);

	asterism_diag_clear(session->diag);
	if (verdict == ASTERISM_LATER || verdict < 0 || verdict > ASTERISM_DEFAULT)
		return diag_error(session->diag, NULL, -EINVAL, "invalid verdict %d", (int)verdict);
	for (struct asterism_rules *unit = session->units; unit; unit = unit->next) {
		if (unit->number == ticket >> API_TICKET_BITS && unit->work.responses.verdicts)
			return answer_ticket(unit, own, api_verdict_of((int)verdict));
	}
	return diag_error(session->diag, NULL, -ENOENT, "no verdict request with this ticket is pending");
}

int asterism_session_wait(struct asterism_session *session, int timeout_ms)
{
	struct pollfd fd = { .fd = session->loop.epoll_fd, .events = POLLIN };

	if (session->dispatching)
		return -EBUSY;
	if (poll(&fd, 1, timeout_ms) < 0 && errno != EINTR) {
		asterism_diag_clear(session->diag);
		return diag_error(session->diag, NULL, -errno, "cannot wait for events: %s", strerror(errno));
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
static int print_location(char *text, size_t size, const struct asterism_message *message)
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
		at = print_location(session->error, API_ERROR_BYTES, message);
		if (at < API_ERROR_BYTES)
			snprintf(session->error + at, (size_t)(API_ERROR_BYTES - at), message->hint ? "%s (%s)" : "%s",
				 message->text, message->hint);
		break;
	}
	return session->error;
}
