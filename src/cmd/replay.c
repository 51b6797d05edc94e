// SPDX-License-Identifier: BSD-2-Clause
/* `asterism replay`: runs rules over recorded events. */

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/input/inputs.h"
#include "cmd/input/rules.h"
#include "cmd/measure/measuring.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/signals.h"
#include "cmd/text/sink.h"
#include "session/load/input.h"
#include "trace/open.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Progress is shown no more often than this. */
#define PROGRESS_NS 200000000ull

struct replay {
	struct sink sink;
	struct measuring measuring;
	uint64_t shown_ns;
	bool shown;
};

static void replay_on_progress(void *context, const struct session_progress *progress)
{
	struct replay *replay = context;
	uint64_t now_ns = clock_now_ns();

	if (replay->shown_ns == 0)
		replay->shown_ns = now_ns;
	if (now_ns - replay->shown_ns < PROGRESS_NS)
		return;
	replay->shown_ns = now_ns;
	replay->shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " events, %" PRIu64 " matches", progress->events, replay->sink.matches);
	if (progress->bytes_total)
		fprintf(stderr, ", %u %%", (unsigned)(progress->bytes_read * 100 / progress->bytes_total));
	fflush(stderr);
}

/* Whether more events may come at any time: the reader of our matches does not want to wait for those. */
static bool is_stream(const char *file)
{
	if (trace_is_stream(file))
		return true;

	struct stat status;
	int result = strcmp(file, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(file, &status);

	return result == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* The operands taken apart; the order among rules and among traces stays. */
struct operands {
	const char **rules, **traces;
	size_t rule_count, trace_count;
};

static bool is_any_stream(const struct operands *operands)
{
	for (size_t i = 0; i < operands->trace_count; i++) {
		if (is_stream(operands->traces[i]))
			return true;
	}
	return false;
}

/* Events that come as they happen are matched as they come. */
static uint32_t jobs_of(const struct cli_arguments *arguments, const struct operands *operands)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (is_any_stream(operands))
		return 1;
	if (cli_has(arguments, OPTION_JOBS))
		return (uint32_t)arguments->options[OPTION_JOBS].number;
	return processors > 1 ? (uint32_t)processors : 1;
}

static void hide_replay_progress(struct replay *replay)
{
	if (replay->shown)
		fputs("\r\033[K", stderr);
	replay->shown = false;
}

/* On a terminal a match would stand behind the progress. */
static int replay_on_match(void *context, const struct program_match *match)
{
	struct replay *replay = context;

	hide_replay_progress(replay);
	return sink_match(&replay->sink, match);
}

static int replay_on_aggregate(void *context, const struct aggregate_report *report)
{
	struct replay *replay = context;

	hide_replay_progress(replay);
	return sink_aggregate(&replay->sink, report);
}

/* How the matching was shared out among threads. */
static void put_shard_threads(const struct session_totals *totals)
{
	if (totals->threads > 1)
		cli_note("matched in %" PRIu32 " threads", totals->threads);
}

static int find_kinds(const struct cli_arguments *arguments, struct operands *operands)
{
	size_t last = arguments->operand_count - 1;

	*operands = (struct operands){ 0 };
	if (!arguments->operand_count) {
		cli_error("nothing to replay: no trace was given");
		cli_hint("asterism replay -r TEXT TRACE");
		return STATUS_USAGE;
	}
	*operands = (struct operands){ .rules = alloc_zero(last + 1, sizeof(const char *)),
				       .traces = alloc_zero(last + 1, sizeof(const char *)) };
	if (!operands->rules || !operands->traces) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	for (size_t i = 0; i <= last; i++) {
		const char *operand = arguments->operands[i];

		if (i == last || session_input_is_trace(operand))
			operands->traces[operands->trace_count++] = operand;
		else
			operands->rules[operands->rule_count++] = operand;
	}
	return STATUS_FINE;
}

static int check_kinds(const struct cli_arguments *arguments, const struct operands *operands)
{
	const char *last = operands->traces[operands->trace_count - 1], *ending = strrchr(last, '.');

	if (library_is_name(last) || (ending && strcmp(ending, ".rule") == 0)) {
		cli_error("nothing to replay: the last argument, %s, is a rule%s", last,
			  library_is_name(last) ? "" : " file");
		cli_hint("the traces come after the rules");
		return STATUS_USAGE;
	}
	if (operands->rule_count || cli_has(arguments, OPTION_RULE) || measuring_is_asked(arguments))
		return STATUS_FINE;
	cli_error("no rule was given: %s is a trace", operands->traces[0]);
	cli_hint("put rules before the traces; their file names must not end in .jsonl");
	return STATUS_USAGE;
}

static const struct session_moment *replay_moment_of(const struct cli_arguments *arguments, enum option_id id,
						     struct session_moment *moment)
{
	const struct cli_value *value = &arguments->options[id];

	if (!value->text)
		return NULL;
	*moment = (struct session_moment){ .ns = value->number, .since_start = *value->text != '@' };
	return moment;
}

/* How to record what the rules need. NULL: no memory for the advice. alloc_free it. */
static char *put_remedy(const struct cli_arguments *arguments, const struct operands *operands)
{
	struct text_buffer text = { 0 };
	char *taken = NULL;

	text_append(&text, "record what the rules need: asterism record -o DIR");
	for (size_t i = 0; i < operands->rule_count; i++)
		text_printf(&text, " %s", operands->rules[i]);
	for (size_t i = 0; i < arguments->options[OPTION_RULE].count; i++)
		text_append(&text, " -r TEXT");
	text_append(&text, " -- CMD");
	return text_take(&text, &taken) ? NULL : taken;
}

/* Names of users and groups became numbers here. */
static void warn_of_names(const struct session_rules *rules, const struct event_machine *machine,
			  struct asterism_diag *diag)
{
	const char *name = session_rules_host_name(rules);
	struct utsname here;

	if (name && *machine->host && uname(&here) == 0 && strcmp(machine->host, here.nodename) != 0)
		diag_add(diag, ASTERISM_WARNING, NULL, "write the number that the name has on that host",
			 "'%s' was resolved to its number on %s, but the events are from %s", name, here.nodename,
			 machine->host);
}

/* Where results go, and what is measured. Nothing is left to close where it fails. */
static int open_results(struct replay *replay, const struct cli_arguments *arguments, const struct program *program)
{
	int status = sink_open(&replay->sink, arguments, program);

	if (status)
		return status;
	status = measuring_open(&replay->measuring, arguments, &replay->sink);
	if (status) {
		measuring_close(&replay->measuring);
		sink_abandon(&replay->sink);
	}
	return status;
}

static bool shows_progress(const struct cli_arguments *arguments)
{
	return isatty(STDERR_FILENO) && !cli_has(arguments, OPTION_QUIET);
}

/* What is told at the end of a replay that ended with result; returns the status. */
static int tell_end(struct replay *replay, const struct cli_arguments *arguments, struct session_totals *totals,
		    int result)
{
	int status;

	if (result && result != -EPIPE) {
		sink_abandon(&replay->sink);
		return cmd_status_of(result);
	}
	status = sink_close(&replay->sink, totals);
	if (cli_has(arguments, OPTION_VERBOSE))
		put_shard_threads(totals);
	if (!status)
		status = sink_status(&replay->sink, arguments, totals, STATUS_FINE);
	return signals_status(status);
}

static int replay_events(const struct cli_arguments *arguments, const struct operands *operands,
			 const struct session_rules *rules)
{
	struct session_moment from, to;
	struct asterism_diag *diag = asterism_diag_new();
	struct session_totals totals;
	struct replay replay = { .shown = false };
	int status = open_results(&replay, arguments, session_rules_program(rules));

	if (status) {
		asterism_diag_free(diag);
		return status;
	}
	const struct session_tap tap = measuring_tap(&replay.measuring);
	const struct trace_jsonl_form form = inputs_form(arguments, &replay.sink);
	struct session_replay_options options = {
		.files = operands->traces,
		.file_count = operands->trace_count,
		.form = &form,
		.from = replay_moment_of(arguments, OPTION_FROM, &from),
		.to = replay_moment_of(arguments, OPTION_TO, &to),
		.skips_missing = cli_has(arguments, OPTION_SKIP_MISSING),
		.engine = arguments->options[OPTION_ENGINE].number == 1 ? SESSION_ENGINE_KERNEL : SESSION_ENGINE_USER,
		.on_match = replay_on_match,
		.on_aggregate = replay_on_aggregate,
		.on_progress = shows_progress(arguments) ? replay_on_progress : NULL,
		.context = &replay,
		.machine = &replay.sink.machine,
		.tap = replay.measuring.measures ? &tap : NULL,
		.stop = signals_take(),
	};
	char *remedy = put_remedy(arguments, operands);

	options.remedy = remedy;
	options.counts_why = sink_counts_why(&replay.sink);
	options.jobs = jobs_of(arguments, operands);
	replay.sink.at_once |= is_any_stream(operands);

	int result = session_replay(rules, &options, diag, &totals);

	hide_replay_progress(&replay);
	if (!result && replay.measuring.measures) {
		measures_know(replay.measuring.measures, session_rules_catalog(rules));
		result = measuring_end(&replay.measuring, totals.missing);
	}
	warn_of_names(rules, &replay.sink.machine, diag);
	if (diag)
		cli_print(diag);
	asterism_diag_free(diag);
	status = tell_end(&replay, arguments, &totals, result);
	if (replay.measuring.is_wrong)
		status = STATUS_USAGE;
	session_totals_fini(&totals);
	measuring_close(&replay.measuring);
	alloc_free(remedy);
	return status;
}

static int run_replay(const struct cli_arguments *arguments)
{
	struct session_rules *rules;
	struct operands operands;
	bool has_rules = false;
	int status = find_kinds(arguments, &operands);

	if (!status)
		status = check_kinds(arguments, &operands);
	if (!status && !operands.rule_count && !cli_has(arguments, OPTION_RULE)) {
		status = measuring_replay(arguments);
	} else if (!status) {
		status = cmd_read_rules(arguments, operands.rules, operands.rule_count, &rules);
		has_rules = !status;
	}
	if (has_rules) {
		status = replay_events(arguments, &operands, rules);
		session_rules_free(rules);
	}
	alloc_free(operands.rules);
	alloc_free(operands.traces);
	return status;
}

static const struct cli_example replay_examples[] = {
	{ "asterism replay slow-syscall.rule events.jsonl", "Runs the rule over recorded events." },
	{ "generate-events | asterism replay -f json slow-syscall.rule -", "Reads events from standard input." },
	{ "asterism replay --engine kernel slow-syscall.rule events.jsonl",
	  "Feeds the same events through the programs that 'asterism run' would load." },
	{ "asterism replay --from 2s --to 2500ms slow-syscall.rule events.jsonl",
	  "Replays half a second of them, beginning two seconds after the first event." },
	{ "asterism replay --measure sys_enter,log,by=id events.jsonl", "Measures without a rule." },
	{ NULL, NULL },
};

const struct cli_command cmd_replay = {
	.name = "replay",
	.summary = "run rules over recorded events",
	.operands = "{RULE | -r TEXT | --measure EVENT}... TRACE...",
	.description =
		"Runs rules - files, or @NAME for shipped ones - over recorded events. The events of all traces are "
		"merged by time. An operand is a trace if it is a directory, a file called *.jsonl, or a file whose "
		"text begins with '{'. The last operand always is one; there '-' is standard input. The matches are "
		"those that 'asterism run' finds when the same events happen.\n\nJSON lines hold one event per line: "
		"{\"event\":\"A\",\"ts\":100,\"cpu\":0,\"pid\":1,\"tid\":1,\"x\":2}. Missing header fields are 0; the "
		"fields of the event's type must all be given, and ts must not decrease. An invalid event ends the "
		"replay with an error that shows its line.\n\n--from and --to replay only the events at or after the "
		"one time and before the other, as if there were no others.\n\n--measure and --heartbeat measure "
		"events as 'asterism monitor' does, with or without rules. A measure is a table: how many events, how "
		"often, the intervals between them and their jitter (RFC 3550), or statistics of a field.\n\n--jobs "
		"sets how many worker threads match rules, besides the thread that reads the events. Each rule is "
		"matched by one thread; a single rule is matched by the reading thread. All rules that match at a "
		"timeout share a thread, and so do rules that raise events with the rules that see them. Matches, "
		"their order and the counts do not depend on the number of threads; -v shows it.",
	.options = { OPTION_CATALOG,       OPTION_ENGINE,       OPTION_EVERY,
		     OPTION_EXCEPT,        OPTION_HEARTBEAT,    OPTION_MEASURE,
		     OPTION_FAIL_ON_MATCH, OPTION_FORMAT,       OPTION_FROM,
		     OPTION_INPUT,         OPTION_JOBS,         OPTION_LENIENT,
		     OPTION_MATCH_LIMIT,   OPTION_MIN_SEVERITY, OPTION_MODE,
		     OPTION_ORDER_BY,      OPTION_OUTPUT,       OPTION_QUIET,
		     OPTION_RULE,          OPTION_SET,          OPTION_SKIP_MISSING,
		     OPTION_TIME_FIELD,    OPTION_TO,           OPTION_VERBOSE,
		     OPTION_WHEN,          OPTION_WHY },
	.examples = replay_examples,
	.operands_min = 1,
	.instead = OPTION_RULE,
	.run = run_replay,
};
