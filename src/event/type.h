/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_TYPE_H
#define EVENT_TYPE_H

/*
 * Event types and the one layout that every executor and every source agrees on, the event record:
 *
 *   offset  0  ts     u64   ns, CLOCK_MONOTONIC
 *           8  seq    u64   ordinal in the input, from 1
 *          16  type   u32   index in the table of types of the record's holder
 *          20  cpu    u32
 *          24  pid    u32   process (thread group)
 *          28  tid    u32   thread
 *          32  comm   16 bytes, NUL-filled
 *          48  body: every scalar in 8 bytes (integers sign- or zero-extended to 64 bits by their type, bool 0 or 1,
 *              f64 as IEEE bits), every string in its capacity, NUL-terminated and NUL-filled, all in field order.
 * Capacities are rounded up to multiples of 8, so every field is aligned.
 *
 * A string that could not be read where it lies is unread, which is not the empty string: all of it is NUL but its last
 * byte, which no string has, and which is EVENT_UNREAD.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum event_value {
	EVENT_U8 = 1,
	EVENT_U16,
	EVENT_U32,
	EVENT_U64,
	EVENT_I8,
	EVENT_I16,
	EVENT_I32,
	EVENT_I64,
	EVENT_F64,
	EVENT_BOOL,
	EVENT_TIME, /* ns, signed 64 bit */
	EVENT_ADDR, /* unsigned 64 bit */
	EVENT_STRING,
};

enum {
	EVENT_COMM_BYTES = 16,
	EVENT_STRING_BYTES = 256, /* capacity of a string field that says nothing else: 255 bytes and a NUL */
	EVENT_RECORD_BYTES_MAX = 8192,
	EVENT_FIELDS_MAX = 128,
	EVENT_HEADER_FIELDS = 5,
	EVENT_UNREAD = 0x7f,
};

/* The cpu of an event that does not say where it was raised, as those of applications. */
#define EVENT_NO_CPU UINT32_MAX

/*
 * Added to the type of a record that comes later than its time: it tells of the beginning of a call, but had to wait
 * until its strings could be read. Others that came before it may be younger. Only where records are handed on.
 */
#define EVENT_LATE (UINT32_C(1) << 31)

/*
 * Added to the type of a record of which nothing is known but who raised it and when: a number, or what decides whether
 * it happened at all, lies in memory that could not be read. All rules over the type take it for unread. Only where
 * records are handed on.
 */
#define EVENT_UNKNOWN (UINT32_C(1) << 30)

struct meaning;

struct event_header {
	uint64_t ts;
	uint64_t seq;
	uint32_t type;
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	char comm[EVENT_COMM_BYTES];
};

_Static_assert(sizeof(struct event_header) == 48, "the record header is a fixed layout");

struct event_field {
	const char *name;
	enum event_value value;
	uint32_t offset;  /* in the record */
	uint32_t bytes;   /* in the record: 4 (header integers), 8, or a string's capacity */
	const char *unit; /* "sectors", "jiffies", ...: of amounts that have no meaning of their own; or NULL */
	const char *doc;  /* or NULL */
	const struct meaning *meaning; /* what numbers stand for (meaning/meaning.h), or NULL */
};

enum event_origin {
	EVENT_DECLARED, /* an EVENT declaration of a rule file */
	EVENT_CATALOG,  /* a catalog file */
	EVENT_TRACEFS,  /* read from a tracefs format file of this machine */
};

/*
 * One place where a live kernel raises events of a type: a tracepoint, and how its raw arguments become fields. All
 * texts are in the notation of docs/formats/catalog.md.
 */
struct event_hook {
	/* "system:name"; "uprobe:file:function", "uretprobe:file:function", "usdt:file:provider:probe" */
	const char *tracepoint;
	const char *when;  /* condition on the raw arguments under which it is this type, or NULL */
	const char *scope; /* extra paths to ids of processes that the event is about, comma-separated, or NULL */
	const char *const *paths; /* per body field: how it is obtained */
	const char *file;         /* of a probe in user code: where it is declared; else NULL */
	uint32_t line;
};

/* What a type is known to have elsewhere, and no event of it has here. */
struct event_absent {
	const char *name;
	const char *instead; /* why, and what to use */
};

struct event_type {
	const char *name;
	const char *sensor; /* by what applications raise it, NAME or PROGRAM:NAME (sensor/pattern.h); NULL: none do */
	const char *called; /* the same, where they also call the kernel: their gate is to be held open; NULL */
	const struct event_field *fields; /* body fields only */
	uint32_t field_count;
	uint32_t own_count; /* of them; those behind were asked for (event/about.h) */
	bool gains;         /* there is room for more of these */
	uint32_t record_bytes;
	enum event_origin origin;
	const char *doc;                /* or NULL */
	const struct event_hook *hooks; /* none: no kernel raises it */
	uint32_t hook_count;
	const struct event_absent *absents;
	uint32_t absent_count;
};

/* Whether the record carries EVENT_LATE. UINT32_MAX stands for an unknown type. */
static inline bool event_is_late(const struct event_header *record)
{
	return record->type & EVENT_LATE && record->type != UINT32_MAX;
}

/* The same for EVENT_UNKNOWN. */
static inline bool event_is_unknown(const struct event_header *record)
{
	return record->type & EVENT_UNKNOWN && record->type != UINT32_MAX;
}

/* The record's type without them. */
static inline uint32_t event_type_of(const struct event_header *record)
{
	return record->type == UINT32_MAX ? record->type : record->type & ~(EVENT_LATE | EVENT_UNKNOWN);
}

/* Whether the string field of record is unread. offset and bytes are the field's. */
static inline bool event_string_is_unread(const struct event_header *record, uint32_t offset, uint32_t bytes)
{
	return ((const char *)record)[offset + bytes - 1] != 0;
}

/* Whether a string in so many bytes may have been longer. Not the name of a thread: the kernel has no longer ones. */
static inline bool event_string_may_be_cut(uint32_t bytes)
{
	return bytes > EVENT_COMM_BYTES;
}

/* Whether the string fills its field, and may have been longer. */
static inline bool event_string_is_full(const struct event_header *record, uint32_t offset, uint32_t bytes)
{
	return event_string_may_be_cut(bytes) && !memchr((const char *)record + offset, 0, bytes - 1);
}

/* Makes the string unread. */
static inline void event_string_set_unread(struct event_header *record, uint32_t offset, uint32_t bytes)
{
	memset((char *)record + offset, 0, bytes - 1);
	((char *)record)[offset + bytes - 1] = EVENT_UNREAD;
}

/* The header fields ts, cpu, pid, tid, comm, in this order. */
extern const struct event_field event_header_fields[EVENT_HEADER_FIELDS];

/*
 * The field called name of type (body first, then header, then the aliases TimeStamp CpuId ProcessId ThreadId),
 * or NULL.
 */
const struct event_field *event_field_find(const struct event_type *type, const char *name);

/* Why events of type have no field of this name, and what to use instead; NULL: the type does not say. */
const char *event_absent_find(const struct event_type *type, const char *name);

/* The header field called name, or with that alias; NULL: none is. */
const struct event_field *event_header_find(const char *name);

/* True for one of the five header fields. */
bool event_field_is_header(const struct event_field *field);

/*
 * Whether events of type are beginnings of system calls, wherever they are raised: then a call that is held before it
 * begins tells everything about them.
 */
bool event_type_is_call(const struct event_type *type);

/* "u32", "string", ... as the language writes it. */
const char *event_value_name(enum event_value value);

/* The value type called name in any case, or 0. */
enum event_value event_value_find(const char *name);

/* What values of a type that says so by itself stand for, or NULL. */
const struct meaning *event_value_meaning(enum event_value value);

/* NULL: values of this type may have the meaning; else who may. */
const char *event_value_lacks(enum event_value value, const struct meaning *meaning);

/* True for u64 and addr, whose arithmetic is unsigned. */
bool event_value_is_unsigned64(enum event_value value);

/* The lowest bits of word that a value has, extended to 64 as records have them; a bool is 0 or 1. */
uint64_t event_value_narrow(enum event_value value, uint64_t word);

#endif
