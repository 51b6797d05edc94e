// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses a catalog. One paragraph is read completely into the parser before it becomes a type, so a broken one leaves
 * nothing behind. After an error the next paragraph is read, so that one run tells of many.
 */

#include "event/c-header.h"
#include "event/catalog-priv.h"
#include "event/path-priv.h"
#include "meaning/meaning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ERRORS_MAX = 20, INCLUDES_MAX = 16, CALL_ARGUMENTS_MAX = 6 };

struct parser {
	struct event_scan scan;
	struct event_catalog *catalog;
	const char *folder; /* of the file, NULL: none */
	struct event_type_spec type;
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	struct event_hook *hooks;
	size_t hook_count, hook_capacity;
	struct event_absent absents[EVENT_FIELDS_MAX];
};

static int parser_no_memory(struct parser *parser)
{
	return diag_no_memory(parser->scan.diag);
}

/* An empty one is none. */
static int scan_documentation(struct parser *parser, const char **text)
{
	int result = event_scan_text(&parser->scan, text);

	if (result > 0 && !**text)
		*text = NULL;
	return result == -ENOMEM ? parser_no_memory(parser) : result < 0 ? result : 0;
}

static const char *copy_span(struct parser *parser, struct event_span span)
{
	const char *copy = event_scan_copy(&parser->scan, span);

	if (!copy)
		parser_no_memory(parser);
	return copy;
}

static int scan_capacity(struct parser *parser, struct event_field_spec *field)
{
	struct event_span span;
	uint64_t bytes = 0;
	int result;

	event_scan_blank(&parser->scan);
	span = (struct event_span){ parser->scan.at, 1 };
	if (!event_scan_char(&parser->scan, '['))
		return 0;
	if (field->value != EVENT_STRING)
		return event_scan_error(&parser->scan, span, NULL, "only strings have a capacity");
	result = event_scan_integer(&parser->scan, &bytes);
	if (result < 0)
		return result;
	if (!result)
		return event_scan_expected(&parser->scan, "a number of bytes");
	if (bytes < 2 || bytes > EVENT_RECORD_BYTES_MAX / 2)
		return event_scan_error(&parser->scan, span, NULL, "a string holds 2 to %d bytes",
					EVENT_RECORD_BYTES_MAX / 2);
	field->bytes = (uint32_t)bytes;
	return event_scan_char(&parser->scan, ']') ? 0 : event_scan_expected(&parser->scan, "']'");
}

/* A field's name must be new, and must not hide a header field. */
static int check_field_name(struct parser *parser, struct event_span span)
{
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++) {
		if (event_span_is(span, event_header_fields[i].name))
			return event_scan_error(&parser->scan, span, "choose a more specific name, such as target_pid",
						"every event already has the header field '%s'",
						event_header_fields[i].name);
	}
	for (uint32_t i = 0; i < parser->type.field_count; i++) {
		if (event_span_is(span, parser->fields[i].name))
			return event_scan_error(&parser->scan, span, NULL, "field '%s' is declared twice",
						parser->fields[i].name);
	}
	for (uint32_t i = 0; i < parser->type.absent_count; i++) {
		if (event_span_is(span, parser->absents[i].name))
			return event_scan_error(&parser->scan, span, NULL, "field '%s' is declared twice",
						parser->absents[i].name);
	}
	if (parser->type.field_count + parser->type.absent_count == EVENT_FIELDS_MAX)
		return event_scan_error(&parser->scan, span, NULL, "an event has at most %d fields", EVENT_FIELDS_MAX);
	return 0;
}

/* UNIT "text", as compilers put it together: nothing, a meaning, or the unit of amounts. */
static void take_unit(struct event_field_spec *field, const char *text)
{
	field->meaning = meaning_find(text);
	if (field->meaning && event_value_lacks(field->value, field->meaning))
		field->meaning = NULL;
	field->unit = field->meaning || !*text ? NULL : text;
}

/* What the field's numbers stand for, or the unit of those that only have one: the words up to its documentation. */
static int scan_meaning(struct parser *parser, struct event_field_spec *field)
{
	struct event_scan *scan = &parser->scan;
	bool is_unit = event_scan_keyword(scan, "UNIT");
	const char *quoted = NULL;
	int result = is_unit ? event_scan_text(scan, &quoted) : 0;

	if (result > 0)
		take_unit(field, quoted);
	if (result)
		return result == -ENOMEM ? parser_no_memory(parser) : result < 0 ? result : 0;
	const char *start = scan->at;
	struct event_span first = event_scan_name(scan), second = { 0 };
	char text[MEANING_NAME_BYTES] = "";

	if (is_unit && !first.length)
		return event_scan_expected(scan, "a unit");
	if (is_unit)
		return (field->unit = copy_span(parser, first)) ? 0 : -ENOMEM;
	if (!first.length || event_scan_char(scan, ':')) { /* the next field, with no comma before it */
		scan->at = start;
		return 0;
	}
	snprintf(text, sizeof text, "%.*s", (int)first.length, first.start);
	if (meaning_has_second(text))
		second = event_scan_name(scan);
	if (second.length)
		snprintf(text, sizeof text, "%.*s %.*s", (int)first.length, first.start, (int)second.length,
			 second.start);
	field->meaning = meaning_find(text);
	if (!field->meaning)
		return event_scan_error(scan, first, meaning_nearest(text), "unknown meaning '%s'", text);
	const char *lack = event_value_lacks(field->value, field->meaning);

	return lack ? event_scan_error(scan, first, NULL, "%s", lack) : 0;
}

/* Behind ABSENT: why there is no field of this name, and what to use instead. */
static int scan_absent(struct parser *parser, const char *name)
{
	struct event_absent *absent = &parser->absents[parser->type.absent_count];
	int result;

	*absent = (struct event_absent){ .name = name };
	result = scan_documentation(parser, &absent->instead);
	if (!result && !absent->instead)
		return event_scan_expected(&parser->scan, "a string that says what to use instead");
	parser->type.absent_count++;
	return result;
}

static int scan_field(struct parser *parser)
{
	struct event_scan *scan = &parser->scan;
	struct event_span name = event_scan_name(scan);
	struct event_field_spec *field;
	int result;

	if (!name.length)
		return event_scan_expected(scan, "a field's name");
	result = check_field_name(parser, name);
	if (result)
		return result;
	if (!event_scan_char(scan, ':'))
		return event_scan_expected(scan, "':' and a type");
	field = &parser->fields[parser->type.field_count];
	*field = (struct event_field_spec){ .name = copy_span(parser, name) };
	if (!field->name)
		return -ENOMEM;
	if (event_scan_keyword(scan, "ABSENT"))
		return scan_absent(parser, field->name);
	if ((result = event_scan_value(&parser->scan, &field->value)) || (result = scan_capacity(parser, field)))
		return result;
	if ((result = scan_meaning(parser, field)))
		return result;
	parser->type.field_count++;
	return scan_documentation(parser, &field->doc);
}

static int scan_fields(struct parser *parser)
{
	struct event_scan *scan = &parser->scan;

	if (!event_scan_char(scan, '{'))
		return event_scan_expected(scan, "'{'");
	while (!event_scan_char(scan, '}')) {
		int result = scan_field(parser);

		if (result)
			return result;
		if (!event_scan_char(scan, ',')) {
			if (!event_scan_char(scan, '}'))
				return event_scan_expected(scan, "',' or '}'");
			break;
		}
	}
	return 0;
}

/* The index of the field that span names; most paragraphs give the fields in order, so next is tried first. */
static int field_index(struct parser *parser, struct event_span span, uint32_t next)
{
	const char *names[EVENT_FIELDS_MAX];
	const char *hint;
	char name[64] = "";

	if (next < parser->type.field_count && event_span_is(span, parser->fields[next].name))
		return (int)next;
	for (uint32_t i = 0; i < parser->type.field_count; i++) {
		if (event_span_is(span, parser->fields[i].name))
			return (int)i;
		names[i] = parser->fields[i].name;
	}
	memcpy(name, span.start, span.length < sizeof name ? span.length : sizeof name - 1);
	hint = diag_nearest(name, names, parser->type.field_count);
	return event_scan_error(&parser->scan, span, hint, "event '%s' has no field '%s'", parser->type.name, name);
}

static int scan_assignment(struct parser *parser, const char **paths, uint32_t next)
{
	struct event_scan *scan = &parser->scan;
	struct event_span name = event_scan_name(scan), path;
	enum event_path_kind kind;
	int index, result;

	if (!name.length)
		return event_scan_expected(scan, "a field's name or '}'");
	index = field_index(parser, name, next);
	if (index < 0)
		return index;
	if (paths[index])
		return event_scan_error(scan, name, NULL, "field '%s' is given twice", parser->fields[index].name);
	if (!event_scan_char(scan, '='))
		return event_scan_expected(scan, "'='");
	result = event_path_scan(scan, &path, &kind);
	if (result)
		return result;
	if (kind != EVENT_PATH_ANY && (kind == EVENT_PATH_STRING) != (parser->fields[index].value == EVENT_STRING))
		return event_scan_error(scan, path, NULL, "field '%s' has the type %s, but this path gives a %s",
					parser->fields[index].name, event_value_name(parser->fields[index].value),
					kind == EVENT_PATH_STRING ? "string" : "number");
	paths[index] = copy_span(parser, path);
	return paths[index] ? 0 : -ENOMEM;
}

static int scan_assignments(struct parser *parser, struct event_hook *hook, struct event_span tracepoint)
{
	struct event_scan *scan = &parser->scan;
	const char **paths = arena_zero(scan->arena, parser->type.field_count, sizeof *paths);
	uint32_t next = 0;

	if (!paths)
		return parser_no_memory(parser);
	hook->paths = paths;
	if (!event_scan_char(scan, '{'))
		return event_scan_expected(scan, "'{'");
	while (!event_scan_char(scan, '}')) {
		int result = scan_assignment(parser, paths, next++);

		if (result)
			return result;
		if (!event_scan_char(scan, ',')) {
			if (!event_scan_char(scan, '}'))
				return event_scan_expected(scan, "',' or '}'");
			break;
		}
	}
	for (uint32_t i = 0; i < parser->type.field_count; i++) {
		if (!paths[i])
			return event_scan_error(scan, tracepoint, NULL, "field '%s' of event '%s' is not given here",
						parser->fields[i].name, parser->type.name);
	}
	return 0;
}

static int scan_hook(struct parser *parser)
{
	struct event_span tracepoint, extra;
	struct event_hook *hook;
	const char *probe = NULL;
	int result = event_scan_source(&parser->scan, &tracepoint, &probe);

	if (result < 0)
		return result == -ENOMEM ? parser_no_memory(parser) : result;
	if (alloc_grow(&parser->hooks, &parser->hook_capacity, parser->hook_count, sizeof *hook))
		return parser_no_memory(parser);
	hook = &parser->hooks[parser->hook_count++];
	*hook = (struct event_hook){ .tracepoint = probe ? probe : copy_span(parser, tracepoint) };
	if (!hook->tracepoint)
		return -ENOMEM;
	parser->scan.in_probe = probe;
	parser->scan.in_usdt = probe && event_span_is(tracepoint, "usdt");
	if (probe) {
		const char *file = parser->scan.source->file;

		hook->file = arena_text(parser->scan.arena, file, strlen(file));
		hook->line = event_scan_line(&parser->scan, tracepoint);
		if (!hook->file)
			return parser_no_memory(parser);
	}
	if (event_scan_keyword(&parser->scan, "WHEN")) {
		result = event_path_scan_when(&parser->scan, &extra);
		if (result)
			return result;
		if (!(hook->when = copy_span(parser, extra)))
			return -ENOMEM;
	}
	if (event_scan_keyword(&parser->scan, "SCOPE")) {
		result = event_path_scan_scope(&parser->scan, &extra);
		if (result)
			return result;
		if (!(hook->scope = copy_span(parser, extra)))
			return -ENOMEM;
	}
	return scan_assignments(parser, hook, tracepoint);
}

/* The type is a sensor, under a name that its reader may have given it. */
static int name_sensor(struct parser *parser)
{
	const char *prefix = parser->catalog->prefix, *program = parser->catalog->program, *name = parser->type.name;

	parser->type.sensor = program ? arena_format(parser->scan.arena, "%s:%s", program, name) : name;
	if (prefix)
		parser->type.name = arena_format(parser->scan.arena, "%s_%s", prefix, name);
	return parser->type.name && parser->type.sensor ? 0 : -ENOMEM;
}

/* The type is what the kernel raises when the sensor calls it. */
static int hook_sensor(struct parser *parser, struct event_span name)
{
	struct event_hook *hook;
	int result;

	if (alloc_grow(&parser->hooks, &parser->hook_capacity, 0, sizeof *hook))
		return parser_no_memory(parser);
	hook = &parser->hooks[parser->hook_count++];
	*hook = (struct event_hook){ 0 };
	result = parser->catalog->supplier->hook(parser->scan.arena, &parser->type, hook);
	if (result == -ENOMEM)
		return parser_no_memory(parser);
	return result ? event_scan_error(&parser->scan, name, NULL, "a sensor's event has 1 KiB at most") : 0;
}

static int become_sensor(struct parser *parser, struct event_span name)
{
	int result = parser->catalog->is_hooked ? hook_sensor(parser, name) : 0;

	if (result)
		return result;
	if (name_sensor(parser))
		return parser_no_memory(parser);
	if (parser->catalog->is_hooked) {
		parser->type.called = parser->type.sensor;
		parser->type.sensor = NULL;
	}
	return 0;
}

/* The vector of hooks is the parser's own and is used again; the type gets a copy. */
static int keep_type(struct parser *parser, struct event_span name)
{
	int result = parser->catalog->of_sensors && !parser->hook_count ? become_sensor(parser, name) : 0;
	const struct event_type *added;
	uint32_t absent_count = parser->type.absent_count;
	struct event_absent *absents;
	struct event_hook *hooks;

	if (result)
		return result;
	hooks = arena_zero(parser->scan.arena, parser->hook_count, sizeof *hooks);
	absents = arena_zero(parser->scan.arena, absent_count, sizeof *absents);
	if (!hooks || !absents)
		return parser_no_memory(parser);
	if (absent_count)
		memcpy(absents, parser->absents, absent_count * sizeof *absents);
	if (parser->hook_count)
		memcpy(hooks, parser->hooks, parser->hook_count * sizeof *hooks);
	parser->type.hooks = hooks;
	parser->type.hook_count = (uint32_t)parser->hook_count;
	parser->type.absents = absents;
	result = event_catalog_insert(parser->catalog, &parser->type, &added);
	if (result == -EEXIST && (parser->type.sensor || parser->type.called))
		return event_scan_error(&parser->scan, name,
					"EVENTS \"sensor:...\" AS prefix makes it another event, prefix_NAME",
					"the name '%s' is already taken", parser->type.name);
	if (result == -EEXIST)
		return event_scan_error(&parser->scan, name, NULL, "event '%s' is already declared, with other fields",
					parser->type.name);
	if (result == -E2BIG)
		return event_scan_error(&parser->scan, name, NULL, "a record of '%s' would exceed %d bytes",
					parser->type.name, EVENT_RECORD_BYTES_MAX);
	return result ? parser_no_memory(parser) : 0;
}

static void begin_type(struct parser *parser)
{
	parser->type = (struct event_type_spec){ .fields = parser->fields, .origin = EVENT_CATALOG };
	parser->hook_count = 0;
}

static int scan_event(struct parser *parser)
{
	struct event_span name = event_scan_name(&parser->scan);
	int result;

	begin_type(parser);
	if (!name.length)
		return event_scan_expected(&parser->scan, "the event's name");
	if (!(parser->type.name = copy_span(parser, name)))
		return -ENOMEM;
	if ((result = scan_documentation(parser, &parser->type.doc)) || (result = scan_fields(parser)))
		return result;
	while (event_scan_keyword(&parser->scan, "FROM")) {
		if ((result = scan_hook(parser)))
			return result;
	}
	return keep_type(parser, name);
}

/* The type that is begun gets its name, and its hook: raw_syscalls:BOUND where the number is this, of a native call.
 */
static int finish_call(struct parser *parser, struct event_span name, const char *bound, const char *number,
		       const char *const *paths)
{
	struct arena *arena = parser->scan.arena;
	struct event_hook hook = { .paths = paths };

	parser->type.name = arena_format(arena, "%s_%.*s", bound, (int)name.length, name.start);
	hook.tracepoint = arena_format(arena, "raw_syscalls:%s", bound);
	hook.when = arena_format(arena, "%s AND (current->thread_info.status & 2) == 0", number);
	if (!parser->type.name || !hook.tracepoint || !hook.when ||
	    alloc_grow(&parser->hooks, &parser->hook_capacity, parser->hook_count, sizeof hook))
		return parser_no_memory(parser);
	parser->hooks[parser->hook_count++] = hook;
	return keep_type(parser, name);
}

static int keep_enter(struct parser *parser, struct event_span name, uint64_t number)
{
	static const char *const values[] = { "syscall_arg(0)", "syscall_arg(1)", "syscall_arg(2)",
					      "syscall_arg(3)", "syscall_arg(4)", "syscall_arg(5)" };
	static const char *const texts[] = { "ustr(syscall_arg(0))", "ustr(syscall_arg(1))", "ustr(syscall_arg(2))",
					     "ustr(syscall_arg(3))", "ustr(syscall_arg(4))", "ustr(syscall_arg(5))" };
	const char *when = arena_format(parser->scan.arena, "id == %" PRIu64, number);
	const char **paths = arena_zero(parser->scan.arena, parser->type.field_count, sizeof *paths);

	if (!paths || !when)
		return parser_no_memory(parser);
	for (uint32_t i = 0; i < parser->type.field_count; i++)
		paths[i] = parser->fields[i].value == EVENT_STRING ? texts[i] : values[i];
	return finish_call(parser, name, "sys_enter", when, paths);
}

static int keep_exit(struct parser *parser, struct event_span name, uint64_t number)
{
	static const char *const ret[] = { "ret" };
	const char *when = arena_format(parser->scan.arena, "regs->orig_ax == %" PRIu64, number);

	if (!when)
		return parser_no_memory(parser);
	begin_type(parser);
	parser->fields[0] =
		(struct event_field_spec){ .name = ret[0], .value = EVENT_I64, .meaning = meaning_find("result") };
	parser->type.field_count = 1;
	return finish_call(parser, name, "sys_exit", when, ret);
}

/* Where a system call begins, with its arguments in their order, and where it ends. */
static int scan_call(struct parser *parser)
{
	struct event_scan *scan = &parser->scan;
	uint64_t number = 0;
	int result = event_scan_integer(scan, &number);

	if (result <= 0)
		return result ? result : event_scan_expected(scan, "the call's number");
	struct event_span name = event_scan_name(scan);

	if (!name.length)
		return event_scan_expected(scan, "the call's name");
	begin_type(parser);
	result = scan_fields(parser);
	if (!result && parser->type.field_count > CALL_ARGUMENTS_MAX)
		return event_scan_error(scan, name, NULL, "a system call has at most %d arguments", CALL_ARGUMENTS_MAX);
	if (!result)
		result = keep_enter(parser, name, number);
	return result ? result : keep_exit(parser, name, number);
}

static int scan_include(struct parser *parser)
{
	struct event_scan *scan = &parser->scan;
	struct event_span span;
	const char *name;
	int result;

	event_scan_blank(scan);
	span = (struct event_span){ scan->at, 1 };
	result = event_scan_text(scan, &name);
	if (result <= 0)
		return result == -ENOMEM ? parser_no_memory(parser)
		       : result          ? result
					 : event_scan_expected(scan, "the name of a catalog in quotes");
	if (parser->catalog->reading == INCLUDES_MAX)
		return event_scan_error(scan, span, NULL, "catalogs include each other more than %d levels deep",
					INCLUDES_MAX);
	parser->catalog->reading++;
	result = event_catalog_read(parser->catalog, parser->folder, name, scan->diag);
	parser->catalog->reading--;
	if (result == -ENOENT)
		return event_scan_error(scan, span, NULL, "catalog not found: '%s'", name);
	return result;
}

static int scan_paragraph(struct parser *parser)
{
	if (event_scan_keyword(&parser->scan, "EVENT"))
		return scan_event(parser);
	if (event_scan_keyword(&parser->scan, "EVENTS"))
		return scan_include(parser);
	if (event_scan_keyword(&parser->scan, "SYSCALL"))
		return scan_call(parser);
	return event_scan_expected(&parser->scan, "EVENT, EVENTS, SYSCALL or FROM");
}

static int scan_all(struct parser *parser)
{
	struct event_scan *scan = &parser->scan;
	int failed = 0;

	for (unsigned errors = 0;;) {
		int result;

		event_scan_blank(scan);
		if (scan->at == scan->end)
			return failed;
		result = scan_paragraph(parser);
		if (result == -ENOMEM)
			return result;
		if (result) {
			failed = result;
			if (++errors == ERRORS_MAX)
				return diag_error(scan->diag, NULL, failed, "%s: too many errors, giving up",
						  scan->source->file);
			event_scan_paragraph(scan);
		}
	}
}

int event_catalog_parse_in(struct event_catalog *catalog, const struct diag_source *source, const char *folder,
			   struct asterism_diag *diag)
{
	struct parser *parser = alloc_zero(1, sizeof *parser);
	int result;

	if (!parser)
		return diag_no_memory(diag);
	parser->catalog = catalog;
	parser->folder = folder;
	event_scan_init(&parser->scan, source, diag, catalog->arena);
	result = scan_all(parser);
	alloc_free(parser->hooks);
	alloc_free(parser);
	return result;
}

int event_catalog_parse(struct event_catalog *catalog, const char *file, const char *text, size_t length,
			struct asterism_diag *diag)
{
	const struct diag_source source = { .file = file, .text = text, .length = length };
	const char *slash = strrchr(file, '/');

	if (c_header_is(&source))
		return c_header_parse(catalog, &source, diag);

	const char *folder = slash ? arena_text(catalog->arena, file, slash == file ? 1 : (size_t)(slash - file)) : ".";

	return folder ? event_catalog_parse_in(catalog, &source, folder, diag) : diag_no_memory(diag);
}
