// SPDX-License-Identifier: BSD-2-Clause
/* The names of value types and header fields. */

#include "event/type.h"

#include "meaning/meaning.h"

#include <string.h>
#include <strings.h>

const struct event_field event_header_fields[EVENT_HEADER_FIELDS] = {
	{ "ts", EVENT_TIME, offsetof(struct event_header, ts), 8, "ns", "time of the event, CLOCK_MONOTONIC",
	  &meaning_time },
	{ "cpu", EVENT_U32, offsetof(struct event_header, cpu), 4, NULL, "CPU that raised it" },
	{ "pid", EVENT_U32, offsetof(struct event_header, pid), 4, NULL, "process (thread group) that raised it",
	  &meaning_pid },
	{ "tid", EVENT_U32, offsetof(struct event_header, tid), 4, NULL, "thread that raised it", &meaning_tid },
	{ "comm", EVENT_STRING, offsetof(struct event_header, comm), EVENT_COMM_BYTES, NULL, "name of that thread" },
};

static const struct {
	const char *alias;
	uint32_t header_field;
} aliases[] = {
	{ "TimeStamp", 0 },
	{ "CpuId", 1 },
	{ "ProcessId", 2 },
	{ "ThreadId", 3 },
};

static const char *const value_names[] = {
	[EVENT_U8] = "u8",         [EVENT_U16] = "u16",   [EVENT_U32] = "u32",   [EVENT_U64] = "u64",
	[EVENT_I8] = "i8",         [EVENT_I16] = "i16",   [EVENT_I32] = "i32",   [EVENT_I64] = "i64",
	[EVENT_F64] = "f64",       [EVENT_BOOL] = "bool", [EVENT_TIME] = "time", [EVENT_ADDR] = "addr",
	[EVENT_STRING] = "string",
};

const struct event_field *event_header_find(const char *name)
{
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		if (!strcmp(event_header_fields[i].name, name))
			return &event_header_fields[i];
	}
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
		if (!strcmp(aliases[i].alias, name))
			return &event_header_fields[aliases[i].header_field];
	}
	return NULL;
}

const struct event_field *event_field_find(const struct event_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	}
	return event_header_find(name);
}

const char *event_absent_find(const struct event_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->absent_count; i++) {
		if (!strcmp(type->absents[i].name, name))
			return type->absents[i].instead;
	}
	return NULL;
}

bool event_field_is_header(const struct event_field *field)
{
	return field >= event_header_fields && field < event_header_fields + EVENT_HEADER_FIELDS;
}

const char *event_value_name(enum event_value value)
{
	return value >= EVENT_U8 && value <= EVENT_STRING ? value_names[value] : "?";
}

enum event_value event_value_find(const char *name)
{
	for (enum event_value value = EVENT_U8; value <= EVENT_STRING; value++) {
		if (!strcasecmp(value_names[value], name))
			return value;
	}
	return 0;
}

/* A time may be a moment or a duration: it says what it is in its declaration. */
const struct meaning *event_value_meaning(enum event_value value)
{
	return value == EVENT_ADDR ? &meaning_addr : NULL;
}

const char *event_value_lacks(enum event_value value, const struct meaning *meaning)
{
	if ((value == EVENT_STRING) == meaning_is_text(meaning))
		return value == EVENT_F64 || value == EVENT_BOOL ? "only integers, times and addresses have a meaning"
								 : NULL;
	return value == EVENT_STRING ? "only integers, times and addresses have this meaning"
				     : "only strings have this meaning: an IPv4 address as a number is 'ip4'";
}

bool event_value_is_unsigned64(enum event_value value)
{
	return value == EVENT_U64 || value == EVENT_ADDR;
}

uint64_t event_value_narrow(enum event_value value, uint64_t word)
{
	switch (value) {
	case EVENT_U8:
		return (uint8_t)word;
	case EVENT_U16:
		return (uint16_t)word;
	case EVENT_U32:
		return (uint32_t)word;
	case EVENT_I8:
		return (uint64_t)(int8_t)word;
	case EVENT_I16:
		return (uint64_t)(int16_t)word;
	case EVENT_I32:
		return (uint64_t)(int32_t)word;
	case EVENT_BOOL:
		return word != 0;
	default:
		return word;
	}
}

bool event_type_is_call(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->hook_count; i++)
		if (strcmp(type->hooks[i].tracepoint, "raw_syscalls:sys_enter") != 0)
			return false;
	return type->hook_count > 0;
}
