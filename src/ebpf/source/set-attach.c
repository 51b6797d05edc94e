// SPDX-License-Identifier: BSD-2-Clause
/* Decides when programs are attached and detached, and in which order. */

#include "ebpf/source/set-priv.h"

#include <errno.h>

/* Attaches a program at a probe, or where its tracepoint is. */
static int attach(struct source_set *set, const struct loaded *program, const struct source_spot *spot,
		  struct asterism_diag *diag)
{
	int fd;

	if (spot->place.path)
		fd = attach_probe(program->program, &spot->place, set->options.features->probe_links, spot->tracepoint,
				  diag);
	else if (program->classic)
		fd = attach_classic(program->program, program->tracepoint, program->attach_id, diag);
	else
		fd = attach_raw(program->program, program->tracepoint, diag);
	if (fd < 0)
		return fd;
	if (links_add(&set->links, fd, (size_t)(program - set->programs), spot->place.path ? &spot->place : NULL))
		return diag_no_memory(diag);
	return program->watch ? watch_attach(program->watch, diag) : 0;
}

static int attach_everywhere(struct source_set *set, const struct loaded *program, struct asterism_diag *diag)
{
	int result = attach(set, program, &(struct source_spot){ program->tracepoint, program->place }, diag);

	for (size_t i = 0; i < program->other_count && !result; i++)
		result = attach(set, program, &program->others[i], diag);
	return result;
}

/* The order of attaching. */
enum turn { PROBES, LATE, OTHERS, TURNS };

static enum turn turn_of(const struct loaded *program)
{
	return program->place.path ? PROBES : program->late ? LATE : OTHERS;
}

/*
 * Probes in user code go first: that takes long, and meanwhile the others would see only a part of what happens.
 * Programs of one tracepoint run in the order of attaching: an awaited call comes before the call's exit.
 */
int source_set_attach(struct source_set *set, struct asterism_diag *diag)
{
	int result = scope_attach(set->scope, diag);

	if (!result)
		result = calls_32bit_switch(&set->calls, true, diag);
	calls_32bit_begin(&set->calls);
	set->links.diag = set->options.news;
	for (enum turn turn = PROBES; turn < TURNS; turn++)
		for (size_t i = 0; i < set->program_count && !result; i++)
			if (turn_of(&set->programs[i]) == turn)
				result = attach_everywhere(set, &set->programs[i], diag);
	return result;
}

void source_set_detach(struct source_set *set)
{
	for (size_t i = 0; i < set->program_count; i++)
		watch_detach(set->programs[i].watch);
	calls_32bit_switch(&set->calls, false, NULL);
	links_close(&set->links);
}

/*
 * Calls that a program awaits are given back by others, which have to come before it wherever they meet. What counts
 * operations of io_uring stays.
 */
static bool is_needed(const struct source_unit *unit, bool (*is_wanted)(void *, const struct source_want *),
		      void *context)
{
	bool needed = unit->await != NULL || unit->group == SOURCE_GROUP_OWN;

	for (size_t i = 0; i < unit->entry_count && !needed; i++)
		needed = is_wanted(context, unit->entries[i].want);
	return needed;
}

int source_set_adjust(struct source_set *set, bool (*is_wanted)(void *context, const struct source_want *want),
		      void *context, struct asterism_diag *diag)
{
	int result = 0;
	bool calls = false;

	for (size_t i = 0; i < set->program_count && !result; i++) {
		const struct source_unit *unit = &set->plan->units[set->programs[i].unit];
		bool needed = is_needed(unit, is_wanted, context);

		calls = calls || (needed && unit->native);
		if (needed == links_has(&set->links, i))
			continue;
		if (needed) {
			result = attach_everywhere(set, &set->programs[i], diag);
		} else {
			watch_detach(set->programs[i].watch);
			links_close_of(&set->links, i);
		}
	}
	if (!result)
		result = calls_32bit_switch(&set->calls, calls, diag);
	return result;
}
