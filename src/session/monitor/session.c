// SPDX-License-Identifier: BSD-2-Clause
/*
 * Begins, runs and ends a monitor. What is to be launched waits until everything is prepared and the promise is told; a
 * refusal launches nothing.
 */

#include "session/monitor/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "program/emissions.h"
#include "session/executor/kinds.h"
#include "session/live/processes.h"
#include "session/monitor/rules.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { MATCHES_BYTES = 1 << 22, STATUS_SIGNAL = 128, STATUS_UNKNOWN = 127, ASKING_TURNS = 3 };

/* How long a command that was told to end is waited for. */
#define GRACE_NS 2000000000ull

struct monitor_session {
	const struct monitor_session_options *options;
	struct asterism_diag *diag;
	const struct program *program;
	struct event_catalog *catalog;
	struct monitor *monitor;
	struct monitor_rules *rules; /* the monitor's; NULL: none is evaluated in time */
	bool *in_time;               /* per rule: it is one of these */
	struct beside *beside;       /* the others; NULL: there are none */
	struct monitor_queue matches;
	struct aggregates *aggregates;
	struct stream_wants wants;
	struct executor *scope;
	struct live_loop loop;
	struct live_processes processes;
	struct monitor_session_outcome outcome;
	uint64_t start_ns, end_ns;
	uint64_t wait_ns; /* until there is something to do, at most */
	bool done, is_over;
};

static const struct program_header no_image;
const struct program monitor_no_program = { .header = &no_image };

/* ---- the beginning */

static int add_want(struct monitor_session *session, uint32_t type)
{
	const struct program *program = session->program;
	const char *name = program_text(program, program->types[type].name);
	struct stream_want want = {
		.type = event_catalog_find(session->catalog, name),
		.name = program_text(program, program->types[type].sensor - 1),
		.number = type,
	};

	if (!want.type)
		return diag_error(session->diag, NULL, -EOPNOTSUPP, "no catalog declares the event %s", name);
	session->wants.items[session->wants.count++] = want;
	return 0;
}

/* The sensors that rules wait for. Those of rules beside the promise, too: the rates of these are looked at as well. */
static int find_evaluation_wants(struct monitor_session *session)
{
	const struct program *program = session->program;
	int result = 0;

	session->wants.items =
		alloc_zero(program->type_count + session->options->more_count, sizeof *session->wants.items);
	if (!session->wants.items)
		return diag_no_memory(session->diag);
	for (uint32_t type = 0; type < program->type_count && !result; type++) {
		bool is_seen = false;

		for (uint32_t rule = 0; rule < program->rule_count; rule++)
			is_seen |= program_rule_sees(program, &program->rules[rule], type);
		if (is_seen && program->types[type].sensor)
			result = add_want(session, type);
	}
	return result;
}

/* Those that no rule waits for. */
static void find_more(struct monitor_session *session)
{
	const struct monitor_session_options *options = session->options;

	for (size_t i = 0; i < options->more_count; i++) {
		const struct event_type *type = options->more[i];
		bool is_there = false;

		for (size_t j = 0; j < session->wants.count; j++)
			is_there |= strcmp(session->wants.items[j].type->name, type->name) == 0;
		if (!is_there)
			session->wants.items[session->wants.count++] = (struct stream_want){
				.type = type, .name = type->sensor, .number = session->program->type_count + (uint32_t)i
			};
	}
}

static uint32_t largest_record(const struct monitor_session *session)
{
	const struct program *program = session->program;
	uint32_t bytes = sizeof(struct event_header);

	for (size_t i = 0; i < session->options->more_count; i++)
		if (session->options->more[i]->record_bytes > bytes)
			bytes = session->options->more[i]->record_bytes;
	for (uint32_t i = 0; i < program->type_count; i++)
		if (program->types[i].record_bytes > bytes)
			bytes = program->types[i].record_bytes;
	return bytes;
}

static bool evaluated_in_scope(void *context, pid_t pid, pid_t parent)
{
	const struct monitor_session *session = context;

	return executor_had(session->scope, pid, parent);
}

static void on_violation(void *context, const struct watch_violation *violation)
{
	const struct monitor_session *session = context;

	if (session->options->on_violation)
		session->options->on_violation(session->options->context, violation);
}

static int evaluator_on_match(void *context, const struct program_match *match)
{
	const struct monitor_session *session = context;
	int result = aggregates_add(session->aggregates, match);

	return result < 0 ? result : session->options->on_match(session->options->context, match);
}

/* Which rules are evaluated where. */
static int part_rules(struct monitor_session *session, const struct session_rules *rules)
{
	const struct monitor_session_options *options = session->options;
	const struct program *program = session->program;
	int result;

	if (aggregates_new(program, options->on_aggregate, options->context, &session->aggregates))
		return diag_no_memory(session->diag);
	session->in_time = alloc_zero(program->rule_count, sizeof *session->in_time);
	if (!session->in_time)
		return diag_no_memory(session->diag);
	const struct beside_options beside = {
		.rules = rules,
		.scope = options->all ? EBPF_SCOPE_ALL : EBPF_SCOPE_TREE,
		.counts_why = options->counts_why,
		.on_match = evaluator_on_match,
		.context = session,
		.aggregates = session->aggregates,
		.diag = session->diag,
	};

	result = rules ? beside_new(&beside, session->diag, &session->beside) : 0;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		session->in_time[i] = !beside_has(session->beside, i);
		if (!session->in_time[i] && options->on_raise && program_emits(program, &program->rules[i]))
			diag_add(session->diag, ASTERISM_WARNING, NULL, NULL,
				 "events that rule %s EMITs are not raised: the rule is not covered by the guarantee",
				 program_text(program, program->rules[i].name));
	}
	return result;
}

static bool has_rules_in_time(const struct monitor_session *session)
{
	for (uint32_t i = 0; i < session->program->rule_count; i++)
		if (session->in_time[i])
			return true;
	return false;
}

static int add_session_rules(struct monitor_session *session)
{
	const struct monitor_rules_options rules = {
		.program = session->program,
		.rules = session->in_time,
		.matches = &session->matches,
		.on_raise = session->options->on_raise,
		.context = session->options->raise_context,
		.counts_why = session->options->counts_why,
	};
	int result = monitor_rules_new(&rules, session->diag, &session->rules);

	if (!result && monitor_add(session->monitor, MONITOR_ANY_SENSOR, &monitor_rules_kind, session->rules) < 0) {
		monitor_rules_free(session->rules);
		session->rules = NULL;
		result = diag_no_memory(session->diag);
	}
	return result;
}

static int make_monitor(struct monitor_session *session)
{
	struct monitor_options options = session->options->monitor;
	int result;

	options.wants = session->wants;
	options.record_bytes = largest_record(session);
	options.in_scope = evaluated_in_scope;
	options.on_violation = on_violation;
	options.context = session;
	options.diag = session->diag;
	if (monitor_queue_init(&session->matches, MATCHES_BYTES))
		return diag_no_memory(session->diag);
	result = monitor_new(&options, session->diag, &session->monitor);
	if (!result && has_rules_in_time(session))
		result = add_session_rules(session);
	if (!result && session->options->on_open)
		result = session->options->on_open(session->options->context, session->monitor, session->diag);
	return result;
}

static int hold_processes(struct monitor_session *session)
{
	const struct monitor_session_options *options = session->options;
	const struct executor_options scope = {
		.scope = options->all ? EBPF_SCOPE_ALL : EBPF_SCOPE_TREE,
	};
	int result = live_loop_open(&session->loop, session->diag);

	if (!result)
		result = live_loop_watch(&session->loop, options->signal_fd, LIVE_WAKE_SIGNAL, session->diag);
	if (!result)
		result = bare_open(&scope, session->diag, &session->scope);
	if (!result && options->command)
		result = live_processes_launch(&session->processes, options->command, NULL, session->diag);
	for (size_t i = 0; i < options->pid_count && !result; i++) {
		result = live_processes_add(&session->processes, options->pids[i], session->diag);
		result = result == -ESRCH ? -EINVAL : result < 0 ? result : 0;
	}
	for (size_t i = 0; i < session->processes.count && !result; i++)
		result = executor_add(session->scope, session->processes.items[i].pid);
	return result;
}

/* Sets to work what waits for the kernel. The directory of sensors is the monitor's by then, or another one. */
static int start_beside(struct monitor_session *session)
{
	uint64_t wait_ns = 0;
	int result = session->beside ? beside_start(session->beside, session->diag) : 0;

	for (size_t i = 0; i < session->processes.count && !result && session->beside; i++)
		result = beside_add(session->beside, session->processes.items[i].pid);
	if (!result)
		result = live_loop_watch(&session->loop, beside_fd(session->beside), LIVE_WAKE_RULES, session->diag);
	/* Both are asked for their sensors before what is launched raises something. */
	for (int i = 0; i < ASKING_TURNS && !result && session->beside; i++) {
		result = monitor_step(session->monitor);
		result = result ? result : beside_poll(session->beside, &wait_ns);
	}
	return result;
}

/* A promise that somebody insists on is to be of something. */
static int admit_promise(struct monitor_session *session, struct monitor_promise *promise)
{
	static const char *const why = "nothing is covered by the guarantee: every rule waits for kernel events";
	const struct monitor_options *options = &session->options->monitor;
	bool is_empty = monitor_is_empty(session->monitor);
	int result;

	if (is_empty && options->policy_is_demanded && options->policy != SCHEDULE_BEST_EFFORT) {
		diag_error(session->diag, NULL, -EOPNOTSUPP, "%s", why);
		diag_hint(session->diag, "add a rule over sensors alone, or leave --strict and --policy out");
		return -EOPNOTSUPP;
	}
	result = monitor_admit(session->monitor, session->diag, promise);
	if (!result && is_empty) {
		promise->is_guaranteed = false;
		promise->no_guarantee = why;
	}
	return result;
}

/* Everything is there, and nothing is counted yet. */
static int prepare_evaluation(struct monitor_session *session, const struct session_rules *rules,
			      struct monitor_promise *promise)
{
	int result = part_rules(session, rules);

	if (!result)
		result = find_evaluation_wants(session);
	if (!result)
		find_more(session);
	if (!result)
		result = make_monitor(session);
	if (!result)
		result = hold_processes(session);
	if (!result)
		result = admit_promise(session, promise);
	if (!result)
		result = live_loop_watch(&session->loop, monitor_fd(session->monitor), LIVE_WAKE_RULES, session->diag);
	if (result)
		return result;
	aggregates_begin(session->aggregates, clock_now_ns());
	return start_beside(session);
}

static int begin_evaluation(struct monitor_session *session, const struct session_rules *rules)
{
	const struct monitor_session_options *options = session->options;
	struct monitor_promise promise;
	int result = prepare_evaluation(session, rules, &promise);

	if (result)
		return result;
	monitor_begin(session->monitor);
	session->start_ns = clock_now_ns();
	session->end_ns = options->for_ns ? session->start_ns + options->for_ns : UINT64_MAX;
	options->on_promise(options->context, session->monitor, &promise);
	return options->command ? launch_go(&session->processes.launch, options->command[0], session->diag) : 0;
}

int monitor_session_open(const struct session_rules *rules, const struct monitor_session_options *options,
			 struct asterism_diag *diag, struct monitor_session **made)
{
	struct monitor_session *session = alloc_zero(1, sizeof *session);
	int result;

	if (!session)
		return diag_no_memory(diag);
	session->options = options;
	session->diag = diag;
	session->program = rules ? session_rules_program(rules) : &monitor_no_program;
	session->catalog = rules ? session_rules_catalog(rules) : NULL;
	session->loop = (struct live_loop){ -1, -1 };
	session->processes.loop = &session->loop;
	result = begin_evaluation(session, rules);
	if (result)
		monitor_session_close(session);
	else
		*made = session;
	return result;
}

/* ---- while it runs */

static void end_session(struct monitor_session *session, enum monitor_session_end why)
{
	if (session->done)
		return;
	session->outcome.end = why;
	session->done = true;
}

static void evaluator_on_signal(struct monitor_session *session)
{
	struct live_processes *processes = &session->processes;
	struct signalfd_siginfo info;

	if (read(session->options->signal_fd, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGUSR1 && session->options->on_status)
		session->options->on_status(session->options->context, session->monitor);
	if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2 || info.ssi_signo == SIGALRM)
		return;
	bool is_second = session->outcome.signal;

	session->outcome.signal = (int)info.ssi_signo;
	if (!processes->launch.pid || processes->launch.reaped || is_second) {
		end_session(session, MONITOR_SIGNALLED);
		return;
	}
	/* The terminal has sent it to the command as well; anybody else meant us alone. */
	if (info.ssi_code != SI_KERNEL)
		kill(processes->launch.pid, session->outcome.signal);
	if (clock_now_ns() + GRACE_NS < session->end_ns)
		session->end_ns = clock_now_ns() + GRACE_NS;
}

static void on_woken(struct monitor_session *session, uint64_t woken)
{
	int status;
	pid_t pid = live_processes_ended(&session->processes, woken, &status);

	if (woken == LIVE_WAKE_SIGNAL)
		evaluator_on_signal(session);
	if (!pid)
		return;
	if (pid == session->processes.launch.pid)
		session->outcome.command_status = status;
	if (!session->processes.count)
		end_session(session, session->outcome.signal     ? MONITOR_SIGNALLED
				     : session->options->command ? MONITOR_COMMAND_ENDED
								 : MONITOR_PIDS_ENDED);
}

/* Takes what the evaluator has found. */
static int take_evaluator_findings(struct monitor_session *session)
{
	int stepped = monitor_step(session->monitor);
	int result = monitor_rules_take(&session->matches, evaluator_on_match, session);
	const struct watch *watch = monitor_watch(session->monitor);

	if (result >= 0 && !session->is_over)
		result = beside_poll(session->beside, &session->wait_ns);
	if (result >= 0)
		result = aggregates_advance(session->aggregates, clock_now_ns());
	if (result >= 0 && session->options->on_pause)
		result = session->options->on_pause(session->options->context);
	if (session->options->strict && (watch->violations || watch->lost))
		end_session(session, MONITOR_MISSED);
	return result < 0 ? result : stepped;
}

static int step_session(struct monitor_session *session)
{
	struct pollfd fd = { .fd = session->loop.epoll_fd, .events = POLLIN };
	uint64_t woken[LIVE_WOKEN_MAX], now;
	int count, result;

	poll(&fd, 1, (int)((session->wait_ns + 999999) / 1000000));
	session->wait_ns = MONITOR_STEP_NS;
	count = live_loop_take(&session->loop, woken, session->diag);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++)
		on_woken(session, woken[i]);
	result = take_evaluator_findings(session);
	now = clock_now_ns();
	if (now >= session->end_ns)
		end_session(session, session->outcome.signal ? MONITOR_SIGNALLED : MONITOR_TIME_UP);
	return result;
}

/* ---- the end */

/* A command that still runs is told to end where its time is up, and is waited for a little. */
static void part_session(struct monitor_session *session)
{
	struct launch *launch = &session->processes.launch;
	struct monitor_session_outcome *outcome = &session->outcome;
	uint64_t until = clock_now_ns() + GRACE_NS;
	struct pollfd fd = { .fd = launch->pidfd, .events = POLLIN };

	if (!launch->pid || launch->reaped)
		return;
	if (outcome->end == MONITOR_TIME_UP || outcome->end == MONITOR_MISSED)
		kill(launch->pid, SIGTERM);
	while (!launch_reap(launch, &outcome->command_status) && clock_now_ns() < until)
		poll(&fd, 1, 20);
	if (launch->reaped)
		return;
	outcome->alive = launch->pid;
	outcome->command_status = outcome->signal ? STATUS_SIGNAL + outcome->signal : 0;
}

static int count_outcome(struct monitor_session *session)
{
	struct monitor_session_outcome *outcome = &session->outcome;

	outcome->elapsed_ns = clock_now_ns() - session->start_ns;
	outcome->unqueued = atomic_load(&session->matches.overflowed);
	monitor_count(session->monitor, &outcome->counts);
	outcome->rules = alloc_zero(session->program->rule_count, sizeof *outcome->rules);
	if (!outcome->rules)
		return diag_no_memory(session->diag);
	for (uint32_t i = 0; i < session->program->rule_count; i++) {
		if (!session->in_time[i])
			continue;
		monitor_rules_stats(session->rules, i, &outcome->rules[i]);
		outcome->rules_lost += outcome->rules[i].lost;
	}
	if (session->options->counts_why && program_why_new(session->program, &outcome->why))
		return diag_no_memory(session->diag);
	if (outcome->why && session->rules)
		monitor_rules_why(session->rules, outcome->why);
	beside_count(session->beside, outcome->rules, outcome->why, &outcome->beside);
	return 0;
}

int monitor_session_run(struct monitor_session *session, struct monitor_session_outcome *outcome)
{
	int result = 0, counted;

	session->outcome.began = true;
	while (!session->done) {
		result = step_session(session);
		if (result)
			end_session(session, MONITOR_STOPPED);
	}
	session->is_over = true;
	counted = beside_finish(session->beside);
	result = result ? result : counted;
	session->outcome.is_cut = !monitor_end(session->monitor);
	if (session->rules)
		monitor_rules_finish(session->rules, clock_now_ns());
	counted = take_evaluator_findings(session);
	result = result ? result : counted;
	counted = aggregates_finish(session->aggregates);
	result = result ? result : counted;
	counted = count_outcome(session);
	part_session(session);
	if (session->outcome.command_status < 0)
		session->outcome.command_status = STATUS_UNKNOWN;
	*outcome = session->outcome;
	return result ? result : counted;
}

const struct monitor *monitor_session_monitor(const struct monitor_session *session)
{
	return session->monitor;
}

void monitor_session_close(struct monitor_session *session)
{
	if (!session)
		return;
	beside_free(session->beside); /* it may take what it is told of from the monitor's directory */
	monitor_free(session->monitor);
	aggregates_free(session->aggregates);
	alloc_free(session->in_time);
	monitor_queue_fini(&session->matches);
	executor_free(session->scope);
	live_processes_fini(&session->processes);
	live_loop_close(&session->loop);
	alloc_free(session->wants.items);
	alloc_free(session);
}
