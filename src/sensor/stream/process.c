// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a process's types, those that are wanted. Its paragraph goes through the parser of catalogs, into a catalog of
 * its own: what applications call their types must not get into ours.
 */

#include "sensor/stream/process.h"

#include "base/alloc.h"
#include "event/catalog.h"
#include "ring/order.h"
#include "sensor/pattern.h"
#include "sensor/payload.h"

#include <errno.h>
#include <string.h>

/* As the process says. */
static uint64_t dropped(const struct stream_process *process)
{
	const uint8_t *slots = (const uint8_t *)process->area->memory + sensor_slots_offset();

	return ring_order_load(&((const struct sensor_slot *)(const void *)slots)->dropped);
}

static int make_readers(struct stream_process *process, struct stream_reading *reading, bool is_new)
{
	uint32_t slots = process->area->shape.slots;

	process->readers = alloc_zero(slots, sizeof *process->readers);
	if (!process->readers)
		return -ENOMEM;
	for (uint32_t i = 0; i < slots; i++) {
		const struct ring ring = sensor_mapping_ring(process->area, i);
		const struct stream_reader_options options = {
			.ring = &ring,
			.units = process->units,
			.forms = process->forms,
			.ids = SENSOR_TYPES_MAX + 1,
			.pid = process->pid,
			.is_new = is_new,
		};

		process->reader_count = i + 1;
		if (stream_reader_init(&process->readers[i], reading, &options))
			return -ENOMEM;
	}
	return 0;
}

int stream_process_new(const struct sensor_process *told, struct sensor_mapping *area, struct stream_reading *reading,
		       struct stream_process **made)
{
	struct stream_process *process = alloc_zero(1, sizeof *process);
	bool is_new = told->made_ns >= reading->begin_ns; /* nothing was written before: what is missing is lost */

	if (!process)
		return -ENOMEM;
	process->number = told->number;
	process->birth_ticks = told->birth_ticks;
	process->pid = told->pid;
	process->parent = told->parent;
	memcpy(process->comm, told->comm, sizeof process->comm - 1);
	memcpy(process->path, told->path, sizeof process->path - 1);
	process->area = area;
	process->dropped = is_new ? 0 : dropped(process);
	process->dropped_at_ns = is_new ? told->made_ns : reading->now();
	for (uint32_t id = 0; id <= SENSOR_TYPES_MAX; id++) {
		process->units[id] = RING_ELEMENT_NONE;
		process->forms[id].type = STREAM_NO_TYPE;
	}
	if (make_readers(process, reading, is_new)) {
		process->area = NULL;
		stream_process_free(process);
		return -ENOMEM;
	}
	*made = process;
	return 0;
}

static void free_readers(struct stream_process *process)
{
	for (uint32_t i = 0; i < process->reader_count; i++)
		stream_reader_fini(&process->readers[i]);
	alloc_free(process->readers);
	process->readers = NULL;
	process->reader_count = 0;
}

int stream_process_rewind(struct stream_process *process, struct stream_reading *reading)
{
	int result;

	free_readers(process);
	result = make_readers(process, reading, false);
	if (result)
		free_readers(process);
	stream_process_dropped(process, reading->now());
	return result;
}

void stream_process_free(struct stream_process *process)
{
	if (!process)
		return;
	free_readers(process);
	for (uint32_t id = 0; id <= SENSOR_TYPES_MAX; id++)
		alloc_free((void *)process->forms[id].fields);
	if (process->area)
		sensor_mapping_free(process->area);
	alloc_free(process);
}

/* What keeps the announced type from being the wanted one, or NULL. Stores the field that does. */
static const char *difference(const struct event_type *wanted, const struct event_type *announced, const char **field)
{
	uint32_t count = wanted->field_count > announced->field_count ? wanted->field_count : announced->field_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct event_field *a = &wanted->fields[i], *b = &announced->fields[i];

		if (i >= announced->field_count) {
			*field = a->name;
			return i < wanted->own_count ? "lacks" : "cannot be asked for";
		}
		*field = b->name;
		if (i >= wanted->field_count || strcmp(a->name, b->name) != 0)
			return "has the other";
		if (a->value != b->value || a->bytes != b->bytes)
			return "has another";
	}
	return NULL;
}

static int map_fields(const struct event_type *wanted, const struct event_type *announced, struct stream_form *form)
{
	struct stream_field *fields = alloc_zero(announced->field_count, sizeof *fields);
	uint32_t offsets[EVENT_FIELDS_MAX];

	if (!fields)
		return -ENOMEM;
	if (sensor_payload_lay(announced, offsets) < 0) {
		alloc_free(fields);
		return -EBADMSG;
	}
	for (uint32_t i = 0; i < announced->field_count; i++)
		fields[i] = (struct stream_field){
			.from = offsets[i],
			.from_bytes = sensor_payload_width(&announced->fields[i]),
			.to = wanted->fields[i].offset,
			.to_bytes = wanted->fields[i].bytes,
			.value = wanted->fields[i].value,
		};
	form->fields = fields;
	form->field_count = announced->field_count;
	form->record_bytes = wanted->record_bytes;
	return 0;
}

/* The records of want, which what is announced becomes. */
struct shape {
	const struct event_type *type;
	uint32_t number;
};

/* Returns 0; 1: it is not read; -errno. */
static int find_shape(const struct stream_announced *announced, const struct stream_wants *wants,
		      const struct stream_want *want, struct shape *shape)
{
	*shape = (struct shape){ want->type, want->number };
	return want->type ? 0 : wants->take(wants->context, announced, &shape->type, &shape->number);
}

static void refuse_shape(const struct stream_process *process, const struct stream_want *want, const char *what,
			 const char *field, struct asterism_diag *diag)
{
	diag_add(diag, ASTERISM_WARNING, NULL, "declare it as the process does, with EVENTS \"sensor:NAME\"",
		 "not reading sensor %s of process %u (%s): it %s field %s than the rules expect", want->name,
		 process->pid, process->comm, what, field);
}

/* The first want that means what is announced and has its fields gets it. */
static int map_type(struct stream_process *process, uint32_t id, const struct stream_announced *announced,
		    const struct stream_wants *wants, struct asterism_diag *diag)
{
	struct stream_form *form = &process->forms[id];
	const struct stream_want *refused = NULL;
	const char *refused_what = NULL, *refused_field = NULL;

	for (size_t i = 0; i < wants->count; i++) {
		struct stream_want *want = &wants->items[i];
		const char *field, *what;
		struct shape shape;
		int result;

		if (!sensor_pattern_means_program(want->name, process->comm, process->path) ||
		    !sensor_pattern_means_name(want->name, announced->type->name))
			continue;
		result = find_shape(announced, wants, want, &shape);
		what = result ? NULL : difference(shape.type, announced->type, &field);
		if (what && !refused) {
			refused = want;
			refused_what = what;
			refused_field = field;
		}
		if (result == 1 || what)
			continue;
		if (!result)
			result = map_fields(shape.type, announced->type, form);
		if (result)
			return result;
		form->type = shape.number;
		form->want = (uint32_t)i;
		want->announced += process->is_in;
		return 0;
	}
	if (refused)
		refuse_shape(process, refused, refused_what, refused_field, diag);
	return 0;
}

int stream_process_type(struct stream_process *process, const struct sensor_type *told, const char *text,
			const struct stream_wants *wants, struct asterism_diag *diag)
{
	const struct event_catalog_access nothing = { .files = EVENT_FILES_NONE, .is_foreign = true };
	const struct event_type *announced;
	struct event_catalog *catalog;
	int result = 0;

	if (told->id < 1 || told->id > SENSOR_TYPES_MAX || told->units > SENSOR_PAYLOAD_UNITS_MAX)
		return -EBADMSG;
	if (process->units[told->id] != RING_ELEMENT_NONE)
		return 0;
	catalog = event_catalog_new();
	if (!catalog)
		return -ENOMEM;
	event_catalog_restrict(catalog, &nothing);
	result = event_catalog_parse(catalog, "sensor", text, strlen(text), NULL);
	announced = event_catalog_get(catalog, 0);
	if (!result && (!announced || announced->hook_count || sensor_payload_lay(announced, NULL) != (int)told->units))
		result = -EBADMSG;
	if (!result) {
		const struct stream_announced type = { process->comm, process->path, text, announced };

		result = map_type(process, told->id, &type, wants, diag);
	}
	event_catalog_free(catalog);
	if (result)
		return result;
	__atomic_store_n(&process->units[told->id], told->units, __ATOMIC_RELEASE); /* the form comes before */
	process->types++;
	return 0;
}

void stream_process_join(struct stream_process *process, const struct stream_wants *wants)
{
	process->is_in = true;
	for (uint32_t id = 1; id <= SENSOR_TYPES_MAX; id++)
		if (process->forms[id].type != STREAM_NO_TYPE)
			wants->items[process->forms[id].want].announced++;
}

/* Dropped while or since now_ns was read. */
enum { SLACK_NS = 1000000 };

uint64_t stream_process_dropped(struct stream_process *process, uint64_t now_ns)
{
	uint64_t seen = dropped(process), news = seen - process->dropped;

	process->is_damaged |= !stream_count_may_be(news, now_ns - process->dropped_at_ns + SLACK_NS);
	process->dropped = seen;
	process->dropped_at_ns = now_ns;
	return process->is_damaged ? 0 : news;
}

bool stream_process_is_broken(struct stream_process *process)
{
	bool is_broken = process->is_damaged;

	if (process->is_reported)
		return false;
	for (uint32_t i = 0; i < process->reader_count; i++)
		is_broken |= process->readers[i].elements.failed != 0;
	process->is_reported = is_broken;
	return is_broken;
}

const char *stream_process_damage(const struct stream_process *process)
{
	return process->is_damaged ? "a counter is damaged: the number of its lost events is unknown"
				   : "a ring is damaged: it is no longer read";
}

uint32_t stream_process_unfinished(const struct stream_process *process)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < process->reader_count; i++)
		count += ring_elements_in_flight(&process->readers[i].elements);
	return count;
}

size_t stream_unannounced(const struct stream_wants *wants, const char **known, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < wants->count; i++) {
		if (wants->items[i].announced)
			continue;
		if (found < count)
			known[found] = wants->items[i].name;
		found++;
	}
	return found;
}
