// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the fields of a type that are measured and those that are keys, and passes records of a source to measures.
 */

#include "session/measure/measures.h"

#include "base/alloc.h"
#include "session/measure/ask-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct measures {
	struct measures_item items[MEASURES_MAX];
	size_t count;
	/* Of the source that is read: which items take a type of this number, a bit each; ALL: it was not seen yet. */
	uint64_t *takers;
	size_t type_count, type_capacity;
	uint64_t lost;
};

_Static_assert(MEASURES_MAX == 64, "items are bits of a word, of which one means that nothing is known");

#define NOT_SEEN UINT64_MAX

int measures_check(bool is_heartbeat, const char *text, struct asterism_diag *diag)
{
	struct measures_item item;
	int result = measure_ask(is_heartbeat, text, diag, &item);

	measure_unask(&item);
	return result;
}

static int add_measures_item(struct measures *measures, bool is_heartbeat, const char *text, struct asterism_diag *diag)
{
	if (measures->count == MEASURES_MAX - 1)
		return diag_error(diag, NULL, -EINVAL, "too many measures and heartbeats: the limit is %d",
				  MEASURES_MAX - 1);
	struct measures_item *item = &measures->items[measures->count++];
	int result = measure_ask(is_heartbeat, text, diag, item);

	/* One that is awaited from the beginning may never come, so that nobody says what it is. */
	if (!result && is_heartbeat && !item->by && heartbeat_new(&item->shape.heartbeat, &item->heartbeat))
		return diag_no_memory(diag);
	return result;
}

int measures_new(const struct measures_asked *asked, struct asterism_diag *diag, struct measures **made)
{
	struct measures *measures = alloc_zero(1, sizeof *measures);
	int result = 0;

	if (!measures)
		return diag_no_memory(diag);
	for (size_t i = 0; i < asked->measure_count && !result; i++)
		result = add_measures_item(measures, false, asked->measures[i], diag);
	for (size_t i = 0; i < asked->heartbeat_count && !result; i++)
		result = add_measures_item(measures, true, asked->heartbeats[i], diag);
	if (result)
		measures_free(measures);
	else
		*made = measures;
	return result;
}

void measures_free(struct measures *measures)
{
	if (!measures)
		return;
	for (size_t i = 0; i < measures->count; i++) {
		struct measures_item *item = &measures->items[i];

		if (item->context)
			item->kind->release(item->context);
		measure_unask(item);
	}
	alloc_free(measures->takers);
	alloc_free(measures);
}

size_t measures_count(const struct measures *measures)
{
	return measures->count;
}

const struct measures_item *measures_get(const struct measures *measures, size_t index)
{
	return &measures->items[index];
}

static struct monitor_field monitor_field_of(const struct event_field *field)
{
	enum monitor_word word = MONITOR_UNSIGNED;

	if (!field)
		return (struct monitor_field){ .word = MONITOR_NONE };
	switch (field->value) {
	case EVENT_I8:
	case EVENT_I16:
	case EVENT_I32:
	case EVENT_I64:
	case EVENT_TIME:
		word = MONITOR_SIGNED;
		break;
	case EVENT_F64:
		word = MONITOR_REAL;
		break;
	case EVENT_STRING:
		word = MONITOR_TEXT;
		break;
	default:
		break;
	}
	return (struct monitor_field){ word, field->offset, field->bytes };
}

static int no_field(const struct event_type *type, const char *wanted, struct asterism_diag *diag)
{
	const char *names[EVENT_FIELDS_MAX + EVENT_HEADER_FIELDS], *nearest;
	char hint[160];
	size_t count = 0;

	for (uint32_t i = 0; i < type->field_count; i++)
		names[count++] = type->fields[i].name;
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		names[count++] = event_header_fields[i].name;
	nearest = diag_nearest(wanted, names, count);
	if (event_absent_find(type, wanted))
		snprintf(hint, sizeof hint, "%s", event_absent_find(type, wanted));
	else if (nearest)
		snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
	else
		snprintf(hint, sizeof hint, "asterism events -v %s lists its fields", type->name);
	diag_add(diag, ASTERISM_ERROR, NULL, hint, "%s has no field '%s' to measure by", type->name, wanted);
	return -EINVAL;
}

static int find_measured_field(const struct event_type *type, const char *name, struct asterism_diag *diag,
			       const struct event_field **found)
{
	*found = name ? event_field_find(type, name) : NULL;
	return name && !*found ? no_field(type, name, diag) : 0;
}

static int make_measures_item(struct measures_item *item)
{
	if (item->kind == &heartbeat_kind)
		return heartbeat_new(&item->shape.heartbeat, &item->heartbeat);
	return measure_new(&item->shape.measure, &item->measure);
}

static int bind_item(struct measures_item *item, const struct event_type *type, struct asterism_diag *diag)
{
	int result = find_measured_field(type, item->field, diag, &item->value);

	if (!result)
		result = find_measured_field(type, item->by, diag, &item->key);
	if (result)
		return result;
	if (item->value && item->value->value == EVENT_STRING) {
		diag_add(diag, ASTERISM_ERROR, NULL, "use it as the key of a measure: by=FIELD",
			 "%s.%s is a text, which cannot be measured", type->name, item->value->name);
		return -EINVAL;
	}
	if (item->kind == &heartbeat_kind) {
		item->shape.heartbeat.key = monitor_field_of(item->key);
	} else {
		item->shape.measure.key = monitor_field_of(item->key);
		item->shape.measure.value = monitor_field_of(item->value);
	}
	result = item->context ? 0 : make_measures_item(item);
	if (!result)
		item->type = type;
	return result ? diag_no_memory(diag) : 0;
}

int measures_bind(struct measures *measures, const struct event_type *type, struct asterism_diag *diag)
{
	for (size_t i = 0; i < measures->count; i++) {
		struct measures_item *item = &measures->items[i];
		int result = !item->type && strcmp(item->event, type->name) == 0 ? bind_item(item, type, diag) : 0;

		if (result)
			return result;
	}
	return 0;
}

void *measures_share(const struct measures_item *item)
{
	if (item->kind == &heartbeat_kind)
		return heartbeat_share(item->heartbeat);
	return measure_share(item->measure);
}

bool measures_wants(struct measures *measures, const struct event_type *type)
{
	bool is_wanted = false;

	for (size_t i = 0; i < measures->count; i++) {
		if (strcmp(measures->items[i].event, type->name) != 0)
			continue;
		measures->items[i].is_known = is_wanted = true;
	}
	return is_wanted;
}

void measures_know(struct measures *measures, struct event_catalog *catalog)
{
	for (size_t i = 0; i < measures->count; i++)
		measures->items[i].is_known |= event_catalog_find(catalog, measures->items[i].event) != NULL;
}

bool measures_wants_field(const struct measures *measures, const struct event_type *type, uint32_t field)
{
	const char *name = type->fields[field].name;

	for (size_t i = 0; i < measures->count; i++) {
		const struct measures_item *item = &measures->items[i];

		if (strcmp(item->event, type->name) == 0 &&
		    ((item->field && strcmp(item->field, name) == 0) || (item->by && strcmp(item->by, name) == 0)))
			return true;
	}
	return false;
}

/* A type that has another layout than the one of its name that was met first is measured by nobody. */
static uint64_t takers_of(const struct measures *measures, const struct event_type *type)
{
	uint64_t takers = 0;

	for (size_t i = 0; i < measures->count; i++) {
		const struct measures_item *item = &measures->items[i];
		const struct event_field *value, *key;

		if (!item->type || strcmp(item->event, type->name) != 0)
			continue;
		value = item->value ? event_field_find(type, item->field) : NULL;
		key = item->key ? event_field_find(type, item->by) : NULL;
		if ((!item->value ||
		     (value && value->offset == item->value->offset && value->value == item->value->value)) &&
		    (!item->key || (key && key->offset == item->key->offset && key->value == item->key->value &&
				    key->bytes == item->key->bytes)))
			takers |= UINT64_C(1) << i;
	}
	return takers;
}

static int find_takers(struct measures *measures, const struct event *event, struct asterism_diag *diag,
		       uint64_t *takers)
{
	size_t number = event->record->type;
	int result;

	while (measures->type_count <= number) {
		if (alloc_grow(&measures->takers, &measures->type_capacity, measures->type_count,
			       sizeof *measures->takers))
			return diag_no_memory(diag);
		measures->takers[measures->type_count++] = NOT_SEEN;
	}
	if (measures->takers[number] == NOT_SEEN) {
		result = measures_bind(measures, event->type, diag);
		if (result)
			return result;
		measures->takers[number] = takers_of(measures, event->type);
	}
	*takers = measures->takers[number];
	return 0;
}

int measures_take(struct measures *measures, const struct event_source *source, const struct event *event,
		  struct asterism_diag *diag)
{
	const struct monitor_element element = {
		.sensor = event->record->type,
		.pid = event->record->pid,
		.tid = event->record->tid,
		.cpu = event->record->cpu,
		.at_ns = event->record->ts,
		.data = event->record,
		.bytes = event->type->record_bytes,
		.is_late = event->completed_ns != 0,
	};
	uint64_t takers = 0, lost = source->lost - measures->lost;
	int result = find_takers(measures, event, diag, &takers);

	measures->lost = source->lost;
	for (size_t i = 0; i < measures->count && !result; i++) {
		const struct measures_item *item = &measures->items[i];

		if (!item->context)
			continue;
		if (lost)
			item->kind->lose(item->context, lost);
		if (takers >> i & 1)
			monitor_evaluate(item->kind, item->context, &element);
		else if (item->kind->pass && !element.is_late)
			item->kind->pass(item->context, element.at_ns);
	}
	return result;
}

/* What stays away is what a heartbeat is for, and that has been told. */
static int tell_nothing(const struct measures_item *item, struct asterism_diag *diag)
{
	bool is_wrong = !item->is_known && item->kind != &heartbeat_kind;

	diag_add(diag, is_wrong ? ASTERISM_ERROR : ASTERISM_WARNING, NULL,
		 "asterism stat TRACE lists the events of a trace", "nothing was measured for %s: %s", item->event,
		 is_wrong ? "no event has this name" : "no such event happened");
	return is_wrong ? -EINVAL : 0;
}

int measures_end(struct measures *measures, uint64_t lost, struct asterism_diag *diag)
{
	uint64_t more = lost - measures->lost;
	int result = 0;

	for (size_t i = 0; i < measures->count; i++) {
		const struct measures_item *item = &measures->items[i];

		if (item->context && more)
			item->kind->lose(item->context, more);
		if (!item->type && tell_nothing(item, diag))
			result = -EINVAL;
	}
	measures->lost = lost;
	return result;
}
