// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how a live session begins, waits and ends. Order of the beginning: what is to be observed is checked and held
 * (the command exists and waits, the processes are there), then everything is attached, then the scope is filled, and
 * only then does the command run; so a wrong command line attaches nothing, and the first event is not missed.
 */

#include "session/live/live.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/live/launch.h"
#include "session/live/parts.h"
#include "session/seccomp/veto.h"

#include <errno.h>
#include <signal.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* How long a command that was told to end is waited for. */
#define GRACE_NS 2000000000ull

/* How often progress is told. */
#define PROGRESS_NS 200000000ull

/* How often it is looked whether the command stands still, and how long it does before that is told. */
#define STILL_NS 1000000000ull

/* How soon what failed is tried again. */
enum { RETRY_NS = 20 * 1000 * 1000 };

/* How often it is looked who remains until nobody does: a child may be made, and its parent gone, during a look. */
enum { LOOKS = 8 };

/* Of a command that somebody else has reaped, as a shell's wait has it. */
enum { STATUS_UNKNOWN = 127 };

enum watch { WATCH_PARTS, WATCH_TIMER, WATCH_SIGNAL, WATCH_COMMAND, WATCH_PID, WATCH_REMAINING };

struct live {
	const struct session_live_options *options;
	struct asterism_diag *diag;
	struct session_outcome outcome;
	struct veto *veto;
	struct session_parts parts;
	struct launch launch;
	int *pidfds; /* of options->pids; -1 once ended */
	size_t pids_left;
	size_t remaining_left; /* of the remaining ones: those that are waited for now */
	int remaining_fds[SESSION_REMAINING_NAMED];
	int epoll_fd, timer_fd;
	uint64_t end_ns; /* CLOCK_MONOTONIC when the session ends by itself; UINT64_MAX: never */
	uint64_t start_ns;
	uint64_t told_ns;  /* when progress was told last */
	uint64_t still_ns; /* since when the command is known to be stopped; 0: it is not */
	uint64_t next_still_ns;
	bool still_told;
	bool wants_saving;
	bool unarmed; /* the timer could not be set */
	bool done;
	int failed; /* what the session had to go on in spite of */
};

static void end(struct live *live, enum session_end why)
{
	live->outcome.end = why;
	live->done = true;
}

static int watch(struct live *live, int fd, enum watch what, size_t index)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)index << 8 | what };

	if (fd < 0 || epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return diag_error(live->diag, NULL, -errno, "waiting for events is not possible: %s", strerror(errno));
}

static int open_pid(struct live *live, pid_t pid)
{
	int fd;

	if (pid == getpid())
		return diag_error(live->diag, NULL, -EINVAL, "a session does not observe itself (process %d)", pid);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0)
		return fd;
	if (errno == ESRCH)
		return diag_error(live->diag, NULL, -EINVAL, "there is no process %d", pid);
	if (errno == EINVAL || errno == ENOENT)
		return diag_error(live->diag, NULL, -EINVAL, "%d is a thread, not a process", pid);
	return diag_error(live->diag, NULL, -EOPNOTSUPP, "process %d cannot be watched: %s", pid, strerror(errno));
}

static int open_pids(struct live *live)
{
	size_t count = live->options->pid_count;

	live->pidfds = alloc_zero(count, sizeof *live->pidfds);
	if (!live->pidfds)
		return diag_no_memory(live->diag);
	memset(live->pidfds, -1, count * sizeof *live->pidfds);
	for (size_t i = 0; i < count; i++) {
		int fd = open_pid(live, live->options->pids[i]), result;

		if (fd < 0)
			return fd;
		live->pidfds[i] = fd;
		live->pids_left++;
		result = watch(live, fd, WATCH_PID, i);
		if (result)
			return result;
	}
	return 0;
}

static int fill_scope(struct live *live)
{
	int result = 0;

	if (live->launch.pid) {
		launch_settle(&live->launch);
		result = session_parts_add(&live->parts, live->launch.pid);
	}
	for (size_t i = 0; i < live->options->pid_count && !result; i++) {
		result = session_parts_add(&live->parts, live->options->pids[i]);
		if (result == -ESRCH)
			return diag_error(live->diag, NULL, -EINVAL, "process %d ended before it could be observed",
					  live->options->pids[i]);
	}
	if (result)
		return diag_error(live->diag, NULL, result, "the scope of the session could not be set: %s",
				  strerror(-result));
	return 0;
}

static int begin(struct live *live, const struct session_rules *rules)
{
	const struct session_live_options *options = live->options;
	int result = 0;

	live->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	live->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (live->epoll_fd < 0 || live->timer_fd < 0)
		return diag_error(live->diag, NULL, -errno, "no descriptors to wait with: %s", strerror(errno));
	result = veto_new(rules, options->policy, options->command, live->diag, &live->veto);
	if (!result && options->command)
		result = launch_prepare(options->command, veto_filter(live->veto), live->diag, &live->launch);
	if (!result)
		result = open_pids(live);
	if (!result)
		result = session_parts_open(&live->parts, rules, options, live->veto, live->diag);
	if (!result)
		result = fill_scope(live);
	if (!result)
		result = watch(live, session_parts_fd(&live->parts), WATCH_PARTS, 0);
	if (!result)
		result = watch(live, session_parts_tape_fd(&live->parts), WATCH_PARTS, 0);
	if (!result)
		result = watch(live, veto_fd(live->veto), WATCH_PARTS, 0);
	if (!result)
		result = watch(live, session_parts_ask_fd(&live->parts), WATCH_PARTS, 0);
	if (!result)
		result = watch(live, live->timer_fd, WATCH_TIMER, 0);
	if (!result)
		result = watch(live, options->signal_fd, WATCH_SIGNAL, 0);
	if (!result && options->command)
		result = watch(live, live->launch.pidfd, WATCH_COMMAND, 0);
	if (result)
		return result;
	if (options->on_start)
		options->on_start(options->context);
	result = session_parts_seed(&live->parts, live->launch.pid);
	if (result)
		return diag_no_memory(live->diag);
	live->start_ns = clock_now_ns();
	live->end_ns = options->for_ns ? live->start_ns + options->for_ns : UINT64_MAX;
	result = veto_start(live->veto,
			    &(struct veto_command){ live->launch.pid, live->launch.error_fd, &live->launch.hold },
			    live->diag);
	return !result && options->command ? launch_go(&live->launch, options->command[0], live->diag) : result;
}

static void on_signal(struct live *live)
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
	if (!live->launch.pid || live->launch.reaped || live->outcome.signal) {
		live->outcome.signal = (int)info.ssi_signo;
		return end(live, SESSION_SIGNALLED);
	}
	/* The terminal has sent it to the command as well; anybody else meant us alone. Its last events still count. */
	live->outcome.signal = (int)info.ssi_signo;
	if (info.ssi_code != SI_KERNEL)
		kill(live->launch.pid, (int)info.ssi_signo);
	if (clock_now_ns() + GRACE_NS < live->end_ns)
		live->end_ns = clock_now_ns() + GRACE_NS;
}

static void watch_remaining(struct live *live)
{
	const struct session_remaining *remaining = &live->outcome.remaining;

	for (size_t i = 0; i < remaining->count && i < SESSION_REMAINING_NAMED; i++) {
		int fd = (int)syscall(SYS_pidfd_open, remaining->pids[i], 0);

		live->remaining_fds[i] = fd;
		live->remaining_left += fd >= 0 && watch(live, fd, WATCH_REMAINING, i) == 0;
	}
}

/* What the session was begun for has ended, and with it the session, unless there are others to wait for. */
static void end_or_wait(struct live *live)
{
	int looks = live->options->to_the_last ? LOOKS : 1;

	for (int look = 0; look < looks && !live->remaining_left; look++) {
		session_parts_remaining(&live->parts, &live->outcome.remaining);
		if (live->options->to_the_last)
			watch_remaining(live);
	}
	if (!live->remaining_left)
		end(live, live->options->command ? SESSION_COMMAND_ENDED : SESSION_PIDS_ENDED);
}

static void on_pid_end(struct live *live, size_t index)
{
	close(live->pidfds[index]);
	live->pidfds[index] = -1;
	if (--live->pids_left == 0)
		end_or_wait(live);
}

static void on_remaining_end(struct live *live, size_t index)
{
	close(live->remaining_fds[index]);
	live->remaining_fds[index] = -1;
	if (--live->remaining_left == 0)
		end_or_wait(live);
}

static void on_command_end(struct live *live)
{
	epoll_ctl(live->epoll_fd, EPOLL_CTL_DEL, live->launch.pidfd, NULL);
	if (live->outcome.signal)
		end(live, SESSION_SIGNALLED);
	else
		end_or_wait(live);
}

static void on_event(struct live *live, uint64_t data)
{
	uint64_t expirations;

	switch ((enum watch)(data & 0xff)) {
	case WATCH_PARTS:
		break;
	case WATCH_TIMER:
		if (read(live->timer_fd, &expirations, sizeof expirations) < 0)
			break;
		break;
	case WATCH_SIGNAL:
		on_signal(live);
		break;
	case WATCH_COMMAND:
		if (launch_reap(&live->launch, &live->outcome.command_status))
			on_command_end(live);
		break;
	case WATCH_PID:
		on_pid_end(live, data >> 8);
		break;
	case WATCH_REMAINING:
		on_remaining_end(live, data >> 8);
		break;
	}
}

/* Arms the timer for the earlier of the parts' wish and the session's end. */
static void arm(struct live *live, uint64_t now, uint64_t wait_ns)
{
	uint64_t at = wait_ns < UINT64_MAX - now ? now + wait_ns : UINT64_MAX;
	struct itimerspec when = { 0 };

	if (live->end_ns < at)
		at = live->end_ns;
	if (at != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(at / 1000000000);
		when.it_value.tv_nsec = (long)(at % 1000000000);
	}
	live->unarmed = timerfd_settime(live->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) != 0;
}

/* Handles the descriptors that are readable by now. */
static int take_events(struct live *live)
{
	struct epoll_event events[16];
	int count = epoll_wait(live->epoll_fd, events, sizeof events / sizeof *events, 0);

	if (count < 0 && errno != EINTR)
		return diag_error(live->diag, NULL, -errno, "waiting for events failed: %s", strerror(errno));
	for (int i = 0; i < count; i++)
		on_event(live, events[i].data.u64);
	return 0;
}

static void tell_progress(struct live *live, uint64_t now)
{
	struct tape_totals totals;

	if (!live->options->on_progress || !live->parts.tape || now - live->told_ns < PROGRESS_NS)
		return;
	live->told_ns = now;
	tape_count(live->parts.tape, &totals);
	live->options->on_progress(live->options->context, &totals);
}

/* A session that only waits for a command that is stopped says so: its user may not know that it is. */
static void watch_still(struct live *live, uint64_t now, uint64_t *wait_ns)
{
	if (!live->launch.pid || live->launch.reaped)
		return;
	if (*wait_ns > STILL_NS)
		*wait_ns = STILL_NS;
	if (now < live->next_still_ns)
		return;
	live->next_still_ns = now + STILL_NS / 2;
	if (!launch_is_stopped(&live->launch) || questions_are_open(live->parts.responses.questions)) {
		live->still_ns = 0;
		live->still_told = false;
		return;
	}
	live->still_ns = live->still_ns ? live->still_ns : now;
	if (live->still_told || now - live->still_ns < STILL_NS / 2)
		return;
	live->still_told = true;
	diag_add(live->diag, ASTERISM_WARNING, NULL, NULL,
		 "the command (process %d) is stopped, and the session waits for it: 'kill -CONT %d' lets it go on",
		 live->launch.pid, live->launch.pid);
}

/* What somebody asked for by a signal; while another snapshot waits for the disk, it waits, too. */
static void take_wanted(struct live *live)
{
	live->wants_saving = live->wants_saving && session_parts_save(&live->parts, false) == -EBUSY;
}

/* Hands out what has come, and tells how long the parts can wait for more. */
static int turn(struct live *live, uint64_t *wait_ns)
{
	int result = session_parts_poll(&live->parts, wait_ns);

	take_wanted(live);
	watch_still(live, clock_now_ns(), wait_ns);
	if (!result && live->options->on_pause)
		result = session_parts_told(&live->parts, live->options->on_pause(live->options->context));
	tell_progress(live, clock_now_ns());
	return result;
}

/* A session that somebody relies on ends when what it observes does, not because something fails. */
static int outlast(struct live *live, int result, uint64_t *wait_ns)
{
	if (result >= 0 || !live->parts.must_go_on)
		return result;
	if (!live->failed)
		diag_error(live->diag, NULL, result, "the session goes on though something fails: %s",
			   strerror(-result));
	live->failed = live->failed ? live->failed : result;
	if (*wait_ns > RETRY_NS)
		*wait_ns = RETRY_NS;
	return 0;
}

int live_fd(const struct live *live)
{
	return live->epoll_fd;
}

int live_step(struct live *live)
{
	uint64_t wait_ns = UINT64_MAX, now;
	int result = outlast(live, take_events(live), &wait_ns);

	if (!result) /* at the end, too: what came before it counts */
		result = outlast(live, turn(live, &wait_ns), &wait_ns);
	now = clock_now_ns();
	if (!result && !live->done && now >= live->end_ns) {
		end(live, live->outcome.signal ? SESSION_SIGNALLED : SESSION_TIME_UP);
		result = outlast(live, turn(live, &wait_ns), &wait_ns);
	}
	if (result)
		end(live, SESSION_STOPPED);
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
		{ .fd = live->launch.pidfd, .events = POLLIN },
		{ .fd = live->options->signal_fd, .events = POLLIN },
	};

	while (!launch_reap(&live->launch, &live->outcome.command_status)) {
		uint64_t now = clock_now_ns();

		if (now >= until || fds[1].revents)
			break;
		poll(fds, 2, until == UINT64_MAX ? -1 : (int)((until - now) / 1000000 + 1));
	}
}

void live_part(struct live *live, struct session_outcome *outcome)
{
	struct session_outcome *own = &live->outcome;

	own->command_pid = live->launch.pid;
	if (live->launch.pid && !live->launch.reaped) {
		if (own->end == SESSION_TIME_UP) {
			kill(live->launch.pid, SIGTERM);
			await_command(live, GRACE_NS);
		} else if (own->end == SESSION_STOPPED) {
			await_command(live, UINT64_MAX);
		}
		own->command_alive = !live->launch.reaped;
	}
	if (own->command_status < 0)
		own->command_status = STATUS_UNKNOWN;
	own->began = outcome->began;
	*outcome = *own;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	session_parts_close(&live->parts);
	veto_free(live->veto); /* a command that goes on without us has been judged until now */
	for (size_t i = 0; live->pidfds && i < live->options->pid_count; i++) {
		if (live->pidfds[i] >= 0)
			close(live->pidfds[i]);
	}
	alloc_free(live->pidfds);
	for (size_t i = 0; i < SESSION_REMAINING_NAMED; i++) {
		if (live->remaining_fds[i] >= 0)
			close(live->remaining_fds[i]);
	}
	launch_fini(&live->launch);
	if (live->timer_fd >= 0)
		close(live->timer_fd);
	if (live->epoll_fd >= 0)
		close(live->epoll_fd);
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
	live->epoll_fd = live->timer_fd = -1;
	memset(live->remaining_fds, -1, sizeof live->remaining_fds);
	result = begin(live, rules);
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
		session_parts_save(&live->parts, true);
	if (name)
		session_parts_snapshot(&live->parts, name, true);
	finished = session_parts_finish(&live->parts, totals);
	session_parts_close(&live->parts);
	return live->failed ? live->failed : finished;
}

/* Steps to the end. */
static int observe(struct live *live)
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
	if (!totals->rules)
		return diag_no_memory(diag);
	result = live_open(rules, options, diag, &live);
	if (result)
		return result;
	outcome->began = true;
	result = observe(live);
	finished = live_finish(live, totals);
	live_part(live, outcome);
	live_close(live);
	return result ? result : finished;
}
