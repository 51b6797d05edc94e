// SPDX-License-Identifier: BSD-2-Clause
/* Makes a plan without running it: with all features allowed, and what the catalog says of events. */

#include "ebpf/live-plan.h"

#include "base/alloc.h"
#include "ebpf/source/plan.h"
#include "event/about.h"

#include <errno.h>
#include <string.h>

struct assumed {
	bool *may_be_unread, *from_interrupt, *allowed;
};

static int assume(const struct program *program, struct event_catalog *catalog, struct assumed *assumed)
{
	uint32_t statements = program->header->sections[PROGRAM_STATEMENTS].count;

	assumed->may_be_unread = alloc_zero(program->field_count, sizeof *assumed->may_be_unread);
	assumed->from_interrupt = alloc_zero(program->type_count, sizeof *assumed->from_interrupt);
	assumed->allowed = alloc_zero(statements, sizeof *assumed->allowed);
	if (!assumed->may_be_unread || !assumed->from_interrupt || !assumed->allowed)
		return -ENOMEM;
	memset(assumed->allowed, true, statements * sizeof *assumed->allowed);
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct program_type *row = &program->types[i];
		const struct event_type *type = event_catalog_find(catalog, program_text(program, row->name));

		if (!type || !event_about_extends(type, row->field_count, row->record_bytes))
			continue;
		assumed->from_interrupt[i] = source_may_interrupt(type);
		if (source_may_be_unread(type, row->field_count, &assumed->may_be_unread[row->first_field]))
			return -ENOMEM;
	}
	return 0;
}

int ebpf_live_plan(const struct program *program, struct event_catalog *catalog, const bool *excluded,
		   struct plan **made)
{
	struct assumed assumed = { NULL, NULL, NULL };
	int error = assume(program, catalog, &assumed);
	const struct plan_options options = {
		.excluded = excluded,
		.may_be_unread = assumed.may_be_unread,
		.from_interrupt = assumed.from_interrupt,
		.allowed = assumed.allowed,
		.may_stop = true,
		.can_lock_out = true,
		.live = true,
	};

	if (!error)
		error = plan_new(program, &options, made);
	alloc_free(assumed.may_be_unread);
	alloc_free(assumed.from_interrupt);
	alloc_free(assumed.allowed);
	return error;
}
