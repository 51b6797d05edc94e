// SPDX-License-Identifier: BSD-2-Clause
/* `asterism run`: runs rules over the live system. */

#include "cli/print.h"
#include "cmd/help-failures.h"
#include "cmd/input/rules.h"
#include "cmd/observe.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/sink.h"

#include <errno.h>
#include <inttypes.h>

/* What the callbacks of a session need; the sink is first, so that it is the context of matches as well. */
struct run {
	struct sink sink;
	struct observation observation;
	struct recording_options recording;
	struct selection selection;
};

static void run_on_start(void *context)
{
	struct run *run = context;

	observe_start(&run->observation);
}

static int run_on_pause(void *context)
{
	struct run *run = context;

	observe_report_news(&run->observation);
	return sink_flush(&run->sink);
}

/* What only makes sense together with --snapshot must not be silently without effect. */
static int check_no_snapshots(const struct cli_arguments *arguments)
{
	static const struct {
		enum option_id id;
		const char *name;
	} options[] = { { OPTION_EVENTS, "-e" }, { OPTION_RING, "--ring" }, { OPTION_LAST, "--last" } };

	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!cli_has(arguments, options[i].id))
			continue;
		cli_error("%s needs --snapshot DIR", options[i].name);
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

/* --snapshot: what is kept beside the rules, and how much of it. */
static int prepare_snapshots(struct run *run, const struct cli_arguments *arguments, const struct session_rules *rules)
{
	const char *path = arguments->options[OPTION_SNAPSHOT].text;
	int status;

	if (!path)
		return check_no_snapshots(arguments);
	run->recording = (struct recording_options){
		.path = path,
		.flight = true,
		.mode = (mode_t)arguments->options[OPTION_MODE].number,
		.what = &run->selection,
		.ring_bytes = arguments->options[OPTION_RING].number,
		.last_ns = arguments->options[OPTION_LAST].number,
	};
	status = observe_select(arguments, rules, session_rules_catalog(rules), selection_default, &run->selection);
	run->observation.options.recording = &run->recording;
	return status;
}

static void report_snapshots(struct run *run, const struct session_totals *totals)
{
	if (!run->observation.options.recording)
		return;
	if (totals->recording.snapshots)
		cli_note("%" PRIu64 " snapshot%s in %s", totals->recording.snapshots,
			 totals->recording.snapshots == 1 ? "" : "s", run->recording.path);
	observe_report_refused(&totals->recording);
	run->sink.has_lost |= observe_report_unwritten(&totals->recording);
}

static void on_run_crowd(void *context, uint32_t rule, const struct program_rule_stats *stats)
{
	sink_crowd(&((struct run *)context)->sink, rule, stats);
}

static void on_run_bypass(void *context, uint32_t rule, const struct program_rule_stats *stats)
{
	sink_bypass(&((struct run *)context)->sink, rule, stats);
}

static int observe_rules(struct run *run, const struct cli_arguments *arguments, const struct session_rules *rules)
{
	struct session_live_options *options = &run->observation.options;
	struct sink *sink = &run->sink;
	struct session_outcome outcome;
	struct session_totals totals;
	int status = sink_open(sink, arguments, session_rules_program(rules));

	if (status)
		return status;
	sink->is_live = true;
	options->on_match = sink_match;
	options->least_severity = sink->least_severity;
	options->counts_why = sink_counts_why(sink);
	options->on_aggregate = sink_aggregate;
	options->on_start = run_on_start;
	options->on_pause = run_on_pause;
	options->on_crowd = on_run_crowd;
	options->on_bypass = on_run_bypass;
	options->context = run;
	int result = session_live(rules, options, run->observation.diag, &totals, &outcome);

	cli_print(run->observation.diag);
	if (!outcome.began) {
		sink_abandon(sink);
	} else {
		observe_report_end(&run->observation, &outcome, &totals);
		observe_report_stops(&totals);
		report_snapshots(run, &totals);
		sink_close(sink, &totals);
		status = sink_status(sink, arguments, &totals, outcome.command_status);
	}
	if (result && result != -EPIPE)
		status = cmd_status_of(result);
	session_totals_fini(&totals);
	return status;
}

static int run_live(const struct cli_arguments *arguments)
{
	struct session_rules *rules = NULL;
	struct run run = { 0 };
	int status = observe_init(&run.observation, arguments);

	if (!status)
		status = observe_allow(&run.observation, arguments);
	if (!status)
		status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);
	if (!status)
		status = prepare_snapshots(&run, arguments, rules);
	if (!status)
		status = observe_rules(&run, arguments, rules);
	observe_fini(&run.observation);
	selection_fini(&run.selection);
	session_rules_free(rules);
	return status;
}

static const struct cli_example run_examples[] = {
	{ "asterism run slow-syscall.rule -- cp -r src dst",
	  "Launches cp and reports each of its system calls that takes more than 10 ms." },
	{ "asterism run -r '[sys_enter:a, sys_exit:b] WHERE {[tid], b.ts - a.ts > 10ms} RETURN {a.id}' -- cp -r src "
	  "dst",
	  "The same with a rule as text." },
	{ "asterism run slow-syscall.rule -p 1234 --for 10s -f json",
	  "Observes a process for ten seconds; one JSON object per match." },
	{ "asterism run @deadlock -a --fail-on-match --for 1min",
	  "Observes the machine for a minute; the exit status is 1 if there was a deadlock." },
	{ "asterism run slow-syscall.rule -p 1234 --snapshot /tmp/slow --last 2s",
	  "Whenever a system call was slow, writes a trace of the two seconds before." },
	{ "asterism run deadlock.rule -p 1234 --allow-actions",
	  "Allows the actions of the rule, such as ending a process." },
	{ NULL, NULL },
};

const struct cli_command cmd_run = {
	.name = "run",
	.summary = "run rules over the live system, inside its kernel",
	.operands = "{FILE | -r TEXT}... [-- CMD [ARG...] | -p PID... | -a]",
	.description =
		"Compiles the rules, loads them into the kernel and reports each match when it completes. It observes "
		"a command that it launches, processes that already run (-p), or the whole machine (-a); descendants "
		"of the command and of the processes are observed, too. asterism's own threads are never observed. "
		"This needs root, or CAP_BPF and CAP_PERFMON. A FILE may be @NAME, a shipped rule, or @all: 'asterism "
		"rules' lists them.\n\nThe session ends when the command or the processes have ended, after --for, or "
		"at Ctrl-C, SIGTERM or SIGHUP; nothing stays in the kernel. A launched command that still runs when "
		"--for is over gets SIGTERM. Ctrl-C also reaches the command, which then has two seconds to end; a "
		"second Ctrl-C ends the session at once. A command that ignores the signal continues unobserved; a "
		"note shows its process id, and the exit status is 128 plus the signal number.\n\n--cgroup, "
		"--container, --unit, --comm and --user narrow this down to the processes that they select, and their "
		"descendants; without a command, -p or -a they select from the whole machine. Repeating one of them, "
		"or mixing the first three, means OR; --comm and --user are ANDed on top. A process that was selected "
		"once stays observed.\n\nMatches go to standard output or to the file of -o, everything else to "
		"standard error. With -f json the last line holds the statistics.\n\n--snapshot DIR also keeps events "
		"in memory, where the newest replace the oldest. -e says which events (default: those that the rules "
		"name, and those about processes, switches, system calls and faults), --ring how much memory, --last "
		"how far back a snapshot goes. At each match, and at SIGUSR1, asterism writes these events as a trace "
		"in a new directory below DIR; a match is annotated in it. 'asterism dump DIR/RULE-1' shows the first "
		"snapshot of a rule, and 'asterism replay' reads it, too.\n\nWhen a rule matches, the actions in its "
		"DO { CALL ... } are carried out: in the kernel where possible, before the thread that completed the "
		"match continues, else by asterism. 'asterism help actions' lists all actions. Those that change the "
		"system are only reported unless --allow-actions or the file of --policy allows them. They never "
		"affect process 1, asterism itself or, unless the policy says outside-scope, a process that is not "
		"observed. When the session ends, stopped and frozen processes continue, and boosted priorities are "
		"restored.",
	.options = { OPTION_CGROUP,
		     OPTION_CONTAINER,
		     OPTION_UNIT,
		     OPTION_COMM,
		     OPTION_USER,
		     OPTION_ALL,
		     OPTION_ALLOW_ACTIONS,
		     OPTION_ASK,
		     OPTION_EVENTS,
		     OPTION_EXCEPT,
		     OPTION_FAIL_ON_MATCH,
		     OPTION_FOR,
		     OPTION_FORMAT,
		     OPTION_LAST,
		     OPTION_MATCH_LIMIT,
		     OPTION_MIN_SEVERITY,
		     OPTION_MODE,
		     OPTION_NO_CHILDREN,
		     OPTION_ORDER_BY,
		     OPTION_OUTPUT,
		     OPTION_PID,
		     OPTION_POLICY,
		     OPTION_QUIET,
		     OPTION_RING,
		     OPTION_RULE,
		     OPTION_SET,
		     OPTION_SNAPSHOT,
		     OPTION_VERBOSE,
		     OPTION_WAIT,
		     OPTION_WHEN,
		     OPTION_WHY },
	.examples = run_examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.sections = (const struct cli_section *const[]){ &help_failures, NULL },
	.launches = true,
	.run = run_live,
};
