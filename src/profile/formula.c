// SPDX-License-Identifier: BSD-2-Clause
/* Computes what sums of event types cost: each part times a number, parts may be sums themselves. */

#include "profile/formula.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMULA_NAME_BYTES = 256, FORMULA_VALUE_BYTES = 1024, DEPTH_MAX = 16, PARTS_MAX = 4096 };

#define BLANKS " \t\r"

struct sum {
	const struct profile *profile;
	struct asterism_diag *diag;
	const char *name; /* of what is asked for */
	double factors[PROFILE_EVENTS_MAX];
	unsigned parts;
};

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, BLANKS);
}

/* Where a description's long name begins, with the colon: "cycles:u" is a name, so there is a blank beside it. */
static const char *title_in(const char *value)
{
	for (const char *at = value; (at = strchr(at, ':')); at++) {
		if (at == value || strchr(BLANKS, at[-1]) || strchr(BLANKS, at[1]))
			return at;
	}
	return NULL;
}

static size_t name_length(const char *at)
{
	size_t length = strcspn(at, BLANKS "+*=");

	/* "Ir: Instructions" */
	return length && at[length - 1] == ':' ? length - 1 : length;
}

int profile_describe_event(struct profile *profile, const char *text, size_t length)
{
	char key[FORMULA_NAME_BYTES + sizeof PROFILE_EVENT], value[FORMULA_VALUE_BYTES];
	size_t name;

	while (length && strchr(BLANKS, *text)) {
		text++;
		length--;
	}
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	if (length >= sizeof value || memchr(text, 0, length))
		return -EINVAL;
	memcpy(value, text, length);
	value[length] = 0;
	name = name_length(value);
	if (!name || name >= FORMULA_NAME_BYTES)
		return -EINVAL;
	memcpy(key, PROFILE_EVENT, strlen(PROFILE_EVENT));
	memcpy(key + strlen(PROFILE_EVENT), value, name);
	key[strlen(PROFILE_EVENT) + name] = 0;
	text = skip_blanks(value + name);
	if (*text != ':' && *text != '=')
		return -EINVAL;
	return profile_set_info(profile, key, text);
}

/* NULL: nothing is said of it. */
static const char *description_of(const struct profile *profile, const char *name)
{
	char key[FORMULA_NAME_BYTES + sizeof PROFILE_EVENT];
	size_t length = strlen(name);

	if (length >= FORMULA_NAME_BYTES)
		return NULL;
	memcpy(key, PROFILE_EVENT, strlen(PROFILE_EVENT));
	memcpy(key + strlen(PROFILE_EVENT), name, length + 1);
	return profile_get_info(profile, key);
}

const char *profile_event_title(const struct profile *profile, const char *name)
{
	const char *value = description_of(profile, name), *title = value ? title_in(value) : NULL;

	return title ? skip_blanks(title + 1) : NULL;
}

const char *profile_event_formula(const struct profile *profile, const char *name, size_t *length)
{
	const char *value = description_of(profile, name), *end;

	if (!value || *value != '=')
		return NULL;
	end = title_in(value);
	end = end ? end : value + strlen(value);
	value = skip_blanks(value + 1);
	*length = end > value ? (size_t)(end - value) : 0;
	while (*length && strchr(BLANKS, value[*length - 1]))
		--*length;
	return value;
}

bool profile_is_formula(const char *key, const char *value)
{
	return strncmp(key, PROFILE_EVENT, strlen(PROFILE_EVENT)) == 0 && *value == '=';
}

static int refuse(const struct sum *sum, const char *hint, const char *text, const char *part)
{
	diag_add(sum->diag, ASTERISM_ERROR, NULL, hint, "the formula of '%s' %s%s%s", sum->name, text, part ? part : "",
		 part ? "'" : "");
	return -EINVAL;
}

static int add_parts(struct sum *sum, const char *formula, size_t length, double factor, unsigned depth);

static int add_part(struct sum *sum, const char *name, double factor, unsigned depth)
{
	int event = profile_find_event(sum->profile, name);
	const char *formula;
	size_t length;

	if (++sum->parts > PARTS_MAX)
		return refuse(sum, NULL, "has more than 4096 parts", NULL);
	if (event >= 0) {
		sum->factors[event] += factor;
		return 0;
	}
	formula = profile_event_formula(sum->profile, name, &length);
	if (!formula)
		return refuse(sum, "'asterism profile report -f json' shows the name of its first event type",
			      "needs costs that the profile has not: '", name);
	if (depth == DEPTH_MAX)
		return refuse(sum, NULL, "comes to itself again, at '", name);
	return add_parts(sum, formula, length, factor, depth + 1);
}

/* "2 Ir + 3*Dr + Dw": hexadecimal numbers and fractions, too. */
static int add_parts(struct sum *sum, const char *formula, size_t length, double factor, unsigned depth)
{
	char text[FORMULA_VALUE_BYTES], name[FORMULA_NAME_BYTES];
	const char *at = text;
	int result;

	if (length >= sizeof text)
		return refuse(sum, NULL, "is longer than 1 KiB", NULL);
	memcpy(text, formula, length);
	text[length] = 0;
	for (;;) {
		double number = 1;

		at = skip_blanks(at);
		if (*at >= '0' && *at <= '9') {
			char *end;

			number = strtod(at, &end);
			at = skip_blanks(end);
			at = *at == '*' ? skip_blanks(at + 1) : at;
		}
		length = strcspn(at, BLANKS "+*");
		if (!length || length >= sizeof name || !isfinite(number))
			return refuse(sum, "formulas are sums such as 2 Ir + 10 D1mr", "has no event type at '", at);
		memcpy(name, at, length);
		name[length] = 0;
		result = add_part(sum, name, factor * number, depth);
		at = skip_blanks(at + length);
		if (result || !*at)
			return result;
		if (*at++ != '+')
			return refuse(sum, "formulas are sums such as 2 Ir + 10 D1mr", "has no '+' at '", at - 1);
	}
}

/* Rows with one column more, that of the sum. */
static int widen(double **rows, size_t *capacity, size_t count, unsigned events, const struct sum *sum)
{
	double *wider = alloc_zero(count + 1, (events + 1) * sizeof *wider);

	if (!wider)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const double *from = *rows + i * events;
		double *to = wider + i * (events + 1);

		for (unsigned k = 0; k < events; k++) {
			to[k] = from[k];
			to[events] += sum->factors[k] > 0 ? sum->factors[k] * from[k] : 0;
		}
	}
	alloc_free(*rows);
	*rows = wider;
	*capacity = count + 1;
	return 0;
}

struct rows {
	double **rows;
	size_t *capacity;
	size_t count;
};

enum { ROWS = 7 };

static void list_rows(struct profile *profile, struct rows rows[ROWS])
{
	size_t completed = profile->is_completed ? profile->function_count : 0;

	rows[0] = (struct rows){ &profile->self, &profile->self_capacity, profile->function_count };
	rows[1] = (struct rows){ &profile->costs, &profile->cost_capacity, profile->edge_count };
	rows[2] = (struct rows){ &profile->spot_self, &profile->spot_self_capacity, profile->spot_count };
	rows[3] = (struct rows){ &profile->call_costs, &profile->call_cost_capacity, profile->call_count };
	rows[4] = (struct rows){ &profile->context_self, &profile->context_self_capacity, profile->context_count };
	rows[5] = (struct rows){ &profile->inclusive, &profile->inclusive_capacity, completed };
	rows[6] = (struct rows){ &profile->deviation, &profile->deviation_capacity, completed };
}

static int add_column(struct profile *profile, const char *name, const struct sum *sum)
{
	unsigned events = profile->event_count;
	struct rows rows[ROWS];
	int result = 0;

	list_rows(profile, rows);
	for (size_t i = 0; !result && i < ROWS; i++)
		result = widen(rows[i].rows, rows[i].capacity, rows[i].count, events, sum);
	/* Where it failed midway, what is left is of no use, but nothing is beyond its end. */
	return result ? result : profile_add_event(profile, name, strlen(name));
}

/* "Sum = 2 Ir + Dr": the name, and where the formula begins. */
static const char *split(const char *text, char name[FORMULA_NAME_BYTES])
{
	size_t length = name_length(text);
	const char *at = skip_blanks(text + length);

	if (!length || length >= FORMULA_NAME_BYTES || *at != '=')
		return NULL;
	memcpy(name, text, length);
	name[length] = 0;
	return at + 1;
}

bool profile_has_formula(const struct profile *profile, const char *text)
{
	char name[FORMULA_NAME_BYTES];
	size_t length;

	return profile_event_formula(profile, text, &length) || split(text, name);
}

int profile_derive_event(struct profile *profile, const char *text, struct asterism_diag *diag)
{
	struct sum sum = { .profile = profile, .diag = diag, .name = text };
	size_t length;
	const char *formula = profile_event_formula(profile, text, &length);
	char name[FORMULA_NAME_BYTES];
	int result;

	if (!formula) {
		formula = split(text, name);
		if (!formula)
			return diag_error(diag, NULL, -EINVAL, "'%s' is no formula", text);
		length = strlen(formula);
		sum.name = name;
		if (profile_find_event(profile, name) >= 0)
			return refuse(&sum, "choose another name", "has the name of costs that the profile has", NULL);
	}
	if (profile->event_count == PROFILE_EVENTS_MAX)
		return refuse(&sum, NULL, "has no room: the profile has 32 event types", NULL);
	result = add_parts(&sum, formula, length, 1, 0);
	if (result)
		return result;
	return add_column(profile, sum.name, &sum) ? diag_no_memory(diag) : (int)profile->event_count - 1;
}

void profile_keep_event(struct profile *profile, unsigned event)
{
	struct rows rows[ROWS];
	size_t kept = 0;

	list_rows(profile, rows);
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t k = 0; k < rows[i].count; k++)
			(*rows[i].rows)[k] = (*rows[i].rows)[k * profile->event_count + event];
	}
	profile->events[0] = profile->events[event];
	profile->event_count = 1;
	for (size_t i = 0; i < profile->info_count; i++) {
		if (!profile_is_formula(profile_get_text(profile, profile->infos[i].key),
					profile_get_text(profile, profile->infos[i].value)))
			profile->infos[kept++] = profile->infos[i];
	}
	profile->info_count = kept;
}

int profile_copy_descriptions(const struct profile *from, struct profile *profile)
{
	int result = 0;

	for (size_t i = 0; !result && i < from->info_count; i++) {
		const char *key = profile_get_text(from, from->infos[i].key);

		if (strncmp(key, PROFILE_EVENT, strlen(PROFILE_EVENT)) == 0)
			result = profile_set_info(profile, key, profile_get_text(from, from->infos[i].value));
	}
	return result;
}
