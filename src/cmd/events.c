// SPDX-License-Identifier: BSD-2-Clause
/* `asterism events`: which event types there are, what they carry, and whether this kernel raises them. */

#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/rules.h"
#include "cmd/status.h"
#include "ebpf/btf-kernel.h"
#include "ebpf/source-plan.h"
#include "event/catalog.h"

#include <errno.h>
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
		if (!field->unit && !field->doc) {
			printf("    %-24s %s\n", field->name, what);
			continue;
		}
		printf("    %-24s %-12s %s%s%s\n", field->name, what, field->unit ? field->unit : "",
		       field->unit && field->doc ? ", " : "", field->doc ? field->doc : "");
	}
}

/* Whether the kernel whose types btf holds (NULL: they cannot be read) raises the type through its source. */
static void put_source(const struct event_type *type, uint32_t index, const struct btf_kernel *btf)
{
	const struct event_source *source = &type->sources[index];
	char reason[256] = "";
	int available = btf ? source_available(btf, type, index, reason, sizeof reason) : -EOPNOTSUPP;

	printf("    from %s", source->tracepoint);
	if (source->when)
		printf(" when %s", source->when);
	if (available == 0)
		printf(": not on this kernel: %s", reason);
	else if (available < 0)
		fputs(": whether this kernel has it is not known", stdout);
	putchar('\n');
}

static void put_type(const struct event_type *type, bool verbose, const struct btf_kernel *btf)
{
	printf(type->doc ? "%-32s %s\n" : "%s\n", type->name, type->doc);
	if (!verbose)
		return;
	if (type->source_count == 0)
		puts("    no kernel raises it");
	for (uint32_t i = 0; i < type->source_count; i++)
		put_source(type, i, btf);
	put_fields(type);
}

static int no_such_type(const struct event_catalog *catalog, const char *pattern)
{
	const char *nearest = event_catalog_nearest(catalog, pattern);

	print_error("no event type is called '%s'", pattern);
	if (nearest)
		print_hint("did you mean %s?", nearest);
	return STATUS_USAGE;
}

static int run(const struct arguments *arguments)
{
	const char *pattern = arguments->operand_count ? arguments->operands[0] : NULL;
	bool verbose = arguments_has(arguments, OPTION_VERBOSE);
	struct btf_kernel *btf = NULL;
	struct event_catalog *catalog;
	const struct event_type *type;
	size_t shown = 0;
	int status = cmd_read_catalog(&catalog);

	if (status)
		return status;
	event_catalog_add_tracefs(catalog);
	if (verbose && btf_kernel_open(NULL, &btf))
		btf = NULL;
	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		if (!is_wanted(type, pattern))
			continue;
		put_type(type, verbose, btf);
		shown++;
	}
	if (!shown && pattern)
		status = no_such_type(catalog, pattern);
	btf_kernel_close(btf);
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
	.operands_max = 1,
	.description =
		"Lists the event types that rules can name: those of the Linux catalog and, where tracefs can be "
		"read, every other tracepoint of this machine. PATTERN is a glob, or a part of a name.\n\n"
		"With -v, each type's tracepoint and fields are shown, and whether this kernel can raise it. Besides "
		"these fields every event has ts (ns), cpu, pid (process), tid (thread) and comm.",
	.options = { OPTION_VERBOSE },
	.examples = examples,
	.run = run,
};
