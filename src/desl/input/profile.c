// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads records from a profile: of an input with a field caller or callee its calls, and one for each function that
 * calls nothing; of others its functions. Costs are of the first event type, or of the one that a field names.
 */

#include "desl/input/input-priv.h"

#include "base/alloc.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PROFILE_NUMBER_BYTES = 32 };

enum what { NAME, CALLER, CALLEE, OBJECT, SOURCE_FILE, LINE, START, END, SELF, INCL, TIMES, COST, WHATS };

static const struct {
	const char *words[4];
	enum desl_kind kind;
	bool of_calls, of_functions;
} whats[WHATS] = {
	[NAME] = { { "fct", "function", "name", "f" }, DESL_LINE, false, true },
	[CALLER] = { { "caller" }, DESL_LINE, true, false },
	[CALLEE] = { { "callee" }, DESL_LINE, true, false },
	[OBJECT] = { { "object" }, DESL_STRING, false, true },
	[SOURCE_FILE] = { { "file" }, DESL_STRING, false, true },
	[LINE] = { { "line" }, DESL_NUMBER, false, true },
	[START] = { { "start" }, DESL_LINE, false, true },
	[END] = { { "end" }, DESL_LINE, false, true },
	[SELF] = { { "self", "cost" }, DESL_NUMBER, false, true },
	[INCL] = { { "incl", "inclusive" }, DESL_NUMBER, true, true },
	[TIMES] = { { "times", "calls" }, DESL_NUMBER, true, true },
	[COST] = { { "callCost", "cost" }, DESL_NUMBER, true, false },
};

struct reading {
	struct desl_providing *providing;
	const struct profile *profile;
	int what[DESL_FIELDS_MAX];
	unsigned event[DESL_FIELDS_MAX];
	bool is_calls;
	double *inflow, *outflow, *times; /* of functions, by event for the first two */
	bool *calls;
};

static bool is_what(const struct reading *reading, int what, const char *name)
{
	/* Of calls, self is the caller's. */
	if (!(reading->is_calls ? whats[what].of_calls || (what == SELF && strcmp(name, "self") == 0)
				: whats[what].of_functions))
		return false;
	for (unsigned i = 0; i < 4 && whats[what].words[i]; i++) {
		if (strcmp(whats[what].words[i], name) == 0)
			return true;
	}
	return false;
}

static int refuse_unknown_field(const struct reading *reading, const struct desl_field *field)
{
	const char *names[WHATS + PROFILE_EVENTS_MAX];
	size_t count = 0;

	for (int i = 0; i < WHATS; i++) {
		if (is_what(reading, i, whats[i].words[0]))
			names[count++] = whats[i].words[0];
	}
	for (unsigned i = 0; i < reading->profile->event_count; i++)
		names[count++] = profile_get_text(reading->profile, reading->profile->events[i]);
	return desl_provide_unknown(reading->providing, field, names, count);
}

static int bind_field(struct reading *reading, unsigned column)
{
	const struct desl_field *field = &reading->providing->type->fields[column];
	int event = profile_find_event(reading->profile, field->name.text), what = 0;
	enum desl_kind kind;

	while (what < WHATS && !is_what(reading, what, field->name.text))
		what++;
	if (what == WHATS && event < 0)
		return refuse_unknown_field(reading, field);
	if (what == WHATS) {
		what = reading->is_calls ? COST : SELF;
		reading->event[column] = (unsigned)event;
	}
	reading->what[column] = what;
	kind = whats[what].kind;
	if (field->kind == kind || (kind == DESL_LINE && field->kind == DESL_STRING) ||
	    (kind == DESL_STRING && field->kind == DESL_LINE))
		return 0;
	return diag_error(reading->providing->diag, &field->name.location, -EINVAL,
			  "the field '%s' of a profile is a %s, not a %s", field->name.text, desl_kind_word(kind),
			  desl_kind_word(field->kind));
}

static int bind_fields(struct reading *reading)
{
	const struct desl_type *type = reading->providing->type;
	int result = 0;

	reading->is_calls = desl_find_field(type, "caller") >= 0 || desl_find_field(type, "callee") >= 0;
	for (unsigned i = 0; i < type->field_count && !result; i++)
		result = bind_field(reading, i);
	return result;
}

static int sum_flows(struct reading *reading)
{
	const struct profile *profile = reading->profile;
	unsigned events = profile->event_count;

	reading->inflow = alloc_zero(profile->function_count * events + 1, sizeof *reading->inflow);
	reading->outflow = alloc_zero(profile->function_count * events + 1, sizeof *reading->outflow);
	reading->times = alloc_zero(profile->function_count + 1, sizeof *reading->times);
	reading->calls = alloc_zero(profile->function_count + 1, sizeof *reading->calls);
	if (!reading->inflow || !reading->outflow || !reading->times || !reading->calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->edge_count; i++) {
		const struct profile_edge *edge = &profile->edges[i];

		for (unsigned j = 0; j < events && edge->caller != edge->callee; j++) {
			reading->inflow[edge->callee * (size_t)events + j] += profile_cost(profile, i)[j];
			reading->outflow[edge->caller * (size_t)events + j] += profile_cost(profile, i)[j];
		}
		reading->times[edge->callee] += edge->calls;
		reading->calls[edge->caller] = true;
	}
	return 0;
}

/* As completing takes it: what its callers had of it; of a root its own and all that it calls. */
static double inclusive(const struct reading *reading, uint32_t function, unsigned event)
{
	const struct profile *profile = reading->profile;
	size_t at = (size_t)function * profile->event_count + event;

	if (profile->is_completed)
		return profile_inclusive(profile, function)[event];
	return reading->inflow[at] > 0 ? reading->inflow[at]
				       : profile_self(profile, function)[event] + reading->outflow[at];
}

static double number_of_cell(const struct reading *reading, int what, unsigned event, uint32_t function, uint32_t edge)
{
	const struct profile *profile = reading->profile;

	switch (what) {
	case LINE:
		return profile->functions[function].line ? profile->functions[function].line : NAN;
	case SELF:
		return profile_self(profile, function)[event];
	case INCL:
		return inclusive(reading, function, event);
	case TIMES:
		return !reading->is_calls  ? reading->times[function]
		       : edge == HASH_NONE ? NAN
					   : profile->edges[edge].calls;
	default:
		return edge == HASH_NONE ? NAN : profile_cost(profile, edge)[event];
	}
}

static const char *text_of_cell(const struct reading *reading, int what, uint32_t function, uint32_t edge,
				char number[PROFILE_NUMBER_BYTES])
{
	const struct profile *profile = reading->profile;
	const struct profile_function *about = &profile->functions[function];

	switch (what) {
	case CALLEE:
		return edge == HASH_NONE ? "" : profile_name(profile, profile->edges[edge].callee);
	case OBJECT:
		return profile_get_text(profile, about->object);
	case SOURCE_FILE:
		return profile_get_text(profile, about->file);
	case START:
	case END:
		snprintf(number, PROFILE_NUMBER_BYTES, "0x%lx", what == START ? about->low : about->high);
		return about->low > about->high ? "" : number;
	default:
		return profile_name(profile, function);
	}
}

/* A function, or a call of it to another one. */
static int add_profile_record(struct reading *reading, uint32_t function, uint32_t edge)
{
	struct desl_type *type = reading->providing->type;
	struct desl_table *table = &type->table;
	char number[PROFILE_NUMBER_BYTES];
	int result = desl_table_grow(table);

	for (unsigned i = 0; i < type->field_count && !result; i++) {
		union desl_cell *cell = &table->cells[i][table->rows];
		const char *text;

		if (type->fields[i].kind == DESL_NUMBER) {
			cell->number = number_of_cell(reading, reading->what[i], reading->event[i], function, edge);
			continue;
		}
		text = text_of_cell(reading, reading->what[i], function, edge, number);
		result = desl_provide_cell(reading->providing, i, text, strlen(text), cell);
	}
	table->rows += !result;
	return desl_provide_failed(reading->providing, result);
}

static int add_records(struct reading *reading)
{
	const struct profile *profile = reading->profile;
	int result = sum_flows(reading);

	for (uint32_t i = 0; reading->is_calls && i < profile->edge_count && !result; i++)
		result = add_profile_record(reading, profile->edges[i].caller, i);
	for (uint32_t i = 0; i < profile->function_count && !result; i++) {
		if (!reading->is_calls || !reading->calls[i])
			result = add_profile_record(reading, i, HASH_NONE);
	}
	return result;
}

/* gmon.out has no names: its program has them. */
static int read_gmon(const struct desl_providing *providing, struct profile **profile)
{
	const char *file = providing->source->file, *program = providing->named_by;
	char hint[512];
	int fd, result;

	if (!program) {
		snprintf(hint, sizeof hint, "%s=%s:PROGRAM", providing->type->name.text, file);
		diag_add(providing->diag, ASTERISM_ERROR, NULL, hint,
			 "%s has no names of functions: they are in its program", file);
		return -EINVAL;
	}
	fd = open(program, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return diag_error(providing->diag, NULL, -errno, "cannot read %s: %s", program, strerror(errno));
	result = profile_read_gmon(providing->source, fd, program, providing->diag, profile);
	close(fd);
	return result;
}

static int read_profile(const struct desl_providing *providing, struct profile **profile)
{
	if (profile_is_gmon(providing->source))
		return read_gmon(providing, profile);
	return profile_read(providing->source, providing->diag, profile);
}

int desl_provide_profile(struct desl_providing *providing)
{
	struct reading *reading = alloc_zero(1, sizeof *reading);
	struct profile *profile = NULL;
	int result = reading ? read_profile(providing, &profile) : -ENOMEM;

	if (!result) {
		reading->providing = providing;
		reading->profile = profile;
		result = bind_fields(reading);
		if (!result)
			result = add_records(reading);
		alloc_free(reading->inflow);
		alloc_free(reading->outflow);
		alloc_free(reading->times);
		alloc_free(reading->calls);
		profile_free(profile);
	}
	alloc_free(reading);
	return result;
}
