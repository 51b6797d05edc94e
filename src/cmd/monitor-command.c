// SPDX-License-Identifier: BSD-2-Clause
/* `asterism monitor`: evaluates every element of sensors, in a time that is promised beforehand. */

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/monitor/declared.h"
#include "cmd/monitor/guard.h"
#include "cmd/monitor/measured.h"
#include "cmd/monitor/raising.h"
#include "cmd/monitor/report.h"
#include "cmd/monitor/sending.h"
#include "cmd/observe.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/sink.h"

#include <errno.h>
#include <string.h>

/* Waiting for an element's evaluation is worth three periods, where nothing else is said. */
enum { USUAL_PERIODS = 3 };

struct monitoring {
	struct sink sink; /* first */
	struct observation observation;
	struct declared declared;
	struct monitor_session_options options;
	struct measured measured;
	struct sending sending;
	struct raising *raising; /* NULL: nothing is */
	struct monitor_report report;
};

static int monitor_on_match(void *context, const struct program_match *match)
{
	return sink_match(context, match);
}

static int monitor_on_pause(void *context)
{
	struct monitoring *monitoring = context;

	int result = measured_tell(&monitoring->measured);

	sending_step(&monitoring->sending);
	observe_report_news(&monitoring->observation);
	return result ? result : sink_flush(&monitoring->sink);
}

static int on_open(void *context, struct monitor *monitor, struct asterism_diag *diag)
{
	struct monitoring *monitoring = context;

	int result = measured_add(&monitoring->measured, monitor, diag);

	return result ? result : sending_add(&monitoring->sending, monitor, diag);
}

/* What is a line of JSON goes where matches go. */
static FILE *lines_of(struct monitoring *monitoring)
{
	return monitoring->sink.lines.stream;
}

static void on_promise(void *context, const struct monitor *monitor, const struct monitor_promise *promise)
{
	struct monitoring *monitoring = context;

	monitoring->report.monitor = monitor;
	monitoring->report.promise = *promise;
	raising_begin(monitoring->raising, (struct monitor *)monitor);
	observe_start(&monitoring->observation);
	guard_begin((struct monitor *)monitor, promise->period_ns);
	report_promise(&monitoring->report);
	if (!monitoring->sink.json)
		return;
	report_promise_json(&monitoring->report, lines_of(monitoring));
	lines_put(&monitoring->sink.lines);
	sink_flush(&monitoring->sink);
}

static void on_status(void *context, const struct monitor *monitor)
{
	const struct monitoring *monitoring = context;

	(void)monitor;
	report_status(&monitoring->report);
}

static void fill_options(struct monitoring *monitoring, const struct cli_arguments *arguments)
{
	const struct session_live_options *live = &monitoring->observation.options;
	const struct cli_value *values = arguments->options;
	struct monitor_session_options *options = &monitoring->options;

	*options = (struct monitor_session_options){
		.command = live->command,
		.pids = live->pids,
		.pid_count = live->pid_count,
		.all = live->all,
		.for_ns = live->for_ns,
		.signal_fd = live->signal_fd,
		.counts_why = cli_has(arguments, OPTION_WHY),
		.strict = cli_has(arguments, OPTION_STRICT),
		.more = monitoring->measured.types,
		.more_count = monitoring->measured.type_count,
		.on_open = on_open,
		.on_promise = on_promise,
		.on_match = monitor_on_match,
		.on_raise = monitoring->raising ? raising_take : NULL,
		.raise_context = monitoring->raising,
		.on_aggregate = sink_aggregate,
		.on_pause = monitor_on_pause,
		.on_status = on_status,
		.context = monitoring,
	};
	options->monitor = (struct monitor_options){
		.declared = monitoring->declared.items,
		.declared_count = monitoring->declared.count,
		.period_ns = cli_has(arguments, OPTION_PERIOD) ? values[OPTION_PERIOD].number : MONITOR_PERIOD_NS,
		.deadline_ns = values[OPTION_DEADLINE].number,
		.hold_ns = values[OPTION_HOLD].number,
		.policy = (enum schedule_policy)values[OPTION_SCHEDULE].number,
		.policy_is_demanded = cli_has(arguments, OPTION_SCHEDULE) || options->strict,
		.copies = cli_has(arguments, OPTION_COPY),
	};
	options->monitor.needs_rate = options->strict || (cli_has(arguments, OPTION_SCHEDULE) &&
							  options->monitor.policy != SCHEDULE_BEST_EFFORT);
	options->monitor.latency_ns = cli_has(arguments, OPTION_LATENCY) ? values[OPTION_LATENCY].number
									 : USUAL_PERIODS * options->monitor.period_ns;
	if (!cli_has(arguments, OPTION_PROVE))
		return;
	monitoring->report.is_proof = true;
	options->for_ns = values[OPTION_PROVE].number;
}

static int check_monitor_options(const struct cli_arguments *arguments)
{
	if (cli_has(arguments, OPTION_FROM_TRACE)) {
		cli_error("'asterism monitor' works on live sensors; for traces use 'asterism replay', with the same "
			  "rules and measures");
		cli_hint("asterism replay [--measure EVENT] [--heartbeat EVENT=TIME] [FILE...] TRACE");
		return STATUS_USAGE;
	}
	if (!arguments->operand_count && !cli_has(arguments, OPTION_RULE) && !measuring_is_asked(arguments)) {
		cli_error("nothing to evaluate: no rule and no --measure was given");
		cli_hint("asterism monitor FILE... -- CMD, or asterism monitor --measure EVENT -- CMD");
		return STATUS_USAGE;
	}
	if (cli_has(arguments, OPTION_PROVE) && cli_has(arguments, OPTION_FOR)) {
		cli_error("--prove and --for exclude each other: both set the duration");
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

static int read_declared(struct monitoring *monitoring, const struct cli_arguments *arguments)
{
	struct asterism_diag *diag = monitoring->observation.diag;
	int result = declared_read(&arguments->options[OPTION_SENSOR], diag, &monitoring->declared);

	if (result)
		cli_print(diag);
	return cmd_status_of(result);
}

static void fill_totals(const struct monitoring *monitoring, const struct monitor_session_outcome *outcome,
			const struct program *program, struct session_totals *totals)
{
	const struct watch *watch = monitor_watch(monitoring->report.monitor);
	uint64_t unknown = outcome->counts.gaps + outcome->counts.unread, lost = outcome->counts.lost;

	*totals = (struct session_totals){
		.events = atomic_load(&watch->elements) + outcome->beside.events,
		.lost = atomic_load(&watch->lost) + outcome->unqueued + outcome->rules_lost + outcome->beside.lost,
		.elapsed_ns = outcome->elapsed_ns,
		.rules = outcome->rules,
		.rule_count = program->rule_count,
		.why = outcome->why,
		.sensors = {
			.events = atomic_load(&watch->elements),
			.lost = lost > unknown ? lost - unknown : 0,
			.late = outcome->counts.late,
			.gaps = outcome->counts.gaps,
			.unread = outcome->counts.unread,
			.unfinished = outcome->counts.unfinished,
			.processes = outcome->counts.processes,
			.out_of_scope = outcome->counts.out_of_scope,
		},
	};
	totals->sensors.unannounced.count = monitor_unannounced(
		monitoring->report.monitor, totals->sensors.unannounced.names, RECORDING_UNANNOUNCED_NAMED);
}

/* Everything that was told or promised, and what came of it. */
static int finish_monitoring(struct monitoring *monitoring, const struct cli_arguments *arguments,
			     const struct monitor_session_outcome *outcome, const struct program *program)
{
	const struct watch *watch = monitor_watch(monitoring->report.monitor);
	bool has_missed = watch->violations || watch->lost || outcome->is_cut;
	struct session_totals totals;
	int status;

	fill_totals(monitoring, outcome, program, &totals);
	measured_end(&monitoring->measured);
	if (monitoring->report.is_proof && !monitoring->sink.json) {
		report_histogram(&monitoring->report, lines_of(monitoring));
		lines_put(&monitoring->sink.lines);
	}
	if (monitoring->sink.json) {
		report_end_json(&monitoring->report, outcome, lines_of(monitoring));
		lines_put(&monitoring->sink.lines);
	}
	sink_close(&monitoring->sink, &totals);
	status = sink_status(&monitoring->sink, arguments, &totals, outcome->command_status);
	session_totals_fini(&totals);
	report_end(&monitoring->report, outcome);
	if (outcome->alive)
		cli_note("the command continues unobserved (process %d)", outcome->alive);
	if (outcome->end == MONITOR_MISSED)
		cli_error("ended by --strict: an event was lost, or evaluated too late");
	if (has_missed && (monitoring->report.is_proof || monitoring->options.strict))
		return STATUS_LOST;
	/* The time was ours, and what ended the command then, too. */
	return monitoring->report.is_proof && outcome->end == MONITOR_TIME_UP ? STATUS_FINE : status;
}

static int monitor_rules(struct monitoring *monitoring, const struct cli_arguments *arguments,
			 const struct session_rules *rules)
{
	struct asterism_diag *diag = monitoring->observation.diag;
	struct monitor_session_outcome outcome;
	struct monitor_session *session;
	const struct program *program = rules ? session_rules_program(rules) : &monitor_no_program;
	int status = sink_open(&monitoring->sink, arguments, program), result;

	if (status)
		return status;
	status = measured_open(&monitoring->measured, arguments, &monitoring->sink, rules);
	if (!status)
		status = raising_open(arguments, rules, &monitoring->raising);
	if (!status)
		status = sending_open(&monitoring->sending, arguments);
	if (status) {
		raising_close(monitoring->raising);
		measured_close(&monitoring->measured);
		sink_abandon(&monitoring->sink);
		return status;
	}
	monitoring->sink.is_live = true;
	fill_options(monitoring, arguments);
	guard_take_signal();
	result = monitor_session_open(rules, &monitoring->options, diag, &session);
	cli_print(diag);
	asterism_diag_clear(diag);
	if (result) {
		raising_close(monitoring->raising);
		sending_close(&monitoring->sending);
		measured_close(&monitoring->measured);
		sink_abandon(&monitoring->sink);
		return cmd_status_of(result);
	}
	result = monitor_session_run(session, &outcome);
	guard_end();
	cli_print(diag);
	asterism_diag_clear(diag);
	status = finish_monitoring(monitoring, arguments, &outcome, program);
	monitor_session_close(session);
	raising_end(monitoring->raising);
	raising_close(monitoring->raising);
	if (sending_finish(&monitoring->sending) && !status)
		status = STATUS_LOST;
	sending_close(&monitoring->sending);
	measured_close(&monitoring->measured);
	return result && result != -EPIPE ? cmd_status_of(result) : status;
}

static int run_monitor(const struct cli_arguments *arguments)
{
	struct monitoring monitoring = { .report.is_quiet = cli_has(arguments, OPTION_QUIET) };
	struct session_rules *rules = NULL;
	int status = check_monitor_options(arguments);

	if (!status)
		status = observe_init(&monitoring.observation, arguments);
	else
		monitoring.observation.options.signal_fd = -1;
	if (!status)
		status = read_declared(&monitoring, arguments);
	if (!status && (arguments->operand_count || !measuring_is_asked(arguments) || cli_has(arguments, OPTION_RULE)))
		status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);
	if (!status)
		status = monitor_rules(&monitoring, arguments, rules);
	observe_fini(&monitoring.observation);
	declared_fini(&monitoring.declared);
	session_rules_free(rules);
	return status;
}

static const struct cli_example monitor_examples[] = {
	{ "asterism monitor slow.rule -- ./server", "Evaluates every event of the sensors that the rule waits for." },
	{ "asterism monitor slow.rule --sensor request_begin,rate=50000/s,burst=100 --sensor "
	  "request_end,rate=50000/s,burst=100 -- ./server",
	  "The same, with the guarantee that each event is evaluated within the printed bound, about 3 ms after it was "
	  "raised." },
	{ "asterism monitor slow.rule --sensor request_begin,rate=1000/s --period 5ms --latency 20ms --prove 60s -p "
	  "1234",
	  "Compares the guarantee with a minute of real events, and draws how long evaluations took." },
	{ "asterism monitor --measure request_end,by=word --heartbeat request_end=5s --every 1s -- ./server",
	  "Measures without a rule: a table every second, and a line when no request has ended for 5 s." },
	{ NULL, NULL },
};

const struct cli_command cmd_monitor = {
	.name = "monitor",
	.summary = "evaluate every event of sensors within a guaranteed time",
	.operands = "{FILE | -r TEXT | --measure WHAT}... [-- CMD [ARG...] | -p PID... | -a]",
	.description =
		"Evaluates every event of the sensors that the rules wait for, in order of time, and looks for new "
		"events once per period. The processes to observe are chosen as with 'asterism run'.\n\n--measure and "
		"--heartbeat measure events, with or without rules: rates, intervals and jitter, values of fields, "
		"histograms, and events that fail to appear. The sensors are those in the launched program's file, of "
		"running applications, or of --catalog sensor:FILE.\n\nIf the rates of the sensors are declared "
		"(--sensor), the monitor computes beforehand how many events it must evaluate per period to keep "
		"--latency, whether one CPU suffices, and whether the kernel grants the time. If not, the monitor "
		"refuses to start and prints the figures. It prints the guarantee before the start, as a sum of its "
		"parts, and compares every event with it. For each late event it finds the cause: a producer that "
		"exceeded its rate, an evaluation that took too long, a suspended writer, a late wake-up. Lost events "
		"are counted exactly.\n\nWithout CAP_SYS_NICE, or without a declared rate, there is no guarantee, and "
		"a warning says so; with --policy or --strict this is an error. SIGUSR1 prints the figures so far. "
		"Rules that also wait for events of the kernel run as with 'asterism run', without a guarantee: the "
		"rates of these events are unknown.\n\nTo evaluate a recording use 'asterism replay': it takes the "
		"same rules, --measure and --heartbeat, and finds the same.",
	.options = { OPTION_ALL,         OPTION_CATALOG,      OPTION_EVERY,    OPTION_HEARTBEAT, OPTION_MEASURE,
		     OPTION_METRICS,     OPTION_COPY,         OPTION_DEADLINE, OPTION_EXCEPT,    OPTION_FAIL_ON_MATCH,
		     OPTION_FOR,         OPTION_FROM_TRACE,   OPTION_FORMAT,   OPTION_HOLD,      OPTION_LATENCY,
		     OPTION_MATCH_LIMIT, OPTION_MIN_SEVERITY, OPTION_MODE,     OPTION_OUTPUT,    OPTION_PERIOD,
		     OPTION_PID,         OPTION_PROVE,        OPTION_QUIET,    OPTION_RAISE,     OPTION_RULE,
		     OPTION_SCHEDULE,    OPTION_SENSOR,       OPTION_SEND,     OPTION_SET,       OPTION_STRICT,
		     OPTION_VERBOSE,     OPTION_WHEN,         OPTION_WHY },
	.examples = monitor_examples,
	.launches = true,
	.run = run_monitor,
};
