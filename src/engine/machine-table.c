// SPDX-License-Identifier: BSD-2-Clause
/* Decides what a machine needs beyond a rule, and where in an instance it is. */

#include "engine/machine-priv.h"

#include <errno.h>

static uint32_t offset_of(const struct engine *engine, const struct program_rule *rule, uint32_t slot)
{
	return engine->program->slots[rule->first_slot + slot].offset;
}

/* How many keys of the class leave slots open: no more indices than this are needed. */
static uint32_t count_open_keys(const struct program *program, const struct program_class *class)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < class->key_count; i++) {
		const uint32_t *fields = program->indices + program->keys[class->first_key + i].first_field;
		bool is_open = false;

		for (uint32_t j = 0; j < class->slot_count; j++)
			is_open |= fields[j] == PROGRAM_NONE;
		count += is_open;
	}
	return count < 1 << PROGRAM_KEY_SLOTS_MAX ? count : 1 << PROGRAM_KEY_SLOTS_MAX;
}

int engine_machine_new(struct engine *engine, struct engine_rule *rule)
{
	const struct program_rule *image = rule->image;
	struct engine_machine *machine = arena_zero(engine->arena, 1, sizeof *machine);
	uint32_t open = count_open_keys(engine->program, &engine->program->classes[image->first_class]);

	if (!machine)
		return -ENOMEM;
	machine->any = arena_zero(engine->arena, open, sizeof *machine->any);
	if (!machine->any)
		return -ENOMEM;
	machine->has_timer = image->flags & PROGRAM_RULE_TIMER;
	if (image->notice_count)
		machine->notice_offset = offset_of(engine, image, image->notice_slot);
	if (machine->has_timer) {
		machine->timer_offset = offset_of(engine, image, image->timer_slot);
		for (uint32_t i = 0; i < 4; i++)
			machine->context_offsets[i] = offset_of(engine, image, image->context_slot + i);
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
	uint32_t open = count_open_keys(program, &program->classes[rule->first_class]);

	return open * sizeof(struct engine_any_link) + (rule->flags & PROGRAM_RULE_TIMER ? sizeof(size_t) : 0);
}

uint64_t engine_machine_pool_bytes(const struct program *program, const struct program_rule *rule)
{
	uint32_t open = count_open_keys(program, &program->classes[rule->first_class]);
	uint64_t places = 8;

	while (places < rule->pool)
		places *= 2;
	return open * 4 * places * sizeof(struct engine_run *) +
	       (rule->flags & PROGRAM_RULE_TIMER ? 2 * places * sizeof(struct engine_due) : 0);
}
