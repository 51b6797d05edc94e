// SPDX-License-Identifier: BSD-2-Clause
/*
 * Detects that events have no cgroups to speak of. /proc/self/cgroup has a line of number 0 as soon as version 2 was
 * mounted anywhere; mounts of one's own namespace do not tell, as what the kernel says of cgroups does not need them.
 */

#include "session/live/cgroups.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 4096 };

/* True also where nothing can be known. */
static bool is_cgroup_there(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[LINE_BYTES];
	bool found = !file, begins = true;

	while (file && !found && fgets(line, sizeof line, file)) {
		found = begins && strncmp(line, "0::", 3) == 0;
		begins = strchr(line, '\n') != NULL;
	}
	if (file)
		fclose(file);
	return found;
}

static bool is_about_cgroups(const struct event_type *type, uint32_t field)
{
	static const char *const names[] = { "cgroup", "cgroup_id", "container" };

	for (size_t i = 0; field >= type->own_count && i < sizeof names / sizeof *names; i++) {
		if (strcmp(type->fields[field].name, names[i]) == 0)
			return true;
	}
	return false;
}

static void warn(const struct event_type *type, uint32_t field, struct asterism_diag *diag)
{
	diag_add(diag, ASTERISM_WARNING, NULL,
		 "boot with systemd.unified_cgroup_hierarchy=1 to get cgroups of version 2; the container in text "
		 "output works with version 1, too",
		 "%s:%s is the root cgroup for every process: cgroup, cgroup_id and container need cgroups of version "
		 "2, and none are mounted",
		 type->name, type->fields[field].name);
}

void live_cgroups_warn(const struct program *program, struct event_catalog *catalog, struct asterism_diag *diag)
{
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct program_type *row = &program->types[i];
		const struct event_type *type = event_catalog_find(catalog, program_text(program, row->name));

		for (uint32_t field = 0; type && field < row->field_count && field < type->field_count; field++) {
			if (!is_about_cgroups(type, field))
				continue;
			if (!is_cgroup_there())
				warn(type, field, diag);
			return;
		}
	}
}

void live_cgroups_warn_recorded(const struct selection *selection, struct asterism_diag *diag)
{
	for (size_t i = 0; i < selection->count; i++) {
		const struct selected_event *event = &selection->events[i];

		for (uint32_t field = 0; field < event->type->field_count; field++) {
			if (!event->recorded[field] || !is_about_cgroups(event->type, field))
				continue;
			if (!is_cgroup_there())
				warn(event->type, field, diag);
			return;
		}
	}
}
