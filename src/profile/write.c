// SPDX-License-Identifier: BSD-2-Clause
/* Writes profiles: in the project's own format, and in callgrind's. */

#include "profile/write.h"

#include "profile/formula.h"
#include "profile/graph.h"

#include "base/alloc.h"
#include "base/real.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Rounding is to cost no more than a millionth of the whole. */
#define WHOLE_ENOUGH 1e7

/* Whole numbers up to here are exact. */
#define TOTAL_MOST 1e15

/* What is less of all calls comes from rounding. */
#define LEFT_LEAST 1e-9

struct writer {
	FILE *stream;
	const struct profile *profile;
	struct graph graph;
	uint32_t *spots, *calls, *parts; /* of functions, edges, functions: the first of each, and the next after it */
	uint32_t spot_object, spot_file;
	uint32_t file; /* of the costs that follow, in callgrind's format */
	bool is_own;
	bool *is_named; /* texts as objects, as files, and then functions */
	double scales[PROFILE_EVENTS_MAX];
};

/* With its number; the text at its first use. */
static void put_numbered_name(struct writer *writer, const char *key, uint32_t text, size_t number)
{
	const char *string = profile_get_text(writer->profile, text);

	/* Readers do not see blanks before a name, and a name of them alone is none. */
	string += strspn(string, " \t\r");
	fprintf(writer->stream, "%s=(%zu)", key, number + 1);
	if (!writer->is_named[number])
		fprintf(writer->stream, " %s", *string ? string : "???");
	fputc('\n', writer->stream);
	writer->is_named[number] = true;
}

static void put_numbered_function(struct writer *writer, uint32_t number, bool is_callee)
{
	const struct profile_function *function = &writer->profile->functions[number];
	size_t texts = writer->profile->texts.count;

	put_numbered_name(writer, is_callee ? "cob" : "ob", function->object, function->object);
	put_numbered_name(writer, is_callee ? "cfi" : "fl", function->file, texts + function->file);
	put_numbered_name(writer, is_callee ? "cfn" : "fn", function->name, 2 * texts + number);
}

/* What reads back as the same: costs are many, so the shortest of such texts is not looked for. */
static void put_profile_cost(FILE *stream, double real)
{
	if (real == floor(real) && real < 1e15)
		fprintf(stream, "%" PRIu64, (uint64_t)real);
	else
		fprintf(stream, "%.17g", real);
}

static void put_values(const struct writer *writer, const double *row)
{
	for (unsigned i = 0; i < writer->profile->event_count; i++) {
		fputc(' ', writer->stream);
		if (!writer->is_own)
			fprintf(writer->stream, "%.0f", row[i] * writer->scales[i]);
		else if (isnan(row[i]))
			fputc('-', writer->stream);
		else
			put_profile_cost(writer->stream, row[i]);
	}
	fputc('\n', writer->stream);
}

/* Rows by what they belong to: the first of each of owners, then the next of each row. NULL: no memory. */
static uint32_t *chain(size_t owners, size_t rows)
{
	uint32_t *made = alloc_zero(owners + rows + 1, sizeof *made);

	for (size_t i = 0; made && i < owners + rows; i++)
		made[i] = HASH_NONE;
	return made;
}

/* Rows come in their own order if the last is linked first. */
static void link_row(uint32_t *chain, size_t owners, uint32_t owner, uint32_t row)
{
	chain[owners + row] = chain[owner];
	chain[owner] = row;
}

static int chain_spots(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	writer->spots = chain(profile->function_count, profile->spot_count);
	writer->calls = chain(profile->edge_count, profile->call_count);
	writer->parts = chain(profile->function_count, profile->part_count);
	if (!writer->spots || !writer->calls || !writer->parts)
		return -ENOMEM;
	for (size_t i = profile->part_count; i-- > 0;)
		link_row(writer->parts, profile->function_count, profile->parts[i].function, (uint32_t)i);
	for (size_t i = profile->spot_count; i-- > 0;)
		link_row(writer->spots, profile->function_count, profile->spots[i].function, (uint32_t)i);
	for (size_t i = profile->call_count; i-- > 0;)
		link_row(writer->calls, profile->edge_count, profile->calls[i].edge, (uint32_t)i);
	return 0;
}

static void put_spot_place(struct writer *writer, const struct profile_spot *spot)
{
	if (spot->object != writer->spot_object)
		put_numbered_name(writer, "sob", spot->object, spot->object);
	if (spot->file != writer->spot_file)
		put_numbered_name(writer, "sfl", spot->file, writer->profile->texts.count + spot->file);
	writer->spot_object = spot->object;
	writer->spot_file = spot->file;
}

static void put_spot(const struct writer *writer, const char *key, const struct profile_spot *spot)
{
	fprintf(writer->stream, "%s=%" PRIu32 " ", key, spot->line);
	if (spot->address == PROFILE_NO_ADDRESS)
		fputc('-', writer->stream);
	else
		fprintf(writer->stream, "0x%" PRIx64, spot->address);
}

/* Where a function's self cost is. */
static void put_spots(struct writer *writer, uint32_t function)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = writer->spots[function]; i != HASH_NONE; i = writer->spots[profile->function_count + i]) {
		bool has_cost = false;

		for (unsigned k = 0; k < profile->event_count; k++)
			has_cost = has_cost || profile_spot_self(profile, i)[k] > 0;
		if (!has_cost)
			continue;
		put_spot_place(writer, &profile->spots[i]);
		put_spot(writer, "spot", &profile->spots[i]);
		put_values(writer, profile_spot_self(profile, i));
	}
}

/* What threads have of the function's self cost. */
static void put_threads(struct writer *writer, uint32_t function)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = writer->parts[function]; i != HASH_NONE; i = writer->parts[profile->function_count + i]) {
		fprintf(writer->stream, "by=%u ", profile->parts[i].thread);
		put_profile_cost(writer->stream, profile->parts[i].cost);
		fputc('\n', writer->stream);
	}
}

/* Where an edge's calls are. */
static void put_edge_calls(struct writer *writer, uint32_t edge)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = writer->calls[edge]; i != HASH_NONE; i = writer->calls[profile->edge_count + i]) {
		const struct profile_spot *spot = &profile->spots[profile->calls[i].spot];

		put_spot_place(writer, spot);
		put_spot(writer, "from", spot);
		fputc(' ', writer->stream);
		put_profile_cost(writer->stream, profile->calls[i].calls);
		put_values(writer, profile_call_cost(profile, i));
	}
}

static char mark_of(enum profile_origin origin)
{
	return "=~+"[origin];
}

static void put_completed(const struct writer *writer, uint32_t number)
{
	const struct profile_function *function = &writer->profile->functions[number];

	if (function->flags)
		fprintf(writer->stream, "flags=%u\n", function->flags);
	fprintf(writer->stream, "inclusive=%c", mark_of(function->origin));
	put_values(writer, profile_inclusive(writer->profile, number));
	if (isnan(*profile_deviation(writer->profile, number)))
		return;
	fputs("deviation=", writer->stream);
	put_values(writer, profile_deviation(writer->profile, number));
}

/* A row of costs that is written in parts: they come to what the row is as a whole number. */
struct split {
	double sums[PROFILE_EVENTS_MAX], written[PROFILE_EVENTS_MAX], now[PROFILE_EVENTS_MAX];
};

/* NULL: what is left of it. Returns whether there is anything. */
static bool take_part(const struct writer *writer, struct split *split, const double *whole, const double *part)
{
	bool has_cost = false;

	for (unsigned i = 0; i < writer->profile->event_count; i++) {
		double written;

		split->sums[i] = part ? fmin(split->sums[i] + part[i], whole[i]) : whole[i];
		written = rint(split->sums[i] * writer->scales[i]);
		split->now[i] = written - split->written[i];
		split->written[i] = written;
		has_cost = has_cost || split->now[i] > 0;
	}
	return has_cost;
}

/* What is inlined is of another file than its function. */
static void put_file(struct writer *writer, uint32_t function, uint32_t file)
{
	if (file != writer->file)
		put_numbered_name(writer, file == writer->profile->functions[function].file ? "fe" : "fi", file,
				  writer->profile->texts.count + file);
	writer->file = file;
}

static void put_part(const struct writer *writer, uint32_t line, const struct split *split)
{
	fprintf(writer->stream, "%" PRIu32, line);
	for (unsigned i = 0; i < writer->profile->event_count; i++)
		fprintf(writer->stream, " %.0f", split->now[i]);
	fputc('\n', writer->stream);
}

/*
 * A function's self cost, by lines where they are known, the rest at the function's own. Lines that only call have
 * none, and are here nonetheless: callgrind_annotate stumbles over files that have calls alone.
 */
static void put_cost_lines(struct writer *writer, uint32_t number)
{
	const struct profile *profile = writer->profile;
	const double *self = profile_self(profile, number);
	struct split split = { 0 };
	bool has_any = false;

	for (uint32_t i = writer->spots[number]; i != HASH_NONE; i = writer->spots[profile->function_count + i]) {
		const struct profile_spot *spot = &profile->spots[i];

		if (!spot->line || !spot->file)
			continue;
		take_part(writer, &split, self, profile_spot_self(profile, i));
		put_file(writer, number, spot->file);
		put_part(writer, spot->line, &split);
		has_any = true;
	}
	if (!take_part(writer, &split, self, NULL) && has_any)
		return;
	put_file(writer, number, profile->functions[number].file);
	put_part(writer, profile->functions[number].line, &split);
}

static void put_part_of_calls(struct writer *writer, const struct profile_edge *edge, double calls, uint32_t line,
			      const struct split *split)
{
	put_numbered_function(writer, edge->callee, true);
	fputs("calls=", writer->stream);
	put_profile_cost(writer->stream, calls);
	fprintf(writer->stream, " %" PRIu32 "\n", writer->profile->functions[edge->callee].line);
	put_part(writer, line, split);
}

/* An edge's calls, likewise. */
static void put_lines_of_calls(struct writer *writer, uint32_t number)
{
	const struct profile *profile = writer->profile;
	const struct profile_edge *edge = &profile->edges[number];
	const double *cost = profile_cost(profile, number);
	struct split split = { 0 };
	double left = edge->calls;
	bool has_any = false;

	for (uint32_t i = writer->calls[number]; i != HASH_NONE; i = writer->calls[profile->edge_count + i]) {
		const struct profile_call *call = &profile->calls[i];
		const struct profile_spot *spot = &profile->spots[call->spot];
		double calls = fmin(call->calls, left);

		if (!spot->line || !spot->file ||
		    (!take_part(writer, &split, cost, profile_call_cost(profile, i)) && calls <= 0))
			continue;
		put_file(writer, edge->caller, spot->file);
		put_part_of_calls(writer, edge, calls, spot->line, &split);
		left -= calls;
		has_any = true;
	}
	left = left > LEFT_LEAST * edge->calls ? left : 0;
	if (!take_part(writer, &split, cost, NULL) && left <= 0 && has_any)
		return;
	put_file(writer, edge->caller, profile->functions[edge->caller].file);
	put_part_of_calls(writer, edge, left, profile->functions[edge->caller].line, &split);
}

static void put_callgrind_block(struct writer *writer, uint32_t number)
{
	const struct graph *graph = &writer->graph;

	fputc('\n', writer->stream);
	put_numbered_function(writer, number, false);
	writer->file = writer->profile->functions[number].file;
	put_cost_lines(writer, number);
	for (uint32_t i = graph->first[number]; i < graph->first[number + 1]; i++)
		put_lines_of_calls(writer, graph->edges[i]);
}

static void put_own_block(struct writer *writer, uint32_t number)
{
	const struct profile *profile = writer->profile;
	const struct graph *graph = &writer->graph;
	uint32_t line = profile->functions[number].line;

	fputc('\n', writer->stream);
	put_numbered_function(writer, number, false);
	fprintf(writer->stream, "%u", line);
	put_values(writer, profile_self(profile, number));
	if (profile->is_completed)
		put_completed(writer, number);
	put_spots(writer, number);
	put_threads(writer, number);
	for (uint32_t i = graph->first[number]; i < graph->first[number + 1]; i++) {
		const struct profile_edge *edge = &profile->edges[graph->edges[i]];

		put_numbered_function(writer, edge->callee, true);
		fputs("calls=", writer->stream);
		put_profile_cost(writer->stream, edge->calls);
		fprintf(writer->stream, " %u\n%u", profile->functions[edge->callee].line, line);
		put_values(writer, profile_cost(profile, graph->edges[i]));
		if (profile->is_completed)
			fprintf(writer->stream, "edge=%c\n", mark_of(edge->origin));
		put_edge_calls(writer, graph->edges[i]);
	}
}

/* 1 where all costs are whole, and else so much that they nearly are. */
static double scale_of(const struct profile *profile, unsigned event)
{
	double total = profile_total(profile, event), scale = 1;
	bool is_whole = true;

	for (size_t i = event; i < profile->function_count * profile->event_count; i += profile->event_count)
		is_whole = is_whole && profile->self[i] == floor(profile->self[i]);
	for (size_t i = event; i < profile->edge_count * profile->event_count; i += profile->event_count)
		is_whole = is_whole && profile->costs[i] == floor(profile->costs[i]);
	while (!is_whole && total > 0 && total * scale < WHOLE_ENOUGH && scale < 1e9)
		scale *= 10;
	return scale;
}

/* What a callgrind file says of its costs is what their lines come to. */
static void put_cost_sums(const struct writer *writer, const char *key)
{
	const struct profile *profile = writer->profile;
	double sums[PROFILE_EVENTS_MAX] = { 0 };

	for (unsigned i = 0; i < profile->event_count; i++) {
		for (uint32_t j = 0; j < profile->function_count; j++) {
			double cost = profile_self(profile, j)[i];

			sums[i] += writer->is_own ? cost : rint(cost * writer->scales[i]) / writer->scales[i];
		}
	}
	fputs(key, writer->stream);
	put_values(writer, sums);
}

/* Sums are of costs times the same. */
static void choose_scales(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	double largest = 1;
	bool has_sums = false;

	for (unsigned i = 0; i < profile->event_count; i++) {
		writer->scales[i] = writer->is_own ? 1 : scale_of(profile, i);
		largest = fmax(largest, writer->scales[i]);
	}
	for (size_t i = 0; i < profile->info_count; i++)
		has_sums = has_sums || profile_is_formula(profile_get_text(profile, profile->infos[i].key),
							  profile_get_text(profile, profile->infos[i].value));
	for (unsigned i = 0; has_sums && i < profile->event_count; i++) {
		while (largest > 1 && profile_total(profile, i) * largest > TOTAL_MOST)
			largest /= 10;
	}
	for (unsigned i = 0; has_sums && i < profile->event_count; i++)
		writer->scales[i] = largest;
}

/* "event: Sum = 2 Ir + Dr : Sum, times 10" */
static void put_description(const struct writer *writer, const char *name, bool is_sum, double scale)
{
	const char *title = profile_event_title(writer->profile, name);
	size_t length = 0;
	const char *formula = is_sum ? profile_event_formula(writer->profile, name, &length) : NULL;

	fprintf(writer->stream, "event: %s", name);
	if (formula)
		fprintf(writer->stream, " = %.*s", (int)length, formula);
	if (title || scale > 1)
		fprintf(writer->stream, " : %s", title ? title : name);
	if (scale > 1)
		fprintf(writer->stream, ", times %.0f", scale);
	fputc('\n', writer->stream);
}

static void put_descriptions(const struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (unsigned i = 0; i < profile->event_count; i++) {
		const char *name = profile_get_text(profile, profile->events[i]);

		if (writer->scales[i] > 1 || profile_event_title(profile, name))
			put_description(writer, name, false, writer->scales[i]);
	}
	for (size_t i = 0; i < profile->info_count; i++) {
		const char *key = profile_get_text(profile, profile->infos[i].key);
		const char *value = profile_get_text(profile, profile->infos[i].value);

		/* What is no cost of its own any more is a sum no more, either. */
		if (profile_is_formula(key, value) &&
		    profile_find_event(profile, key + strlen(PROFILE_EVENT)) == PROFILE_NONE)
			put_description(writer, key + strlen(PROFILE_EVENT), true, *writer->scales);
	}
}

static void put_profile_head(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	fprintf(writer->stream, "# %s\nversion: 1\ncreator: asterism " ASTERISM_VERSION "\n",
		writer->is_own ? "asterism profile" : "callgrind format");
	if (writer->is_own && profile->is_completed)
		fputs("completed: 1\n", writer->stream);
	for (size_t i = 0; i < profile->info_count; i++) {
		const char *key = profile_get_text(profile, profile->infos[i].key);
		const char *value = profile_get_text(profile, profile->infos[i].value);
		bool is_cmd = strcmp(key, "cmd") == 0;

		if (strcmp(key, "version") == 0 || strcmp(key, "creator") == 0 ||
		    strncmp(key, PROFILE_EVENT, strlen(PROFILE_EVENT)) == 0)
			continue;
		fprintf(writer->stream, "%s%s: %s\n", is_cmd ? "" : "desc: ", key, value);
	}
	for (size_t i = 0; writer->is_own && i < profile->thread_count; i++)
		fprintf(writer->stream, "thread: %u %u %s\n", profile->threads[i].pid, profile->threads[i].tid,
			profile_get_text(profile, profile->threads[i].name));
	choose_scales(writer);
	put_descriptions(writer);
	fputs("positions: line\nevents:", writer->stream);
	for (unsigned i = 0; i < profile->event_count; i++)
		fprintf(writer->stream, " %s", profile_get_text(profile, profile->events[i]));
	fputc('\n', writer->stream);
	put_cost_sums(writer, "summary:");
}

static int write_profile_parts(FILE *stream, const struct profile *profile, bool is_own)
{
	struct writer writer = { .stream = stream, .profile = profile, .is_own = is_own };
	int result = graph_init(&writer.graph, profile);

	if (!result)
		result = chain_spots(&writer);
	writer.is_named = alloc_zero(2 * profile->texts.count + profile->function_count + 1, sizeof *writer.is_named);
	if (!writer.is_named)
		result = -ENOMEM;
	if (!result) {
		put_profile_head(&writer);
		for (uint32_t i = 0; i < profile->function_count; i++)
			(is_own ? put_own_block : put_callgrind_block)(&writer, i);
		put_cost_sums(&writer, "\ntotals:");
		if (ferror(stream))
			result = errno ? -errno : -EIO;
	}
	graph_fini(&writer.graph);
	alloc_free(writer.is_named);
	alloc_free(writer.spots);
	alloc_free(writer.calls);
	alloc_free(writer.parts);
	return result;
}

int profile_write(FILE *stream, const struct profile *profile)
{
	return write_profile_parts(stream, profile, true);
}

int profile_write_callgrind(FILE *stream, const struct profile *profile)
{
	return write_profile_parts(stream, profile, false);
}

static void put_quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

int profile_write_csv(FILE *stream, const struct profile *profile)
{
	fputs("function,object", stream);
	for (unsigned i = 0; i < profile->event_count; i++) {
		const char *name = profile_get_text(profile, profile->events[i]);

		fprintf(stream, profile->is_completed ? ",%s,inclusive_%s" : ",%s", name, name);
	}
	fputc('\n', stream);
	for (uint32_t i = 0; i < profile->function_count; i++) {
		put_quoted(stream, profile_name(profile, i));
		fputc(',', stream);
		put_quoted(stream, profile_get_text(profile, profile->functions[i].object));
		for (unsigned j = 0; j < profile->event_count; j++) {
			fputc(',', stream);
			real_put(stream, profile_self(profile, i)[j]);
			if (profile->is_completed) {
				fputc(',', stream);
				real_put(stream, profile_inclusive(profile, i)[j]);
			}
		}
		fputc('\n', stream);
	}
	return ferror(stream) ? errno ? -errno : -EIO : 0;
}
