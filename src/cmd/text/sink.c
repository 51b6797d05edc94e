// SPDX-License-Identifier: BSD-2-Clause
/* Writes matches and statistics. */

#include "cmd/text/sink.h"

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/status.h"
#include "cmd/text/missed.h"
#include "cmd/text/output.h"
#include "cmd/text/sensors.h"
#include "cmd/text/why.h"
#include "ebpf/source/scope.h"
#include "session/output/result-aggregate.h"
#include "session/output/result.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *sink_name(const struct sink *sink)
{
	return sink->file ? sink->file : "standard output";
}

/* Text has the date where it can be known, JSON where it was asked for, and always of what happens now. */
static void choose_when(struct sink *sink, const struct cli_arguments *arguments)
{
	const struct cli_value *form = &arguments->options[OPTION_WHEN];

	sink->must_date = form->text && form->number == WHEN_WALL;
	sink->when = (struct when){
		.form = form->text ? (enum when_form)form->number : WHEN_WALL,
		.in_json = sink->must_date,
		.machine = &sink->machine,
	};
}

enum severity sink_least_severity(const struct cli_arguments *arguments)
{
	return cli_has(arguments, OPTION_MIN_SEVERITY)
		       ? (enum severity)(arguments->options[OPTION_MIN_SEVERITY].number + 1)
		       : SEVERITY_NONE;
}

int sink_open(struct sink *sink, const struct cli_arguments *arguments, const struct program *program)
{
	const char *file = arguments->options[OPTION_OUTPUT].text;

	if (file && strcmp(file, "-") == 0)
		file = NULL;
	*sink = (struct sink){ .fd = STDOUT_FILENO, .file = file, .program = program };
	sink->json = arguments->options[OPTION_FORMAT].number == 1;
	sink->quiet = cli_has(arguments, OPTION_QUIET);
	sink->verbose = cli_has(arguments, OPTION_VERBOSE);
	sink->tells_why = cli_has(arguments, OPTION_WHY);
	choose_when(sink, arguments);
	sink->least_severity = sink_least_severity(arguments);
	sink->repeats.limit = cli_has(arguments, OPTION_MATCH_LIMIT) ? arguments->options[OPTION_MATCH_LIMIT].number
			      : sink->json                           ? UINT64_MAX
								     : REPEATS_SHOWN;
	if (file)
		sink->fd = cmd_output_open(arguments, file);
	if (sink->fd < 0)
		return STATUS_USAGE;
	/* One that was closed when we began stands for reading only. */
	if ((fcntl(sink->fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		cli_error("cannot write %s: %s", sink_name(sink), strerror(EBADF));
		return STATUS_USAGE;
	}
	sink->at_once = isatty(sink->fd);
	sink->names_processes = ebpf_ids_are_own();
	sink->crowded = alloc_zero(program ? program->rule_count : 0, sizeof *sink->crowded);
	if (sink->crowded && lines_init(&sink->lines, sink->fd) == 0)
		return STATUS_FINE;
	sink_abandon(sink);
	cli_error("out of memory");
	return STATUS_USAGE;
}

/* What is needed to say when and where the match was. */
static void know_when(struct sink *sink, const struct program_match *match)
{
	if (sink->is_live)
		when_take_machine(&sink->machine);
	if (sink->is_live && sink->names_processes)
		sink->when.place = place_find(&sink->places, &sink->program->rules[match->rule], match);
	sink->when.in_json |= sink->is_live;
	if (!sink->must_date || sink->machine.wall_ns)
		return;
	cli_warning("no wall-clock time: the input has no offset to CLOCK_REALTIME");
	sink->must_date = false;
}

/* Notices a failure to write, and says so the first time unless the reader has just gone away. */
static int check_output(struct sink *sink, int result)
{
	if (result == -EPIPE)
		sink->is_gone = true;
	if (!result || sink->is_gone)
		return result;
	if (!sink->error) {
		cli_error("cannot write %s: %s", sink_name(sink), strerror(-result));
		if (sink->is_live)
			cli_hint("the session continues; at its end it reports how many matches are missing");
	}
	sink->error = sink->error ? sink->error : -result;
	return sink->is_live ? 0 : result;
}

/* From here on matches of this rule in this program are only counted. */
static void put_cut(struct sink *sink, const struct program_match *match)
{
	const char *comm = match->comm && *match->comm ? match->comm : "-";

	fprintf(sink->lines.stream, "... further matches of %s in ",
		program_text(sink->program, sink->program->rules[match->rule].name));
	text_write(sink->lines.stream, comm, TEXT_VALUE);
	fputs(" are only counted (--limit)\n", sink->lines.stream);
}

int sink_match(void *context, const struct program_match *match)
{
	struct sink *sink = context;
	bool is_first;
	int result;

	if (sink->is_gone)
		return -EPIPE;
	if (!result_is_reported(&sink->program->rules[match->rule], sink->least_severity))
		return 0;
	sink->matches++;
	if (!repeats_take(&sink->repeats, match, &is_first) && (sink->json || !is_first))
		return 0;
	know_when(sink, match);
	if (is_first)
		put_cut(sink, match);
	else if (sink->json)
		result_write_json(sink->lines.stream, sink->program, match, &sink->when);
	else
		result_write_text(sink->lines.stream, sink->program, match, &sink->when);
	result = lines_put(&sink->lines);
	if (!result && sink->at_once)
		result = lines_flush(&sink->lines);
	return check_output(sink, result);
}

int sink_aggregate(void *context, const struct aggregate_report *report)
{
	struct sink *sink = context;
	int result;

	if (sink->is_gone)
		return -EPIPE;
	if (sink->json)
		result_write_aggregate_json(sink->lines.stream, report);
	else
		result_write_aggregate_text(sink->lines.stream, report);
	result = lines_put(&sink->lines);
	if (!result && (sink->at_once || !report->is_last))
		result = lines_flush(&sink->lines);
	return check_output(sink, result);
}

static uint64_t refused_by(const struct program_rule_stats *stats)
{
	return stats->pool_exhausted - stats->events_refused;
}

/* The line of a rule whose places were all taken, once. */
static void put_crowd(struct sink *sink, uint32_t rule, const struct program_rule_stats *stats)
{
	if (!sink->json || sink->is_gone || sink->crowded[rule])
		return;
	sink->crowded[rule] = true;
	result_write_crowd_json(sink->lines.stream, sink->program, rule, stats);
	check_output(sink, lines_put(&sink->lines));
}

static void say_crowd(const struct sink *sink, uint32_t rule, const struct program_rule_stats *stats)
{
	const struct program_rule *image = &sink->program->rules[rule];
	const char *name = program_text(sink->program, image->name), *sort = program_sort(image);
	const char *run = image->semantics == PROGRAM_MACHINE ? "instance" : "run";
	uint64_t refused = refused_by(stats);
	char shares[128] = "";
	int length = 0;

	if (image->per_key)
		length = snprintf(shares, sizeof shares, ", or the %" PRIu32 " of one key,", image->per_key);
	if (image->per_process)
		snprintf(shares + length, sizeof shares - (size_t)length, "%s or the %" PRIu32 " of one process,",
			 length ? "" : ",", image->per_process);
	if (refused)
		cli_warning("%s %s lost %" PRIu64 " %ss: its pool of %" PRIu64 "%s was full", sort, name, refused, run,
			    image->pool, shares);
	if (stats->crowded)
		cli_warning("%s %s ended its %s %" PRIu64 " time%s: its pool of %" PRIu64 "%s was full", sort, name,
			    image->semantics == PROGRAM_MACHINE ? "idlest instance" : "oldest run", stats->crowded,
			    stats->crowded == 1 ? "" : "s", image->pool, shares);
	if (refused || stats->crowded)
		cli_hint("'POOL n' in the %s sets how many of its %ss may be open at once%s", sort, run,
			 image->semantics == PROGRAM_MACHINE ? "" : "; LATEST keeps one of a key, WITHIN ends them");
}

void sink_crowd(struct sink *sink, uint32_t rule, const struct program_rule_stats *stats)
{
	say_crowd(sink, rule, stats);
	put_crowd(sink, rule, stats);
	if (sink->json)
		check_output(sink, sink->is_gone ? 0 : lines_flush(&sink->lines));
}

int sink_put(struct sink *sink)
{
	int result = lines_put(&sink->lines);

	return sink->is_gone ? -EPIPE : check_output(sink, result ? result : lines_flush(&sink->lines));
}

int sink_flush(void *context)
{
	struct sink *sink = context;

	return sink->is_gone ? -EPIPE : check_output(sink, lines_flush(&sink->lines));
}

static void put_unraised(const struct program_rule_stats *rule, const char *sort, const char *name)
{
	if (!rule->unraised)
		return;
	cli_warning("%s %s did not raise %" PRIu64 " events: one event raised more than there is room for", sort, name,
		    rule->unraised);
}

/* RETURN SEQUENCE: a run whose events cannot be kept whole ends. */
static void put_events_refused(const struct program_rule_stats *rule, const char *name)
{
	cli_warning("rule %s lost %" PRIu64 " runs: there was no room to keep more events for RETURN SEQUENCE", name,
		    rule->events_refused);
	cli_hint("WITHIN ends runs that never match; a larger POOL has more room; RETURN { } keeps values only");
}

/* What gave way is not lost, and is told all the same. */
static void put_crowds(const struct sink *sink, const struct session_totals *totals)
{
	for (uint32_t i = 0; i < totals->rule_count; i++)
		say_crowd(sink, i, &totals->rules[i]);
}

static void put_losses(const struct sink *sink, const struct session_totals *totals)
{
	if (totals->lost == 0)
		return;
	cli_warning("%" PRIu64 " events or runs were lost; matches may be missing", totals->lost);
	if (totals->missing)
		cli_warning("the input lacks %" PRIu64 " events that were lost when it was recorded", totals->missing);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		const struct program_rule_stats *rule = &totals->rules[i];
		const struct program_rule *image = &sink->program->rules[i];
		const char *name = program_text(sink->program, image->name), *sort = program_sort(image);
		uint64_t known = rule->pool_exhausted + rule->unraised + totals->missing;

		if (rule->lost > known)
			cli_warning("%s %s lost %" PRIu64 " events or matches: they came faster than they could be "
				    "taken",
				    sort, name, rule->lost - known);
		put_unraised(rule, sort, name);
		if (rule->events_refused)
			put_events_refused(rule, name);
	}
}

/* What rules that wait for sensors have to know of these. */
static void tell_awaited_sensors(const struct session_sensors *sensors)
{
	sensors_report_unannounced(&sensors->unannounced, sensors->out_of_scope);
	sensors_report_unknown(sensors->unknown);
	if (sensors->lost)
		cli_warning("%" PRIu64 " events of sensors were overwritten before they were read, or found no ring",
			    sensors->lost);
	if (sensors->lost)
		sensors_advise_rings();
	if (sensors->gaps)
		cli_warning("the sensor registry ended %" PRIu64
			    " time%s: events of applications are missing until the next one started",
			    sensors->gaps, sensors->gaps == 1 ? "" : "s");
	if (sensors->unread)
		cli_warning("the sensors of %" PRIu64
			    " process%s were not read: an unknown number of events is missing",
			    sensors->unread, sensors->unread == 1 ? "" : "es");
	if (sensors->late)
		cli_warning("%" PRIu64 " events came too late, after newer ones were processed: matches may be missing",
			    sensors->late);
	sensors_report_unfinished(sensors->unfinished);
}

void sink_bypass(struct sink *sink, uint32_t rule, const struct program_rule_stats *stats)
{
	missed_tell(sink->program, rule, stats, &sink->missed_told);
	if (!sink->json || sink->is_gone)
		return;
	result_write_bypass_json(sink->lines.stream, sink->program, rule, stats);
	sink_put(sink);
}

void sink_cut(void *context, const char *name, uint64_t events)
{
	struct sink *sink = context;

	if (!sink->json || sink->is_gone)
		return;
	result_write_cut_json(sink->lines.stream, name, events);
	sink_put(sink);
}

static void put_refusals(const struct sink *sink, const struct session_refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++) {
		const struct session_refusal *refusal = &refusals->items[i];

		cli_warning("%s %s: %s was refused %" PRIu64 " time%s: %s",
			    program_sort(&sink->program->rules[refusal->rule]),
			    program_text(sink->program, sink->program->rules[refusal->rule].name),
			    refusal->action->name, refusal->count, refusal->count == 1 ? "" : "s", refusal->why);
	}
}

/* Those that were only counted, too, but for steps that say nothing on purpose. */
static uint64_t matches_of_rule(const struct sink *sink, const struct session_totals *totals, uint32_t rule)
{
	const struct program_rule *row = &sink->program->rules[rule];

	return !(row->flags & PROGRAM_RULE_SILENT) && result_is_reported(row, sink->least_severity)
		       ? totals->rules[rule].matches
		       : 0;
}

static uint64_t matches_of(const struct sink *sink, const struct session_totals *totals)
{
	uint64_t matches = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		matches += matches_of_rule(sink, totals, i);
	return matches;
}

/* Whose the matches are, where another rule has none: "slow", "2 rules"; else NULL. */
static const char *whose(const struct sink *sink, const struct session_totals *totals, char *text, size_t bytes)
{
	uint32_t matched = 0, missed = 0, last = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++) {
		if (matches_of_rule(sink, totals, i)) {
			matched++;
			last = i;
		}
		missed += totals->rules[i].matches == 0 && sink->program->rules[i].semantics != PROGRAM_MACHINE;
	}
	if (!matched || !missed)
		return NULL;
	snprintf(text, bytes, "%" PRIu32 " rules", matched);
	return matched > 1 ? text : program_text(sink->program, sink->program->rules[last].name);
}

/* What --min-severity has kept back. */
static void put_unreported(const struct sink *sink, const struct session_totals *totals)
{
	uint64_t unreported = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		unreported += result_unreported(sink->program, totals, i);
	if (unreported)
		cli_note("%" PRIu64 " match%s of rules below --min-severity %s: counted, not shown", unreported,
			 unreported == 1 ? "" : "es", severity_name(sink->least_severity));
}

static void put_excepted(const struct session_totals *totals)
{
	uint64_t excepted = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		excepted += totals->rules[i].excepted;
	if (excepted)
		cli_note("%" PRIu64 " match%s excepted: counted, not shown", excepted, excepted == 1 ? "" : "es");
}

static void put_summary(struct sink *sink, const struct session_totals *totals)
{
	double seconds = (double)totals->elapsed_ns / 1e9;
	uint64_t matches = matches_of(sink, totals);
	char text[32];
	const char *owner = whose(sink, totals, text, sizeof text);

	repeats_put_hidden(sink->lines.stream, &sink->repeats, sink->program);
	result_write_tallies(sink->lines.stream, &totals->tallies);
	if (sink->quiet)
		return;
	if (sink->repeats.count > 1 || repeats_all_hidden(&sink->repeats))
		repeats_put_table(stderr, &sink->repeats, sink->program);
	if (sink->verbose)
		result_write_table(stderr, sink->program, totals);
	else
		cli_note("%" PRIu64 " match%s%s%s, %" PRIu64 " event%s in %.3g s, %" PRIu64 " lost", matches,
			 matches == 1 ? "" : "es", owner ? " of " : "", owner ? owner : "", totals->events,
			 totals->events == 1 ? "" : "s", seconds, totals->lost);
	put_unreported(sink, totals);
	put_excepted(totals);
}

/* What the file of a live session lacks. */
static void tell_missing_end(struct sink *sink, uint64_t matches, bool has_end)
{
	sink->has_lost |= matches || !has_end;
	if (matches)
		cli_warning("%" PRIu64 " match%s could not be written to %s", matches, matches == 1 ? "" : "es",
			    sink_name(sink));
	if (!has_end)
		cli_warning("cannot write the end of %s, with the statistics", sink_name(sink));
}

/* Closes the file, which may be when it is found that it could not be written. */
static void close_file(struct sink *sink)
{
	if (sink->file && close(sink->fd)) {
		cli_error("cannot write %s: %m", sink->file);
		sink->error = sink->error ? sink->error : EIO;
		sink->has_lost = true;
	}
	lines_fini(&sink->lines);
	repeats_fini(&sink->repeats);
	alloc_free(sink->crowded);
}

int sink_close(struct sink *sink, struct session_totals *totals)
{
	uint64_t missing;
	bool has_end;

	totals->least_severity = sink->least_severity;
	for (uint32_t i = 0; i < totals->rule_count; i++)
		totals->rules[i].unshown = repeats_hidden(&sink->repeats, i);
	for (uint32_t i = 0; i < totals->rule_count; i++)
		if (refused_by(&totals->rules[i]) || totals->rules[i].crowded)
			put_crowd(sink, i, &totals->rules[i]);
	check_output(sink, sink->is_gone ? 0 : lines_flush(&sink->lines));
	missing = sink->lines.unwritten + sink->lines.count;
	if (sink->json && !sink->is_gone)
		why_write_json(sink->lines.stream, sink->program, totals, sink->is_live);
	if (sink->json && !sink->is_gone)
		result_write_stats(sink->lines.stream, sink->program, totals);
	else if (!sink->json)
		put_summary(sink, totals);
	sink->lines.unwritten = 0;
	if (!sink->is_gone)
		check_output(sink, lines_put(&sink->lines) || lines_flush(&sink->lines) ? -sink->lines.error : 0);
	has_end = !sink->lines.count && !sink->lines.unwritten;
	lines_give_up(&sink->lines, sink->file != NULL);
	if (sink->is_live && !sink->is_gone)
		tell_missing_end(sink, missing, has_end);
	close_file(sink);
	put_losses(sink, totals);
	put_crowds(sink, totals);
	tell_awaited_sensors(&totals->sensors);
	missed_report(sink->program, totals);
	put_refusals(sink, &totals->refusals);
	if (!sink->json)
		why_write_text(sink->program, totals,
			       &(struct why_manner){ sink->is_live, sink->quiet, sink->verbose, sink->tells_why });
	return sink->error && !sink->is_live ? STATUS_USAGE : STATUS_FINE;
}

void sink_abandon(struct sink *sink)
{
	if (!sink->is_gone)
		lines_flush(&sink->lines);
	lines_give_up(&sink->lines, sink->file != NULL);
	if (sink->file)
		close(sink->fd);
	lines_fini(&sink->lines);
	repeats_fini(&sink->repeats);
	alloc_free(sink->crowded);
}

int sink_status(const struct sink *sink, const struct cli_arguments *arguments, const struct session_totals *totals,
		int otherwise)
{
	if ((sink->matches || matches_of(sink, totals)) && cli_has(arguments, OPTION_FAIL_ON_MATCH))
		return STATUS_MATCH;
	return totals->lost || totals->sensors.late || totals->sensors.unknown || sink->has_lost ||
			       session_totals_unread(totals) || session_totals_calls_32bit(totals) ||
			       session_totals_io_uring(totals)
		       ? STATUS_LOST
		       : otherwise;
}
