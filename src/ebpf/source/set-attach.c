// SPDX-License-Identifier: BSD-2-Clause
/* Decides when programs are attached and detached, and in which order. */

#include "ebpf/source/set-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <unistd.h>

/* Attaches a program at a probe, or where its tracepoint is. */
static int attach(struct source_set *set, const struct loaded *program, const struct source_spot *spot,
		  struct asterism_diag *diag)
{
	int fd;

	if (alloc_grow(&set->links, &set->link_capacity, set->link_count, sizeof *set->links))
		return diag_no_memory(diag);
	if (spot->place.path)
		fd = attach_probe(program->program, &spot->place, spot->tracepoint, diag);
	else if (program->classic)
		fd = attach_classic(program->program, program->tracepoint, program->attach_id, diag);
	else
		fd = attach_raw(program->program, program->tracepoint, diag);
	if (fd < 0)
		return fd;
	set->links[set->link_count++] = (struct link){ fd, (size_t)(program - set->programs), spot->place.path };
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

	for (enum turn turn = PROBES; turn < TURNS; turn++)
		for (size_t i = 0; i < set->program_count && !result; i++)
			if (turn_of(&set->programs[i]) == turn)
				result = attach_everywhere(set, &set->programs[i], diag);
	return result;
}

/* Probes in user code go last: that takes the kernel a tenth of a second, in which the others would go on. */
void source_set_detach(struct source_set *set)
{
	for (size_t i = 0; i < set->program_count; i++)
		watch_detach(set->programs[i].watch);
	for (size_t i = 0; i < set->link_count; i++)
		if (!set->links[i].is_probe)
			close(set->links[i].fd);
	for (size_t i = 0; i < set->link_count; i++)
		if (set->links[i].is_probe)
			close(set->links[i].fd);
	set->link_count = 0;
}

static bool has_link(const struct source_set *set, size_t program)
{
	for (size_t i = 0; i < set->link_count; i++)
		if (set->links[i].program == program)
			return true;
	return false;
}

static void detach(struct source_set *set, size_t program)
{
	size_t kept = 0;

	watch_detach(set->programs[program].watch);
	for (size_t i = 0; i < set->link_count; i++) {
		if (set->links[i].program == program)
			close(set->links[i].fd);
		else
			set->links[kept++] = set->links[i];
	}
	set->link_count = kept;
}

/* Calls that a program awaits are given back by others, which have to come before it wherever they meet. */
static bool is_needed(const struct source_unit *unit, bool (*is_wanted)(void *, const struct source_want *),
		      void *context)
{
	bool needed = unit->await != NULL;

	for (size_t i = 0; i < unit->entry_count && !needed; i++)
		needed = is_wanted(context, unit->entries[i].want);
	return needed;
}

int source_set_adjust(struct source_set *set, bool (*is_wanted)(void *context, const struct source_want *want),
		      void *context, struct asterism_diag *diag)
{
	int result = 0;

	for (size_t i = 0; i < set->program_count && !result; i++) {
		bool needed = is_needed(&set->plan->units[set->programs[i].unit], is_wanted, context);

		if (needed && !has_link(set, i))
			result = attach_everywhere(set, &set->programs[i], diag);
		else if (!needed && has_link(set, i))
			detach(set, i);
	}
	return result;
}
