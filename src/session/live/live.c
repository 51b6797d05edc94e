// SPDX-License-Identifier: BSD-2-Clause
/*
 * Begins, runs and ends a live session. Order of the beginning: what is to be observed is checked and held (the command
 * exists and waits, the processes are there), then everything is attached, then the scope is filled, and only then does
 * the command run; so a wrong command line attaches nothing, and the first event is not missed.
 */

#include "session/live/live.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/live/components.h"
#include "session/live/processes.h"
#include "session/seccomp/veto.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* How long a command that was told to end is waited for. */
#define GRACE_NS 2000000000ull

/* How often progress is told. */
#define PROGRESS_NS 200000000ull

/* How often it is looked whether rules have no places left. */
#define CROWDS_NS 200000000ull

/* How often it is looked whether the command stands still, and how long it does before that is told. */
#define STILL_NS 1000000000ull

/* How soon what failed is tried again. */
enum { RETRY_NS = 20 * 1000 * 1000 };

/* How often it is looked which processes remain until none does: a child may be made, and its parent gone, during a
 * look. */
enum { LOOKS = 8 };

/* Of a command that somebody else has reaped, as a shell's wait has it. */
enum { STATUS_UNKNOWN = 127 };

/* Of what a signal has ended: of a session, too, whose command ignores the signal and has no status. */
enum { STATUS_SIGNALLED = 128 };

struct live {
	const struct session_live_options *options;
	struct asterism_diag *diag;
	struct session_outcome outcome;
	struct veto *veto;
	struct session_components components;
	struct live_loop loop;
	struct live_processes processes; /* whose end the session waits for */
	uint64_t end_ns;                 /* CLOCK_MONOTONIC when the session ends by itself; UINT64_MAX: never */
	uint64_t start_ns;
	uint64_t reported_ns; /* when progress was told last */
	uint64_t next_crowds_ns;
	struct program_rule_stats *rules; /* per rule: counters at the last look; NULL: nobody wants to know */
	bool *crowded, *bypassed;         /* per rule: that is told */
	bool unwatched_reported;
	uint32_t rule_count;
	uint64_t still_ns; /* since when the command is known to be stopped; 0: it is not */
	uint64_t next_still_ns;
	bool still_reported;
	bool wants_saving;
	bool unarmed; /* the timer could not be set */
	bool done;
	int failed; /* what the session had to go on in spite of */
};

static void end_live(struct live *live, enum session_end why)
{
	live->outcome.end = why;
	live->done = true;
}

static int add_pids(struct live *live)
{
	for (size_t i = 0; i < live->options->pid_count; i++) {
		int result = live_processes_add(&live->processes, live->options->pids[i], live->diag);

		if (result < 0)
			return result == -ESRCH ? -EINVAL : result;
	}
	return 0;
}

static int fill_scope(struct live *live)
{
	const struct live_processes *processes = &live->processes;
	int result = 0;

	if (processes->launch.pid)
		launch_settle(&processes->launch);
	for (size_t i = 0; i < processes->count && !result; i++) {
		result = session_components_add(&live->components, processes->items[i].pid);
		if (result == -ESRCH)
			return diag_error(live->diag, NULL, -EINVAL, "process %d ended before it could be observed",
					  processes->items[i].pid);
	}
	if (result)
		diag_error(live->diag, NULL, result, "cannot set the scope of the session: %s", strerror(-result));
	if (result == -EOPNOTSUPP)
		diag_hint(live->diag, "cannot choose processes by pid from inside a pid namespace: run asterism in the "
				      "initial one, with its /proc, or observe the whole machine (-a)");
	return result;
}

/* Lets the command go, if there is one. */
static int go(struct live *live)
{
	struct launch *launch = &live->processes.launch;
	const struct veto_command command = { launch->pid, launch->error_fd, &launch->listener };
	int result = veto_start(live->veto, &command, live->diag);

	return !result && launch->pid ? launch_go(launch, live->options->command[0], live->diag) : result;
}

static int attach(struct live *live, const struct session_rules *rules)
{
	const struct session_live_options *options = live->options;
	int result = live_loop_open(&live->loop, live->diag);

	if (!result)
		result = veto_new(rules, options->policy, options->command, live->diag, &live->veto);
	if (!result && options->command)
		result = live_processes_launch(&live->processes, options->command, veto_filter(live->veto), live->diag);
	if (!result)
		result = add_pids(live);
	if (!result)
		result = session_components_open(&live->components, rules, options, live->veto, live->diag);
	if (!result)
		result = fill_scope(live);
	if (!result)
		result = session_components_watch(&live->components, &live->loop);
	if (!result)
		result = live_loop_watch(&live->loop, options->signal_fd, LIVE_WAKE_SIGNAL, live->diag);
	return result;
}

static int begin_live_rules(struct live *live, const struct session_rules *rules)
{
	const struct session_live_options *options = live->options;
	int result = attach(live, rules);

	if (result)
		return result;
	if (options->on_start)
		options->on_start(options->context);
	if (rules && options->on_crowd) {
		live->rule_count = session_rules_program(rules)->rule_count;
		live->rules = alloc_zero(live->rule_count, sizeof *live->rules);
		live->crowded = alloc_zero(live->rule_count, sizeof *live->crowded);
		live->bypassed = alloc_zero(live->rule_count, sizeof *live->bypassed);
		if (!live->rules || !live->crowded || !live->bypassed)
			return diag_no_memory(live->diag);
	}
	if (session_components_seed(&live->components, live->processes.launch.pid))
		return diag_no_memory(live->diag);
	live->start_ns = clock_now_ns();
	live->end_ns = options->for_ns ? live->start_ns + options->for_ns : UINT64_MAX;
	return go(live);
}

static void live_on_signal(struct live *live)
{
	struct signalfd_siginfo info;

	if (read(live->options->signal_fd, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGUSR1) {
		live->wants_saving = true;
		return;
	}
	if (info.ssi_signo == SIGUSR2 || info.ssi_signo == SIGALRM)
		return;
	if (!live->processes.launch.pid || live->processes.launch.reaped || live->outcome.signal) {
		live->outcome.signal = (int)info.ssi_signo;
		return end_live(live, SESSION_SIGNALLED);
	}
	/* The terminal has sent it to the command as well; anybody else meant us alone. Its last events still count. */
	live->outcome.signal = (int)info.ssi_signo;
	if (info.ssi_code != SI_KERNEL)
		kill(live->processes.launch.pid, (int)info.ssi_signo);
	if (clock_now_ns() + GRACE_NS < live->end_ns)
		live->end_ns = clock_now_ns() + GRACE_NS;
}

static void wait_for_remaining(struct live *live)
{
	const struct session_remaining *remaining = &live->outcome.remaining;

	for (size_t i = 0; i < remaining->count && i < SESSION_REMAINING_NAMED; i++)
		live_processes_add(&live->processes, remaining->pids[i], NULL); /* one that has ended since is none */
}

/* All that the session has waited for have ended, and with them the session, unless there are others to wait for. */
static void end_or_wait(struct live *live)
{
	int looks = live->options->to_the_last ? LOOKS : 1;

	for (int look = 0; look < looks && !live->processes.count; look++) {
		session_components_remaining(&live->components, &live->outcome.remaining);
		if (live->options->to_the_last)
			wait_for_remaining(live);
	}
	if (!live->processes.count)
		end_live(live, live->options->command ? SESSION_COMMAND_ENDED : SESSION_PIDS_ENDED);
}

static void on_end(struct live *live, pid_t pid, int status)
{
	if (pid == live->processes.launch.pid) {
		live->outcome.command_status = status;
		if (live->outcome.signal)
			return end_live(live, SESSION_SIGNALLED);
	}
	if (!live->processes.count)
		end_or_wait(live);
}

static void live_on_wake(struct live *live, uint64_t woken)
{
	int status;
	pid_t pid = live_processes_ended(&live->processes, woken, &status);

	if (pid)
		on_end(live, pid, status);
	else if (woken == LIVE_WAKE_SIGNAL)
		live_on_signal(live);
}

/* Arms the timer for the earlier of the parts' wish and the session's end. */
static void arm(struct live *live, uint64_t now, uint64_t wait_ns)
{
	uint64_t at = wait_ns < UINT64_MAX - now ? now + wait_ns : UINT64_MAX;

	live->unarmed = live_loop_arm(&live->loop, live->end_ns < at ? live->end_ns : at) != 0;
}

/* Handles the descriptors that are readable by now. */
static int take_events(struct live *live)
{
	uint64_t woken[LIVE_WOKEN_MAX];
	int count = live_loop_take(&live->loop, woken, live->diag);

	for (int i = 0; i < count; i++)
		live_on_wake(live, woken[i]);
	return count < 0 ? count : 0;
}

static void report_progress(struct live *live, uint64_t now)
{
	struct recording_totals totals;

	if (!live->options->on_progress || !live->components.recording || now - live->reported_ns < PROGRESS_NS)
		return;
	live->reported_ns = now;
	recording_count(live->components.recording, &totals);
	live->options->on_progress(live->options->context, &totals);
}

/* A session that only waits for a command that is stopped says so: its user may not know that it is. */
static void watch_still(struct live *live, uint64_t now, uint64_t *wait_ns)
{
	if (!live->processes.launch.pid || live->processes.launch.reaped)
		return;
	if (*wait_ns > STILL_NS)
		*wait_ns = STILL_NS;
	if (now < live->next_still_ns)
		return;
	live->next_still_ns = now + STILL_NS / 2;
	if (!launch_is_stopped(&live->processes.launch) ||
	    verdicts_are_open(live->components.unit.responses.verdicts)) {
		live->still_ns = 0;
		live->still_reported = false;
		return;
	}
	live->still_ns = live->still_ns ? live->still_ns : now;
	if (live->still_reported || now - live->still_ns < STILL_NS / 2)
		return;
	live->still_reported = true;
	diag_add(live->diag, ASTERISM_WARNING, NULL, NULL,
		 "the command (process %d) is stopped, and the session waits for it: 'kill -CONT %d' continues it",
		 live->processes.launch.pid, live->processes.launch.pid);
}

static void report_unwatched(struct live *live, int error)
{
	if (!error || live->unwatched_reported)
		return;
	live->unwatched_reported = true;
	diag_add(live->diag, ASTERISM_WARNING, NULL,
		 error == -EINVAL ? "Linux 6.9 reports the ends of threads" : "allow more open files: ulimit -n",
		 "cannot watch some processes or threads for their end (%s): a later one with the same id is taken for "
		 "the same",
		 strerror(-error));
}

static void watch_crowds(struct live *live, uint64_t now, uint64_t *wait_ns)
{
	if (!live->rules)
		return;
	if (*wait_ns > CROWDS_NS)
		*wait_ns = CROWDS_NS;
	if (now < live->next_crowds_ns && !live->done)
		return;
	live->next_crowds_ns = now + CROWDS_NS / 2;
	executor_look(live->components.unit.executor, live->rules);
	report_unwatched(live, veto_look(live->veto, live->rules));
	for (uint32_t i = 0; i < live->rule_count; i++) {
		const struct program_rule_stats *stats = &live->rules[i];

		if (!live->bypassed[i] && (stats->calls_32bit || stats->io_uring)) {
			live->bypassed[i] = true;
			live->options->on_bypass(live->options->context, i, stats);
		}
		if (live->crowded[i] || (stats->pool_exhausted == stats->events_refused && !stats->crowded))
			continue;
		live->crowded[i] = true;
		live->options->on_crowd(live->options->context, i, stats);
	}
}

/* What somebody asked for by a signal; while another snapshot waits for the disk, it waits, too. */
static void take_wanted(struct live *live)
{
	live->wants_saving = live->wants_saving && session_components_save(&live->components, false) == -EBUSY;
}

/* Hands out what has come, and tells how long the parts can wait for more. */
static int turn_live(struct live *live, uint64_t *wait_ns)
{
	int result = session_components_poll(&live->components, wait_ns);

	take_wanted(live);
	watch_still(live, clock_now_ns(), wait_ns);
	watch_crowds(live, clock_now_ns(), wait_ns);
	if (!result && live->options->on_pause)
		result =
			session_components_reported(&live->components, live->options->on_pause(live->options->context));
	report_progress(live, clock_now_ns());
	return result;
}

/* A session that somebody relies on ends when what it observes does, not because something fails. */
static int outlast(struct live *live, int result, uint64_t *wait_ns)
{
	if (result >= 0 || !live->components.must_go_on)
		return result;
	if (!live->failed)
		diag_error(live->diag, NULL, result, "the session continues despite an error: %s", strerror(-result));
	live->failed = live->failed ? live->failed : result;
	if (*wait_ns > RETRY_NS)
		*wait_ns = RETRY_NS;
	return 0;
}

int live_fd(const struct live *live)
{
	return live->loop.epoll_fd;
}

int live_step(struct live *live)
{
	uint64_t wait_ns = UINT64_MAX, now;
	int result = outlast(live, take_events(live), &wait_ns);

	if (!result) /* at the end, too: what came before it counts */
		result = outlast(live, turn_live(live, &wait_ns), &wait_ns);
	now = clock_now_ns();
	if (!result && !live->done && now >= live->end_ns) {
		end_live(live, live->outcome.signal ? SESSION_SIGNALLED : SESSION_TIME_UP);
		result = outlast(live, turn_live(live, &wait_ns), &wait_ns);
	}
	if (result)
		end_live(live, SESSION_STOPPED);
	if (live->options->on_progress && wait_ns > PROGRESS_NS)
		wait_ns = PROGRESS_NS;
	if (!live->done)
		arm(live, now, wait_ns);
	return result ? result : live->done;
}

/* Waits until the command ends, limit_ns at most (UINT64_MAX: no limit), or a signal comes. */
static void await_command(struct live *live, uint64_t limit_ns)
{
	uint64_t until = limit_ns == UINT64_MAX ? UINT64_MAX : clock_now_ns() + limit_ns;
	struct pollfd fds[] = {
		{ .fd = live->processes.launch.pidfd, .events = POLLIN },
		{ .fd = live->options->signal_fd, .events = POLLIN },
	};

	while (!launch_reap(&live->processes.launch, &live->outcome.command_status)) {
		uint64_t now = clock_now_ns();

		if (now >= until || fds[1].revents)
			break;
		poll(fds, 2, until == UINT64_MAX ? -1 : (int)((until - now) / 1000000 + 1));
	}
}

void live_part(struct live *live, struct session_outcome *outcome)
{
	struct session_outcome *own = &live->outcome;

	own->command_pid = live->processes.launch.pid;
	if (live->processes.launch.pid && !live->processes.launch.reaped) {
		if (own->end == SESSION_TIME_UP) {
			kill(live->processes.launch.pid, SIGTERM);
			await_command(live, GRACE_NS);
		} else if (own->end == SESSION_STOPPED) {
			await_command(live, UINT64_MAX);
		}
		own->command_alive = !live->processes.launch.reaped;
	}
	if (own->command_alive && own->signal)
		own->command_status = STATUS_SIGNALLED + own->signal;
	if (own->command_status < 0)
		own->command_status = STATUS_UNKNOWN;
	own->began = outcome->began;
	*outcome = *own;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	session_components_close(&live->components);
	veto_free(live->veto); /* a command that goes on without us has been judged until now */
	live_processes_fini(&live->processes);
	live_loop_close(&live->loop);
	alloc_free(live->rules);
	alloc_free(live->crowded);
	alloc_free(live->bypassed);
	alloc_free(live);
}

int live_open(const struct session_rules *rules, const struct session_live_options *options, struct asterism_diag *diag,
	      struct live **made)
{
	struct live *live = alloc_zero(1, sizeof *live);
	int result;

	if (!live)
		return diag_no_memory(diag);
	live->options = options;
	live->diag = diag;
	live->loop = (struct live_loop){ -1, -1 };
	live->processes.loop = &live->loop;
	result = begin_live_rules(live, rules);
	if (result)
		live_close(live);
	else
		*made = live;
	return result;
}

int live_finish(struct live *live, struct session_totals *totals)
{
	const char *name = live->options->last_snapshot;
	int finished;

	totals->elapsed_ns = clock_now_ns() - live->start_ns;
	if (live->wants_saving)
		session_components_save(&live->components, true);
	if (name)
		session_components_snapshot(&live->components, name, true);
	finished = session_components_finish(&live->components, totals);
	session_components_close(&live->components);
	return live->failed ? live->failed : finished;
}

/* Steps to the end. */
static int observe_live(struct live *live)
{
	struct pollfd fd = { .fd = live_fd(live), .events = POLLIN };
	int result;

	while ((result = live_step(live)) == 0) {
		if (poll(&fd, 1, live->unarmed ? RETRY_NS / 1000000 : -1) < 0 && errno != EINTR)
			usleep(RETRY_NS / 1000); /* for want of memory: the next step tells what else is wrong */
	}
	return result < 0 ? result : 0;
}

int session_live(const struct session_rules *rules, const struct session_live_options *options,
		 struct asterism_diag *diag, struct session_totals *totals, struct session_outcome *outcome)
{
	uint32_t rule_count = rules ? session_rules_program(rules)->rule_count : 0;
	struct live *live;
	int result, finished;

	*outcome = (struct session_outcome){ 0 };
	*totals = (struct session_totals){ .rule_count = rule_count };
	totals->rules = alloc_zero(rule_count, sizeof *totals->rules);
	if (!totals->rules ||
	    (rules && options->counts_why && program_why_new(session_rules_program(rules), &totals->why)))
		return diag_no_memory(diag);
	result = live_open(rules, options, diag, &live);
	if (result)
		return result;
	outcome->began = true;
	result = observe_live(live);
	finished = live_finish(live, totals);
	live_part(live, outcome);
	live_close(live);
	return result ? result : finished;
}
