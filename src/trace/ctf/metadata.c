// SPDX-License-Identifier: BSD-2-Clause
/* Writes the metadata of a trace, for any reader of CTF 1.8. */

#include "trace/ctf/metadata.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* What a trace with LTTng's names says otherwise: which tracer it is, and how the time of an event is aligned. */
#define CLOCK48       "typealias integer { size = 48; align = 8; "
#define LTTNG_CLOCK48 "typealias integer { size = 48; align = 1; "
#define TRACER        "\ttracer_name = \"asterism\";\n"

/* How the metadata of a trace with LTTng's names begins, and the numbers that have eight bytes each. */
static const char lttng_start[] = "/* CTF 1.8 */\n\n/* asterism trace, LTTng's names */\n";
static const char lttng_types[] =
	"\n"
	"typealias integer { size = 8; align = 64; signed = false; } := wide_u8;\n"
	"typealias integer { size = 16; align = 64; signed = false; } := wide_u16;\n"
	"typealias integer { size = 32; align = 64; signed = false; } := wide_u32;\n"
	"typealias integer { size = 64; align = 64; signed = false; } := wide_u64;\n"
	"typealias integer { size = 8; align = 64; signed = true; } := wide_i8;\n"
	"typealias integer { size = 16; align = 64; signed = true; } := wide_i16;\n"
	"typealias integer { size = 32; align = 64; signed = true; } := wide_i32;\n"
	"typealias integer { size = 64; align = 64; signed = true; } := wide_i64;\n"
	"typealias integer { size = 8; align = 64; signed = false; } := wide_bool;\n"
	"typealias integer { size = 64; align = 64; signed = true; } := wide_time;\n"
	"typealias integer { size = 64; align = 64; signed = false; base = 16; } := wide_addr;\n";

/*
 * The packet's context is struct ring_packet from timestamp_begin on. Alignment to 128 bits makes the gaps that hide
 * events_before and the reserved words.
 */
const char ctf_metadata_prologue[] = CTF_METADATA_START
	"\n"
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := i8;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := i16;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias integer { size = 8; align = 8; signed = false; } := bool;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := time;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := addr;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n"
	"typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := letter;\n"
	"typealias integer { size = 32; align = 128; signed = false; } := aligned32;\n"
	"typealias integer { size = 64; align = 64; signed = false; } := aligned64;\n"
	"\n"
	"trace {\n"
	"\tmajor = 1;\n"
	"\tminor = 8;\n"
	"\tuuid = @1;\n"
	"\tbyte_order = le;\n"
	"\tpacket.header := struct {\n"
	"\t\tu32 magic;\n"
	"\t\tu8 uuid[16];\n"
	"\t\tu16 stream_id;\n"
	"\t\tu16 stream_instance_id;\n"
	"\t};\n"
	"};\n"
	"\n"
	"env {\n" TRACER "@2"
	"};\n"
	"\n"
	"clock {\n"
	"\tname = monotonic;\n"
	"\tdescription = \"CLOCK_MONOTONIC\";\n"
	"\tfreq = 1000000000;\n"
	"\toffset_s = @3;\n"
	"\toffset = @4;\n"
	"};\n"
	"\n" CLOCK48 "signed = false; map = clock.monotonic.value; } := clock48;\n"
	"typealias integer { size = 64; align = 64; signed = false; map = clock.monotonic.value; } := clock64;\n"
	"\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\tclock64 timestamp_begin;\n"
	"\t\tclock64 timestamp_end;\n"
	"\t\taligned64 content_size;\n"
	"\t\taligned64 packet_size;\n"
	"\t\taligned64 events_discarded;\n"
	"\t\taligned32 cpu_id;\n"
	"\t\taligned64 packet_seq_num;\n"
	"\t} align(128);\n"
	"\tevent.header := struct {\n"
	"\t\tu16 id;\n"
	"\t\tclock48 timestamp;\n"
	"\t} align(64);\n"
	"};\n"
	"\n"
	"event {\n"
	"\tname = \"context\";\n"
	"\tid = 0;\n"
	"\tstream_id = 0;\n"
	"\tfields := struct {\n"
	"\t\tu32 _tid;\n"
	"\t\tu32 _pid;\n"
	"\t\tletter _comm[16];\n"
	"\t};\n"
	"};\n";

const struct ctf_field ctf_match_fields[CTF_MATCH_FIELDS] = {
	{ "tainted", EVENT_BOOL, 8, false },
	{ "rule", EVENT_STRING, 256, false },
	{ "values", EVENT_STRING, CTF_MATCH_VALUES_BYTES, false },
};

const struct ctf_event ctf_match_event = { "match", ctf_match_fields, CTF_MATCH_FIELDS, CTF_ID_MATCH, NULL };

static const struct ctf_field late_fields[] = {
	{ "entered", EVENT_U64, 8, false },
	{ "unread", EVENT_U64, 8, false },
};

const struct ctf_event ctf_late_event = { "late", late_fields, sizeof late_fields / sizeof *late_fields,
					  EVENT_PACKED_ID_LATE, NULL };

const char *ctf_value_name(enum event_value value)
{
	return value == EVENT_STRING ? NULL : event_value_name(value);
}

uint32_t ctf_fields_of(const struct event_type *type, const bool *recorded, struct ctf_field fields[EVENT_FIELDS_MAX])
{
	struct event_packed layout;
	uint32_t count = 0;

	event_packed_init(&layout, type, recorded);
	for (uint32_t i = 0; i < layout.number_count + layout.string_count; i++) {
		uint32_t index = i < layout.number_count ? layout.numbers[i].field
							 : layout.strings[i - layout.number_count].field;
		const struct event_field *field = &type->fields[index];

		fields[count++] = (struct ctf_field){ field->name, field->value, field->bytes, false };
	}
	return count;
}

int ctf_event_declare(const struct ctf_event *event, struct event_catalog *catalog, const struct event_type **type)
{
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	const struct event_type_spec spec = {
		.name = event->name,
		.fields = fields,
		.field_count = event->field_count,
		.origin = EVENT_DECLARED,
	};

	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct ctf_field *field = &event->fields[i];

		fields[i] = (struct event_field_spec){ field->name, field->value,
						       field->value == EVENT_STRING ? field->bytes : 0, NULL, NULL };
	}
	return event_catalog_add(catalog, &spec, type);
}

static void put_uuid(const uint8_t *uuid, struct text_buffer *text)
{
	text_append(text, "\"");
	for (int i = 0; i < CTF_UUID_BYTES; i++)
		text_printf(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	text_append(text, "\"");
}

static void put_env(const struct ctf_metadata *metadata, struct text_buffer *text)
{
	for (size_t i = 0; i < metadata->env_count; i++) {
		text_printf(text, "\t%s = ", metadata->env[i].name);
		if (metadata->env[i].is_number)
			text_append(text, metadata->env[i].value);
		else
			text_quote(text, metadata->env[i].value);
		text_append(text, ";\n");
	}
}

static void put_prologue(const struct ctf_metadata *metadata, struct text_buffer *text)
{
	const char *from = ctf_metadata_prologue, *mark;

	if (metadata->lttng) {
		text_append(text, lttng_start);
		from += strlen(CTF_METADATA_START);
	}
	while ((mark = strchr(from, '@'))) {
		size_t length = (size_t)(mark - from);

		if (metadata->lttng && mark[1] == '2')
			length -= strlen(TRACER);
		text_append_bytes(text, from, length);
		switch (mark[1]) {
		case '1':
			put_uuid(metadata->uuid, text);
			break;
		case '2':
			put_env(metadata, text);
			break;
		case '3':
			text_printf(text, "%" PRIu64, metadata->wall_ns / 1000000000);
			break;
		default:
			text_printf(text, "%" PRIu64, metadata->wall_ns % 1000000000);
			break;
		}
		from = mark + 2;
	}
	/* babeltrace 1, on which LTTng's own analyses are built, reads whole bytes only where they are a power of two.
	 */
	mark = metadata->lttng ? strstr(from, CLOCK48) : NULL;
	if (mark) {
		text_append_bytes(text, from, (size_t)(mark - from));
		text_append(text, LTTNG_CLOCK48);
		from = mark + strlen(CLOCK48);
	}
	text_append(text, from);
}

/* One name for strings of each capacity, so that who reads the trace knows it. */
static void put_text_types(const struct ctf_metadata *metadata, struct text_buffer *text)
{
	bool seen[EVENT_RECORD_BYTES_MAX / 8 + 1] = { false };

	text_append(text, "\n");
	for (size_t i = 0; i < metadata->event_count; i++) {
		const struct ctf_event *event = &metadata->events[i];

		for (uint32_t j = 0; j < event->field_count && !event->sensor; j++) {
			uint32_t bytes = event->fields[j].bytes;

			if (event->fields[j].value != EVENT_STRING || seen[bytes / 8])
				continue;
			seen[bytes / 8] = true;
			text_printf(text, "typealias string { encoding = UTF8; } := text%u;\n", bytes);
		}
	}
}

static void put_field(const struct ctf_field *field, bool of_sensor, struct text_buffer *text)
{
	if (field->value != EVENT_STRING)
		text_printf(text, "\t\t%s%s _%s;\n", field->wide ? "wide_" : "", ctf_value_name(field->value),
			    field->name);
	else if (of_sensor)
		text_printf(text, "\t\tstring { encoding = UTF8; } _%s;\n", field->name);
	else
		text_printf(text, "\t\ttext%u _%s;\n", field->bytes, field->name);
}

void ctf_metadata_add(const struct ctf_event *event, struct text_buffer *text)
{
	text_append(text, "\n");
	if (event->sensor)
		ctf_sensor_write(event->sensor, text);
	text_printf(text, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %d;\n\tfields := struct {\n",
		    event->name, event->id, event->sensor ? CTF_CLASS_SENSORS : 0);
	for (uint32_t i = 0; i < event->field_count; i++)
		put_field(&event->fields[i], event->sensor != NULL, text);
	text_append(text, "\t};\n};\n");
}

void ctf_metadata_write(const struct ctf_metadata *metadata, struct text_buffer *text)
{
	put_prologue(metadata, text);
	if (metadata->lttng)
		text_append(text, lttng_types);
	if (metadata->has_sensors)
		text_append(text, ctf_metadata_sensors);
	put_text_types(metadata, text);
	for (size_t i = 0; i < metadata->event_count; i++)
		ctf_metadata_add(&metadata->events[i], text);
}

bool ctf_metadata_is_own(const char *text, size_t length)
{
	size_t start = strlen(CTF_METADATA_START);

	return length >= start && memcmp(text, CTF_METADATA_START, start) == 0;
}
