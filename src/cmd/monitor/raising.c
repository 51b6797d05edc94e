// SPDX-License-Identifier: BSD-2-Clause
/* The events of our own sensors, their fields, and who waits while these are made known. */

#include "cmd/monitor/raising.h"

#include "base/alloc.h"
#include "cli/print.h"
#include "cmd/options/status.h"
#include "program/emissions.h"
#include "sensor/client/sensor.h"
#include "sensor/payload.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WAIT_US = 500 };

struct raised {
	const struct event_type *type; /* NULL: no rule raises it */
	struct asterism_sensor *sensor;
	uint32_t offsets[EVENT_FIELDS_MAX]; /* of its fields, in an event of the sensor */
	uint32_t bytes;                     /* of these */
	int error;
};

struct raising {
	struct raised *items; /* per type of the program */
	uint32_t count;
	_Atomic uint64_t raised, unwatched; /* of all; of these, while nobody looked */
	_Atomic bool is_known;
};

/* What a value is called where sensors are declared. */
static const char *const words[] = {
	[EVENT_U8] = "u8",   [EVENT_U16] = "u16",      [EVENT_U32] = "u32",   [EVENT_U64] = "u64",
	[EVENT_I8] = "i8",   [EVENT_I16] = "i16",      [EVENT_I32] = "i32",   [EVENT_I64] = "i64",
	[EVENT_F64] = "f64", [EVENT_BOOL] = "boolean", [EVENT_TIME] = "time", [EVENT_ADDR] = "addr",
};

static const struct {
	uint32_t bytes;
	const char *word;
} texts[] = { { 8, "text8" },   { 16, "text16" },   { 32, "text32" },
	      { 64, "text64" }, { 128, "text128" }, { 256, "text256" } };

static const char *field_word(const struct event_field *field)
{
	if (field->value != EVENT_STRING)
		return words[field->value];
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].bytes == field->bytes)
			return texts[i].word;
	return NULL;
}

/* Whether a sensor can have the type's fields; says why not. */
static bool can_be_raised(const struct event_type *type, struct raised *raised)
{
	int units = sensor_payload_lay(type, raised->offsets);

	if (units < 0) {
		cli_error("cannot raise %s: its fields are too large for a sensor event", type->name);
		return false;
	}
	for (uint32_t i = 0; i < type->own_count; i++) {
		if (field_word(&type->fields[i]))
			continue;
		cli_error("cannot raise %s: its field %s is a string of %" PRIu32 " bytes", type->name,
			  type->fields[i].name, type->fields[i].bytes);
		cli_hint("strings of sensors have 8, 16, 32, 64, 128 or 256 bytes: string[16]");
		return false;
	}
	raised->bytes = (uint32_t)units * RING_UNIT_BYTES;
	raised->type = type;
	return true;
}

static int find_raised_types(struct raising *raising, const struct session_rules *rules)
{
	const struct program *program = session_rules_program(rules);
	bool has_any = false;

	for (uint32_t i = 0; i < raising->count; i++) {
		const char *name = program_text(program, program->types[i].name);
		const struct event_type *type = event_catalog_find(session_rules_catalog(rules), name);

		if (!type || !program_is_emitted(program, i))
			continue;
		if (!can_be_raised(type, &raising->items[i]))
			return STATUS_USAGE;
		has_any = true;
	}
	if (has_any)
		return STATUS_FINE;
	cli_error("--raise: no rule has EMIT, so there is nothing to raise");
	return STATUS_USAGE;
}

int raising_open(const struct cli_arguments *arguments, const struct session_rules *rules, struct raising **made)
{
	struct raising *raising;
	int status;

	*made = NULL;
	if (!cli_has(arguments, OPTION_RAISE))
		return STATUS_FINE;
	if (!rules) {
		cli_error("--raise: there is no rule");
		return STATUS_USAGE;
	}
	raising = alloc_zero(1, sizeof *raising);
	if (raising) {
		raising->count = session_rules_program(rules)->type_count;
		raising->items = alloc_zero(raising->count, sizeof *raising->items);
	}
	if (raising && raising->items) {
		status = find_raised_types(raising, rules);
	} else {
		cli_error("out of memory");
		status = STATUS_USAGE;
	}
	if (status)
		raising_close(raising);
	else
		*made = raising;
	return status;
}

void raising_close(struct raising *raising)
{
	if (!raising)
		return;
	for (uint32_t i = 0; i < raising->count && raising->items; i++)
		asterism_sensor_unregister(raising->items[i].sensor);
	alloc_free(raising->items);
	alloc_free(raising);
}

static void make_known(struct raised *raised)
{
	struct asterism_sensor_field fields[EVENT_FIELDS_MAX];
	const struct event_type *type = raised->type;

	for (uint32_t i = 0; i < type->own_count; i++)
		fields[i] = (struct asterism_sensor_field){
			.type = field_word(&type->fields[i]),
			.name = type->fields[i].name,
			.unit = type->fields[i].unit,
			.documentation = type->fields[i].doc,
		};
	raised->sensor = asterism_sensor_register(type->name, type->doc ? type->doc : "raised by a rule of a monitor",
						  fields, type->own_count);
	raised->error = raised->sensor ? 0 : errno;
}

static void *make_all_known(void *context)
{
	struct raising *raising = context;

	for (uint32_t i = 0; i < raising->count; i++)
		if (raising->items[i].type)
			make_known(&raising->items[i]);
	atomic_store(&raising->is_known, true);
	return NULL;
}

/* The directory may be our own, and answers in the calls of this thread alone: so another one asks. */
void raising_begin(struct raising *raising, struct monitor *monitor)
{
	pthread_t thread;

	if (!raising)
		return;
	if (pthread_create(&thread, NULL, make_all_known, raising)) {
		make_all_known(raising);
	} else {
		while (!atomic_load(&raising->is_known)) {
			monitor_step(monitor);
			usleep(WAIT_US);
		}
		pthread_join(thread, NULL);
	}
	for (uint32_t i = 0; i < raising->count; i++)
		if (raising->items[i].error)
			cli_warning("%s is not raised: %s", raising->items[i].type->name,
				    strerror(raising->items[i].error));
}

void raising_take(void *context, const struct event_header *record)
{
	struct raising *raising = context;
	const struct raised *raised = record->type < raising->count ? &raising->items[record->type] : NULL;
	uint64_t event[SENSOR_PAYLOAD_UNITS_MAX];
	const uint8_t *from = (const uint8_t *)record;

	if (!raised || !raised->sensor)
		return;
	atomic_fetch_add_explicit(&raising->raised, 1, memory_order_relaxed);
	if (!asterism_sensor_is_watched(raised->sensor)) {
		atomic_fetch_add_explicit(&raising->unwatched, 1, memory_order_relaxed);
		return;
	}
	memset(event, 0, raised->bytes);
	/* The lowest bytes of a number come first, here as there. */
	for (uint32_t i = 0; i < raised->type->own_count; i++)
		memcpy((uint8_t *)event + raised->offsets[i], from + raised->type->fields[i].offset,
		       sensor_payload_width(&raised->type->fields[i]));
	asterism_sensor_log(raised->sensor, event, raised->bytes);
}

void raising_end(const struct raising *raising)
{
	uint64_t unwatched;

	if (!raising)
		return;
	unwatched = atomic_load(&raising->unwatched);
	cli_note("%" PRIu64 " events of rules were raised by this process, %" PRIu64 " of them without a reader",
		 atomic_load(&raising->raised), unwatched);
}
