// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile annotate`: where in functions their self cost is, line by line, and what is called from there. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/annotate-priv.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/json-text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = 10, LABEL_BYTES = 256, LABEL_WIDTH_MAX = 40 };

/* Spots that are shown as one: a line, or an address. */
struct line {
	uint32_t spot; /* one of them */
	double self;
	size_t call, call_count;
};

struct shown_call {
	uint32_t call, line;
	double cost;
};

struct annotation {
	struct profile *profile;
	struct profile_unit unit;
	uint32_t *functions; /* that are shown, in order */
	size_t function_count;
	bool *is_wanted;    /* of functions */
	struct line *lines; /* by function */
	size_t line_count;
	size_t *first_line;       /* of functions; one more */
	uint32_t *line_of;        /* of spots; HASH_NONE: of a function that is not wanted */
	struct shown_call *calls; /* by line */
	size_t call_count;
	struct sources *sources;
};

static const char *spot_base(const struct profile *profile, const struct profile_spot *spot)
{
	const char *file = profile_get_text(profile, spot->file), *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Lines first. The same file may have two names, in a simulation and in debugging information. */
static int compare_places(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct profile_spot *left = &profile->spots[*(const uint32_t *)a];
	const struct profile_spot *right = &profile->spots[*(const uint32_t *)b];
	int order = compare_numbers(left->function, right->function);

	if (!order)
		order = compare_numbers(!left->line, !right->line);
	if (order)
		return order;
	if (!left->line) {
		order = compare_numbers(left->object, right->object);
		return order ? order : compare_numbers(left->address, right->address);
	}
	order = left->file == right->file ? 0 : strcmp(spot_base(profile, left), spot_base(profile, right));
	return order ? order : compare_numbers(left->line, right->line);
}

/* Spots of wanted functions become lines. */
static int make_lines(struct annotation *annotation)
{
	struct profile *profile = annotation->profile;
	uint32_t *order = alloc_zero(profile->spot_count + 1, sizeof *order);
	size_t count = 0;

	annotation->lines = alloc_zero(profile->spot_count + 1, sizeof *annotation->lines);
	annotation->line_of = alloc_zero(profile->spot_count + 1, sizeof *annotation->line_of);
	if (!order || !annotation->lines || !annotation->line_of) {
		alloc_free(order);
		return -1;
	}
	for (uint32_t i = 0; i < profile->spot_count; i++) {
		annotation->line_of[i] = HASH_NONE;
		if (annotation->is_wanted[profile->spots[i].function])
			order[count++] = i;
	}
	qsort_r(order, count, sizeof *order, compare_places, profile);
	for (size_t i = 0; i < count; i++) {
		if (!i || compare_places(&order[i - 1], &order[i], profile))
			annotation->lines[annotation->line_count++].spot = order[i];
		annotation->line_of[order[i]] = (uint32_t)annotation->line_count - 1;
		annotation->lines[annotation->line_count - 1].self +=
			profile_spot_self(profile, order[i])[annotation->unit.event];
	}
	alloc_free(order);
	return 0;
}

static int index_lines(struct annotation *annotation)
{
	const struct profile *profile = annotation->profile;
	size_t at = 0;

	annotation->first_line = alloc_zero(profile->function_count + 1, sizeof *annotation->first_line);
	if (!annotation->first_line)
		return -1;
	for (uint32_t i = 0; i < profile->function_count; i++) {
		annotation->first_line[i] = at;
		while (at < annotation->line_count && profile->spots[annotation->lines[at].spot].function == i)
			at++;
	}
	annotation->first_line[profile->function_count] = at;
	return 0;
}

/* Calls of one function from one line stand next to each other, then the costliest first. */
static int compare_calls(const void *a, const void *b, void *context)
{
	const struct shown_call *left = a, *right = b;
	const struct profile *profile = context;

	if (left->line != right->line)
		return compare_numbers(left->line, right->line);
	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	return compare_numbers(profile->calls[left->call].edge, profile->calls[right->call].edge);
}

static int make_calls(struct annotation *annotation)
{
	const struct profile *profile = annotation->profile;

	annotation->calls = alloc_zero(profile->call_count + 1, sizeof *annotation->calls);
	if (!annotation->calls)
		return -1;
	for (uint32_t i = 0; i < profile->call_count; i++) {
		uint32_t line = annotation->line_of[profile->calls[i].spot];

		if (line != HASH_NONE)
			annotation->calls[annotation->call_count++] =
				(struct shown_call){ i, line, profile_call_cost(profile, i)[annotation->unit.event] };
	}
	qsort_r(annotation->calls, annotation->call_count, sizeof *annotation->calls, compare_calls,
		annotation->profile);
	for (size_t i = annotation->call_count; i-- > 0;) {
		struct line *line = &annotation->lines[annotation->calls[i].line];

		line->call = i;
		line->call_count++;
	}
	return 0;
}

static int annotation_init(struct annotation *annotation)
{
	annotation->sources = sources_new();
	if (!annotation->sources ||
	    annotate_locate(annotation->profile, annotation->is_wanted, "showing addresses instead") ||
	    make_lines(annotation) || index_lines(annotation) || make_calls(annotation)) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

static void annotation_fini(struct annotation *annotation)
{
	alloc_free(annotation->functions);
	alloc_free(annotation->is_wanted);
	alloc_free(annotation->lines);
	alloc_free(annotation->first_line);
	alloc_free(annotation->line_of);
	alloc_free(annotation->calls);
	sources_free(annotation->sources);
}

static void put_call(const struct annotation *annotation, const struct shown_call *shown)
{
	const struct profile *profile = annotation->profile;
	const struct profile_call *call = &profile->calls[shown->call];
	const struct profile_edge *edge = &profile->edges[call->edge];

	fputs("    ", stdout);
	profile_put_share(stdout, shown->cost, &annotation->unit, edge->origin, NAN);
	printf(" %12.0f calls to ", call->calls);
	profile_put_name(stdout, profile, edge->callee);
}

static void put_label(const struct profile *profile, const struct profile_spot *spot, char label[LABEL_BYTES])
{
	const char *object = profile_get_text(profile, spot->object), *slash = strrchr(object, '/');

	if (spot->line)
		snprintf(label, LABEL_BYTES, "%.200s:%" PRIu32, spot_base(profile, spot), spot->line);
	else if (spot->address != PROFILE_NO_ADDRESS)
		snprintf(label, LABEL_BYTES, "%.200s+0x%" PRIx64, slash ? slash + 1 : object, spot->address);
	else
		snprintf(label, LABEL_BYTES, "?");
}

static const char *spot_text(const struct annotation *annotation, const struct profile_spot *spot)
{
	const struct profile *profile = annotation->profile;
	uint32_t object = spot->object ? spot->object : profile->functions[spot->function].object;

	return spot->line ? sources_line(annotation->sources, profile_get_text(profile, spot->file),
					 profile_get_text(profile, object), spot->line)
			  : NULL;
}

static void put_annotated_line(const struct annotation *annotation, const struct line *line)
{
	const struct profile_spot *spot = &annotation->profile->spots[line->spot];
	const char *source = spot_text(annotation, spot);
	char label[LABEL_BYTES];
	int length;

	profile_put_share(stdout, line->self, &annotation->unit, PROFILE_MEASURED, NAN);
	put_label(annotation->profile, spot, label);
	fputs("  ", stdout);
	length = text_write(stdout, label, TEXT_WORDS);
	if (source && *source) {
		printf("%*s  ", length < LABEL_WIDTH_MAX / 2 ? LABEL_WIDTH_MAX / 2 - length : 0, "");
		text_write(stdout, source, TEXT_WORDS);
	}
	fputc('\n', stdout);
	for (size_t i = 0; i < line->call_count; i++)
		put_call(annotation, &annotation->calls[line->call + i]);
}

/* What no line has of a function's self cost. Sums of parts are not exact. */
static double rest_of(const struct annotation *annotation, uint32_t function)
{
	double self = profile_self(annotation->profile, function)[annotation->unit.event], rest = self;

	for (size_t i = annotation->first_line[function]; i < annotation->first_line[function + 1]; i++)
		rest -= annotation->lines[i].self;
	return rest > self * 1e-9 ? rest : 0;
}

static bool is_line_shown(const struct line *line)
{
	return line->self > 0 || line->call_count;
}

static void put_annotated_function(const struct annotation *annotation, uint32_t function)
{
	const struct profile *profile = annotation->profile;
	double rest = rest_of(annotation, function);

	fputc('\n', stdout);
	profile_put_share(stdout, profile_self(profile, function)[annotation->unit.event], &annotation->unit,
			  PROFILE_MEASURED, NAN);
	fputs("  self cost of ", stdout);
	profile_put_name(stdout, profile, function);
	for (size_t i = annotation->first_line[function]; i < annotation->first_line[function + 1]; i++) {
		if (is_line_shown(&annotation->lines[i]))
			put_annotated_line(annotation, &annotation->lines[i]);
	}
	if (rest > 0) {
		profile_put_share(stdout, rest, &annotation->unit, PROFILE_MEASURED, NAN);
		fputs("  in unknown lines\n", stdout);
	}
}

static json_t *calls_json(const struct annotation *annotation, const struct line *line)
{
	const struct profile *profile = annotation->profile;
	json_t *calls = json_array();

	for (size_t i = 0; i < line->call_count; i++) {
		const struct shown_call *shown = &annotation->calls[line->call + i];
		const struct profile_call *call = &profile->calls[shown->call];
		const struct profile_edge *edge = &profile->edges[call->edge];
		uint32_t object = profile->functions[edge->callee].object;

		json_array_append_new(calls,
				      json_pack("{s:o,s:o,s:f,s:o,s:s}", "function",
						json_text(profile_name(profile, edge->callee)), "object",
						json_text(profile_get_text(profile, object)), "calls", call->calls,
						"cost", profile_cost_json(shown->cost, &annotation->unit), "origin",
						profile_origin_word(edge->origin)));
	}
	return calls;
}

static json_t *line_json(const struct annotation *annotation, const struct line *line)
{
	const struct profile *profile = annotation->profile;
	const struct profile_spot *spot = &profile->spots[line->spot];
	const char *source = spot_text(annotation, spot);
	json_t *row = json_pack("{s:o}", "self", profile_cost_json(line->self, &annotation->unit));
	char address[32];

	if (spot->line) {
		json_object_set_new(row, "file", json_text(profile_get_text(profile, spot->file)));
		json_object_set_new(row, "line", json_integer(spot->line));
	} else if (spot->address != PROFILE_NO_ADDRESS) {
		snprintf(address, sizeof address, "0x%" PRIx64, spot->address);
		json_object_set_new(row, "object", json_text(profile_get_text(profile, spot->object)));
		json_object_set_new(row, "address", json_text(address));
	}
	if (source)
		json_object_set_new(row, "source", json_text(source));
	if (line->call_count)
		json_object_set_new(row, "calls", calls_json(annotation, line));
	return row;
}

static json_t *function_json(const struct annotation *annotation, uint32_t function)
{
	json_t *row = profile_function_json(annotation->profile, function, &annotation->unit), *lines = json_array();
	double rest = rest_of(annotation, function);

	for (size_t i = annotation->first_line[function]; i < annotation->first_line[function + 1]; i++) {
		if (is_line_shown(&annotation->lines[i]))
			json_array_append_new(lines, line_json(annotation, &annotation->lines[i]));
	}
	if (rest > 0)
		json_array_append_new(lines, json_pack("{s:o}", "self", profile_cost_json(rest, &annotation->unit)));
	json_object_set_new(row, "lines", lines);
	return row;
}

static void put_annotation_json(const struct annotation *annotation)
{
	json_t *functions = json_array(), *head = profile_head_json(annotation->profile, &annotation->unit);

	for (size_t i = 0; i < annotation->function_count; i++)
		json_array_append_new(functions, function_json(annotation, annotation->functions[i]));
	json_object_set_new(head, "functions", functions);
	json_text_put(head);
}

static int compare_self(const void *a, const void *b, void *context)
{
	const struct annotation *annotation = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_self = profile_self(annotation->profile, left)[annotation->unit.event];
	double right_self = profile_self(annotation->profile, right)[annotation->unit.event];

	if (left_self != right_self)
		return left_self < right_self ? 1 : -1;
	return compare_numbers(left, right);
}

/* All of that name, or all that have cost something themselves; no more than most. Returns how many there are. */
static size_t choose_spots(struct annotation *annotation, const char *name, size_t most)
{
	const struct profile *profile = annotation->profile;
	size_t count = 0;
	uint32_t function;

	for (size_t step = 0; name && (function = profile_find_name(profile, name, &step)) != HASH_NONE;)
		annotation->functions[count++] = function;
	for (uint32_t i = 0; !name && i < profile->function_count; i++) {
		if (profile_self(profile, i)[annotation->unit.event] > 0)
			annotation->functions[count++] = i;
	}
	qsort_r(annotation->functions, count, sizeof *annotation->functions, compare_self, annotation);
	annotation->function_count = count < most ? count : most;
	for (size_t i = 0; i < annotation->function_count; i++)
		annotation->is_wanted[annotation->functions[i]] = true;
	return count;
}

static int show_annotation(const struct cli_arguments *arguments, struct annotation *annotation, const char *name)
{
	bool has_all = name || cli_has(arguments, OPTION_VERBOSE) || profile_wants_json(arguments);
	size_t functions = annotation->profile->function_count, count;
	int status;

	annotation->functions = alloc_zero(functions + 1, sizeof *annotation->functions);
	annotation->is_wanted = alloc_zero(functions + 1, sizeof *annotation->is_wanted);
	if (!annotation->functions || !annotation->is_wanted) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	count = choose_spots(annotation, name, has_all ? functions : FUNCTIONS_SHOWN);
	status = annotation_init(annotation);
	if (status)
		return status;
	if (profile_wants_json(arguments)) {
		put_annotation_json(annotation);
	} else {
		profile_put_head(stdout, annotation->profile, annotation->unit.event);
		for (size_t i = 0; i < annotation->function_count; i++)
			put_annotated_function(annotation, annotation->functions[i]);
		if (count > annotation->function_count)
			printf("\n%zu more functions: -v shows them\n", count - annotation->function_count);
	}
	sources_tell(annotation->sources);
	return STATUS_FINE;
}

int profile_annotate_run(const struct cli_arguments *arguments, const char **operands)
{
	const char *name = arguments->operand_count > 2 ? operands[1] : NULL;
	struct annotation annotation = { 0 };
	int status = profile_load(operands[0], &annotation.profile), failed = STATUS_USAGE;

	if (annotation.profile && (!status || status == STATUS_LOST) &&
	    !profile_chosen_unit(arguments, annotation.profile, &annotation.unit) &&
	    (!name || profile_find_function(annotation.profile, name) != HASH_NONE))
		failed = show_annotation(arguments, &annotation, name);
	annotation_fini(&annotation);
	profile_free(annotation.profile);
	return failed ? failed : status;
}
