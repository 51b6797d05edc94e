// SPDX-License-Identifier: BSD-2-Clause
/*
 * Translates what was recorded to LTTng's names. Names come from the map (catalogs/lttng.map); which number is which
 * system call, and what its arguments are called, from how the catalog gets that call's own type out of the same
 * tracepoint. So recording the two types for all calls is enough for an event class per call.
 *
 * A few events of LTTng's say in fields of their own who raised them (sched_process_exit: tid, comm). Analyses rely on
 * these, so they are put behind what was recorded, from the context that holds.
 */

#include "trace/ctf/layout.h"

#include "event/path.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 1024, CALL_ARGUMENTS = 6, LAYOUT_NAME_BYTES = 256, REASON_BYTES = 256 };

/* What is put behind an event, in this order. */
enum { ADD_TID = 1, ADD_PID = 2, ADD_COMM = 4, ADDITIONS = 3 };

static const struct ctf_field additions[ADDITIONS] = {
	{ "tid", EVENT_I32, 4, false },
	{ "pid", EVENT_I32, 4, false },
	{ "comm", EVENT_STRING, EVENT_COMM_BYTES, false },
};

/* The types for all system calls: how the numbers of calls become ids. */
struct calls {
	const char *type, *prefix, *number; /* "sys_enter", "sys_enter_", the path of the number */
	uint32_t id;                        /* in rings; 0: this type is not recorded, or not the number */
	uint32_t offset;                    /* of the number in the payload */
	uint16_t ids[CALLS_MAX];            /* by number; 0: unknown */
};

struct ctf_layout {
	struct arena *arena;
	const struct lttng_map *map;
	struct asterism_diag *diag;
	struct ctf_event *events;
	size_t event_count, event_capacity;
	uint32_t next_id;
	uint8_t *added; /* by id in rings: ADD_* */
	struct calls calls[2];
};

/* In the order of struct ctf_process, which has no gaps. */
static const struct ctf_field process_fields[] = {
	{ "tid", EVENT_I32, 4, false },      { "vtid", EVENT_I32, 4, false },
	{ "pid", EVENT_I32, 4, false },      { "vpid", EVENT_I32, 4, false },
	{ "ppid", EVENT_I32, 4, false },     { "vppid", EVENT_I32, 4, false },
	{ "type", EVENT_I32, 4, false },     { "mode", EVENT_I32, 4, false },
	{ "submode", EVENT_I32, 4, false },  { "status", EVENT_I32, 4, false },
	{ "ns_level", EVENT_I32, 4, false }, { "ns_inum", EVENT_U32, 4, false },
	{ "cpu", EVENT_U32, 4, false },      { "name", EVENT_STRING, EVENT_COMM_BYTES, false },
};

_Static_assert(offsetof(struct ctf_process, name) == 13 * 4, "a process is packed as it is");

/* The classes of a state dump, and that of matches. */
static const struct ctf_event own_events[] = {
	{ "lttng_statedump_start", NULL, 0, CTF_ID_STATE_START, NULL },
	{ "lttng_statedump_process_state", process_fields, sizeof process_fields / sizeof *process_fields,
	  CTF_ID_STATE_PROCESS, NULL },
	{ "lttng_statedump_end", NULL, 0, CTF_ID_STATE_END, NULL },
	{ "match", ctf_match_fields, CTF_MATCH_FIELDS, CTF_ID_MATCH, NULL },
};

static int add_layout_event(struct ctf_layout *layout, const struct ctf_event *event)
{
	if (alloc_grow(&layout->events, &layout->event_capacity, layout->event_count, sizeof *event))
		return diag_no_memory(layout->diag);
	layout->events[layout->event_count++] = *event;
	return 0;
}

/* Whether a field before index is called name already. */
static bool is_field_name_taken(const struct ctf_field *fields, uint32_t index, const char *name)
{
	for (uint32_t i = 0; i < index; i++) {
		if (strcmp(fields[i].name, name) == 0)
			return true;
	}
	return false;
}

static const char *foreign_name(const struct lttng_event *event, const char *name)
{
	for (size_t i = 0; event && i < event->field_count; i++) {
		if (event->fields[i].field && strcmp(event->fields[i].field, name) == 0)
			return event->fields[i].name;
	}
	return name;
}

/* A copy of fields that lives as long as the layout, under LTTng's names. */
static struct ctf_field *name_fields(struct ctf_layout *layout, const struct lttng_event *event,
				     const struct ctf_field *fields, uint32_t count)
{
	struct ctf_field *named = arena_zero(layout->arena, count + 1, sizeof *named);

	for (uint32_t i = 0; named && i < count; i++) {
		const char *name = foreign_name(event, fields[i].name);

		named[i] = fields[i];
		/* Readers refuse two fields of one name; the map should not bring that about. */
		named[i].name = is_field_name_taken(named, i, name) ? arena_format(layout->arena, "%s_%u", name, i)
								    : arena_text(layout->arena, name, strlen(name));
		if (!named[i].name)
			return NULL;
	}
	return named;
}

/* The class of what the catalog calls name. */
static int add_event_class(struct ctf_layout *layout, const char *name, const struct ctf_field *fields, uint32_t count)
{
	char foreign[LAYOUT_NAME_BYTES];
	const struct lttng_event *event = lttng_map_find_type(layout->map, name, foreign, sizeof foreign);
	struct ctf_event class = { .field_count = count, .id = layout->next_id++ };

	/* A row for any call, whichever it is, names none. */
	if (event && strchr(foreign, '*'))
		event = NULL;
	if (!event)
		snprintf(foreign, sizeof foreign, "%s", name);
	class.name = arena_text(layout->arena, foreign, strlen(foreign));
	class.fields = name_fields(layout, event, fields, count);
	return class.name && class.fields ? add_layout_event(layout, &class) : diag_no_memory(layout->diag);
}

/* Which of the two types of calls this is, or NULL. */
static struct calls *calls_of(struct ctf_layout *layout, const struct event_type *type)
{
	for (size_t i = 0; i < sizeof layout->calls / sizeof *layout->calls; i++) {
		if (type->origin == EVENT_CATALOG && strcmp(type->name, layout->calls[i].type) == 0)
			return &layout->calls[i];
	}
	return NULL;
}

/* Notes where the number of the call is, where it is recorded and all fields take the same eight bytes. */
static void find_recorded_call(struct calls *calls, const struct ctf_writer_event *event, uint32_t id)
{
	struct event_packed packed;

	event_packed_init(&packed, event->type, event->recorded);
	if (packed.string_count || packed.fixed_bytes != packed.number_count * sizeof(uint64_t))
		return;
	for (uint32_t i = 0; i < packed.number_count; i++) {
		if (strcmp(event->type->fields[packed.numbers[i].field].name, "id") != 0)
			continue;
		calls->id = id;
		calls->offset = packed.numbers[i].payload_offset;
	}
}

/* Which header fields LTTng has as fields of the event called name. */
static unsigned additions_of(const struct ctf_layout *layout, const struct event_type *type, const char *name)
{
	char foreign[LAYOUT_NAME_BYTES];
	const struct lttng_event *event = lttng_map_find_type(layout->map, name, foreign, sizeof foreign);
	unsigned added = 0;

	for (size_t i = 0; event && i < event->field_count; i++) {
		for (unsigned j = 0; event->fields[i].field && j < ADDITIONS; j++) {
			const char *field = additions[j].name;

			if (strcmp(event->fields[i].field, field) == 0 &&
			    event_field_is_header(event_field_find(type, field)))
				added |= 1u << j;
		}
	}
	return added;
}

static int add_recorded(struct ctf_layout *layout, const struct ctf_writer_event *event)
{
	struct calls *calls = calls_of(layout, event->type);
	struct ctf_field fields[EVENT_FIELDS_MAX + ADDITIONS];
	uint32_t count = ctf_fields_of(event->type, event->recorded, fields);
	unsigned added = calls ? 0 : additions_of(layout, event->type, event->type->name);
	char name[LAYOUT_NAME_BYTES];

	layout->added[layout->next_id] = (uint8_t)added;
	for (unsigned i = 0; i < ADDITIONS; i++) {
		if (added & 1u << i)
			fields[count++] = additions[i];
	}
	if (calls)
		find_recorded_call(calls, event, layout->next_id);
	/* What remains of a type that is split are unknown calls: so LTTng calls them, too. */
	snprintf(name, sizeof name, "%s%s", event->type->name, calls && calls->id ? "_unknown" : "");
	return add_event_class(layout, name, fields, count);
}

/* What the catalog says of one call. */
struct call {
	long number; /* -1: the type is not about a call */
	const struct event_field *arguments[CALL_ARGUMENTS];
};

/* What cannot be parsed says nothing. Returns 0, -ENOMEM. */
static int read_call_number(const struct calls *calls, const struct event_type *type, struct arena *arena,
			    struct call *call)
{
	char reason[REASON_BYTES];
	struct event_path *number = NULL;
	struct event_path_conditions when = { 0 };
	int result = event_path_parse(calls->number, arena, &number, reason, sizeof reason);

	if (!result)
		result = event_path_parse_when(type->hooks[0].when, arena, &when, reason, sizeof reason);
	if (result || !when.count)
		return result == -ENOMEM ? result : 0;
	if (event_path_same(when.items[0].path, number) && when.items[0].compare == SOURCE_EQ &&
	    when.items[0].value >= 0 && when.items[0].value < CALLS_MAX)
		call->number = when.items[0].value;
	return 0;
}

/* Which field holds which argument, the first where there are several. Returns 0, -ENOMEM. */
static int read_arguments(const struct event_type *type, struct arena *arena, struct call *call)
{
	char reason[REASON_BYTES];

	for (uint32_t i = type->field_count; i-- > 0;) {
		const char *text = type->hooks[0].paths[i];
		struct event_path *path;
		int result = text ? event_path_parse(text, arena, &path, reason, sizeof reason) : -EINVAL;

		if (result == -ENOMEM)
			return result;
		for (unsigned j = 0; j < CALL_ARGUMENTS && !result; j++)
			if (event_path_has(path, SOURCE_SYSCALL_ARG, j))
				call->arguments[j] = &type->fields[i];
	}
	return 0;
}

static int read_call(const struct calls *calls, const struct event_type *type, struct call *call)
{
	struct arena *arena;
	int result;

	*call = (struct call){ .number = -1 };
	if (type->origin != EVENT_CATALOG || strncmp(type->name, calls->prefix, strlen(calls->prefix)) != 0 ||
	    !type->hook_count)
		return 0;
	arena = arena_new();
	result = arena ? read_call_number(calls, type, arena, call) : -ENOMEM;
	if (!result && call->number >= 0)
		result = read_arguments(type, arena, call);
	if (arena)
		arena_free(arena);
	return result;
}

/*
 * A field of the type for all calls, as the call has it. The last one keeps its 64 bits: a packet must not end between
 * the end of a narrow number and that of the eight bytes it is in.
 */
static void specialise(struct ctf_field *field, const struct call *call, bool is_last)
{
	/* arg5 may be what a call with fewer arguments calls one of them. */
	static const char *const unused[CALL_ARGUMENTS] = { "unused0", "unused1", "unused2",
							    "unused3", "unused4", "unused5" };
	const struct event_field *argument;
	unsigned number;
	uint32_t width;

	field->wide = true;
	if (sscanf(field->name, "arg%u", &number) != 1 || number >= CALL_ARGUMENTS)
		return;
	argument = call->arguments[number];
	width = argument ? event_packed_width(argument->value) : 0;
	field->name = argument ? argument->name : unused[number];
	if (argument && width == 0)
		field->value = EVENT_ADDR; /* of the text */
	else if (argument && (!is_last || width == sizeof(uint64_t)))
		field->value = argument->value;
}

/* The classes of all calls that the catalog knows. */
static int add_calls(struct ctf_layout *layout, struct calls *calls, const struct event_catalog *catalog,
		     const struct ctf_writer_event *recorded)
{
	struct ctf_field all[EVENT_FIELDS_MAX], fields[EVENT_FIELDS_MAX];
	uint32_t count = ctf_fields_of(recorded->type, recorded->recorded, all);
	const struct event_type *type;
	int result = 0;

	for (size_t i = 0; !result && (type = event_catalog_get(catalog, i)); i++) {
		struct call call;

		if (read_call(calls, type, &call))
			return diag_no_memory(layout->diag);
		if (call.number < 0 || calls->ids[call.number])
			continue;
		memcpy(fields, all, count * sizeof *fields);
		for (uint32_t j = 0; j < count; j++)
			specialise(&fields[j], &call, j == count - 1);
		calls->ids[call.number] = (uint16_t)layout->next_id;
		result = add_event_class(layout, type->name, fields, count);
	}
	return result;
}

static int fill_layout(struct ctf_layout *layout, const struct ctf_layout_options *options)
{
	int result = 0;

	if (options->event_count >= CTF_ID_STATE_START - 2 * CALLS_MAX)
		return diag_error(layout->diag, NULL, -EINVAL, "a trace cannot have that many event types");
	layout->added = arena_zero(layout->arena, options->event_count + 1, sizeof *layout->added);
	if (!layout->added)
		return diag_no_memory(layout->diag);
	for (size_t i = 0; i < options->event_count && !result; i++)
		result = add_recorded(layout, &options->events[i]);
	for (size_t i = 0; i < sizeof layout->calls / sizeof *layout->calls && !result; i++) {
		struct calls *calls = &layout->calls[i];

		if (calls->id)
			result = add_calls(layout, calls, options->catalog,
					   &options->events[calls->id - EVENT_PACKED_ID_FIRST]);
	}
	if (!result)
		result = add_layout_event(layout, &ctf_late_event);
	for (size_t i = 0; i < sizeof own_events / sizeof *own_events && !result; i++)
		result = add_layout_event(layout, &own_events[i]);
	return result;
}

int ctf_layout_new(const struct ctf_layout_options *options, struct asterism_diag *diag, struct ctf_layout **made)
{
	struct ctf_layout *layout = alloc_zero(1, sizeof *layout);
	int result;

	if (!layout)
		return diag_no_memory(diag);
	layout->arena = arena_new();
	layout->map = options->map;
	layout->diag = diag;
	layout->next_id = EVENT_PACKED_ID_FIRST;
	layout->calls[0] = (struct calls){ .type = "sys_enter", .prefix = "sys_enter_", .number = "id" };
	layout->calls[1] = (struct calls){ .type = "sys_exit", .prefix = "sys_exit_", .number = "regs->orig_ax" };
	result = layout->arena ? fill_layout(layout, options) : diag_no_memory(diag);
	layout->map = NULL;
	if (result)
		ctf_layout_free(layout);
	else
		*made = layout;
	return result;
}

void ctf_layout_free(struct ctf_layout *layout)
{
	if (!layout)
		return;
	alloc_free(layout->events);
	arena_free(layout->arena);
	alloc_free(layout);
}

const struct ctf_event *ctf_layout_events(const struct ctf_layout *layout, size_t *count)
{
	*count = layout->event_count;
	return layout->events;
}

/* The id that the event gets. payload holds the numbers of its type. */
static uint32_t id_of(const struct ctf_layout *layout, uint32_t id, const void *payload)
{
	for (size_t i = 0; i < sizeof layout->calls / sizeof *layout->calls; i++) {
		const struct calls *calls = &layout->calls[i];
		uint64_t number;

		if (!calls->id || calls->id != id)
			continue;
		memcpy(&number, (const char *)payload + calls->offset, sizeof number);
		return number < CALLS_MAX && calls->ids[number] ? calls->ids[number] : id;
	}
	return id;
}

/* Returns the end of what is added. */
static char *add_context(unsigned added, const struct event_packed_context *context, char *to)
{
	if (added & ADD_TID) {
		memcpy(to, &context->tid, sizeof context->tid);
		to += sizeof context->tid;
	}
	if (added & ADD_PID) {
		memcpy(to, &context->pid, sizeof context->pid);
		to += sizeof context->pid;
	}
	if (added & ADD_COMM) {
		size_t length = strnlen(context->comm, sizeof context->comm - 1);

		memcpy(to, context->comm, length);
		to[length] = 0;
		to += length + 1;
	}
	return to;
}

size_t ctf_layout_apply(const struct ctf_layout *layout, const struct event_packed *packed,
			const struct ctf_events *events, char *to)
{
	struct event_packed_context context = { 0 };
	const char *from = events->bytes, *end = from + events->length;
	char *start = to, *last = to;

	while (from < end) {
		uint64_t word;

		memcpy(&word, from, sizeof word);
		from += sizeof word;

		uint32_t id = event_packed_word_id(word);
		if (id == EVENT_PACKED_ID_LATE) {
			memcpy(to, &word, sizeof word);
			memcpy(to + sizeof word, from, sizeof(struct event_packed_late));
			to = last = to + sizeof word + sizeof(struct event_packed_late);
			from += sizeof(struct event_packed_late);
			continue;
		}
		size_t length = (size_t)event_packed_bytes(&packed[id], from, (size_t)(end - from));

		word = event_packed_word(id_of(layout, id, from), word >> EVENT_PACKED_ID_BITS);
		memcpy(to, &word, sizeof word);
		memcpy(to + sizeof word, from, length);
		if (id == EVENT_PACKED_ID_CONTEXT)
			memcpy(&context, from, sizeof context);
		last = to + sizeof word + length;
		if (id != EVENT_PACKED_ID_CONTEXT)
			last = add_context(layout->added[id], &context, last);
		to = start + event_packed_round((size_t)(last - start));
		memset(last, 0, (size_t)(to - last));
		from += event_packed_round(length);
	}
	return (size_t)(last - start);
}

size_t ctf_process_bytes(const struct ctf_process *process)
{
	return offsetof(struct ctf_process, name) + strnlen(process->name, sizeof process->name - 1) + 1;
}
