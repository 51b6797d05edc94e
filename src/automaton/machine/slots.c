// SPDX-License-Identifier: BSD-2-Clause
/* Allocates the slots of an instance: key, variables, timer, trail, and the number of the notice. */

#include "automaton/machine/machine-priv.h"

#include <errno.h>

uint32_t machine_slot(struct machine_build *build, enum program_kind kind, uint32_t bytes, const char *name)
{
	struct rule_build *base = &build->base;

	if (!name || alloc_grow(&base->slots, &base->slot_capacity, base->slot_count, sizeof *base->slots)) {
		rule_fail(base, -ENOMEM);
		return 0;
	}
	base->slots[base->slot_count] =
		(struct slot){ .kind = kind, .bytes = kind == PROGRAM_STRING ? (bytes + 7) / 8 * 8 : 8, .name = name };
	return (uint32_t)base->slot_count++;
}

static bool warns(const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind == LANG_WARN)
			return true;
	}
	return false;
}

static bool reports(const struct lang_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->actions[i].kind != LANG_ASSIGN)
			return true;
	}
	return false;
}

/* Whether a block of the machine has what is asked for. */
static bool has_block(const struct lang_machine *machine, bool (*asked)(const struct lang_block *block))
{
	for (uint32_t i = 0; i < machine->state_count; i++) {
		if (asked(&machine->states[i].entry) || asked(&machine->states[i].exit))
			return true;
	}
	for (uint32_t i = 0; i < machine->transition_count; i++) {
		if (asked(&machine->transitions[i].block))
			return true;
	}
	return false;
}

static void timer_slots(struct machine_build *build)
{
	static const char *const names[] = { "context cpu", "context pid", "context tid", "context comm" };
	bool timed = false, several = false;

	for (uint32_t i = build->start == PROGRAM_NONE ? 1 : 0; i < build->machine->state_count; i++) {
		timed |= machine_after(build, i, 0) != 0;
		several |= machine_has_several(build, i);
	}
	if (!timed)
		return;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t slot = machine_slot(build, i < 3 ? PROGRAM_I64 : PROGRAM_STRING, EVENT_COMM_BYTES, names[i]);

		if (i == 0)
			build->context = slot;
	}
	build->timer = machine_slot(build, PROGRAM_U64, 8, "timer");
	if (several)
		build->entered = machine_slot(build, PROGRAM_U64, 8, "entered");
}

static void trail_slots(struct machine_build *build)
{
	static const char *const words[PROGRAM_TRAIL_WORDS] = { "ts", "what", "who" };

	for (uint32_t i = 0; i < build->machine->trail * PROGRAM_TRAIL_WORDS; i++) {
		const char *name = arena_format(build->base.arena, "trail %u %s", i / PROGRAM_TRAIL_WORDS + 1,
						words[i % PROGRAM_TRAIL_WORDS]);
		uint32_t slot = machine_slot(build, PROGRAM_U64, 8, name);

		if (i == 0)
			build->trail = slot;
	}
}

void machine_slots(struct machine_build *build)
{
	const struct lang_machine *machine = build->machine;

	for (uint32_t i = 0; i < machine->key_count; i++)
		machine_slot(build, (enum program_kind)machine->keys[i].kind, machine->keys[i].bytes,
			     machine->keys[i].name);
	for (uint32_t i = 0; i < machine->variable_count; i++)
		machine_slot(build, (enum program_kind)machine->variables[i].kind, machine->variables[i].bytes,
			     machine->variables[i].name);
	build->context = build->timer = build->entered = build->opener = build->notice = build->trail = PROGRAM_NONE;
	timer_slots(build);
	if (machine->per_process && machine->key_count)
		build->opener = machine_slot(build, PROGRAM_U64, 8, "opener");
	if (has_block(machine, reports))
		build->notice = machine_slot(build, PROGRAM_U64, 8, "notice");
	if (has_block(machine, warns))
		trail_slots(build);
	build->first_capture = (uint32_t)build->base.slot_count;
}

bool machine_applies(const struct lang_transition *transition, uint32_t state)
{
	return !transition->type && (transition->state == state || machine_is_outside(transition));
}

uint64_t machine_after(const struct machine_build *build, uint32_t state, uint64_t beyond)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < build->machine->transition_count; i++) {
		const struct lang_transition *transition = &build->machine->transitions[i];

		if (machine_applies(transition, state) && transition->after_ns > beyond &&
		    (!next || transition->after_ns < next))
			next = transition->after_ns;
	}
	return next;
}

bool machine_has_several(const struct machine_build *build, uint32_t state)
{
	uint64_t first = machine_after(build, state, 0);

	return first && machine_after(build, state, first);
}
