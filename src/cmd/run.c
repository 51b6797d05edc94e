// SPDX-License-Identifier: BSD-2-Clause
/* `asterism run`: finds constellations in the running system. */

#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/rules.h"
#include "cmd/sink.h"
#include "cmd/status.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A hangup ends the session like SIGTERM, unless whoever started us wants it ignored, as nohup does. */
static bool hangup_ends(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

static int open_signals(sigset_t *ends)
{
	int fd;

	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	if (hangup_ends())
		sigaddset(ends, SIGHUP);
	fd = signalfd(-1, ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		print_error("signals cannot be received: %m");
	return fd;
}

/* Exactly one of a command, processes and --all says what is observed. */
static int check_scope(const struct arguments *arguments)
{
	int ways =
		(arguments->launched != NULL) + (arguments->number_count != 0) + arguments_has(arguments, OPTION_ALL);

	if (ways == 1)
		return STATUS_FINE;
	if (ways == 0)
		print_error("what is to be observed?");
	else
		print_error("only one of '-- CMD', -p PID and -a can be given");
	print_hint("add '-- CMD' to launch a command, '-p PID' for a process, or '-a' for the whole machine");
	return STATUS_USAGE;
}

/* What the callbacks of a session need; the sink is first, so that it is the context of matches as well. */
struct observation {
	struct sink sink;
	struct asterism_diag *diag;
	sigset_t ends; /* the signals that end the session */
	bool verbose;
};

/*
 * From here on the signals come through their descriptor, and a closed pipe is an error code; a signal that came
 * earlier, perhaps during a long load, has ended the process, and the kernel has cleaned up. What was said on the
 * way here - warnings, rules that run in user space - is told before the first match.
 */
static void on_start(void *context)
{
	struct observation *observation = context;

	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &observation->ends, NULL);
	if (observation->diag) {
		print_diag(observation->diag);
		asterism_diag_clear(observation->diag);
	}
	if (observation->verbose)
		print_note("observing");
}

static void tell_end(const struct session_outcome *outcome)
{
	if (outcome->command_alive)
		print_note("the command goes on without being observed (process %d)", outcome->command_pid);
}

static int observe(const struct arguments *arguments, const struct session_rules *rules,
		   struct session_live_options options)
{
	struct observation observation = { .verbose = arguments_has(arguments, OPTION_VERBOSE) };
	struct sink *sink = &observation.sink;
	struct session_outcome outcome;
	struct session_totals totals;
	int status = sink_open(sink, arguments, session_rules_program(rules));

	if (status)
		return status;
	options.signal_fd = open_signals(&observation.ends);
	if (options.signal_fd < 0) {
		sink_abandon(sink);
		return STATUS_USAGE;
	}
	observation.diag = asterism_diag_new();
	options.on_match = sink_match;
	options.on_start = on_start;
	options.on_pause = sink_flush;
	options.context = &observation;
	int result = session_live(rules, &options, observation.diag, &totals, &outcome);

	if (observation.diag)
		print_diag(observation.diag);
	asterism_diag_free(observation.diag);
	close(options.signal_fd);
	if (result && result != -EPIPE) {
		sink_abandon(sink);
		status = cmd_status_of(result);
	} else {
		tell_end(&outcome);
		status = sink_close(sink, &totals);
		if (!status)
			status = sink_status(sink, arguments, &totals, outcome.command_status);
	}
	session_totals_fini(&totals);
	return status;
}

static int run(const struct arguments *arguments)
{
	struct session_live_options options = {
		.command = arguments->launched,
		.pid_count = arguments->number_count,
		.all = arguments_has(arguments, OPTION_ALL),
		.for_ns = arguments->options[OPTION_FOR].number,
	};
	struct session_rules *rules;
	pid_t *pids;
	int status = check_scope(arguments);

	if (status)
		return status;
	status = cmd_read_rules(arguments->operands, arguments->operand_count, &rules);
	if (status)
		return status;
	pids = alloc_zero(arguments->number_count, sizeof *pids);
	for (size_t i = 0; pids && i < arguments->number_count; i++)
		pids[i] = (pid_t)arguments->numbers[i];
	options.pids = pids;
	status = pids ? observe(arguments, rules, options) : STATUS_USAGE;
	alloc_free(pids);
	session_rules_free(rules);
	return status;
}

static const struct command_example examples[] = {
	{ "asterism run slow-syscall.rule -- cp -r src dst",
	  "Launches cp and reports its system calls that take more than 10 ms." },
	{ "asterism run slow-syscall.rule -p 1234 --for 10s -f json",
	  "Observes a process for ten seconds; one JSON object per match." },
	{ "asterism run deadlock.rule -a --fail-on-match --for 1min",
	  "Observes the machine for a minute; the exit status is 1 if there was a deadlock." },
	{ NULL, NULL },
};

const struct command command_run = {
	.name = "run",
	.summary = "find constellations in the running system, inside its kernel",
	.operands = "FILE... [-- CMD [ARG...] | -p PID... | -a]",
	.description =
		"Compiles the rules, loads them into the kernel and reports every match at the moment it completes. "
		"What is "
		"observed is a command that is launched, with all its descendants; processes that run already (-p); or "
		"the whole machine (-a). asterism's own threads are never observed. This needs root, or CAP_BPF and "
		"CAP_PERFMON.\n\n"
		"The session ends when the command or the processes have ended, after --for, or at Ctrl-C, SIGTERM or "
		"SIGHUP; "
		"nothing "
		"stays in the kernel. A launched command that still runs gets SIGTERM when --for is over. At Ctrl-C "
		"the "
		"command gets the signal, too, and two seconds to end; a second Ctrl-C ends the session at once.\n\n"
		"Matches go to standard output or to the file of -o, everything else to standard error. With -f json "
		"the last "
		"line holds the statistics.",
	.options = { OPTION_ALL, OPTION_FAIL_ON_MATCH, OPTION_FOR, OPTION_FORMAT, OPTION_OUTPUT, OPTION_PID,
		     OPTION_QUIET, OPTION_VERBOSE },
	.examples = examples,
	.operands_min = 1,
	.launches = true,
	.run = run,
};
