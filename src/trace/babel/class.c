// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the type for an event class, and where each field's value comes from. A type that the rules declare under
 * LTTng's own name goes before the map, the map before the catalog; what is unknown becomes a type of its own. Names
 * are LTTng's with an underscore in front of fields, or without: both are one.
 */

#include "trace/babel/class.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, SHORT_STRING_BYTES = 32 };

struct scopes {
	const bt_field_class *classes[BABEL_SCOPE_COUNT]; /* structures; NULL: the event has none */
};

static struct scopes scopes_of(const bt_event_class *class)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(class);

	return (struct scopes){ {
		[BABEL_PAYLOAD] = bt_event_class_borrow_payload_field_class_const(class),
		[BABEL_SPECIFIC] = bt_event_class_borrow_specific_context_field_class_const(class),
		[BABEL_COMMON] = bt_stream_class_borrow_event_common_context_field_class_const(stream),
		[BABEL_PACKET] = bt_stream_class_supports_packets(stream)
					 ? bt_stream_class_borrow_packet_context_field_class_const(stream)
					 : NULL,
	} };
}

static bool is_kind(const bt_field_class *class, bt_field_class_type kind)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), kind);
}

/* Which value a field of the class holds, or 0: none that a record can take. */
static enum event_value class_value_type(const bt_field_class *class)
{
	static const enum event_value values[2][4] = {
		{ EVENT_I8, EVENT_I16, EVENT_I32, EVENT_I64 },
		{ EVENT_U8, EVENT_U16, EVENT_U32, EVENT_U64 },
	};

	if (is_kind(class, BT_FIELD_CLASS_TYPE_INTEGER)) {
		bool is_unsigned = is_kind(class, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
		uint64_t bits = bt_field_class_integer_get_field_value_range(class);

		return values[is_unsigned][bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
	}
	if (is_kind(class, BT_FIELD_CLASS_TYPE_BOOL))
		return EVENT_BOOL;
	if (is_kind(class, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return EVENT_U64;
	if (is_kind(class, BT_FIELD_CLASS_TYPE_REAL))
		return EVENT_F64;
	return is_kind(class, BT_FIELD_CLASS_TYPE_STRING) ? EVENT_STRING : 0;
}

/* Whether the member is a text exactly where the field is one: a number makes none. */
static bool suits(const bt_field_class *scope, uint64_t index, const struct event_field *field)
{
	const bt_field_class_structure_member *member =
		bt_field_class_structure_borrow_member_by_index_const(scope, index);
	bool is_text =
		class_value_type(bt_field_class_structure_member_borrow_field_class_const(member)) == EVENT_STRING;

	return is_text == (field->value == EVENT_STRING);
}

static const char *bare(const char *name)
{
	return *name == '_' ? name + 1 : name;
}

/* The member of the scope called name, with or without an underscore. */
static bool find_scope_member(const struct scopes *scopes, enum babel_scope scope, const char *name, uint64_t *index)
{
	const bt_field_class *class = scopes->classes[scope];
	uint64_t count = class ? bt_field_class_structure_get_member_count(class) : 0;

	for (*index = 0; *index < count; ++*index) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, *index);

		if (strcmp(bare(bt_field_class_structure_member_get_name(member)), bare(name)) == 0)
			return class_value_type(bt_field_class_structure_member_borrow_field_class_const(member)) != 0;
	}
	return false;
}

/* A name as an identifier: `:` becomes two underscores, as the catalog has it, everything else foreign one. */
static void make_identifier(const char *name, char *made, size_t size)
{
	size_t length = 0;

	if (isdigit((unsigned char)*name))
		made[length++] = '_';
	for (; *name && length + 3 < size; name++) {
		if (*name == ':')
			made[length++] = '_';
		made[length++] = isalnum((unsigned char)*name) ? *name : '_';
	}
	made[length] = 0;
}

static bool is_header_member(const char *name)
{
	const struct event_type none = { 0 };

	return event_field_find(&none, name) != NULL;
}

/* The name of a field of ours: one called like a header field would hide it. */
static void make_field_name(const char *name, char *made, size_t size)
{
	const char *front = is_header_member(bare(name)) ? "own_" : "";

	memcpy(made, front, strlen(front));
	make_identifier(bare(name), made + strlen(front), size - strlen(front));
}

struct drafts {
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	char names[EVENT_FIELDS_MAX][NAME_BYTES];
	uint32_t count;
};

static bool has_name(const struct drafts *drafts, const char *name)
{
	for (uint32_t i = 0; i < drafts->count; i++) {
		if (strcmp(drafts->names[i], name) == 0)
			return true;
	}
	return false;
}

static void draft_fields(const bt_field_class *payload, uint32_t string_bytes, struct drafts *drafts)
{
	uint64_t count = payload ? bt_field_class_structure_get_member_count(payload) : 0;

	drafts->count = 0;
	for (uint64_t i = 0; i < count && drafts->count < EVENT_FIELDS_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);
		enum event_value value =
			class_value_type(bt_field_class_structure_member_borrow_field_class_const(member));
		char *name = drafts->names[drafts->count];

		make_field_name(bt_field_class_structure_member_get_name(member), name, NAME_BYTES);
		if (!value || !*name || has_name(drafts, name))
			continue;
		drafts->fields[drafts->count++] = (struct event_field_spec){
			.name = name,
			.value = value,
			.bytes = value == EVENT_STRING ? string_bytes : 0,
		};
	}
}

/* Adds a type for the class. Two classes of one name may differ: the later one is found another name. */
static int add_class_type(struct babel_class *class, const char *name, const bt_field_class *payload,
			  struct event_catalog *catalog)
{
	struct drafts *drafts = alloc_zero(1, sizeof *drafts);
	char other[NAME_BYTES + 16];
	struct event_type_spec spec = { .name = name, .origin = EVENT_DECLARED };
	int result = -EEXIST;

	if (!drafts)
		return -ENOMEM;
	spec.fields = drafts->fields;
	for (unsigned attempt = 2; result == -EEXIST && attempt < 100; attempt++) {
		draft_fields(payload, 0, drafts);
		spec.field_count = drafts->count;
		result = event_catalog_add(catalog, &spec, &class->type);
		if (result == -E2BIG) {
			draft_fields(payload, SHORT_STRING_BYTES, drafts);
			result = event_catalog_add(catalog, &spec, &class->type);
		}
		snprintf(other, sizeof other, "%s_%u", name, attempt);
		spec.name = other;
	}
	alloc_free(drafts);
	return result == -ENOMEM ? result : result ? -EINVAL : 0;
}

static int add_scope_value(struct babel_class *class, enum babel_scope scope, uint64_t index,
			   const struct event_field *field)
{
	if (alloc_grow(&class->values, &class->value_capacity, class->value_count, sizeof *class->values))
		return -ENOMEM;
	class->values[class->value_count++] = (struct babel_value){
		.scope = scope,
		.index = index,
		.value = field->value,
		.offset = field->offset,
		.bytes = field->bytes,
	};
	return 0;
}

/* A member of scope called name fills the header field. Returns 1; 0: there is none; -ENOMEM. */
static int take_member(struct babel_class *class, const struct scopes *scopes, enum babel_scope scope, const char *name,
		       const struct event_field *field)
{
	uint64_t index;

	if (!find_scope_member(scopes, scope, name, &index))
		return 0;
	return add_scope_value(class, scope, index, field) ? -ENOMEM : 1;
}

static int from_contexts(struct babel_class *class, const struct scopes *scopes, const struct lttng_map *map,
			 const struct event_field *field)
{
	static const enum babel_scope contexts[] = { BABEL_SPECIFIC, BABEL_COMMON, BABEL_PACKET };
	const char *name;
	int found = 0;

	for (size_t i = 0; !found && (name = lttng_map_context(map, field->name, i)); i++) {
		for (size_t j = 0; j < sizeof contexts / sizeof *contexts && !found; j++)
			found = take_member(class, scopes, contexts[j], name, field);
	}
	return found;
}

static int from_payload(struct babel_class *class, const struct scopes *scopes, const struct lttng_map *map,
			const struct event_field *field)
{
	const char *name;
	int found = 0;

	for (size_t i = 0; !found && (name = lttng_map_payload(map, field->name, i)); i++)
		found = take_member(class, scopes, BABEL_PAYLOAD, name, field);
	return found;
}

/* Header fields: from the contexts, in the map's order; then what the map takes from the event itself, or from any. */
static int plan_header(struct babel_class *class, const struct scopes *scopes, const struct lttng_map *map,
		       const struct lttng_event *event)
{
	for (size_t i = 1; i < EVENT_HEADER_FIELDS; i++) {
		const struct event_field *field = &event_header_fields[i];
		int found = from_contexts(class, scopes, map, field);

		for (size_t j = 0; !found && event && j < event->field_count; j++) {
			const char *name = event->fields[j].field;

			if (name && strcmp(name, field->name) == 0)
				found = take_member(class, scopes, BABEL_PAYLOAD, event->fields[j].name, field);
		}
		if (!found)
			found = from_payload(class, scopes, map, field);
		if (found < 0)
			return found;
	}
	return 0;
}

/* What LTTng calls the field. */
static const char *foreign_name(const struct lttng_event *event, const struct event_field *field)
{
	for (size_t i = 0; event && i < event->field_count; i++) {
		if (event->fields[i].field && strcmp(event->fields[i].field, field->name) == 0)
			return event->fields[i].name;
	}
	return strncmp(field->name, "own_", 4) == 0 ? field->name + 4 : field->name;
}

/* Whether LTTng calls another field so. */
static bool means_other(const struct lttng_event *event, const struct event_field *field)
{
	for (size_t i = 0; event && i < event->field_count; i++) {
		const struct lttng_field *row = &event->fields[i];

		if (strcmp(row->name, field->name) == 0)
			return !row->field || strcmp(row->field, field->name) != 0;
	}
	return false;
}

static int plan_body(struct babel_class *class, const struct scopes *scopes, const struct lttng_event *event)
{
	static const enum babel_scope order[] = { BABEL_PAYLOAD, BABEL_SPECIFIC, BABEL_COMMON };

	for (uint32_t i = 0; i < class->type->field_count; i++) {
		const struct event_field *field = &class->type->fields[i];
		bool found = false;

		for (size_t j = 0; j < sizeof order / sizeof *order && !found; j++) {
			uint64_t index;

			found = find_scope_member(scopes, order[j], foreign_name(event, field), &index) ||
				(!means_other(event, field) &&
				 find_scope_member(scopes, order[j], field->name, &index));
			found = found && suits(scopes->classes[order[j]], index, field);
			if (found && add_scope_value(class, order[j], index, field))
				return -ENOMEM;
		}
	}
	return 0;
}

bool babel_class_has(const struct babel_class *class, size_t offset)
{
	for (size_t i = 0; i < class->value_count; i++) {
		if (class->values[i].offset == offset)
			return true;
	}
	return false;
}

/* After the header was planned. */
static void plan_who(struct babel_class *class, const struct scopes *scopes, const char *name)
{
	static const struct {
		const char *name;
		enum babel_who_kind kind;
		const char *tid, *other;
	} rows[] = {
		{ "sched_switch", BABEL_WHO_SWITCH, "next_tid", "next_comm" },
		{ "sched_process_fork", BABEL_WHO_THREAD, "child_tid", "child_pid" },
		{ "lttng_statedump_process_state", BABEL_WHO_THREAD, "tid", "pid" },
	};
	struct babel_who_plan *who = &class->who;

	who->has_cpu = find_scope_member(scopes, BABEL_PACKET, "cpu_id", &who->cpu);
	who->lacks_pid = !babel_class_has(class, offsetof(struct event_header, pid));
	who->lacks_tid = !babel_class_has(class, offsetof(struct event_header, tid));
	who->lacks_comm = !babel_class_has(class, offsetof(struct event_header, comm));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, name) == 0 &&
		    find_scope_member(scopes, BABEL_PAYLOAD, rows[i].tid, &who->tid) &&
		    find_scope_member(scopes, BABEL_PAYLOAD, rows[i].other, &who->other))
			who->kind = rows[i].kind;
	}
}

int babel_class_init(struct babel_class *class, const struct lttng_map *map, struct event_catalog *catalog)
{
	const char *name = bt_event_class_get_name(class->class);
	struct scopes scopes = scopes_of(class->class);
	char own[NAME_BYTES], mapped[NAME_BYTES];
	const struct lttng_event *event;
	int result = 0;

	make_identifier(name && *name ? name : "unnamed", own, sizeof own);
	class->type = event_catalog_find(catalog, own);
	event = class->type && class->type->origin == EVENT_DECLARED
			? NULL
			: lttng_map_find(map, name ? name : "", mapped, sizeof mapped);
	if (event && *mapped)
		class->type = event_catalog_find(catalog, mapped);
	if (!class->type)
		result = add_class_type(class, event && *mapped ? mapped : own, scopes.classes[BABEL_PAYLOAD], catalog);
	if (!result)
		result = plan_header(class, &scopes, map, event);
	plan_who(class, &scopes, name ? name : "");
	return result ? result : plan_body(class, &scopes, event);
}

/*
 * The number of the system call that type is about: the catalog raises it where `id == NUMBER`, or for a call's end
 * where `regs->orig_ax == NUMBER`. Returns whether there is one.
 */
static bool find_call_number(const struct event_type *type, uint64_t *number)
{
	const char *when = type->hook_count ? type->hooks[0].when : NULL;
	const char *equals = when ? strstr(when, " == ") : NULL;

	if (!equals || (strncmp(when, "id ", 3) != 0 && strncmp(when, "regs->orig_ax ", 14) != 0))
		return false;
	*number = strtoull(equals + 4, NULL, 10);
	return true;
}

static int plan_any(struct babel_class *any, const struct babel_class *class, const struct scopes *scopes,
		    const struct lttng_event *event, uint64_t number)
{
	int result = 0;

	for (size_t i = 0; i < event->field_count && !result; i++) {
		const char *name = event->fields[i].name;
		const struct event_field *field = event_field_find(any->type, event->fields[i].field);
		uint64_t index;

		if (isdigit((unsigned char)*name)) {
			unsigned long place = strtoul(name, NULL, 10);

			name = place < class->type->field_count ? class->type->fields[place].name : "";
		}
		if (field && strcmp(name, "*") == 0)
			result = add_scope_value(any, BABEL_CONSTANT, number, field);
		else if (field && *name && find_scope_member(scopes, BABEL_PAYLOAD, name, &index))
			result = add_scope_value(any, BABEL_PAYLOAD, index, field);
	}
	return result;
}

int babel_class_init_any(struct babel_class *class, const struct lttng_map *map, struct event_catalog *catalog)
{
	const char *name = bt_event_class_get_name(class->class);
	const struct lttng_event *event = name ? lttng_map_find_any(map, name) : NULL;
	const struct event_type *type = event ? event_catalog_find(catalog, event->type) : NULL;
	struct scopes scopes = scopes_of(class->class);
	uint64_t number;
	int result;

	if (!type || !find_call_number(class->type, &number))
		return 0;
	class->any = alloc_zero(1, sizeof *class->any);
	if (!class->any)
		return -ENOMEM;
	class->any->class = class->class;
	class->any->type = type;
	class->any->who = class->who;
	result = plan_header(class->any, &scopes, map, NULL);
	return result ? result : plan_any(class->any, class, &scopes, event, number);
}

void babel_class_fini(struct babel_class *class)
{
	if (class->any)
		alloc_free(class->any->values);
	alloc_free(class->any);
	alloc_free(class->values);
}

/* The number in a field of any class that has one. */
static uint64_t integer_of(const bt_field *field, bt_field_class_type kind)
{
	if (bt_field_class_type_is(kind, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return bt_field_integer_unsigned_get_value(field);
	if (bt_field_class_type_is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return (uint64_t)bt_field_integer_signed_get_value(field);
	if (kind == BT_FIELD_CLASS_TYPE_BOOL)
		return bt_field_bool_get_value(field) ? 1 : 0;
	return kind == BT_FIELD_CLASS_TYPE_BIT_ARRAY ? bt_field_bit_array_get_value_as_integer(field) : 0;
}

static double real_of(const bt_field *field, bt_field_class_type kind)
{
	if (kind == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		return (double)bt_field_real_single_precision_get_value(field);
	if (kind == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		return bt_field_real_double_precision_get_value(field);
	if (bt_field_class_type_is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return (double)bt_field_integer_signed_get_value(field);
	return (double)integer_of(field, kind);
}

/* Towards zero; what no integer can hold is 0. */
static uint64_t truncate_real(double real)
{
	return real > -9e18 && real < 9e18 ? (uint64_t)(int64_t)real : 0;
}

static void decode(const struct babel_value *value, const bt_field *field, char *record)
{
	bt_field_class_type kind = bt_field_get_class_type(field);
	char *to = record + value->offset;
	uint64_t word;
	double real;

	if (value->value == EVENT_STRING) {
		if (kind == BT_FIELD_CLASS_TYPE_STRING) {
			uint64_t length = bt_field_string_get_length(field);

			memcpy(to, bt_field_string_get_value(field), length < value->bytes ? length : value->bytes - 1);
		}
		return;
	}
	if (kind == BT_FIELD_CLASS_TYPE_STRING)
		return;
	if (value->value == EVENT_F64) {
		real = real_of(field, kind);
		memcpy(to, &real, sizeof real);
		return;
	}
	word = bt_field_class_type_is(kind, BT_FIELD_CLASS_TYPE_REAL) ? truncate_real(real_of(field, kind))
								      : integer_of(field, kind);
	word = event_value_narrow(value->value, word);
	/* Little-endian: the first bytes are the low ones. */
	memcpy(to, &word, value->bytes);
}

static const bt_field *scope_of(const bt_event *event, enum babel_scope scope)
{
	const bt_packet *packet;

	switch (scope) {
	case BABEL_PAYLOAD:
		return bt_event_borrow_payload_field_const(event);
	case BABEL_SPECIFIC:
		return bt_event_borrow_specific_context_field_const(event);
	case BABEL_COMMON:
		return bt_event_borrow_common_context_field_const(event);
	case BABEL_PACKET:
		if (!bt_stream_class_supports_packets(
			    bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event))))
			return NULL;
		packet = bt_event_borrow_packet_const(event);
		return packet ? bt_packet_borrow_context_field_const(packet) : NULL;
	default:
		return NULL;
	}
}

static const bt_field *member_of(const bt_event *event, enum babel_scope scope, uint64_t index)
{
	const bt_field *structure = scope_of(event, scope);

	return structure ? bt_field_structure_borrow_member_field_by_index_const(structure, index) : NULL;
}

bool babel_class_integer(const bt_event *event, enum babel_scope scope, uint64_t index, uint64_t *value)
{
	const bt_field *field = member_of(event, scope, index);

	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_INTEGER))
		return false;
	*value = integer_of(field, bt_field_get_class_type(field));
	return true;
}

bool babel_class_text(const bt_event *event, enum babel_scope scope, uint64_t index, char *text, size_t size)
{
	const bt_field *field = member_of(event, scope, index);

	if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
		return false;
	strncpy(text, bt_field_string_get_value(field), size - 1);
	text[size - 1] = 0;
	return true;
}

void babel_class_decode(const struct babel_class *class, const bt_event *event, char *record)
{
	const bt_field *scopes[BABEL_SCOPE_COUNT];

	for (int i = 0; i < BABEL_SCOPE_COUNT; i++)
		scopes[i] = scope_of(event, (enum babel_scope)i);
	for (size_t i = 0; i < class->value_count; i++) {
		const struct babel_value *value = &class->values[i];
		const bt_field *scope = value->scope == BABEL_CONSTANT ? NULL : scopes[value->scope];

		if (value->scope == BABEL_CONSTANT)
			memcpy(record + value->offset, &value->index, value->bytes);
		else if (scope)
			decode(value, bt_field_structure_borrow_member_field_by_index_const(scope, value->index),
			       record);
	}
}
