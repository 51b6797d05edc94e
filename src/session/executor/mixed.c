// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules of a live session: in the kernel those that can, the others in user space, fed with the events that the
 * kernel's programs ship for them. Matches of the one come in order, and matches of the other; an event reaches the
 * rules in user space when it is polled, and for what is due while nothing comes they look at the clock some fifty
 * times a second. Where all rules run in the kernel this makes an executor of that kind, and nothing of this is true.
 *
 * Where some of them wait for sensors, too, both are merged (sensing.h), and time has passed as far as the merge says.
 */

#include "session/executor/kinds.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/executor/placement.h"
#include "session/executor/sensing.h"
#include "session/load/order.h"
#include "session/load/rules.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* How long after its deadline a shipped event may still come in, and how often time is looked at while nothing comes.
 */
enum { GRACE_NS = 50 * 1000 * 1000, TICK_NS = 20 * 1000 * 1000 };

/*
 * Where there are sensors: how long after its time the kernel's programs have shipped an event unless the machine
 * stops, and how often a poll takes more while there is no room for all that they have.
 */
enum { ARRIVE_NS = 1000 * 1000, ROUNDS = 64 };

struct mixed {
	struct executor executor; /* first */
	const struct program *program;
	struct executor *kernel, *user; /* user: NULL where all run in the kernel */
	struct sensing *sensing;        /* NULL: no rule waits for sensors */
	int both_fd;                    /* sensing: readable when it or the kernel has something */
	uint64_t ended_ns;              /* when events ended; 0: they have not */
	bool is_full;                   /* sensing has no more room */
	bool *in_kernel, *in_user;      /* per rule: runs there; some may run in neither */
};

static int mixed_add(struct executor *executor, pid_t pid)
{
	return executor_add(((struct mixed *)executor)->kernel, pid);
}

static bool mixed_has(const struct executor *executor, pid_t pid)
{
	return executor_has(((const struct mixed *)executor)->kernel, pid);
}

static int mixed_fd(const struct executor *executor)
{
	const struct mixed *mixed = (const struct mixed *)executor;

	return mixed->sensing ? mixed->both_fd : executor_fd(mixed->kernel);
}

/* One look at both. Returns as executor_poll; EXECUTOR_PAUSE also where the kernel has more than there was room for. */
static int poll_both(struct mixed *mixed, uint64_t *wait_ns)
{
	uint64_t arrived = mixed->ended_ns ? UINT64_MAX : clock_now_ns() - ARRIVE_NS, passed;
	int polled = executor_poll(mixed->kernel, wait_ns), result;

	if (polled && polled != EXECUTOR_PAUSE)
		return polled;
	result = sensing_turn(mixed->sensing, polled ? 0 : arrived, &passed);
	if (mixed->ended_ns && !polled) {
		if (sensing_has_more(mixed->sensing))
			polled = EXECUTOR_PAUSE;
		else
			passed = mixed->ended_ns;
	}
	if (!result)
		result = executor_advance(mixed->user, passed);
	return result ? result : polled;
}

static int poll_with_sensors(struct mixed *mixed, uint64_t *wait_ns)
{
	int result = EXECUTOR_PAUSE;

	mixed->is_full = true;
	for (int i = 0; i < ROUNDS && result == EXECUTOR_PAUSE && mixed->is_full; i++) {
		mixed->is_full = false;
		result = poll_both(mixed, wait_ns);
	}
	if (mixed->is_full && result == EXECUTOR_PAUSE) {
		*wait_ns = 0;
		return 0;
	}
	uint64_t look = sensing_wait_ns(mixed->sensing);

	if (*wait_ns > look)
		*wait_ns = look;
	return result;
}

static int mixed_poll(struct executor *executor, uint64_t *wait_ns)
{
	struct mixed *mixed = (struct mixed *)executor;

	if (mixed->sensing)
		return poll_with_sensors(mixed, wait_ns);
	uint64_t until = mixed->ended_ns ? mixed->ended_ns : clock_now_ns() - GRACE_NS;
	int result = executor_poll(mixed->kernel, wait_ns);

	if (result)
		return result;
	if (*wait_ns > TICK_NS)
		*wait_ns = TICK_NS;
	return executor_advance(mixed->user, until);
}

static int mixed_finish(struct executor *executor)
{
	struct mixed *mixed = (struct mixed *)executor;

	mixed->ended_ns = clock_now_ns();
	if (mixed->sensing)
		sensing_end(mixed->sensing);
	return executor_finish(mixed->kernel);
}

static void mixed_count(const struct executor *executor, struct session_totals *totals)
{
	const struct mixed *mixed = (const struct mixed *)executor;

	executor_count(mixed->user, totals);
	executor_count(mixed->kernel, totals); /* it knows more of the user's rules */
	if (mixed->sensing)
		sensing_count(mixed->sensing, totals);
}

static void mixed_look(const struct executor *executor, struct program_rule_stats *rules)
{
	executor_look(((const struct mixed *)executor)->user, rules);
	executor_look(((const struct mixed *)executor)->kernel, rules);
}

static void mixed_tally(const struct executor *executor, uint32_t statement, uint64_t *buckets)
{
	executor_tally(((const struct mixed *)executor)->kernel, statement, buckets);
}

static void mixed_count_why(const struct executor *executor, struct program_why *why)
{
	executor_count_why(((const struct mixed *)executor)->user, why);
	executor_count_why(((const struct mixed *)executor)->kernel, why);
}

static void mixed_source(const struct executor *executor, struct aggregate_source *source)
{
	const struct executor *kernel = ((const struct mixed *)executor)->kernel;

	kernel->kind->source(kernel, source);
}

static void mixed_run_time(const struct executor *executor, struct ebpf_run_time *time)
{
	executor_run_time(((const struct mixed *)executor)->kernel, time);
}

static void mixed_free(struct executor *executor)
{
	struct mixed *mixed = (struct mixed *)executor;

	sensing_free(mixed->sensing);
	if (mixed->both_fd >= 0)
		close(mixed->both_fd);
	executor_free(mixed->kernel);
	executor_free(mixed->user);
	alloc_free(mixed->in_kernel);
	alloc_free(mixed->in_user);
	alloc_free(mixed);
}

static int placement_of_rule(struct mixed *mixed, uint32_t rule, struct asterism_diag *diag)
{
	const struct program *program = mixed->program;
	const char *name = program_text(program, program->rules[rule].name);
	struct session_placement placement;

	session_placement_of(program, rule, &placement);
	mixed->in_user[rule] = placement.place == SESSION_USER;
	mixed->in_kernel[rule] = !mixed->in_user[rule];
	if (placement.place == SESSION_NOWHERE)
		return diag_error(diag, NULL, -EINVAL, "rule %s is SYNCHRONOUS but cannot run in the kernel: %s", name,
				  placement.reason);
	return 0;
}

static int placement_of_rules(struct mixed *mixed, const struct executor_options *options, struct asterism_diag *diag)
{
	int result = 0;

	for (uint32_t i = 0; i < mixed->program->rule_count; i++) {
		int error = session_check_raised(mixed->program, options->catalog, i, diag);

		if (options->rules && !options->rules[i])
			continue;
		if (placement_of_rule(mixed, i, diag))
			error = -EINVAL;
		if (!error)
			error = session_report_order(mixed->program, options->catalog, i, diag);
		if (error)
			result = error;
	}
	if (!result)
		session_note_user_space(mixed->program, mixed->in_user, NULL, diag);
	return result;
}

/* Events that the kernel ships go to the rules in user space. */
static int mixed_on_event(void *context, const struct event_header *record)
{
	struct mixed *mixed = context;
	int result;

	if (!mixed->sensing)
		return executor_feed(mixed->user, record);
	result = sensing_take(mixed->sensing, record);
	mixed->is_full |= result == EXECUTOR_PAUSE;
	return result;
}

static void mixed_on_lost(void *context, uint64_t lost)
{
	executor_lose(((struct mixed *)context)->user, lost);
}

static int make_user(struct mixed *mixed, const struct executor_options *options, struct asterism_diag *diag)
{
	struct executor_options user = *options;
	bool is_needed = false;

	user.input = EXECUTOR_FED;
	user.rules = mixed->in_user;
	executor_free(mixed->user);
	mixed->user = NULL;
	for (uint32_t i = 0; i < mixed->program->rule_count; i++)
		is_needed |= mixed->in_user[i];
	return is_needed ? executor_user.open(&user, diag, &mixed->user) : 0;
}

static int make_kernel(struct mixed *mixed, const struct executor_options *options, struct asterism_diag *diag)
{
	const struct kernel_stream nobody = { .context = NULL };
	const struct kernel_stream stream = { .on_event = mixed_on_event, .on_lost = mixed_on_lost, .context = mixed };
	struct executor_options kernel = *options;

	kernel.rules = mixed->in_kernel;
	if (mixed->user && bare_does(options))
		return bare_open(options, diag, &mixed->kernel);
	return kernel_open(&kernel, mixed->user ? &stream : &nobody, diag, &mixed->kernel);
}

static bool is_connected(const struct mixed *mixed, uint32_t rule)
{
	return mixed->in_kernel[rule] && ebpf_emit_connects(mixed->program, rule);
}

/* Whether there are rules that EMIT connects, and none of them must stay in the kernel. */
static bool may_fall_back(const struct mixed *mixed)
{
	bool connected = false;

	for (uint32_t i = 0; i < mixed->program->rule_count; i++) {
		if (is_connected(mixed, i) && mixed->program->rules[i].mode == PROGRAM_SYNCHRONOUS)
			return false;
		connected |= is_connected(mixed, i);
	}
	return connected;
}

/* Takes the rules that EMIT connects out of the kernel. */
static int fall_back(struct mixed *mixed, struct asterism_diag *diag)
{
	const struct program *program = mixed->program;
	bool *moved = alloc_zero(program->rule_count, sizeof *moved);

	if (!moved)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < program->rule_count; i++)
		moved[i] = is_connected(mixed, i);
	for (uint32_t i = 0; i < program->rule_count; i++) {
		mixed->in_user[i] |= moved[i];
		mixed->in_kernel[i] &= !moved[i];
	}
	session_note_user_space(
		program, moved,
		"together with the rules that EMIT connects it to, it does not fit into one BPF program of this kernel",
		diag);
	alloc_free(moved);
	return 0;
}

/*
 * What follows from an event by EMIT is one program, and only the kernel tells whether that is too large. The attempt
 * after which there may be another one is silent.
 */
static int make_both(struct mixed *mixed, const struct executor_options *options, struct asterism_diag *diag)
{
	bool connected = false;
	int result = make_user(mixed, options, diag);

	for (uint32_t i = 0; i < mixed->program->rule_count; i++)
		connected |= is_connected(mixed, i);
	if (result || !connected)
		return result ? result : make_kernel(mixed, options, diag);
	result = make_kernel(mixed, options, NULL);
	if (!result)
		return 0;
	if (result == -E2BIG && may_fall_back(mixed)) {
		result = fall_back(mixed, diag);
		result = result ? result : make_user(mixed, options, diag);
		if (result)
			return result;
	}
	return make_kernel(mixed, options, diag);
}

static int make_sensing(struct mixed *mixed, const struct executor_options *options, struct asterism_diag *diag)
{
	const struct sensing_options sensing = {
		.program = mixed->program,
		.catalog = options->catalog,
		.rules = mixed->in_user,
		.user = mixed->user,
		.kernel = mixed->kernel,
		.clock = options->clock,
	};
	struct epoll_event event = { .events = EPOLLIN };
	int result = mixed->user ? sensing_new(&sensing, diag, &mixed->sensing) : 0;

	if (result || !mixed->sensing)
		return result;
	mixed->both_fd = epoll_create1(EPOLL_CLOEXEC);
	int kernel_fd = executor_fd(mixed->kernel);

	if (mixed->both_fd < 0 || (kernel_fd >= 0 && epoll_ctl(mixed->both_fd, EPOLL_CTL_ADD, kernel_fd, &event) < 0) ||
	    epoll_ctl(mixed->both_fd, EPOLL_CTL_ADD, sensing_fd(mixed->sensing), &event) < 0)
		return diag_error(diag, NULL, -errno, "cannot wait for events: %s", strerror(errno));
	return 0;
}

/* What is made of it: both, or where nothing runs in user space, the kernel's alone. */
static struct executor *take_mixed_executor(struct mixed *mixed)
{
	struct executor *kernel = mixed->kernel;

	if (mixed->user)
		return &mixed->executor;
	mixed->kernel = NULL;
	mixed_free(&mixed->executor);
	return kernel;
}

static int mixed_open(const struct executor_options *options, struct asterism_diag *diag, struct executor **made)
{
	uint32_t rule_count = options->program->rule_count;
	struct mixed *mixed;
	int result;

	if (options->input != EXECUTOR_LIVE)
		return 0;
	mixed = alloc_zero(1, sizeof *mixed);
	if (!mixed)
		return diag_no_memory(diag);
	mixed->executor.kind = &executor_mixed;
	mixed->program = options->program;
	mixed->both_fd = -1;
	mixed->in_kernel = alloc_zero(rule_count, sizeof *mixed->in_kernel);
	mixed->in_user = alloc_zero(rule_count, sizeof *mixed->in_user);
	result = mixed->in_kernel && mixed->in_user ? placement_of_rules(mixed, options, diag) : diag_no_memory(diag);
	if (!result)
		result = kernel_error(make_both(mixed, options, diag));
	if (!result)
		result = make_sensing(mixed, options, diag);
	if (!result)
		session_note_delivered(mixed->program, mixed->in_kernel, diag);
	if (result)
		mixed_free(&mixed->executor);
	else
		*made = take_mixed_executor(mixed);
	return result;
}

const struct executor_kind executor_mixed = {
	.name = "mixed",
	.open = mixed_open,
	.free = mixed_free,
	.add = mixed_add,
	.has = mixed_has,
	.fd = mixed_fd,
	.poll = mixed_poll,
	.finish = mixed_finish,
	.count = mixed_count,
	.look = mixed_look,
	.tally = mixed_tally,
	.count_why = mixed_count_why,
	.source = mixed_source,
	.run_time = mixed_run_time,
};
