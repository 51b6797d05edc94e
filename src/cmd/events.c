// SPDX-License-Identifier: BSD-2-Clause
/* `asterism events`: which event types there are, what they carry, and whether this kernel raises them. */

#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/rules.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/source/plan.h"
#include "event/about.h"
#include "event/catalog.h"
#include "event/installed.h"
#include "meaning/meaning.h"
#include "sensor/catalog.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Whether pattern, a glob or a plain part of a name, means the type. */
static bool is_type_wanted(const struct event_type *type, const char *pattern)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, type->name, FNM_CASEFOLD) == 0;
	return strcasestr(type->name, pattern) != NULL;
}

/* text is from a catalog, which may be anybody's. */
static void put_named(const char *before, const char *text)
{
	fputs(before, stdout);
	text_write(stdout, text, TEXT_WORDS);
}

/* What a rule can ask for beside the declared fields: the parts of a socket's address, and of descriptors. */
static void put_asked_fields(const struct event_type *type)
{
	const struct event_about *address = event_sockaddr_fields(type->name);

	for (size_t i = 0; address && i < EVENT_SOCKADDR_SHOWN; i++) {
		char what[32];

		snprintf(what, sizeof what, address[i].value == EVENT_STRING ? "%s[%u]" : "%s",
			 event_value_name(address[i].value), address[i].bytes);
		printf("    %-24s %-12s %s, %s\n", address[i].name, what, address[i].meaning, address[i].doc);
	}
	for (uint32_t i = 0; type->hook_count && i < type->own_count; i++) {
		const struct event_field *field = &type->fields[i];
		char name[80];

		if (!field->meaning || field->meaning->form != MEANING_DESCRIPTOR)
			continue;
		snprintf(name, sizeof name, "%s.path", field->name);
		printf("    %-24s %-12s file of the descriptor\n", name, "string[256]");
		snprintf(name, sizeof name, "%s.peer", field->name);
		printf("    %-24s %-12s other end of the socket\n", name, "string[256]");
	}
}

static void put_type_fields(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		char what[32];

		snprintf(what, sizeof what, field->value == EVENT_STRING ? "%s[%u]" : "%s",
			 event_value_name(field->value), field->bytes);
		bool is_reported = field->meaning && field->meaning != event_value_meaning(field->value);
		const char *stands_for = is_reported ? field->meaning->text : field->unit;

		if (!stands_for && !field->doc) {
			printf("    %-24s %s\n", field->name, what);
			continue;
		}
		printf("    %-24s %-12s %s%s", field->name, what, stands_for ? stands_for : "",
		       stands_for && field->doc ? ", " : "");
		put_named("", field->doc ? field->doc : "");
		putchar('\n');
	}
	for (uint32_t i = 0; i < type->absent_count; i++) {
		printf("    %-24s %-12s ", type->absents[i].name, "absent");
		put_named("", type->absents[i].instead);
		putchar('\n');
	}
	put_asked_fields(type);
}

/* Whether the kernel whose types btf holds (NULL: they cannot be read) raises the type at this hook. */
static void put_hook(const struct event_type *type, uint32_t index, const struct btf_kernel *btf)
{
	const struct event_hook *hook = &type->hooks[index];
	char reason[256] = "";
	int available = btf ? source_available(btf, type, index, reason, sizeof reason) : -EOPNOTSUPP;

	put_named("    from ", hook->tracepoint);
	if (hook->when)
		put_named(" when ", hook->when);
	if (available == 0)
		put_named(": not on this kernel: ", reason);
	else if (available < 0)
		fputs(": unknown whether this kernel has it", stdout);
	putchar('\n');
}

/* What is listed, and how. */
struct listing {
	const char *pattern;
	bool verbose, is_of_application;
	struct btf_kernel *btf; /* NULL: not read, or not readable */
	struct event_catalog *catalog;
	const struct event_type *exact; /* called as the pattern, and shown already; NULL: none */
	size_t shown;
};

static void put_event_type(const struct listing *listing, const struct event_type *type, const char *from)
{
	printf(type->doc || from ? "%-32s" : "%s", type->name);
	if (type->doc)
		put_named(" ", type->doc);
	if (from)
		printf(" (EVENTS \"%s\")", from);
	putchar('\n');
	if (!listing->verbose)
		return;
	if (type->hook_count == 0)
		puts(listing->is_of_application ? "    an application raises it" : "    no kernel raises it");
	for (uint32_t i = 0; i < type->hook_count; i++)
		put_hook(type, i, listing->btf);
	put_type_fields(type);
}

static int no_such_type(const struct listing *listing)
{
	const char *nearest = event_catalog_nearest(listing->catalog, listing->pattern);

	cli_error("unknown event type '%s'", listing->pattern);
	if (nearest)
		cli_hint("did you mean %s?", nearest);
	else
		cli_hint("a part of a name is enough; a pattern may begin and end with '*': '*sync*'");
	return STATUS_USAGE;
}

/* Whether the pattern is the name of the catalog, with its ending or without. */
static bool is_catalog(const char *pattern, const char *name)
{
	size_t length = strlen(name) - strlen(strrchr(name, '.'));

	return pattern &&
	       (strcmp(pattern, name) == 0 || (strlen(pattern) == length && memcmp(pattern, name, length) == 0));
}

/* Who gives a whole name means that type before those that begin like it. */
static void put_exact(struct listing *listing)
{
	const struct event_type *type =
		listing->pattern ? event_catalog_find(listing->catalog, listing->pattern) : NULL;

	if (!type)
		return;
	put_event_type(listing, type, NULL);
	listing->shown++;
	listing->exact = type;
}

/* Lists the types of catalog; those of the shipped catalog called from, if it is one that rules have to name. */
static void put_types(struct listing *listing, struct event_catalog *catalog, const char *from)
{
	const struct event_type *type, *known;

	for (size_t i = 0; (type = event_catalog_get(catalog, i)); i++) {
		if (type == listing->exact ||
		    (!is_type_wanted(type, listing->pattern) && !(from && is_catalog(listing->pattern, from))))
			continue;
		/* A catalog may read linux.events itself. */
		known = from ? event_catalog_find(listing->catalog, type->name) : NULL;
		if (known && known->origin == EVENT_CATALOG)
			continue;
		put_event_type(listing, type, from);
		listing->shown++;
	}
}

/* Catalogs that cannot be used are told of. */
static int put_more(struct listing *listing)
{
	struct asterism_diag *diag = asterism_diag_new();
	const char *name;
	int result = 0;

	for (size_t i = 0; (name = event_installed_more(i)); i++) {
		struct event_catalog *catalog = event_catalog_new();
		int error = catalog ? event_catalog_read(catalog, NULL, name, diag) : diag_no_memory(diag);

		if (!error)
			put_types(listing, catalog, name);
		event_catalog_free(catalog);
		result = error ? error : result;
	}
	cli_print(diag);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

/* Lists what the catalog has beyond that of Linux. */
static int put_own(struct listing *listing, const struct cli_arguments *arguments)
{
	struct asterism_diag *diag = asterism_diag_new();
	const struct event_type *type;
	size_t first = 0;
	int result;

	while (event_catalog_get(listing->catalog, first))
		first++;
	result = cmd_add_catalogs(arguments, listing->catalog, diag);
	for (size_t i = first; (type = event_catalog_get(listing->catalog, i)); i++) {
		if (!is_type_wanted(type, listing->pattern))
			continue;
		put_event_type(listing, type, NULL);
		listing->shown++;
	}
	cli_print(diag);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

/* What an application declares, or a running one has: nothing of the kernel's. */
static int put_known_sensors(const char *name, bool verbose)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct listing listing = { .verbose = verbose, .is_of_application = true, .catalog = catalog };
	int result = catalog ? 0 : diag_no_memory(diag);

	if (!result) {
		sensor_catalog_supply(catalog);
		result = event_catalog_read(catalog, ".", name, diag);
		put_types(&listing, catalog, NULL);
	}
	cli_print(diag);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return cmd_status_of(result);
}

static int put_listing(struct listing *listing)
{
	event_catalog_add_tracefs(listing->catalog);
	put_exact(listing);
	put_types(listing, listing->catalog, NULL);
	return put_more(listing);
}

static int run_events(const struct cli_arguments *arguments)
{
	struct listing listing = {
		.pattern = arguments->operand_count ? arguments->operands[0] : NULL,
		.verbose = cli_has(arguments, OPTION_VERBOSE),
	};
	int status;

	if (listing.pattern && !strncmp(listing.pattern, SENSOR_CATALOG_PREFIX, strlen(SENSOR_CATALOG_PREFIX)))
		return put_known_sensors(listing.pattern, listing.verbose);
	status = cmd_read_catalog(&listing.catalog);
	if (status)
		return status;
	if (listing.verbose && btf_kernel_open(NULL, &listing.btf))
		listing.btf = NULL;
	status = cli_has(arguments, OPTION_CATALOG) ? put_own(&listing, arguments) : put_listing(&listing);
	if (!listing.shown && listing.pattern && !status)
		status = no_such_type(&listing);
	btf_kernel_close(listing.btf);
	event_catalog_free(listing.catalog);
	return status;
}

static const struct cli_example events_examples[] = {
	{ "asterism events 'sched_*'", "Lists the scheduler's events." },
	{ "asterism events -v sensor:./server", "Shows the events that a program raises itself." },
	{ "asterism events -v openat", "Shows fields, types and meanings of the events with openat in their name." },
	{ "asterism events --catalog own.events -v", "Shows the events of a catalog of your own." },
	{ NULL, NULL },
};

const struct cli_command cmd_events = {
	.name = "events",
	.summary = "list event types, their fields, and whether this kernel has them",
	.operands = "[PATTERN]",
	.operands_max = 1,
	.description = "Lists the event types that rules can name: those of the Linux catalog; every other tracepoint "
		       "of this machine, if tracefs is readable; and those of the other shipped catalogs, each with "
		       "the EVENTS line that a rule file needs to use it. PATTERN is a glob, a part of a name, or the "
		       "name of a catalog. --catalog lists only the types of that catalog.\n\nsensor:/path/of/program "
		       "lists the sensors in a program's file, sensor:NAME and sensor:PROGRAM:NAME those of running "
		       "applications ('asterism sensors').\n\n-v also shows each type's tracepoint and fields, what "
		       "their numbers mean, and whether this kernel can raise it. Besides these fields every event has "
		       "ts (ns), cpu, pid (process), tid (thread) and comm; kernel events also have ppid, uid, gid, "
		       "exe, args, cgroup, cgroup_id, container and ns_pid.",
	.options = { OPTION_CATALOG, OPTION_VERBOSE },
	.examples = events_examples,
	.run = run_events,
};
