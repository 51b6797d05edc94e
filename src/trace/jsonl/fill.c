// SPDX-License-Identifier: BSD-2-Clause
/* Converts a JSON value to a field and stores it in the record. */

#include "trace/jsonl/jsonl-priv.h"

#include "base/date.h"
#include "event/about.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = EVENT_HEADER_FIELDS + EVENT_FIELDS_MAX, KEY_BYTES = 128, NUMBER_BYTES = 512 };

struct filling {
	const struct event_type *type;
	char *record;
	uint32_t expected;      /* the field that the next member probably is */
	bool given[FIELDS_MAX]; /* header fields, then the type's own */
	const struct jsonl_locations *places;
	struct jsonl_complaint *complaint;
};

__attribute__((format(printf, 3, 4))) static int complain(struct filling *filling, const struct json_piece *at,
							  const char *format, ...)
{
	va_list args;

	filling->complaint->at = *at;
	va_start(args, format);
	vsnprintf(filling->complaint->text, sizeof filling->complaint->text, format, args);
	va_end(args);
	return -EINVAL;
}

static uint32_t field_count(const struct event_type *type)
{
	return EVENT_HEADER_FIELDS + type->field_count;
}

static const struct event_field *field_at(const struct event_type *type, uint32_t index)
{
	return index < EVENT_HEADER_FIELDS ? &event_header_fields[index] : &type->fields[index - EVENT_HEADER_FIELDS];
}

static bool is_called(const char *name, const char *key, size_t length)
{
	return strncmp(name, key, length) == 0 && name[length] == 0;
}

/* The field called key; its number is looked for from the one expected on, as writers keep to one order. */
static const struct event_field *find_json_field(struct filling *filling, const char *key, size_t length,
						 uint32_t *index)
{
	uint32_t count = field_count(filling->type), at = filling->expected;

	for (uint32_t left = count; left > 0; left--, at++) {
		if (at >= count)
			at = 0;
		const struct event_field *field = field_at(filling->type, at);
		if (is_called(field->name, key, length)) {
			*index = at;
			filling->expected = at + 1;
			return field;
		}
	}
	return NULL;
}

static bool may_ask(const struct event_type *type, const char *key, size_t length)
{
	char name[KEY_BYTES];

	snprintf(name, sizeof name, "%.*s", (int)length, key);
	return event_about_may_ask(type, name);
}

static int complain_unknown(struct filling *filling, const struct json_piece *at, const char *key)
{
	const char *names[FIELDS_MAX], *nearest;
	uint32_t count = field_count(filling->type);

	for (uint32_t i = 0; i < count; i++)
		names[i] = field_at(filling->type, i)->name;
	nearest = diag_nearest(key, names, count);
	if (nearest)
		snprintf(filling->complaint->hint, sizeof filling->complaint->hint, "did you mean '%s'?", nearest);
	return complain(filling, at, "event %s has no field '%s'", filling->type->name, key);
}

struct bounds {
	int64_t least;
	uint64_t greatest;
};

static const struct bounds bounds[] = {
	[EVENT_U8] = { 0, UINT8_MAX },           [EVENT_U16] = { 0, UINT16_MAX },
	[EVENT_U32] = { 0, UINT32_MAX },         [EVENT_U64] = { 0, UINT64_MAX },
	[EVENT_I8] = { INT8_MIN, INT8_MAX },     [EVENT_I16] = { INT16_MIN, INT16_MAX },
	[EVENT_I32] = { INT32_MIN, INT32_MAX },  [EVENT_I64] = { INT64_MIN, INT64_MAX },
	[EVENT_TIME] = { INT64_MIN, INT64_MAX }, [EVENT_ADDR] = { 0, UINT64_MAX },
};

/* The magnitude of the integer, or false when it has more than 64 bits. */
static bool read_magnitude(const struct json_piece *piece, bool *negative, uint64_t *magnitude)
{
	const char *at = piece->text, *end = at + piece->length;

	*negative = *at == '-';
	*magnitude = 0;
	for (at += *negative; at < end; at++) {
		if (__builtin_mul_overflow(*magnitude, 10, magnitude) ||
		    __builtin_add_overflow(*magnitude, (uint64_t)(*at - '0'), magnitude))
			return false;
	}
	return true;
}

static bool is_time_field(const struct event_field *field)
{
	return field == &event_header_fields[0];
}

static int fill_integer(struct filling *filling, const struct event_field *field, const struct json_member *member)
{
	struct bounds limit = bounds[field->value];
	bool negative, fits;
	uint64_t value;

	if (is_time_field(field))
		limit.least = 0; /* ts counts from the start of the clock */
	fits = read_magnitude(&member->value, &negative, &value);
	if (fits && negative)
		fits = value <= 0 - (uint64_t)limit.least;
	else if (fits)
		fits = value <= limit.greatest;
	if (!fits)
		return complain(filling, &member->value, "%s is %s, from %" PRId64 " to %" PRIu64 ": %.*s does not fit",
				field->name, event_value_name(field->value), limit.least, limit.greatest,
				member->value.length > 40 ? 40 : (int)member->value.length, member->value.text);
	if (negative)
		value = 0 - value;
	/* Little-endian: the first bytes are the low ones. */
	memcpy(filling->record + field->offset, &value, field->bytes);
	return 0;
}

/* strtod takes the decimal sign of the locale; a full stop is replaced by it. */
static int fill_real(struct filling *filling, const struct event_field *field, const struct json_member *member)
{
	const struct json_piece *piece = &member->value;
	const char *sign = localeconv()->decimal_point;
	char digits[NUMBER_BYTES];
	size_t length = 0;

	if (piece->length + strlen(sign) >= sizeof digits)
		return complain(filling, piece, "%s has too many digits", field->name);
	for (uint32_t i = 0; i < piece->length; i++) {
		if (piece->text[i] == '.')
			length = (size_t)(stpcpy(digits + length, sign) - digits);
		else
			digits[length++] = piece->text[i];
	}
	digits[length] = 0;
	double real = strtod(digits, NULL);
	if (real - real != 0)
		return complain(filling, piece, "%s is f64: %.*s does not fit", field->name,
				piece->length > 40 ? 40 : (int)piece->length, piece->text);
	memcpy(filling->record + field->offset, &real, sizeof real);
	return 0;
}

static int complain_kind(struct filling *filling, const struct event_field *field, const struct json_member *member)
{
	return complain(filling, &member->value, "%s is %s, not %s", field->name, event_value_name(field->value),
			json_kind_name(member->kind));
}

static int fill_date(struct filling *filling, const struct event_field *field, const struct json_member *member)
{
	char text[64];
	int64_t length = json_read_string(&member->value, text, sizeof text);
	uint64_t ns;

	if (length < 0 || (size_t)length >= sizeof text || !date_read(text, (size_t)length, &ns))
		return complain(filling, &member->value,
				"the time is neither ns nor a date such as 2026-11-22T20:14:05.5Z");
	memcpy(filling->record + field->offset, &ns, sizeof ns);
	return 0;
}

/* Which may be unknown. */
static bool is_cpu(const struct event_field *field)
{
	return field->offset == offsetof(struct event_header, cpu);
}

static int fill_field(struct filling *filling, const struct event_field *field, const struct json_member *member)
{
	const uint32_t unknown = EVENT_NO_CPU;
	uint64_t truth = member->kind == JSON_TRUE;

	switch (field->value) {
	case EVENT_STRING:
		if (member->kind == JSON_NULL) {
			event_string_set_unread((struct event_header *)filling->record, field->offset, field->bytes);
			return 0;
		}
		if (member->kind != JSON_STRING)
			return complain_kind(filling, field, member);
		if (json_read_string(&member->value, filling->record + field->offset, field->bytes) < 0)
			return complain(filling, &member->value, "%s contains a NUL, which strings cannot",
					field->name);
		return 0;
	case EVENT_BOOL:
		if (member->kind != JSON_TRUE && member->kind != JSON_FALSE)
			return complain_kind(filling, field, member);
		memcpy(filling->record + field->offset, &truth, sizeof truth);
		return 0;
	case EVENT_F64:
		if (member->kind != JSON_REAL && member->kind != JSON_INTEGER)
			return complain_kind(filling, field, member);
		return fill_real(filling, field, member);
	default:
		if (member->kind == JSON_NULL && is_cpu(field)) {
			memcpy(filling->record + field->offset, &unknown, sizeof unknown);
			return 0;
		}
		if (is_time_field(field) && member->kind == JSON_STRING)
			return fill_date(filling, field, member);
		if (member->kind != JSON_INTEGER)
			return complain_kind(filling, field, member);
		return fill_integer(filling, field, member);
	}
}

static int leave_field_out(struct jsonl_left_out *left_out, const char *field)
{
	if (!left_out->fields++)
		snprintf(left_out->field, sizeof left_out->field, "%s", field);
	return 0;
}

static int fill_member(struct filling *filling, const struct json_member *member)
{
	const char *key = member->key.text;
	size_t length = member->key.length;
	char text[KEY_BYTES];
	uint32_t index;

	if (member->key.has_escape) {
		if (json_read_string(&member->key, text, sizeof text) < 0)
			return complain(filling, &member->key, "a key contains a NUL");
		key = text;
		length = strlen(text);
	}
	if (filling->places->time_field && is_called(filling->places->time_field, key, length)) {
		key = event_header_fields[0].name;
		length = strlen(key);
	}
	const struct event_field *field = find_json_field(filling, key, length, &index);
	if (!field && may_ask(filling->type, key, length))
		return 0; /* nobody asks for it */
	if (!field) {
		json_read_string(&member->key, text, sizeof text);
		if (filling->places->left_out)
			return leave_field_out(filling->places->left_out, text);
		if (event_absent_find(filling->type, text))
			return 0; /* recordings of before it was absent have it */
		return complain_unknown(filling, &member->key, text);
	}
	if (filling->given[index])
		return complain(filling, &member->key, "field '%s' is given twice", field->name);
	filling->given[index] = true;
	return fill_field(filling, field, member);
}

bool jsonl_read_time(const struct json_member *member, uint64_t *ns)
{
	bool negative;

	return member->kind == JSON_INTEGER && read_magnitude(&member->value, &negative, ns) && !negative &&
	       *ns <= INT64_MAX;
}

int jsonl_fill(const struct event_type *type, const struct json_members *members, const struct jsonl_locations *places,
	       char *record, struct jsonl_complaint *complaint)
{
	struct filling filling = { .type = type, .record = record, .complaint = complaint, .places = places };
	int result = 0;

	memset(record, 0, type->record_bytes);
	for (size_t i = 0; i < members->count && !result; i++) {
		if (i != places->event && i != places->completed)
			result = fill_member(&filling, &members->items[i]);
	}
	for (uint32_t i = 0; i < type->field_count && !result; i++) {
		if (filling.given[EVENT_HEADER_FIELDS + i])
			continue;
		complain(&filling, &members->items[places->event].value, "field '%s' of %s is missing",
			 type->fields[i].name, type->name);
		result = 1;
	}
	return result;
}
