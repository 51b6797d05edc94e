/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_METADATA_H
#define TRACE_CTF_METADATA_H

/*
 * What the file `metadata` of a trace says (docs/formats/trace.md), written as TSDL and read back. Reading is strict:
 * what stands before the events must be, token by token, what writing puts there.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/text.h"
#include "event/catalog.h"
#include "event/packed.h"
#include "event/source.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	CTF_UUID_BYTES = 16,
	CTF_ID_MATCH = EVENT_PACKED_ID_MAX, /* a match that a snapshot was made for, see ctf_match_fields */
	CTF_MATCH_FIELDS = 3,
	CTF_MATCH_VALUES_BYTES = 4096,       /* of a match as a line, with its NUL; what is longer is cut */
	CTF_STREAM_MATCHES = UINT16_MAX,     /* the stream instance of matches, */
	CTF_STREAM_SENSORS = UINT16_MAX - 1, /* and of sensors, whose class is */
	CTF_CLASS_SENSORS = 1,
	CTF_METADATA_BYTES_MAX = 1 << 24,
	CTF_CHANGED_BYTES = 512,
};

/* What changes of the choice of types are called in the environment, with a number from 1 on behind it. */
#define CTF_ENV_CHANGE "change_"

/* How every metadata file of ours begins. */
#define CTF_METADATA_START "/* CTF 1.8 */\n\n/* asterism trace 1 */\n"

struct ctf_field {
	const char *name;
	enum event_value value;
	uint32_t bytes; /* of strings: the capacity in a record; 0: what is said of the sensor tells */
	bool wide;      /* a number that has eight aligned bytes to itself; with LTTng's names only */
};

/* Whose sensor an event class is. */
struct ctf_sensor {
	const char *program; /* the name of a process that has it; "": not known */
	const char *path;    /* of its program; "": not known */
	const char *text;    /* the type's paragraph, in the notation of catalogs */
};

/* An event class other than the context: its fields in the order of the payload. */
struct ctf_event {
	const char *name;
	const struct ctf_field *fields;
	uint32_t field_count;
	uint32_t id;                     /* EVENT_PACKED_ID_FIRST.., in its stream class */
	const struct ctf_sensor *sensor; /* NULL: it is none; else it is of the stream class of sensors */
};

struct ctf_env {
	const char *name, *value;
	bool is_number;
};

struct ctf_metadata {
	uint8_t uuid[CTF_UUID_BYTES];
	uint64_t wall_ns;            /* what added to a time gives CLOCK_REALTIME */
	const struct ctf_env *env;   /* besides the tracer's name; not read back */
	char host[EVENT_HOST_BYTES]; /* the environment's, as it is read back; "": none, or one with escapes */
	size_t env_count;
	/* Types that were not taken all the time, with commas between them, cut, as it is read back; "": none. */
	char changed[CTF_CHANGED_BYTES];
	const struct ctf_event *events;
	size_t event_count;
	bool has_sensors; /* there is a stream for them */
	/* The trace is LTTng's by its names, the tracer's among env: no trace of ours for the strict reader. */
	bool lttng;
};

/* The event class EVENT_PACKED_ID_LATE, called "late". */
extern const struct ctf_event ctf_late_event;

/* The event class CTF_ID_MATCH, called "match". */
extern const struct ctf_field ctf_match_fields[CTF_MATCH_FIELDS];
extern const struct ctf_event ctf_match_event;

/* Adds an event class to a catalog that has no type of its name. Returns as event_catalog_add. */
int ctf_event_declare(const struct ctf_event *event, struct event_catalog *catalog, const struct event_type **type);

/* The fields of type that recorded (NULL: all) names, in the order of the payload, into fields. Returns how many. */
uint32_t ctf_fields_of(const struct event_type *type, const bool *recorded, struct ctf_field fields[EVENT_FIELDS_MAX]);

/* Writes metadata as TSDL; failures stick to text. */
void ctf_metadata_write(const struct ctf_metadata *metadata, struct text_buffer *text);

/* The same for one more event class of a sensor, to go behind that. */
void ctf_metadata_add(const struct ctf_event *event, struct text_buffer *text);

/* What the comment before a sensor's event class says, and what one says, with its signs, into the arena. Returns 0,
 * -EINVAL, -ENOMEM. */
void ctf_sensor_write(const struct ctf_sensor *sensor, struct text_buffer *text);
int ctf_sensor_read(const char *comment, size_t length, struct arena *arena, const struct ctf_sensor **read);

/* True where the text (at least its first 64 bytes) is the metadata of a trace of ours. */
bool ctf_metadata_is_own(const char *text, size_t length);

/*
 * Reads the text; all that metadata refers to is put into the arena. Returns 0, -EINVAL with a message that has line,
 * column and offset, or -ENOMEM.
 */
int ctf_metadata_read(const struct diag_source *text, struct arena *arena, struct asterism_diag *diag,
		      struct ctf_metadata *metadata);

/* What stands before the events, with @1 for the UUID, @2 for the environment, @3 and @4 for the clock's offset. */
extern const char ctf_metadata_prologue[];

/* What stands behind that where there is a stream of sensors. */
extern const char ctf_metadata_sensors[];

/* The name by which TSDL knows values of this kind; NULL for strings, which have one for each capacity: text64. */
const char *ctf_value_name(enum event_value value);

#endif
