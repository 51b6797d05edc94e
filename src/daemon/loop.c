// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main loop: everything that can wake the daemon is behind one epoll descriptor, each gets a bounded share per
 * turn, and once a second it looks at itself.
 */

#include "daemon/loop.h"

#include "base/clock.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "base/notify.h"
#include "daemon/sensors.h"

#include "sensor/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define TICK_NS UINT64_C(1000000000)

/* How soon an output that takes nothing is tried again. */
#define OUTPUT_PAUSE_NS UINT64_C(20000000)

/* Above its CPU limit for so many seconds, although matches are only counted, the daemon lets go of a unit. */
enum { PATIENCE_S = 3 };

/* What the descriptors are for; clients are TAG_CLIENTS and their number. */
enum tag { TAG_SESSION, TAG_LISTEN, TAG_SIGNAL, TAG_METRICS, TAG_SENSORS, TAG_CLIENTS };

static int add_watched_fd(struct daemon *daemon, int fd, enum tag tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	if (epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	log_line(LOG_LEVEL_ERROR, "cannot wait for events: %s", strerror(errno));
	return -errno;
}

/* What rules may do is not for others to say. A policy that is not there is the session's to complain of. */
static int check_policy(const char *file)
{
	struct stat status;

	if (!file || stat(file, &status) || daemon_trusts(&status))
		return 0;
	log_line(LOG_LEVEL_ERROR, "the policy %s is writable by users other than root", file);
	return -EPERM;
}

/* A daemon that sees nothing looks like one that finds nothing. */
static void on_exit_of(void *context, pid_t pid, int status)
{
	struct daemon *daemon = context;

	(void)pid;
	(void)status;
	if (--daemon->observed)
		return;
	log_line(LOG_LEVEL_WARNING, "all processes of --pid have ended%s; asterismd keeps running",
		 daemon->options->scope == ASTERISM_SCOPE_TREE ? " except descendants that still run" : "");
}

/* Whether the process was named before: it ends only once. */
static bool is_repeated(const struct options *options, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (options->pids[i] == options->pids[index])
			return true;
	}
	return false;
}

static int open_session(struct daemon *daemon)
{
	const struct options *options = daemon->options;
	const struct asterism_session_options session = {
		.size = sizeof session,
		.scope = options->scope,
		.cgroups = options->cgroups,
		.containers = options->containers,
		.units = options->units,
		.comms = options->comms,
		.users = options->users,
		.on_match = daemon_on_match,
		.on_ask = daemon_on_ask,
		.on_aggregate = daemon_on_aggregate,
		.on_exit = on_exit_of,
		.context = daemon,
		.allow_actions = options->allow_actions,
		.policy_file = options->policy,
		.measure = options->measure,
		.count_transitions = options->count_transitions,
	};
	struct asterism_diag *diag = asterism_diag_new();
	int result = diag ? asterism_session_open(&session, diag, &daemon->session) : -ENOMEM;
	const struct asterism_message *message;

	for (size_t i = 0; diag && (message = asterism_diag_get(diag, i)); i++)
		log_line(LOG_LEVEL_ERROR, "%s", message->text);
	asterism_diag_free(diag);
	for (size_t i = 0; !result && i < options->pid_count; i++) {
		result = asterism_session_add_process(daemon->session, options->pids[i]);
		if (result)
			log_line(LOG_LEVEL_ERROR, "%s", asterism_session_error(daemon->session));
		else
			daemon->observed += !is_repeated(options, i);
	}
	return result;
}

static int open_signals(void)
{
	sigset_t taken;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGXCPU, SIG_IGN);
	sigemptyset(&taken);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &taken, NULL))
		return -errno;
	return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int watch_all(struct daemon *daemon)
{
	int result = add_watched_fd(daemon, asterism_session_fd(daemon->session), TAG_SESSION);

	if (!result)
		result = add_watched_fd(daemon, daemon->clients.listen_fd, TAG_LISTEN);
	if (!result)
		result = add_watched_fd(daemon, daemon->signal_fd, TAG_SIGNAL);
	if (!result && daemon->metrics)
		result = add_watched_fd(daemon, expose_server_fd(daemon->metrics), TAG_METRICS);
	if (!result && daemon->sensors)
		result = add_watched_fd(daemon, sensor_directory_fd(daemon->sensors), TAG_SENSORS);
	return result;
}

static int open_parts(struct daemon *daemon, const struct options *options)
{
	int result = recordings_open(&daemon->recordings, options);

	if (!result)
		result = clients_open(&daemon->clients, options->socket, options->group);

	if (!result && options->metrics)
		result = metrics_open(daemon, options->metrics, &daemon->metrics);
	if (!result && options->sensors)
		result = sensors_open(options, &daemon->sensors);
	return result ? result : watch_all(daemon);
}

/* Somebody counts on the rules of the directory: without any of them there is nothing to stay for. */
static enum daemon_status open_directory(struct daemon *daemon)
{
	size_t wrong = 0, active;

	if (daemon_read_directory(daemon, &wrong))
		return DAEMON_USAGE;
	active = units_active(&daemon->units);
	if (wrong && !active) {
		log_line(LOG_LEVEL_ERROR, "no rule file in %s could be loaded", daemon->options->rules);
		return DAEMON_USAGE;
	}
	if (wrong)
		log_line(LOG_LEVEL_WARNING, "%zu of %zu rule files in %s could not be loaded", wrong, wrong + active,
			 daemon->options->rules);
	if (!active)
		log_line(LOG_LEVEL_WARNING, "%s has no rule files: nothing is detected until rules are loaded",
			 daemon->options->rules);
	return DAEMON_FINE;
}

/* What is no group, address, policy or process is a wrong command line. */
static enum daemon_status status_of(int result)
{
	if (!result)
		return DAEMON_FINE;
	return result == -EINVAL || result == -ESRCH ? DAEMON_USAGE : DAEMON_FAILED;
}

enum daemon_status daemon_loop_open(struct daemon *daemon, const struct options *options)
{
	enum daemon_status status;

	*daemon = (struct daemon){ .options = options, .started_ns = clock_now_ns() };
	daemon->budget.memory_max_bytes = options->memory_max_bytes;
	daemon->budget.cpu_max_percent = options->cpu_max_percent;
	daemon->clients.serve = daemon_serve;
	daemon->clients.context = daemon;
	daemon->clients.tag = TAG_CLIENTS;
	daemon->output.fd = daemon->clients.listen_fd = -1;
	daemon->signal_fd = open_signals();
	daemon->epoll_fd = daemon->clients.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (daemon->signal_fd < 0 || daemon->epoll_fd < 0) {
		log_line(LOG_LEVEL_ERROR, "cannot create an epoll descriptor");
		return DAEMON_FAILED;
	}
	if (check_policy(options->policy))
		return DAEMON_FAILED;
	status = status_of(open_session(daemon));
	if (status)
		return status;
	status = trial_run(daemon->session);
	if (status)
		return status;
	if (output_open(&daemon->output, options->output, options->mode))
		return DAEMON_FAILED;
	status = status_of(open_parts(daemon, options));
	return status ? status : open_directory(daemon);
}

void daemon_loop_close(struct daemon *daemon)
{
	notify_stopping();
	clients_close(&daemon->clients);
	expose_server_close(daemon->metrics);
	sensor_directory_close(daemon->sensors);
	recordings_close(&daemon->recordings);
	while (daemon->units.first)
		units_remove(&daemon->units, daemon->units.first);
	asterism_session_free(daemon->session);
	output_flush(&daemon->output, clock_now_ns());
	output_close(&daemon->output);
	if (daemon->signal_fd >= 0)
		close(daemon->signal_fd);
	if (daemon->epoll_fd >= 0)
		close(daemon->epoll_fd);
}

enum { WARNINGS_MAX = 20 }; /* in a second: applications cause some */

static void tell_warnings(struct daemon *daemon)
{
	const struct asterism_diag *diag = asterism_session_diag(daemon->session);
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++) {
		if (message->severity != ASTERISM_WARNING || daemon->warnings++ >= WARNINGS_MAX)
			continue;
		log_line(LOG_LEVEL_WARNING, message->hint ? "%s (%s)" : "%s", message->text, message->hint);
	}
}

static void count_warnings(struct daemon *daemon)
{
	if (daemon->warnings > WARNINGS_MAX)
		log_line(LOG_LEVEL_WARNING, "%" PRIu64 " further warnings in the same second",
			 daemon->warnings - WARNINGS_MAX);
	daemon->warnings = 0;
}

static void dispatch_events(struct daemon *daemon)
{
	int result = asterism_session_dispatch(daemon->session);

	tell_warnings(daemon);
	if (result < 0 && result != daemon->dispatch_error)
		log_line(LOG_LEVEL_ERROR, "cannot process events: %s", asterism_session_error(daemon->session));
	daemon->dispatch_error = result < 0 ? result : 0;
}

static void take_signals(struct daemon *daemon)
{
	struct signalfd_siginfo info;

	while (read(daemon->signal_fd, &info, sizeof info) == sizeof info) {
		switch (info.ssi_signo) {
		case SIGHUP:
			notify_reloading();
			daemon_read_directory(daemon, NULL);
			daemon->reloads++;
			output_reopen(&daemon->output);
			notify_ready();
			break;
		case SIGUSR1:
			output_reopen(&daemon->output);
			break;
		default:
			daemon->is_ending = true;
		}
	}
}

/* The unit with rules in user space that has seen most events in the last second. */
static struct unit *noisiest(const struct daemon *daemon)
{
	struct unit *found = NULL;
	uint64_t most = 0;

	for (struct unit *unit = daemon->units.first; unit; unit = unit->next) {
		struct asterism_rules_stats stats = { .size = sizeof stats };
		uint64_t events;

		if (!unit_is_active(unit) || asterism_rules_stats(unit->rules, &stats))
			continue;
		events = stats.events - unit->events;
		unit->events = stats.events;
		if (events >= most && unit_is_in_user_space(unit)) {
			found = unit;
			most = events;
		}
	}
	return found;
}

static void keep_to_budget(struct daemon *daemon, uint64_t now_ns)
{
	struct budget *budget = &daemon->budget;
	struct unit *unit;

	if (!budget->cpu_max_percent)
		return;
	budget_look(budget, now_ns);
	if (!budget->seconds_above)
		return; /* a look at every unit is work, too */
	unit = noisiest(daemon);
	if (budget->seconds_above == 1)
		log_line(LOG_LEVEL_WARNING,
			 "using %u %% of a CPU, %u %% is allowed (--cpu-max): matches are only counted from now on",
			 budget->cpu_percent, budget->cpu_max_percent);
	if (budget->seconds_above < PATIENCE_S || !unit)
		return;
	log_line(LOG_LEVEL_WARNING, "%s: deactivated, because it used too much CPU time (--cpu-max)", unit->name);
	asterism_rules_deactivate(unit->rules);
	snprintf(unit->error, sizeof unit->error, "deactivated: it used too much CPU time (--cpu-max)");
	budget->seconds_above = 1;
}

static void tick(struct daemon *daemon, uint64_t now_ns)
{
	daemon->next_tick_ns = now_ns + TICK_NS;
	daemon_count_second(daemon);
	recordings_look(&daemon->recordings, now_ns);
	count_warnings(daemon);
	if (daemon->sensors)
		sensors_look(daemon->sensors, now_ns, &daemon->sensors_told);
	keep_to_budget(daemon, now_ns);
	if (daemon->metrics)
		expose_server_step(daemon->metrics);
	notify_alive();
}

static void handle(struct daemon *daemon, const struct epoll_event *event)
{
	switch (event->data.u64) {
	case TAG_SESSION:
		dispatch_events(daemon);
		break;
	case TAG_LISTEN:
		clients_accept(&daemon->clients);
		break;
	case TAG_SIGNAL:
		take_signals(daemon);
		break;
	case TAG_SENSORS:
		sensors_serve(daemon->sensors, &daemon->is_unreachable);
		break;
	case TAG_METRICS:
		expose_server_step(daemon->metrics);
		break;
	default:
		clients_step(&daemon->clients, event->data.u64 - TAG_CLIENTS, event->events);
	}
}

/* Everything that is due, and when something is due next. */
static uint64_t look_after_daemon(struct daemon *daemon)
{
	uint64_t now_ns = clock_now_ns(), next_ns;

	if (now_ns >= daemon->next_tick_ns)
		tick(daemon, now_ns);
	next_ns = clients_poll(&daemon->clients, now_ns);
	output_flush(&daemon->output, now_ns);
	if (output_is_pending(&daemon->output) && now_ns + OUTPUT_PAUSE_NS < next_ns)
		next_ns = now_ns + OUTPUT_PAUSE_NS;
	return next_ns < daemon->next_tick_ns ? next_ns : daemon->next_tick_ns;
}

int daemon_loop_run(struct daemon *daemon)
{
	struct epoll_event events[32];

	while (!daemon->is_ending) {
		uint64_t next_ns = look_after_daemon(daemon), now_ns = clock_now_ns();
		int wait_ms = next_ns > now_ns ? (int)((next_ns - now_ns) / 1000000 + 1) : 0;
		int count = epoll_wait(daemon->epoll_fd, events, sizeof events / sizeof *events, wait_ms);

		if (count < 0 && errno != EINTR) {
			log_line(LOG_LEVEL_ERROR, "cannot wait for events: %s", strerror(errno));
			return -errno;
		}
		for (int i = 0; i < count; i++)
			handle(daemon, &events[i]);
	}
	return 0;
}
