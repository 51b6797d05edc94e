// SPDX-License-Identifier: BSD-2-Clause
/* `asterism events`: which event types there are, what they carry, and whether this kernel raises them. */

#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/rules.h"
#include "cmd/status.h"
#include "event/catalog.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Whether pattern, a glob or a plain part of a name, means the type. */
static bool is_wanted(const struct event_type *type, const char *pattern)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, type->name, FNM_CASEFOLD) == 0;
	return strcasestr(type->name, pattern) != NULL;
}

static void put_fields(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		char what[32];

		snprintf(what, sizeof what, field->value == EVENT_STRING ? "%s[%u]" : "%s",
			 event_value_name(field->value), field->bytes);
		printf("    %-24s %-12s", field->name, what);
		if (field->unit)
			printf(" %s", field->unit);
		if (field->doc)
			printf("%s%s", field->unit ? ", " : " ", field->doc);
		putchar('\n');
	}
}

static void put_sources(const struct event_type *type)
{
	if (type->source_count == 0)
		puts("    no kernel raises it");
	for (uint32_t i = 0; i < type->source_count; i++)
		printf("    from %s%s%s\n", type->sources[i].tracepoint, type->sources[i].when ? " when " : "",
		       type->sources[i].when ? type->sources[i].when : "");
}

static void put_type(const struct event_type *type, bool verbose)
{
	printf(type->doc ? "%-32s %s\n" : "%s\n", type->name, type->doc);
	if (!verbose)
		return;
	put_sources(type);
	put_fields(type);
}

static int run(const struct arguments *arguments)
{
	const char *pattern = arguments->operand_count ? arguments->operands[0] : NULL;
	struct event_catalog *catalog;
	const struct event_type *type;
	size_t shown = 0;
	int status = cmd_read_catalog(&catalog);

	if (status)
		return status;
	event_catalog_add_tracefs(catalog);
	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		if (!is_wanted(type, pattern))
			continue;
		put_type(type, arguments_has(arguments, OPTION_VERBOSE));
		shown++;
	}
	if (!shown && pattern) {
		const char *nearest = event_catalog_nearest(catalog, pattern);

		print_error("no event type is called `%s`", pattern);
		if (nearest)
			print_hint("did you mean %s?", nearest);
		status = STATUS_USAGE;
	}
	event_catalog_free(catalog);
	return status;
}

static const struct command_example examples[] = {
	{ "asterism events 'sched_*'", "Lists the scheduler's events." },
	{ "asterism events -v openat", "Shows fields, types and units of the events with openat in their name." },
	{ NULL, NULL },
};

const struct command command_events = {
	.name = "events",
	.summary = "list event types with their fields and what this kernel offers",
	.operands = "[PATTERN]",
	.description =
		"Lists the event types that rules can name: those of the Linux catalog and, where tracefs can be "
		"read, every other tracepoint of this machine. PATTERN is a glob, or a part of a name.\n\n"
		"With -v, each type's tracepoint and fields are shown, and whether this kernel can raise it. Besides "
		"these fields every event has ts (ns), cpu, pid (process), tid (thread) and comm.",
	.options = { OPTION_VERBOSE },
	.examples = examples,
	.run = run,
};
