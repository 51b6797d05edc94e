// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers held calls: it is answered first, then matches are queued for the session. Matches wait in a bounded queue;
 * where they are not fetched they are counted, and the calls go on being judged. What the launched child does until it
 * is the command is no part of what the rules see, but for its execve, which is never refused.
 *
 * The lock guards the queue, the executor and the counts. It is never held while the memory of another process is read,
 * which may take as long as that process likes.
 */

#include "session/seccomp/veto.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/thread.h"
#include "program/calls.h"
#include "program/found.h"
#include "program/machine.h"
#include "program/query.h"
#include "session/executor/executor.h"
#include "session/seccomp/caller.h"
#include "session/seccomp/ends.h"
#include "session/seccomp/veto-plan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_BYTES_MAX = 4 << 20, END_SECONDS = 2, SETTLE_SECONDS = 1 };

struct veto {
	const struct program *program;
	struct veto_plan plan;
	struct executor *executor;
	pthread_t thread;
	bool runs;
	int listener, news_fd, stop_fd;

	pthread_mutex_t lock;
	pthread_cond_t idle;
	bool busy; /* a call has been received and its matches are not in the queue yet */
	struct found_list queue, taken;
	uint64_t *unreported; /* per rule: matches for which the queue had no room */
	uint64_t events, blind;
	int unwatched; /* why the end of some process is not noticed: -errno */

	/* The thread's own. */
	union listener_call call;
	pid_t launched;   /* the child */
	int exec_fd;      /* hangs up when it has become the command; -1: it has */
	int verdict;      /* of the rules so far: the error; 0: the call goes on */
	bool is_starting; /* the call is the child's */
	uint64_t seq;
	struct caller_who who;
	struct ends ends;
	struct found_list found; /* of the call */
	struct found_room found_room, taken_room;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
};

/* The error that a Veto of a match wants. */
static int wanted_error(const struct veto *veto, const struct program_match *match,
			const struct program_statement *statement)
{
	const struct program_operand operand = { .program = veto->program,
						 .rule = &veto->program->rules[match->rule],
						 .slots = match->slots };
	struct react_value value;

	if (program_call_values(&operand, statement, &value, 1) != 1)
		return EPERM;
	if (value.kind == REACT_STRING)
		return react_errno_number(value.text) ? react_errno_number(value.text) : EPERM;
	return react_is_errno(value.i64) ? (int)value.i64 : EPERM;
}

/* The matches of the call in hand. Bits of match->done are set as if the verdict will come through. */
static int veto_on_match(void *context, const struct program_match *match)
{
	struct veto *veto = context;
	const struct program_rule *rule = &veto->program->rules[match->rule];
	struct program_match full = *match;

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(veto->program, rule)[i];
		const struct react_action *action = program_call(veto->program, statement);

		if (!action || !action->fails_call || !program_statement_applies(statement, match))
			continue;
		full.done |= UINT64_C(1) << i;
		if (!veto->verdict)
			veto->verdict = wanted_error(veto, match, statement);
	}
	if (!veto->plan.wants_who)
		caller_who_is(veto->call.reported.pid, &veto->who);
	full.pid = (uint32_t)veto->who.pid;
	full.comm = veto->who.comm;
	if (found_add(&veto->found, veto->program, (struct found_place){ 0 }, &full))
		veto->unreported[match->rule]++;
	return 0;
}

/* Whether the call is one that the child makes on its way to becoming the command. */
static bool is_starting(struct veto *veto)
{
	struct pollfd fd = { .fd = veto->exec_fd };

	if (veto->exec_fd < 0 || veto->call.reported.pid != (uint32_t)veto->launched)
		return false;
	if (poll(&fd, 1, 0) < 0 || !(fd.revents & POLLHUP))
		return true;
	close(veto->exec_fd);
	veto->exec_fd = -1;
	return false;
}

static bool is_exec(int number)
{
	return number == SYS_execve || number == SYS_execveat;
}

static void feed(struct veto *veto, uint32_t type, struct ends_task task, uint64_t now)
{
	struct event_header *record = (struct event_header *)veto->record;

	record->ts = now;
	record->seq = ++veto->seq;
	record->type = type;
	record->tid = (uint32_t)task.tid;
	record->pid = (uint32_t)task.pid;
	pthread_mutex_lock(&veto->lock);
	veto->events += type != veto->plan.end.index || !veto->plan.end.wanted;
	executor_feed(veto->executor, record);
	pthread_mutex_unlock(&veto->lock);
}

/* Ends the runs of who has ended before a call is judged, which may be of another one with the same number. */
static void take_ends(struct veto *veto)
{
	const struct veto_end *end = &veto->plan.end;
	struct ends_task task;

	while (end->wanted && ends_next(&veto->ends, &task)) {
		memset(veto->record, 0, end->record_bytes);
		veto->record[end->last_at] = task.tid == task.pid;
		feed(veto, end->index, task, clock_now_ns());
	}
}

/* The caller waits, so it is alive. */
static void watch_end(struct veto *veto)
{
	const struct ends_task process = { veto->who.pid, veto->who.pid },
			       thread = { veto->who.pid, (pid_t)veto->call.reported.pid };
	int result = ends_watch(&veto->ends, veto->plan.end.of_threads ? thread : process);

	if (!result || result == -ESRCH || !veto->who.pid) /* unless it is killed */
		return;
	pthread_mutex_lock(&veto->lock);
	veto->unwatched = result;
	pthread_mutex_unlock(&veto->lock);
}

/* A text, or a caller, that may not be read could be any: the call fails, and the rules have missed an event. */
static void be_blind(struct veto *veto)
{
	veto->verdict = EPERM;
	pthread_mutex_lock(&veto->lock);
	veto->blind++;
	executor_lose(veto->executor, 1);
	pthread_mutex_unlock(&veto->lock);
}

/* Lets the rules see the call as events of all the types that it is of. */
static void show_call(struct veto *veto)
{
	pid_t tid = (pid_t)veto->call.reported.pid;
	const struct veto_memory memory = { .read = caller_text, .context = &tid };
	uint64_t now = clock_now_ns();

	if (veto->plan.wants_who) {
		caller_who_is(tid, &veto->who);
		if (!veto->who.pid && listener_is_valid(veto->listener, &veto->call))
			return be_blind(veto);
	}
	if (veto->plan.end.wanted)
		watch_end(veto);
	for (uint32_t i = 0; i < veto->plan.type_count; i++) {
		const struct veto_type *type = &veto->plan.types[i];
		const struct veto_source *source = veto_type_source(type, &veto->call.reported.data);
		int result;

		if (!source)
			continue;
		memset(veto->record, 0, type->record_bytes);
		result = veto_type_fill(type, source, &veto->call.reported.data, &memory,
					(struct event_header *)veto->record);
		if (!listener_is_valid(veto->listener, &veto->call))
			return; /* somebody else may have been read by now */
		if (result)
			return be_blind(veto);
		memcpy(((struct event_header *)veto->record)->comm, veto->who.comm, sizeof veto->who.comm);
		feed(veto, type->index, (struct ends_task){ veto->who.pid, tid }, now);
	}
}

/* Queues what was found, after the answer. */
static void report_veto(struct veto *veto, bool refused)
{
	struct found_reader reader = { .list = &veto->found };
	struct found_place place;
	struct program_match match;
	bool any = false;

	pthread_mutex_lock(&veto->lock);
	while (found_peek(&reader, &place) && !found_take(&reader, &veto->found_room, &match)) {
		if (!refused)
			match.done = 0;
		if (veto->queue.used > QUEUE_BYTES_MAX || found_add(&veto->queue, veto->program, place, &match))
			veto->unreported[match.rule]++;
		any = true;
	}
	found_clear(&veto->found);
	veto->busy = false;
	pthread_cond_broadcast(&veto->idle);
	pthread_mutex_unlock(&veto->lock);
	if (any)
		eventfd_write(veto->news_fd, 1);
}

static void judge_call(struct veto *veto)
{
	bool refused;

	pthread_mutex_lock(&veto->lock);
	veto->busy = true;
	pthread_mutex_unlock(&veto->lock);
	veto->verdict = 0;
	take_ends(veto);
	veto->is_starting = is_starting(veto);
	if (!veto->is_starting || is_exec(veto->call.reported.data.nr))
		show_call(veto);
	if (veto->is_starting)
		veto->verdict = 0;
	refused = !listener_answer(veto->listener, &veto->call, veto->verdict) && veto->verdict;
	report_veto(veto, refused);
}

static void *run_veto_thread(void *context)
{
	struct veto *veto = context;
	struct pollfd fds[] = { { .fd = veto->listener, .events = POLLIN },
				{ .fd = veto->stop_fd, .events = POLLIN },
				{ .fd = ends_fd(&veto->ends), .events = POLLIN } };
	int result = 0;

	judge_call(veto); /* the call that the child waits in */
	do {
		if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
			continue;
		if (fds[2].revents)
			take_ends(veto);
		if (fds[1].revents || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
		if (!fds[0].revents)
			continue;
		result = listener_receive(veto->listener, &veto->call);
		if (!result)
			judge_call(veto);
	} while (!result || result == -ENOENT || result == -EINTR);
	close(veto->listener); /* whatever went wrong: no thread is to wait for an answer that does not come */
	return NULL;
}

static int check_scope(const struct veto *veto, bool launches, struct asterism_diag *diag)
{
	for (uint32_t i = 0; i < veto->program->rule_count && !launches; i++) {
		if (!veto->plan.rules[i])
			continue;
		diag_add(diag, ASTERISM_ERROR, NULL, "Veto works only for a command that asterism launches: -- CMD",
			 "rule %s calls Veto, which does not work for processes that are already running",
			 program_text(veto->program, veto->program->rules[i].name));
		return -EINVAL;
	}
	return 0;
}

static int prepare_veto(struct veto *veto, bool launches, struct asterism_diag *diag)
{
	const struct executor_options executor = {
		.program = veto->program,
		.rules = veto->plan.rules,
		.on_match = veto_on_match,
		.context = veto,
		.counts_why = true, /* a held call costs so much that counting costs nothing */
	};
	int result = check_scope(veto, launches, diag);

	if (result)
		return result;
	veto->unreported = alloc_zero(veto->program->rule_count, sizeof *veto->unreported);
	if (!veto->unreported)
		return diag_no_memory(diag);
	veto->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	veto->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (veto->news_fd < 0 || veto->stop_fd < 0)
		return diag_error(diag, NULL, -errno, "cannot create an epoll descriptor: %s", strerror(errno));
	result = veto->plan.end.wanted ? ends_init(&veto->ends) : 0;
	if (result)
		return diag_error(diag, NULL, result, "cannot watch the ends of processes: %s", strerror(-result));
	return executor_new(&executor, diag, &veto->executor);
}

int veto_new(const struct session_rules *rules, const struct session_policy *policy, bool launches,
	     struct asterism_diag *diag, struct veto **made)
{
	struct veto *veto;
	int result;

	*made = NULL;
	if (!rules)
		return 0;
	veto = alloc_zero(1, sizeof *veto);
	if (!veto)
		return diag_no_memory(diag);
	veto->program = session_rules_program(rules);
	veto->listener = veto->news_fd = veto->stop_fd = veto->exec_fd = veto->ends.epoll_fd = -1;
	pthread_mutex_init(&veto->lock, NULL);
	pthread_cond_init(&veto->idle, NULL);
	result = veto_plan_init(&veto->plan, rules, policy, diag);
	if (!result && veto->plan.rules)
		result = prepare_veto(veto, launches, diag);
	if (!result && veto->plan.rules)
		*made = veto;
	else
		veto_free(veto);
	return result;
}

static struct timespec in_seconds(int seconds)
{
	struct timespec when;

	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_sec += seconds;
	return when;
}

/* False: the thread is held up by the memory of a process that it reads, and so must keep everything that it uses. */
static bool end_thread(struct veto *veto)
{
	const struct timespec until = in_seconds(END_SECONDS);

	if (!veto->runs)
		return true;
	eventfd_write(veto->stop_fd, 1);
	if (pthread_timedjoin_np(veto->thread, NULL, &until) == 0)
		return true;
	pthread_detach(veto->thread);
	dup3(veto->stop_fd, veto->listener, O_CLOEXEC); /* closes it, though the thread still knows its number */
	return false;
}

static void close_veto_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void veto_free(struct veto *veto)
{
	if (!veto || !end_thread(veto))
		return;
	if (!veto->runs)
		close_veto_fd(veto->listener);
	close_veto_fd(veto->news_fd);
	close_veto_fd(veto->stop_fd);
	close_veto_fd(veto->exec_fd);
	ends_fini(&veto->ends);
	executor_free(veto->executor);
	found_fini(&veto->queue);
	found_fini(&veto->taken);
	found_fini(&veto->found);
	alloc_free(veto->found_room.bytes);
	alloc_free(veto->taken_room.bytes);
	alloc_free(veto->unreported);
	veto_plan_fini(&veto->plan);
	pthread_cond_destroy(&veto->idle);
	pthread_mutex_destroy(&veto->lock);
	alloc_free(veto);
}

const bool *veto_other_rules(const struct veto *veto)
{
	return veto ? veto->plan.others : NULL;
}

const struct sock_fprog *veto_filter(const struct veto *veto)
{
	return veto ? &veto->plan.filter : NULL;
}

int veto_start(struct veto *veto, const struct veto_command *command, struct asterism_diag *diag)
{
	int result;

	if (!veto)
		return 0;
	veto->exec_fd = fcntl(command->error_fd, F_DUPFD_CLOEXEC, 0);
	if (veto->exec_fd < 0)
		return diag_error(diag, NULL, -errno, "cannot create an epoll descriptor: %s", strerror(errno));
	veto->launched = command->pid;
	veto->listener = command->listener->fd;
	command->listener->fd = -1;
	veto->call = command->listener->start;
	if (veto->plan.end.wanted)
		proc_allow_descriptors();
	result = thread_start(&veto->thread, 0, run_veto_thread, veto);
	veto->runs = result == 0;
	return result ? diag_error(diag, NULL, result, "cannot create a thread to judge system calls: %s",
				   strerror(-result))
		      : 0;
}

int veto_fd(const struct veto *veto)
{
	return veto ? veto->news_fd : -1;
}

int veto_poll(struct veto *veto, program_match_fn *take, void *context)
{
	struct found_reader reader = { .list = veto ? &veto->taken : NULL };
	struct found_place place;
	struct program_match match;
	eventfd_t news;
	int result = 0;

	if (!veto || eventfd_read(veto->news_fd, &news))
		return 0;
	pthread_mutex_lock(&veto->lock);
	veto->taken = veto->queue;
	veto->queue = (struct found_list){ 0 };
	pthread_mutex_unlock(&veto->lock);
	while (!result && found_peek(&reader, &place)) {
		result = found_take(&reader, &veto->taken_room, &match);
		if (!result)
			result = take(context, &match);
	}
	found_fini(&veto->taken);
	return result;
}

void veto_settle(struct veto *veto)
{
	const struct timespec until = in_seconds(SETTLE_SECONDS);

	if (!veto)
		return;
	pthread_mutex_lock(&veto->lock);
	while (veto->busy && pthread_cond_timedwait(&veto->idle, &veto->lock, &until) == 0)
		;
	pthread_mutex_unlock(&veto->lock);
	eventfd_write(veto->news_fd, 1);
}

int veto_look(struct veto *veto, struct program_rule_stats *rules)
{
	int unwatched;

	if (!veto)
		return 0;
	pthread_mutex_lock(&veto->lock);
	executor_look(veto->executor, rules);
	unwatched = veto->unwatched;
	pthread_mutex_unlock(&veto->lock);
	return unwatched;
}

void veto_count(struct veto *veto, struct session_totals *totals)
{
	if (!veto)
		return;
	pthread_mutex_lock(&veto->lock);
	executor_count(veto->executor, totals);
	if (totals->why)
		executor_count_why(veto->executor, totals->why);
	totals->events += veto->events;
	totals->lost += veto->blind;
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		totals->rules[i].lost += veto->unreported[i];
		totals->lost += veto->unreported[i];
	}
	pthread_mutex_unlock(&veto->lock);
}
