// SPDX-License-Identifier: BSD-2-Clause
/* Reads whom a command observes, and handles its signals. */

#include "cmd/observe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/notify.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/status.h"
#include "cli/container-name.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/resource.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Preparations that take longer than this are worth a word. */
#define SLOW_START_NS UINT64_C(2000000000)
#define SLOW_END_NS   UINT64_C(1000000000)

/* A hangup ends the session like SIGTERM, unless our parent wants it ignored, as nohup does. */
static bool hangup_ends(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

static void on_harmless(int signal_number)
{
	(void)signal_number;
}

/*
 * Signals that end nothing, as what is observed would go on without us. A handler, and no mask: until all is attached
 * they come without being taken, and a launched command begins with what its caller had.
 */
static void take_harmless(sigset_t *taken)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, SIGALRM };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		const struct sigaction harmless = { .sa_handler = on_harmless, .sa_flags = SA_RESTART };
		struct sigaction action;

		sigaddset(taken, signals[i]);
		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
			sigaction(signals[i], &harmless, NULL);
	}
}

/*
 * Before the session begins a signal ends the process, and the kernel cleans up; but it is said what that means. The
 * handler is left to the parent: a child that is no command yet just ends.
 */
static const char *volatile not_begun;
static volatile pid_t own_pid;

static void on_early_signal(int signal_number)
{
	if (getpid() == own_pid && write(STDERR_FILENO, not_begun, strlen(not_begun)) < 0)
		own_pid = 0; /* there is no one left to be told */
	raise(signal_number);
}

static void report_early_signals(bool launches)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction early = { .sa_handler = on_early_signal, .sa_flags = (int)SA_RESETHAND };

	own_pid = getpid();
	not_begun = launches ? "asterism: error: interrupted before the session began; the command was not started\n"
			     : "asterism: error: interrupted before the session began; nothing was observed\n";
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
			sigaction(signals[i], &early, NULL);
	}
}

static int open_signals(sigset_t *taken)
{
	int fd;

	sigemptyset(taken);
	sigaddset(taken, SIGINT);
	sigaddset(taken, SIGTERM);
	if (hangup_ends())
		sigaddset(taken, SIGHUP);
	take_harmless(taken);
	fd = signalfd(-1, taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		cli_error("cannot receive signals: %m");
	return fd;
}

static const enum option_id filters[] = { OPTION_CGROUP, OPTION_CONTAINER, OPTION_UNIT, OPTION_COMM, OPTION_USER };

static bool has_filter(const struct cli_arguments *arguments)
{
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		if (cli_has(arguments, filters[i]))
			return true;
	}
	return false;
}

/* Whether all that passes the filters, if there are any, is observed. */
static bool is_everywhere(const struct cli_arguments *arguments)
{
	return !arguments->launched && !cli_has(arguments, OPTION_PID) &&
	       (cli_has(arguments, OPTION_ALL) || has_filter(arguments));
}

/* Exactly one of a command, processes and --all says what is observed; filters narrow it down, or stand for --all. */
static int check_scope(const struct cli_arguments *arguments)
{
	int ways = (arguments->launched != NULL) + cli_has(arguments, OPTION_PID) + cli_has(arguments, OPTION_ALL);

	ways = ways ? ways : has_filter(arguments);
	if (ways == 1 && is_everywhere(arguments) && cli_has(arguments, OPTION_WAIT)) {
		cli_error("--wait needs a command or -p");
		return STATUS_USAGE;
	}
	if (ways == 1 && (cli_has(arguments, OPTION_PID) || !cli_has(arguments, OPTION_NO_CHILDREN)))
		return STATUS_FINE;
	if (ways == 1) {
		cli_error("--no-children needs -p");
		return STATUS_USAGE;
	}
	if (ways == 0)
		cli_error("no processes to observe were named");
	else
		cli_error("'-- CMD', -p PID and -a exclude each other");
	cli_hint("add '-- CMD' to launch a command, '-p PID' for a process, or '-a' for the whole machine");
	return STATUS_USAGE;
}

static struct live_filter_list list_of(const struct cli_arguments *arguments, enum option_id id)
{
	const struct cli_value *value = &arguments->options[id];

	return (struct live_filter_list){ (const char *const *)value->texts, value->count };
}

static int find_filter(struct observation *observation, const struct cli_arguments *arguments)
{
	const struct live_filter_names names = {
		.cgroups = list_of(arguments, OPTION_CGROUP),
		.containers = list_of(arguments, OPTION_CONTAINER),
		.find_id = container_name_id,
		.units = list_of(arguments, OPTION_UNIT),
		.comms = list_of(arguments, OPTION_COMM),
		.users = list_of(arguments, OPTION_USER),
	};
	int result = live_filter_new(&names, observation->diag, &observation->filter);

	if (result)
		cli_print(observation->diag);
	asterism_diag_clear(observation->diag);
	observation->options.filter = live_filter_get(observation->filter);
	return cmd_status_of(result);
}

int observe_init(struct observation *observation, const struct cli_arguments *arguments)
{
	const struct cli_value *pids = &arguments->options[OPTION_PID];
	int status = check_scope(arguments);

	*observation = (struct observation){
		.options = { .command = arguments->launched,
			     .pid_count = pids->count,
			     .all = is_everywhere(arguments),
			     .no_children = cli_has(arguments, OPTION_NO_CHILDREN),
			     .to_the_last = cli_has(arguments, OPTION_WAIT),
			     .for_ns = arguments->options[OPTION_FOR].number,
			     .signal_fd = -1 },
		.verbose = cli_has(arguments, OPTION_VERBOSE),
		.begun_ns = clock_now_ns(),
	};
	if (status)
		return status;
	observation->pids = alloc_zero(pids->count, sizeof *observation->pids);
	observation->diag = asterism_diag_new();
	if (!observation->pids || !observation->diag) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	status = find_filter(observation, arguments);
	if (status)
		return status;
	for (size_t i = 0; i < pids->count; i++)
		observation->pids[i] = (pid_t)pids->numbers[i];
	observation->options.pids = observation->pids;
	observation->options.signal_fd = open_signals(&observation->taken);
	report_early_signals(arguments->launched != NULL);
	return observation->options.signal_fd < 0 ? STATUS_USAGE : STATUS_FINE;
}

/*
 * What the kernel's programs cannot do this process does, so it should not have to wait for a CPU. Whom it starts
 * begins as usual. Where this is not permitted, reactions come later, that is all.
 */
static void be_prompt(void)
{
	const struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0)
		setpriority(PRIO_PROCESS, 0, -20);
}

int observe_allow(struct observation *observation, const struct cli_arguments *arguments)
{
	const char *file = arguments->options[OPTION_POLICY].text;
	int result = 0;

	observation->policy.allows_all = cli_has(arguments, OPTION_ALLOW_ACTIONS);
	if (file && observation->policy.allows_all) {
		cli_error("--allow-actions and --policy exclude each other");
		cli_hint("--allow-actions allows all actions, --policy those that the file lists");
		return STATUS_USAGE;
	}
	if (file)
		result = policy_read(&observation->policy, file, observation->diag);
	observation->options.ask_command = arguments->options[OPTION_ASK].text;
	if (!result && (file || observation->policy.allows_all)) {
		observation->options.policy = &observation->policy;
		be_prompt();
	}
	if (result)
		cli_print(observation->diag);
	return result ? STATUS_USAGE : STATUS_FINE;
}

void observe_fini(struct observation *observation)
{
	if (observation->options.signal_fd >= 0)
		close(observation->options.signal_fd);
	asterism_diag_free(observation->diag);
	live_filter_free(observation->filter);
	alloc_free(observation->pids);
}

/*
 * Many rules take seconds to load, and a user who waits at a terminal for their first match wants to know from when on
 * they look.
 */
static void report_preparations(const struct observation *observation)
{
	uint64_t took = clock_now_ns() - observation->begun_ns;

	if ((took > SLOW_START_NS && isatty(STDERR_FILENO)) || observation->verbose)
		cli_note("observing, after %.1f s of preparation%s", (double)took / 1e9,
			 observation->options.command ? "; the command starts now"
						      : "; what happened before was not observed");
}

void observe_start(struct observation *observation)
{
	/* What limits our output (ulimit -f) or time (ulimit -t) fails a write, or nothing, but does not end the rules.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGXCPU, SIG_IGN);
	sigprocmask(SIG_BLOCK, &observation->taken, NULL);
	cli_print(observation->diag);
	asterism_diag_clear(observation->diag);
	report_preparations(observation);
	observation->started_ns = clock_now_ns();
	notify_ready();
}

/* A user who relies on rules that act is warned. */
static void report_remaining(const struct observation *observation, const struct session_remaining *remaining)
{
	char who[SESSION_REMAINING_NAMED * 16] = "";

	for (size_t i = 0, used = 0; i < remaining->count && i < SESSION_REMAINING_NAMED; i++)
		used += (size_t)snprintf(who + used, sizeof who - used, "%s%d", i ? ", " : "", remaining->pids[i]);
	(observation->options.policy ? cli_warning : cli_note)(
		"%zu observed process%s outlive%s %s and %s no longer observed: %s%s", remaining->count,
		remaining->count == 1 ? "" : "es", remaining->count == 1 ? "s" : "",
		observation->options.command ? "the command" : "the process of -p",
		remaining->count == 1 ? "is" : "are", who, remaining->count > SESSION_REMAINING_NAMED ? ", ..." : "");
	cli_hint("with --wait the session lasts until they end");
}

/* Probes in user code take the kernel seconds to detach; nothing is observed then any more. */
static void report_detaching(const struct observation *observation, uint64_t elapsed_ns)
{
	uint64_t since = clock_now_ns() - observation->started_ns;

	if (since > elapsed_ns + SLOW_END_NS && (isatty(STDERR_FILENO) || observation->verbose))
		cli_note("detaching the BPF programs took %.1f s; nothing was observed meanwhile",
			 (double)(since - elapsed_ns) / 1e9);
}

void observe_report_end(const struct observation *observation, const struct session_outcome *outcome,
			const struct session_totals *totals)
{
	bool is_over = outcome->end == SESSION_COMMAND_ENDED || outcome->end == SESSION_PIDS_ENDED;

	if (outcome->command_alive)
		cli_note("the command continues unobserved (process %d)", outcome->command_pid);
	if (is_over && outcome->remaining.count)
		report_remaining(observation, &outcome->remaining);
	report_detaching(observation, totals->elapsed_ns);
	if (observation->filter && !totals->events && !totals->recording.events)
		cli_note("no event came from a process that --cgroup, --container, --unit, --comm or --user select: "
			 "perhaps there is no such process");
}

void observe_report_stops(const struct session_totals *totals)
{
	if (totals->stops_refused)
		cli_warning("%" PRIu64 " times a process was not stopped: too many processes were stopped already",
			    totals->stops_refused);
	if (totals->requests_lost)
		cli_warning("%" PRIu64 " verdict requests came too fast and got the default answer",
			    totals->requests_lost);
}

void observe_report_news(struct observation *observation)
{
	cli_print(observation->diag);
	asterism_diag_clear(observation->diag);
}

bool observe_report_unwritten(const struct recording_totals *totals)
{
	if (totals->snapshots_cut)
		cli_warning("%" PRIu64 " snapshot%s could not be written completely", totals->snapshots_cut,
			    totals->snapshots_cut == 1 ? "" : "s");
	if (totals->unclosed)
		cli_warning("%" PRIu64 " trace%s may lack the last events: the disk did not confirm them",
			    totals->unclosed, totals->unclosed == 1 ? "" : "s");
	return totals->snapshots_cut || totals->unclosed;
}

void observe_report_refused(const struct recording_totals *totals)
{
	if (totals->snapshots_refused)
		cli_note("%" PRIu64 " matches have no snapshot of their own: they came within a second of the last "
			 "one, or after the %dth",
			 totals->snapshots_refused, SESSION_SNAPSHOTS_MAX);
}

/* What a list of events begins with where it only takes away. */
static bool only_excludes(const char *wanted)
{
	return wanted && *wanted == SELECTION_EXCLUDES;
}

int observe_select(const struct cli_arguments *arguments, const struct session_rules *rules,
		   struct event_catalog *catalog, const char *usual, struct selection *selection)
{
	const char *wanted = arguments->options[OPTION_EVENTS].text;
	bool for_report = cli_has(arguments, OPTION_FOR_REPORT);
	bool needs_usual = !rules || for_report || cli_has(arguments, OPTION_SNAPSHOT);
	struct asterism_diag *diag = asterism_diag_new();
	int result = diag ? cmd_add_catalogs(arguments, catalog, diag) : -ENOMEM;

	if (!result && rules)
		result = selection_add_program(selection, catalog, session_rules_program(rules), diag);
	if (!result && needs_usual && (!wanted || for_report || only_excludes(wanted)))
		result = selection_add_usual(selection, catalog, usual, diag);
	if (!result && wanted)
		result = selection_add(selection, catalog, wanted, diag);
	if (!result && arguments->options[OPTION_ABOUT].text)
		result = selection_add_about(selection, catalog, arguments->options[OPTION_ABOUT].text, diag);
	if (diag)
		cli_print(diag);
	else
		cli_error("out of memory");
	asterism_diag_free(diag);
	return cmd_status_of(result);
}
