// SPDX-License-Identifier: BSD-2-Clause
/* The tables that the engine keeps for a machine beyond those of a rule, and the offsets of its data in an instance. */

#include "engine/machine-priv.h"
#include "program/query.h"

#include <errno.h>

static uint32_t slot_place(const struct engine *engine, const struct program_rule *rule, uint32_t slot)
{
	return program_slots(engine->program, rule)[slot].offset;
}

/* How many keys of the class leave slots open: no more indices than this are needed. */
static uint32_t count_open_keys(const struct program *program, const struct program_class *class)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < class->key_count; i++)
		count += program_key_given(program, class, &program_keys(program, class)[i]) !=
			 program_class_whole(class);
	return count < 1 << PROGRAM_KEY_SLOTS_MAX ? count : 1 << PROGRAM_KEY_SLOTS_MAX;
}

int engine_machine_new(struct engine *engine, struct engine_rule *rule)
{
	const struct program_rule *image = rule->image;
	struct engine_machine *machine = arena_zero(engine->arena, 1, sizeof *machine);
	uint32_t open = count_open_keys(engine->program, program_classes(engine->program, image));

	if (!machine)
		return -ENOMEM;
	machine->any = arena_zero(engine->arena, open, sizeof *machine->any);
	if (!machine->any)
		return -ENOMEM;
	machine->has_timer = image->flags & PROGRAM_RULE_TIMER;
	if (image->notice_count)
		machine->notice_offset = slot_place(engine, image, image->notice_slot);
	if (machine->has_timer) {
		machine->timer_offset = slot_place(engine, image, image->timer_slot);
		for (uint32_t i = 0; i < 4; i++)
			machine->context_offsets[i] = slot_place(engine, image, image->context_slot + i);
	}
	rule->machine = machine;
	return 0;
}

void engine_machine_fini(struct engine_machine *machine)
{
	if (!machine)
		return;
	for (uint32_t i = 0; i < machine->any_count; i++)
		alloc_free(machine->any[i].index.buckets);
	alloc_free(machine->due);
}

struct engine_any *engine_machine_any(struct engine_machine *machine, uint32_t mask)
{
	struct engine_any *any = machine->any, *end = any + machine->any_count;

	while (any < end && any->mask != mask)
		any++;
	if (any == end) {
		any->mask = mask;
		machine->any_count++;
	}
	return any;
}

size_t engine_machine_lay_out(struct engine_machine *machine, size_t run_bytes)
{
	size_t bytes = run_bytes;

	if (machine->has_timer) {
		machine->place_offset = bytes;
		bytes += sizeof(size_t);
	}
	for (uint32_t i = 0; i < machine->any_count; i++) {
		machine->any[i].link_offset = bytes;
		bytes += sizeof(struct engine_any_link);
	}
	return bytes - run_bytes;
}

size_t engine_machine_more_bytes(const struct program *program, const struct program_rule *rule)
{
	uint32_t open = count_open_keys(program, program_classes(program, rule));

	return open * sizeof(struct engine_any_link) + (rule->flags & PROGRAM_RULE_TIMER ? sizeof(size_t) : 0);
}

uint64_t engine_machine_pool_bytes(const struct program *program, const struct program_rule *rule)
{
	uint32_t open = count_open_keys(program, program_classes(program, rule));
	uint64_t places = 8;

	while (places < rule->pool)
		places *= 2;
	return open * 4 * places * sizeof(struct engine_run *) +
	       (rule->flags & PROGRAM_RULE_TIMER ? 2 * places * sizeof(struct engine_due) : 0);
}
