// SPDX-License-Identifier: BSD-2-Clause
/* Decides where matches and statistics are written. */

#include "cmd/sink.h"

#include "cmd/print.h"
#include "cmd/status.h"
#include "session/result.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

int sink_open(struct sink *sink, const struct arguments *arguments, const struct program *program)
{
	const char *file = arguments->options[OPTION_OUTPUT].text;

	if (file && strcmp(file, "-") == 0)
		file = NULL;
	*sink = (struct sink){ .stream = stdout, .file = file, .program = program };
	sink->json = arguments->options[OPTION_FORMAT].number == 1;
	sink->quiet = arguments_has(arguments, OPTION_QUIET);
	sink->verbose = arguments_has(arguments, OPTION_VERBOSE);
	if (file)
		sink->stream = fopen(file, "we");
	if (!sink->stream) {
		print_error("%s cannot be written: %m", file);
		return STATUS_USAGE;
	}
	sink->at_once = isatty(fileno(sink->stream));
	return STATUS_FINE;
}

/* Notices the first failure to write, and says so unless the reader has just gone away. Returns 0 or -errno. */
static int check_stream(struct sink *sink)
{
	if (!sink->error && ferror(sink->stream)) {
		sink->error = errno ? errno : EIO;
		if (sink->error != EPIPE)
			print_error("%s cannot be written: %s", sink->file ? sink->file : "standard output",
				    strerror(sink->error));
	}
	if (sink->error == EPIPE)
		clearerr(sink->stream); /* the program's end has nothing to tell either */
	return -sink->error;
}

int sink_match(void *context, const struct program_match *match)
{
	struct sink *sink = context;

	if (sink->error)
		return -sink->error;
	sink->matches++;
	errno = 0;
	if (sink->json)
		result_write_json(sink->stream, sink->program, match);
	else
		result_write_text(sink->stream, sink->program, match);
	if (sink->at_once)
		fflush(sink->stream);
	return check_stream(sink);
}

int sink_flush(void *context)
{
	struct sink *sink = context;

	errno = 0;
	fflush(sink->stream);
	return check_stream(sink);
}

static void put_losses(const struct sink *sink, const struct session_totals *totals)
{
	if (totals->lost == 0)
		return;
	print_warning("%" PRIu64 " events or runs were lost; matches may be missing", totals->lost);
	if (totals->missing)
		print_warning("the input lacks %" PRIu64 " events that were lost when it was recorded",
			      totals->missing);
	for (uint32_t i = 0; i < totals->rule_count; i++) {
		const struct program_rule_stats *rule = &totals->rules[i];
		const struct program_rule *image = &sink->program->rules[i];
		const char *name = program_text(sink->program, image->name), *sort = program_sort(image);
		const char *run = image->semantics == PROGRAM_MACHINE ? "instance" : "run";

		if (rule->lost > rule->pool_exhausted + totals->missing)
			print_warning("%s %s lost %" PRIu64 " events or matches: they came faster than they could be "
				      "taken",
				      sort, name, rule->lost - rule->pool_exhausted - totals->missing);
		if (rule->pool_exhausted == 0)
			continue;
		print_warning("%s %s lost %" PRIu64 " %ss: its pool of %" PRIu64 " was full", sort, name,
			      rule->pool_exhausted, run, image->pool);
		print_hint("'POOL n' in the %s sets how many of its %ss may be open at once", sort, run);
	}
}

static void put_refusals(const struct sink *sink, const struct reactions_refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++) {
		const struct reactions_refusal *refusal = &refusals->items[i];

		print_warning("%s %s: %s was refused %" PRIu64 " time%s: %s",
			      program_sort(&sink->program->rules[refusal->rule]),
			      program_text(sink->program, sink->program->rules[refusal->rule].name),
			      refusal->action->name, refusal->count, refusal->count == 1 ? "" : "s", refusal->why);
	}
}

/* Those that were only counted, too, but for steps that say nothing on purpose. */
static uint64_t matches_of(const struct sink *sink, const struct session_totals *totals)
{
	uint64_t matches = 0;

	for (uint32_t i = 0; i < totals->rule_count; i++)
		if (!(sink->program->rules[i].flags & PROGRAM_RULE_SILENT))
			matches += totals->rules[i].matches;
	return matches;
}

static void put_summary(const struct sink *sink, const struct session_totals *totals)
{
	double seconds = (double)totals->elapsed_ns / 1e9;
	uint64_t matches = matches_of(sink, totals);

	result_write_tallies(sink->stream, &totals->tallies);
	if (sink->quiet)
		return;
	if (sink->verbose)
		return result_write_table(stderr, sink->program, totals);
	print_note("%" PRIu64 " match%s, %" PRIu64 " event%s in %.3g s, %" PRIu64 " lost", matches,
		   matches == 1 ? "" : "es", totals->events, totals->events == 1 ? "" : "s", seconds, totals->lost);
}

int sink_close(struct sink *sink, const struct session_totals *totals)
{
	errno = 0;
	if (sink->json && !sink->error)
		result_write_stats(sink->stream, sink->program, totals);
	else if (!sink->json)
		put_summary(sink, totals);
	fflush(sink->stream);
	check_stream(sink);
	if (sink->file && fclose(sink->stream) && !sink->error) {
		sink->error = errno;
		print_error("%s cannot be written: %m", sink->file);
	}
	put_losses(sink, totals);
	put_refusals(sink, &totals->refusals);
	return sink->error && sink->error != EPIPE ? STATUS_USAGE : STATUS_FINE;
}

void sink_abandon(struct sink *sink)
{
	if (sink->file)
		fclose(sink->stream);
}

int sink_status(const struct sink *sink, const struct arguments *arguments, const struct session_totals *totals,
		int otherwise)
{
	if ((sink->matches || matches_of(sink, totals)) && arguments_has(arguments, OPTION_FAIL_ON_MATCH))
		return STATUS_MATCH;
	return totals->lost ? STATUS_LOST : otherwise;
}
