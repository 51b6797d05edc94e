// SPDX-License-Identifier: BSD-2-Clause
/* `asterism record`: writes what happens in the running system to a trace. */

#include "cli/print.h"
#include "cmd/help-failures.h"
#include "cmd/input/rules.h"
#include "cmd/observe.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/sensors.h"
#include "cmd/text/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* What the callbacks of a session need; the sink is first, so that it is the context of matches as well. */
struct record {
	struct sink sink;
	struct observation observation;
	struct session_rules *rules;   /* that run; NULL: none */
	struct session_rules *needing; /* that only say what is recorded; NULL: none */
	struct event_catalog *catalog; /* where there are no rules */
	struct selection selection;
	struct recording_options recording;
	bool shows_progress, shown;
};

static void record_on_start(void *context)
{
	struct record *record = context;

	observe_start(&record->observation);
}

/* A size as people say it; good until four more are made. */
static const char *size_text(uint64_t bytes)
{
	static char texts[4][24];
	static unsigned next;
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	char *text = texts[next++ % 4];
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit < sizeof units / sizeof *units - 1; unit++)
		value /= 1024;
	snprintf(text, sizeof texts[0], unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

static void record_on_progress(void *context, const struct recording_totals *totals)
{
	struct record *record = context;
	uint64_t lost = totals->overwritten + totals->dropped + totals->unread + totals->missed;

	if (!record->shows_progress)
		return;
	record->shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " events, %s", totals->events, size_text(totals->bytes));
	if (lost)
		fprintf(stderr, ", %" PRIu64 " lost", lost);
	fflush(stderr);
}

static void hide_record_progress(struct record *record)
{
	if (record->shown)
		fputs("\r\033[K", stderr);
	record->shown = false;
}

static int record_on_pause(void *context)
{
	struct record *record = context;

	if (asterism_diag_get(record->observation.diag, 0))
		hide_record_progress(record);
	observe_report_news(&record->observation);
	return record->rules ? sink_flush(&record->sink) : 0;
}

static int record_on_match(void *context, const struct program_match *match)
{
	struct record *record = context;

	hide_record_progress(record);
	return sink_match(&record->sink, match);
}

static int record_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct record *record = context;

	hide_record_progress(record);
	return sink_aggregate(&record->sink, report);
}

static void on_record_crowd(void *context, uint32_t rule, const struct program_rule_stats *stats)
{
	struct record *record = context;

	hide_record_progress(record);
	sink_crowd(&record->sink, rule, stats);
}

static void on_record_bypass(void *context, uint32_t rule, const struct program_rule_stats *stats)
{
	struct record *record = context;

	hide_record_progress(record);
	sink_bypass(&record->sink, rule, stats);
}

static void report_losses(const struct recording_totals *totals)
{
	uint64_t sensed = totals->sensors.overwritten, overwritten = totals->overwritten - sensed;

	if (sensed)
		cli_warning("%" PRIu64
			    " events of sensors were lost: they came faster than they could be written, or found "
			    "no ring",
			    sensed);
	if (sensed)
		sensors_advise_rings();
	if (overwritten)
		cli_warning("%" PRIu64 " events were lost: they came faster than they could be written", overwritten);
	if (overwritten)
		cli_hint("use a larger --ring, or record fewer events (-e). The ring had %" PRIu64 "K per CPU",
			 totals->ring_bytes >> 10);
	if (totals->unwritten)
		cli_warning("%" PRIu64 " events were lost: they could not be written", totals->unwritten);
	if (totals->unmarked)
		cli_warning("%" PRIu64
			    " matches are not annotated in the trace: they could not be written, or came too fast",
			    totals->unmarked);
	if (totals->dropped)
		cli_warning("%" PRIu64 " events were lost: there was no room in the ring", totals->dropped);
	if (totals->unread)
		cli_warning("%" PRIu64 " events are missing: a value in them, or one that decides whether they "
			    "happened, could not be read from memory",
			    totals->unread);
	if (totals->missed)
		cli_warning("%" PRIu64 " events were lost: the kernel did not run the recording program",
			    totals->missed);
	if (totals->calls_32bit)
		cli_warning("%" PRIu64 " system call%s of 32-bit code (i386 programs, int 0x80) %s not in the trace: "
			    "they raise no event",
			    totals->calls_32bit, totals->calls_32bit == 1 ? "" : "s",
			    totals->calls_32bit == 1 ? "is" : "are");
	if (totals->io_uring)
		cli_warning("%" PRIu64 " operation%s of io_uring that %s what a system call does %s not in the trace: "
			    "they raise no event",
			    totals->io_uring, totals->io_uring == 1 ? "" : "s", totals->io_uring == 1 ? "does" : "do",
			    totals->io_uring == 1 ? "is" : "are");
}

static void report_sensors(const struct recording_sensors_totals *sensors)
{
	sensors_report_unannounced(&sensors->unannounced, sensors->out_of_scope);
	sensors_report_unknown(sensors->unknown);
	sensors_report_unfinished(sensors->unfinished);
	if (sensors->late)
		cli_note("%" PRIu64
			 " events of sensors are in the trace after newer ones: their threads were stopped meanwhile",
			 sensors->late);
}

static void report_totals(struct record *record, const struct session_totals *totals)
{
	const struct recording_totals *recording = &totals->recording;
	double seconds = (double)totals->elapsed_ns / 1e9;

	hide_record_progress(record);
	if (record->recording.flight)
		cli_note("%" PRIu64 " events in %.3g s; %" PRIu64 " snapshot%s, %s, in %s", recording->events, seconds,
			 recording->snapshots, recording->snapshots == 1 ? "" : "s", size_text(recording->bytes),
			 record->recording.path);
	else
		cli_note("%" PRIu64 " events in %.3g s, %s in %s", recording->events, seconds,
			 size_text(recording->bytes), record->recording.path);
	if (recording->deleted_bytes)
		cli_note("%s of older events were deleted to keep to --max-size", size_text(recording->deleted_bytes));
	observe_report_refused(recording);
	report_losses(recording);
	report_sensors(&recording->sensors);
	record->sink.has_lost |= observe_report_unwritten(recording);
}

/* The status of a recording that ran to its end. */
static int finish_recording(struct record *record, const struct cli_arguments *arguments, struct session_totals *totals,
			    const struct session_outcome *outcome)
{
	observe_report_end(&record->observation, outcome, totals);
	report_totals(record, totals);
	if (!record->rules)
		return totals->lost || record->sink.has_lost || session_totals_calls_32bit(totals) ||
				       session_totals_io_uring(totals)
			       ? STATUS_LOST
			       : outcome->command_status;
	/* The rules' sensors are recorded, and have been told of. */
	totals->sensors.unannounced.count = 0;
	totals->sensors.unfinished = totals->sensors.unknown = 0;
	sink_close(&record->sink, totals);
	return sink_status(&record->sink, arguments, totals, outcome->command_status);
}

static int observe_recording(struct record *record, const struct cli_arguments *arguments)
{
	struct session_live_options *options = &record->observation.options;
	struct session_outcome outcome;
	struct session_totals totals;
	int status = record->rules ? sink_open(&record->sink, arguments, session_rules_program(record->rules)) : 0;

	if (status)
		return status;
	record->sink.is_live = true;
	options->recording = &record->recording;
	options->last_snapshot = record->recording.flight ? "end" : NULL;
	options->on_match = record_on_match;
	options->on_aggregate = record_on_aggregate;
	options->on_start = record_on_start;
	options->on_pause = record_on_pause;
	options->on_crowd = record->rules ? on_record_crowd : NULL;
	options->on_bypass = on_record_bypass;
	options->on_progress = record_on_progress;
	options->context = record;
	int result = session_live(record->rules, options, record->observation.diag, &totals, &outcome);

	cli_print(record->observation.diag);
	if (outcome.began)
		status = finish_recording(record, arguments, &totals, &outcome);
	else if (record->rules)
		sink_abandon(&record->sink);
	if (result && result != -EPIPE)
		status = cmd_status_of(result);
	session_totals_fini(&totals);
	return status;
}

/* Whether rules say what is to be recorded, without being run meanwhile. */
static bool is_for_rules(const struct cli_arguments *arguments)
{
	return arguments->operand_count || cli_has(arguments, OPTION_RULE);
}

/* What only makes sense with rules must not be silently without effect. */
static int check_no_rules(const struct cli_arguments *arguments)
{
	if (cli_has(arguments, OPTION_FAIL_ON_MATCH))
		cli_error("--fail-on-match needs rules that run: add --rules FILE");
	else if (cli_has(arguments, OPTION_ALLOW_ACTIONS) || cli_has(arguments, OPTION_POLICY))
		cli_error("--allow-actions and --policy need rules that run: add --rules FILE");
	else if (cli_has(arguments, OPTION_SET) && !is_for_rules(arguments))
		cli_error("--set needs rules: name rule files, or add --rules FILE");
	else if (cli_has(arguments, OPTION_FORMAT))
		cli_error("-f needs rules that run, as it formats their matches: add --rules FILE");
	else
		return STATUS_FINE;
	return STATUS_USAGE;
}

static int check_record_options(const struct cli_arguments *arguments)
{
	bool flight = cli_has(arguments, OPTION_FLIGHT);

	if (!cli_has(arguments, OPTION_DIRECTORY)) {
		cli_error("no path was given for the trace");
		cli_hint("-o DIR names a new directory");
		return STATUS_USAGE;
	}
	if (flight && cli_has(arguments, OPTION_MAX_SIZE)) {
		cli_error("--max-size does not apply to --flight, which keeps events in memory: use --ring");
		return STATUS_USAGE;
	}
	if (is_for_rules(arguments) && cli_has(arguments, OPTION_RULES)) {
		cli_error("rule files and -r only choose which events to record, and --rules also runs its rules: use "
			  "one or the other");
		return STATUS_USAGE;
	}
	if (!flight && cli_has(arguments, OPTION_LAST)) {
		cli_error("--last needs snapshots: add --flight");
		return STATUS_USAGE;
	}
	return cli_has(arguments, OPTION_RULES) ? STATUS_FINE : check_no_rules(arguments);
}

/* The rules that run, those that only say what they need, or else the catalog. */
static int read_record_rules(struct record *record, const struct cli_arguments *arguments)
{
	const struct cli_value *rules = &arguments->options[OPTION_RULES];

	if (rules->count)
		return cmd_read_rules(arguments, rules->texts, rules->count, &record->rules);
	if (is_for_rules(arguments))
		return cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &record->needing);
	return cmd_read_catalog(&record->catalog);
}

/* What there is to choose from, and what is recorded of it. */
static int read_inputs(struct record *record, const struct cli_arguments *arguments)
{
	bool lttng = arguments->options[OPTION_LAYOUT].number == 1;
	int status = read_record_rules(record, arguments);

	if (status)
		return status;
	struct session_rules *rules = record->rules ? record->rules : record->needing;
	struct event_catalog *catalog = rules ? session_rules_catalog(rules) : record->catalog;

	const char *usual = cli_has(arguments, OPTION_FOR_REPORT) ? selection_report : selection_default;

	if (lttng && usual == selection_report) {
		cli_error(
			"--for-report does not apply to --layout lttng: reports use the events that such a trace has");
		return STATUS_USAGE;
	}
	if (lttng)
		record->recording.lttng = catalog;
	status = observe_select(arguments, rules, catalog, lttng ? selection_lttng : usual, &record->selection);
	if (!status && record->needing)
		session_warn_unraised(session_rules_program(rules), catalog, record->observation.diag);
	return status;
}

static int run_record(const struct cli_arguments *arguments)
{
	struct record record = {
		.recording = { .path = arguments->options[OPTION_DIRECTORY].text,
			       .flight = cli_has(arguments, OPTION_FLIGHT),
			       .mode = (mode_t)arguments->options[OPTION_MODE].number,
			       .what = &record.selection,
			       .ring_bytes = arguments->options[OPTION_RING].number,
			       .max_bytes = arguments->options[OPTION_MAX_SIZE].number,
			       .last_ns = arguments->options[OPTION_LAST].number },
	};
	int status = check_record_options(arguments);

	if (status)
		return status;
	record.shows_progress = !cli_has(arguments, OPTION_QUIET) && isatty(STDERR_FILENO);
	status = observe_init(&record.observation, arguments);
	if (!status)
		status = observe_allow(&record.observation, arguments);
	if (!status)
		status = read_inputs(&record, arguments);
	if (!status)
		status = observe_recording(&record, arguments);
	observe_fini(&record.observation);
	selection_fini(&record.selection);
	session_rules_free(record.rules);
	session_rules_free(record.needing);
	event_catalog_free(record.catalog);
	return status;
}

static const struct cli_example record_examples[] = {
	{ "asterism record -o build.trace -- make -j4", "Records the default events while make runs." },
	{ "asterism record -o io.trace -e 'sys_*_read,sys_*_write,block_rq_*' -p 1234 --for 10s",
	  "Records reads, writes and block requests of a process for ten seconds." },
	{ "asterism record -o locks.trace @lock-order -- make check",
	  "Records the events that a shipped rule needs, to replay it later." },
	{ "asterism record -o quiet.trace -e '!sys_*' -a --for 1min",
	  "Records the default events except system calls." },
	{ "asterism record -o day.trace -e sched_switch:prev_pid+next_pid -a --max-size 2G",
	  "Records two fields of every context switch, and keeps the newest two gigabytes." },
	{ "asterism record -o box --flight -a", "Keeps the newest events in memory; kill -USR1 writes them to box/." },
	{ "asterism record -o all.trace --layout lttng -a --for 10s", "Records a trace for Trace Compass." },
	{ NULL, NULL },
};

const struct cli_command cmd_record = {
	.name = "record",
	.summary = "write events of the running system to a trace",
	.operands = "-o DIR [RULE | -r TEXT]... [-- CMD [ARG...] | -p PID... | -a]",
	.description =
		"Records events of a command that it launches, of processes that already run (-p), or of the whole "
		"machine (-a); descendants of the command and of the processes are recorded, too. asterism itself is "
		"not recorded, except for events about an observed process, such as waking it. This needs root, or "
		"CAP_BPF and CAP_PERFMON.\n\nThe trace is a directory in the Common Trace Format 1.8: 'asterism dump', "
		"'stat' and 'replay' read it, and so do babeltrace2 and others. Without -e it holds the start and end "
		"of processes and threads, context switches and wake-ups, system calls, signals and page faults. With "
		"--rules it holds the events that the rules need (and those of -e), and the rules run while recording: "
		"their matches are reported, and annotated in the trace.\n\nWith --layout lttng, events and fields "
		"have the names of LTTng's kernel tracer, which Trace Compass's kernel analyses know. Each system call "
		"then has an event type of its own, and the trace begins with a list of the observed "
		"threads.\n\nEvents pass through one ring buffer per CPU. Events that find it full are lost: they are "
		"counted exactly, reported at the end, and marked in the trace where they are missing; the exit status "
		"is then 3. If the disk is full or asterism is killed, the trace can still be read; at most its last "
		"second is missing. SIGUSR1 writes everything at once (with --flight: a snapshot).\n\nThe recording "
		"ends when the command or the processes have ended, after --for, or at Ctrl-C, SIGTERM or SIGHUP. A "
		"launched command is treated as by 'asterism run'.",
	.options = { OPTION_ABOUT,       OPTION_CGROUP,        OPTION_CONTAINER,     OPTION_UNIT,     OPTION_COMM,
		     OPTION_USER,        OPTION_ALL,           OPTION_ALLOW_ACTIONS, OPTION_CATALOG,  OPTION_DIRECTORY,
		     OPTION_EVENTS,      OPTION_FAIL_ON_MATCH, OPTION_FLIGHT,        OPTION_FOR,      OPTION_FOR_REPORT,
		     OPTION_FORMAT,      OPTION_LAST,          OPTION_LAYOUT,        OPTION_MAX_SIZE, OPTION_MODE,
		     OPTION_NO_CHILDREN, OPTION_PID,           OPTION_POLICY,        OPTION_QUIET,    OPTION_RING,
		     OPTION_RULE,        OPTION_RULES,         OPTION_SET,           OPTION_VERBOSE,  OPTION_WAIT,
		     OPTION_WHEN },
	.examples = record_examples,
	.operands_max = 0,
	.sections = (const struct cli_section *const[]){ &help_failures, NULL },
	.launches = true,
	.run = run_record,
};
