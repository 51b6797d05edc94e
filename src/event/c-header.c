// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the structs of a C header that are events, what the events are called, and where the fields are in what an
 * application hands over. A struct is one if there is an id for it, a number called like the struct with _ID behind.
 */

#include "event/c-header.h"

#include "event/c-header-priv.h"
#include "event/catalog-priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TYPEDEFS_MAX = 1024 };

/* prctl(CUSTOM, handle, id, bytes, data) hands an event over. */
#define CALL "id == 157 AND syscall_arg(0) == 0x41535452"

/* The sign that closes what open opens, or the end. */
static const struct c_token *find_close(const struct c_token *open)
{
	unsigned depth = 0;

	for (; open->kind != C_END; open++) {
		depth += c_is(open, "{");
		if (c_is(open, "}") && --depth == 0)
			break;
	}
	return open;
}

/* Passes over a declaration or a function. */
static void skip(struct c_parser *parser)
{
	while (parser->at->kind != C_END && !c_is(parser->at, ";") && !c_is(parser->at, "{"))
		parser->at++;
	if (c_is(parser->at, "{")) {
		parser->at = find_close(parser->at);
		if (parser->at->kind != C_END && !c_is(&parser->at[1], ";") && parser->at[1].kind == C_NAME &&
		    (c_is(&parser->at[2], ";") || c_is(&parser->at[2], ",")))
			parser->at += 2;
	}
	if (parser->at->kind != C_END)
		parser->at++;
}

/* __attribute__((...)): what that makes of a struct is not known here. */
static void skip_attribute(struct c_parser *parser)
{
	unsigned depth = 0;

	if (!c_take(parser, "__attribute__"))
		return;
	parser->has_attribute = true;
	do {
		depth += c_is(parser->at, "(");
		depth -= depth && c_is(parser->at, ")");
		parser->at += parser->at->kind != C_END;
	} while (depth && parser->at->kind != C_END);
}

/* The fields of the header that all events have must be what every event has. */
static int judge_header(struct c_parser *parser, struct event_span name)
{
	static const struct event_type no_body = { .field_count = 0 };

	for (uint32_t i = 0; i < parser->field_count; i++) {
		const char *field = parser->fields[i].name;

		if (strncmp(field, "own_", 4) == 0 || event_field_find(&no_body, field))
			continue;
		if (strcmp(field, "Type") == 0)
			parser->has_type = true;
		else if (strcmp(field, "BodySize") == 0)
			parser->has_size = true;
		else
			return event_scan_error(&parser->scan, name,
						"TimeStamp, CpuId, ProcessId, ThreadId, Type, BodySize",
						"events have no '%s' in their header", field);
	}
	return 0;
}

/* In the reference's form, WMK_E_WAIT_EVENT, what stands behind _E_ without underscores; else the name; lower-case. */
static const char *name_type(struct c_parser *parser, struct event_span span)
{
	const char *mark = memmem(span.start, span.length, "_E_", 3);
	size_t skipped = mark ? (size_t)(mark - span.start) + 3 : 0, length = 0;
	char *name = arena_text(parser->scan.arena, span.start + skipped, span.length - skipped);

	for (size_t i = 0; name && name[i]; i++)
		if (!mark || name[i] != '_')
			name[length++] = (char)tolower((unsigned char)name[i]);
	if (name)
		name[length] = '\0';
	return name;
}

/* The definition of an id of a struct of this name, as it is written or in capitals. */
static const struct c_define *find_id(const struct c_parser *parser, struct event_span name)
{
	char text[C_NAME_BYTES_MAX + sizeof "_ID"];
	const struct c_define *define;

	if (!name.length || name.length > C_NAME_BYTES_MAX)
		return NULL;
	int length = snprintf(text, sizeof text, "%.*s_ID", (int)name.length, name.start);

	define = c_header_tokens_define(&parser->tokens, (struct event_span){ text, (size_t)length });
	for (int i = 0; !define && i < length; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	return define ? define : c_header_tokens_define(&parser->tokens, (struct event_span){ text, (size_t)length });
}

static bool header_has_field(const struct c_parser *parser, const char *name)
{
	for (uint32_t i = 0; i < parser->field_count; i++)
		if (strcmp(parser->fields[i].name, name) == 0)
			return true;
	return false;
}

/* What all events have beyond what every event has here, where theirs is no field of its own. */
static int add_header_fields(struct c_parser *parser, struct event_span name, uint64_t id)
{
	struct event_field_spec field = { .name = "Type", .value = EVENT_U16 };
	int result = 0;

	if (parser->has_type && !header_has_field(parser, "Type"))
		result =
			c_header_fields_add(parser, name, &field, arena_format(parser->scan.arena, "%u", (unsigned)id));
	field.name = "BodySize";
	if (!result && parser->has_size && !header_has_field(parser, "BodySize"))
		result = c_header_fields_add(parser, name, &field, "syscall_arg(3) & 0xffff");
	return result;
}

static int check_id(struct c_parser *parser, const struct c_define *id)
{
	if (!id->is_number || id->number > C_ID_MAX)
		return event_scan_error(&parser->scan, id->value.length ? id->value : id->name, NULL,
					"an id is a number up to %d", C_ID_MAX);
	if (parser->ids[id->number / 64] & UINT64_C(1) << id->number % 64)
		return event_scan_error(&parser->scan, id->value, NULL, "another event has the id %u",
					(unsigned)id->number);
	parser->ids[id->number / 64] |= UINT64_C(1) << id->number % 64;
	return 0;
}

static int make_hook(struct c_parser *parser, uint64_t id, struct event_hook *hook)
{
	struct arena *arena = parser->scan.arena;
	const char **paths = arena_zero(arena, parser->field_count, sizeof *paths);
	const char *handle = parser->handle ? arena_format(arena, " AND (syscall_arg(1) & 0xffffffff) == %u",
							   (unsigned)parser->handle->number)
					    : "";

	hook->tracepoint = "raw_syscalls:sys_enter";
	hook->when =
		handle ? arena_format(arena,
				      CALL " AND (syscall_arg(2) & 0xffff) == %u%s AND (syscall_arg(3) & 0xffff) >= %u"
					   " AND (current->thread_info.status & 2) == 0",
				      (unsigned)id, handle, (unsigned)parser->bytes)
		       : NULL;
	hook->paths = paths;
	if (!paths || !hook->when)
		return c_no_memory(parser);
	if (parser->field_count)
		memcpy(paths, parser->paths, parser->field_count * sizeof *paths);
	return 0;
}

static int add_header_event(struct c_parser *parser, struct event_span name, const struct c_define *id)
{
	struct event_hook *hook = arena_zero(parser->scan.arena, 1, sizeof *hook);
	struct event_type_spec spec = {
		.fields = parser->fields, .origin = EVENT_CATALOG, .hooks = hook, .hook_count = 1
	};
	const struct event_type *added;
	int result = hook ? check_id(parser, id) : c_no_memory(parser);

	if (!result)
		result = add_header_fields(parser, name, id->number);
	if (!result)
		result = make_hook(parser, id->number, hook);
	if (result)
		return result;
	spec.name = name_type(parser, name);
	spec.doc = arena_format(parser->scan.arena, "an application's event number %u", (unsigned)id->number);
	spec.field_count = parser->field_count;
	if (!spec.name || !spec.doc)
		return c_no_memory(parser);
	if (!*spec.name)
		return event_scan_error(&parser->scan, name, NULL, "this event has no name");
	result = event_catalog_insert(parser->catalog, &spec, &added);
	parser->events++;
	if (result == -EEXIST)
		return event_scan_error(&parser->scan, name, NULL, "event '%s' is already declared, with other fields",
					spec.name);
	if (result == -E2BIG)
		return event_scan_error(&parser->scan, name, NULL, "a record of '%s' would exceed %d bytes", spec.name,
					EVENT_RECORD_BYTES_MAX);
	return result ? c_no_memory(parser) : 0;
}

static bool is_common_field(struct event_span name)
{
	static const char end[] = "EVENT_HEADER";
	size_t length = sizeof end - 1;

	return name.length >= length && strncasecmp(name.start + name.length - length, end, length) == 0;
}

/* `struct name { ... } alias;`, from the brace on. A struct that is neither event nor header is not looked at. */
static int take_struct(struct c_parser *parser, struct event_span tag)
{
	const struct c_token *close = find_close(parser->at), *open = parser->at;
	const struct c_define *id;

	while (tag.length && *tag.start == '_')
		tag = (struct event_span){ tag.start + 1, tag.length - 1 };
	if (close->kind == C_END)
		return event_scan_error(&parser->scan, open->span, NULL, "this brace is not closed");
	struct event_span alias = tag, name;

	for (const struct c_token *at = &close[1]; at->kind != C_END && !c_is(at, ";"); at++)
		alias = at->kind == C_NAME ? at->span : alias;
	name = alias;
	id = find_id(parser, alias);
	if (!id && (id = find_id(parser, tag)))
		name = tag;
	bool is_event = id && parser->reads_events;
	bool is_head = !id && !parser->reads_events && (is_common_field(alias) || is_common_field(tag));

	parser->at = open + 1;
	int result = is_event || is_head ? c_header_fields_take(parser) : 0;

	if (is_event || is_head)
		skip_attribute(parser);
	if (!result && (is_event || is_head) && parser->has_attribute)
		result = event_scan_error(&parser->scan, name, NULL, "structs with attributes are not supported");
	if (!result && is_head)
		result = judge_header(parser, name);
	if (!result && is_event)
		result = add_header_event(parser, name, id);
	parser->at = open;
	skip(parser);
	return result;
}

/* `typedef type name;`, where both are what fields can have. */
static int take_typedef(struct c_parser *parser)
{
	const struct c_token *start = parser->at;
	struct c_types *types = &parser->types;
	struct c_typedef made = { .name = { NULL, 0 } };
	int result = 0;

	if (c_take(parser, "enum")) {
		if (parser->at->kind == C_NAME)
			parser->at++;
		if (c_is(parser->at, "{"))
			parser->at = find_close(parser->at);
		if (parser->at->kind != C_END && !c_is(parser->at, ";"))
			parser->at++;
		made.type = (struct c_type){ EVENT_I32, 4, false, false };
	} else if (c_header_types_take(types, &parser->at, &made.type) <= 0) {
		made.type.value = 0;
	}
	while (c_take(parser, "*"))
		made.type = (struct c_type){ EVENT_ADDR, 8, false, false };
	made.name = parser->at->span;
	bool is_kept =
		!parser->reads_events && made.type.value && parser->at->kind == C_NAME && c_is(&parser->at[1], ";");

	if (is_kept && types->count == TYPEDEFS_MAX)
		result = event_scan_error(&parser->scan, made.name, NULL, "a header has at most %d typedefs",
					  TYPEDEFS_MAX);
	else if (is_kept && alloc_grow(&types->items, &types->capacity, types->count, sizeof *types->items))
		result = c_no_memory(parser);
	else if (is_kept)
		types->items[types->count++] = made;
	parser->at = start;
	skip(parser);
	return result;
}

static int take_declaration(struct c_parser *parser)
{
	bool is_typedef = c_take(parser, "typedef");
	const struct c_token *start = parser->at;
	struct event_span tag = { start->span.start, 0 };

	parser->has_attribute = false;
	if (c_take(parser, "struct")) {
		skip_attribute(parser);
		if (parser->at->kind == C_NAME) {
			tag = parser->at->span;
			parser->at++;
		}
		if (c_is(parser->at, "{"))
			return take_struct(parser, tag);
		parser->at = start;
	}
	if (is_typedef)
		return take_typedef(parser);
	if (c_is(start, "extern") && start[1].kind == C_OTHER && c_is(&start[2], "{"))
		parser->at += 3;
	else if (c_is(start, "}"))
		parser->at++;
	else
		skip(parser);
	return 0;
}

/* Twice, since what all events have may stand behind them. Several structs may be wrong, so the reading goes on. */
static int take_all(struct c_parser *parser)
{
	int failed = 0;

	for (int round = 0; round < 2 && !failed; round++) {
		parser->reads_events = round == 1;
		for (parser->at = parser->tokens.items; parser->at->kind != C_END;) {
			int result = take_declaration(parser);

			if (result == -ENOMEM)
				return result;
			failed = result ? result : failed;
		}
	}
	if (!failed && !parser->events)
		return event_scan_error(&parser->scan, (struct event_span){ parser->scan.source->text, 0 },
					"an event is a struct NAME with a #define NAME_ID and a number",
					"this header declares no events");
	return failed;
}

/* A provider's number is what is called ..._HANDLE; one at most. */
static int find_handle(struct c_parser *parser)
{
	static const char end[] = "_HANDLE";
	size_t length = sizeof end - 1;

	for (size_t i = 0; i < parser->tokens.define_count; i++) {
		const struct c_define *define = &parser->tokens.defines[i];

		if (!define->is_number || define->name.length <= length ||
		    memcmp(define->name.start + define->name.length - length, end, length) != 0)
			continue;
		if (parser->handle || define->number > UINT32_MAX)
			return event_scan_error(&parser->scan, define->name, NULL,
						"a header has one handle, a 32-bit number");
		parser->handle = define;
	}
	return 0;
}

bool c_header_is(const struct diag_source *source)
{
	static const char *const words[] = { "EVENT", "EVENTS", "SYSCALL" };
	size_t length = source->file ? strlen(source->file) : 0;
	struct event_scan scan;

	if (length < 2 || strcmp(source->file + length - 2, ".h") != 0)
		return false;
	event_scan_init(&scan, source, NULL, NULL);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (event_scan_keyword(&scan, words[i]))
			return false;
	return true;
}

int c_header_parse(struct event_catalog *catalog, const struct diag_source *source, struct asterism_diag *diag)
{
	struct c_parser *parser = alloc_zero(1, sizeof *parser);
	int result;

	if (!parser)
		return diag_no_memory(diag);
	parser->catalog = catalog;
	event_scan_init(&parser->scan, source, diag, catalog->arena);
	result = c_header_tokens_read(&parser->scan, &parser->tokens);
	if (!result)
		result = find_handle(parser);
	if (!result)
		result = take_all(parser);
	c_header_tokens_fini(&parser->tokens);
	alloc_free(parser->types.items);
	alloc_free(parser);
	return result;
}
