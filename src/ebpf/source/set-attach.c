// SPDX-License-Identifier: BSD-2-Clause
/* Attaches and detaches the programs of a set, in order. */

#include "ebpf/source/set-priv.h"

#include <errno.h>

/* Keeps what the program is attached by. */
static int keep_link(struct source_set *set, const struct loaded *program, int fd, const struct source_spot *spot,
		     struct asterism_diag *diag)
{
	size_t number = (size_t)(program - set->programs);

	if (fd < 0)
		return fd;
	if (links_add(&set->links, fd, &(struct links_owner){ number, spot }, spot ? &spot->place : NULL))
		return diag_no_memory(diag);
	return 0;
}

static int attach_spot(struct source_set *set, const struct loaded *program, const struct source_spot *spot,
		       struct asterism_diag *diag)
{
	const struct attach_probe probe = {
		.place = &spot->place,
		.tracepoint = spot->tracepoint,
		.cookie = spot->cookie,
		.by_link = set->options.features->probe_links,
	};

	return keep_link(set, program, attach_probe(program->program, &probe, diag), spot, diag);
}

static int attach_calls(struct source_set *set, const struct loaded *program, struct asterism_diag *diag)
{
	int result = 0;

	for (size_t i = 0; i < program->apart_count && !result; i++) {
		const struct source_call *call = &program->apart[i];
		int fd = attach_classic(program->program, call->tracepoint, call->attach_id, diag);

		result = keep_link(set, program, fd, NULL, diag);
	}
	return result;
}

static int attach_tracepoint(struct source_set *set, const struct loaded *program, struct asterism_diag *diag)
{
	if (program->apart_count)
		return attach_calls(set, program, diag);
	int fd = program->classic ? attach_classic(program->program, program->tracepoint, program->attach_id, diag)
				  : attach_raw(program->program, program->tracepoint, diag);
	int result = keep_link(set, program, fd, NULL, diag);

	return !result && program->watch ? watch_attach(program->watch, diag) : result;
}

static int attach_everywhere(struct source_set *set, const struct loaded *program, struct asterism_diag *diag)
{
	int result = program->spot_count || program->is_behind ? 0 : attach_tracepoint(set, program, diag);

	for (size_t i = 0; i < program->spot_count && !result; i++)
		if (program->spots[i].cookie & program->bits)
			result = attach_spot(set, program, &program->spots[i], diag);
	return result;
}

/* The order of attaching. */
enum turn { PROBES, LATE, OTHERS, TURNS };

static enum turn turn_of(const struct loaded *program)
{
	return program->spot_count ? PROBES : program->late ? LATE : OTHERS;
}

/* Puts the programs of one chain, or as many as one holds, behind each other, in the order of attaching. */
static int arrange_chain(struct source_set *set, const struct chain *chain, struct asterism_diag *diag)
{
	const struct loaded *last = NULL;
	size_t length = 0;
	int result = 0;

	for (enum turn turn = PROBES; turn < TURNS; turn++)
		for (size_t i = 0; i < set->program_count && !result; i++) {
			struct loaded *program = &set->programs[i];

			if (program->place.chain != chain || turn_of(program) != turn)
				continue;
			program->is_behind = length % CHAIN_PROGRAMS_MAX != 0;
			if (program->is_behind)
				result = chain_set_next(&last->place, program->program, diag);
			last = program;
			length++;
		}
	return result;
}

/*
 * Probes in user code go first: that takes long, and meanwhile the others would see only a part of what happens.
 * Programs of one tracepoint run in the order of attaching: an awaited call comes before the call's exit.
 */
int source_set_attach(struct source_set *set, struct asterism_diag *diag)
{
	int result = scope_attach(set->scope, diag);

	for (size_t i = 0; i < CHAINS && !result; i++)
		result = arrange_chain(set, &set->chains.of[i], diag);
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
static bool always_stays(const struct source_unit *unit)
{
	return unit->await != NULL || unit->group == SOURCE_GROUP_OWN;
}

/* What is asked whether it is wanted. */
struct asked {
	bool (*is_wanted)(void *context, const struct source_want *want);
	void *context;
};

/* The bits of the unit's wanted entries; all of them where the unit stays. */
static uint64_t wanted_bits(const struct source_unit *unit, const struct asked *asked)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < unit->entry_count; i++)
		if (always_stays(unit) || asked->is_wanted(asked->context, unit->entries[i].want))
			bits |= unit->spot_count ? unit->entries[i].bit : UINT64_MAX;
	return bits;
}

/* The bits for the unit of the program; those of all programs of its chain, as they run together. */
static uint64_t needed_bits(const struct source_set *set, const struct loaded *program, const struct asked *asked)
{
	uint64_t bits = 0;

	if (!program->place.chain)
		return wanted_bits(&set->plan->units[program->unit], asked);
	for (size_t i = 0; i < set->program_count; i++)
		if (set->programs[i].place.chain == program->place.chain)
			bits |= wanted_bits(&set->plan->units[set->programs[i].unit], asked);
	return bits;
}

/* Attaches the program at spot (NULL: at its tracepoint), or detaches it. */
static int adjust(struct source_set *set, const struct loaded *program, const struct source_spot *spot, bool needed,
		  struct asterism_diag *diag)
{
	const struct links_owner owner = { (size_t)(program - set->programs), spot };

	if (needed == links_has(&set->links, &owner))
		return 0;
	if (needed)
		return spot ? attach_spot(set, program, spot, diag) : attach_tracepoint(set, program, diag);
	watch_detach(program->watch);
	links_close_of(&set->links, &owner);
	return 0;
}

int source_set_adjust(struct source_set *set, bool (*is_wanted)(void *context, const struct source_want *want),
		      void *context, struct asterism_diag *diag)
{
	const struct asked asked = { is_wanted, context };
	int result = 0;
	bool calls = false;

	for (size_t i = 0; i < set->program_count && !result; i++) {
		const struct loaded *program = &set->programs[i];
		const struct source_unit *unit = &set->plan->units[program->unit];
		uint64_t bits = needed_bits(set, program, &asked);

		calls = calls || (bits && unit->native);
		if (!program->spot_count && !program->is_behind)
			result = adjust(set, program, NULL, bits, diag);
		for (size_t j = 0; j < program->spot_count && !result; j++)
			result = adjust(set, program, &program->spots[j],
					program->spots[j].cookie & program->bits & bits, diag);
	}
	if (!result)
		result = calls_32bit_switch(&set->calls, calls, diag);
	return result;
}
