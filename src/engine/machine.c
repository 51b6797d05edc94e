// SPDX-License-Identifier: BSD-2-Clause
/*
 * Executes a machine's transitions for an event or a timer: docs/internals/execution.md, "Machines". An event concerns
 * one instance at most, unless it says `*`; so nothing has to be put in order but the instance's own move and what is
 * told of it.
 */

#include "engine/life-priv.h"

#include "event/type.h"

#include <string.h>

/* A step with the time of the timer that it is for; 0 if it is for an event. */
struct move {
	struct engine_step step;
	struct engine_machine *machine;
	uint64_t fired;
};

/* After the instance's actions, whose last word on the timer may not be that it goes off again at once. */
static void set_timer(struct move *move, struct engine_run *run)
{
	struct engine_machine *machine = move->machine;

	if (!machine->has_timer)
		return;
	char *slot = run->slots + machine->timer_offset;
	uint64_t at = engine_word_at(slot);
	if (at <= move->fired) {
		at = 0;
		memcpy(slot, &at, sizeof at);
	}
	engine_due_set(machine, run, at);
	if (at)
		engine_timers_hasten(move->step.engine, move->step.rule, at, run->ordinal);
}

static void report_run(struct move *move, struct engine_run *run)
{
	engine_report_notice(move->step.engine, move->step.rule, run, move->step.event->record, move->step.epoch);
}

#define PART static inline __attribute__((always_inline))

/* counts: here and below, whether what becomes of instances is counted; where a constant is given, it costs nothing. */
PART void advance(struct move *move, struct engine_run *run, const struct engine_transition *transition, bool counts)
{
	struct engine_rule *rule = move->step.rule;

	if (counts)
		engine_why_take(rule, run, transition, move->step.event->record);
	if (rule->replaces && !move->fired)
		engine_ages_renew(rule, run);
	if (transition->leaves)
		engine_life_unlink(rule, run);
	uint32_t target = engine_step_take(&move->step, run, transition);
	if (target < PROGRAM_TARGET_MATCH) {
		if (counts)
			engine_why_move(rule, run, target);
		run->state = target;
		if (transition->leaves)
			engine_life_link(rule, run);
		if (transition->arms)
			run->ordinal = move->step.engine->ordinal++;
		if (transition->times || move->fired)
			set_timer(move, run);
		if (transition->reports)
			report_run(move, run);
		return;
	}
	if (!transition->leaves)
		engine_life_unlink(rule, run);
	engine_life_leave(rule, run);
	if (transition->reports)
		report_run(move, run);
	engine_runs_give(rule, run);
}

/* Keeps an instance that was opened or copied, whose state is set, unless there is one with its key. */
static bool keep_run(struct move *move, struct engine_run *run)
{
	struct engine_rule *rule = move->step.rule;
	const struct engine_class *class = &rule->classes[rule->states[run->state].class];
	uint32_t hash = engine_index_hash(class, class->parts, run->slots);

	if (engine_index_find(rule, class, class->parts, run->slots, hash))
		return false;
	if (!engine_life_may_open(rule, run) || !engine_life_has_room(rule, rule->replaces)) {
		engine_refuse(rule);
		return false;
	}
	engine_index_insert_first(rule, class, run, hash);
	engine_life_link_any(rule, run);
	engine_life_count(rule, run);
	if (move->machine->has_timer)
		*engine_due_place_of(move->machine, run) = 0;
	set_timer(move, run);
	return true;
}

static void copy_run(struct move *move, struct engine_run *original, const struct engine_transition *transition)
{
	struct engine_rule *rule = move->step.rule;
	struct engine_run *run;

	if (rule->why)
		engine_why_take(rule, original, transition, move->step.event->record);
	if (rule->replaces)
		engine_ages_renew(rule, original);
	run = engine_life_copy(&move->step, original, transition);
	if (!run)
		engine_refuse(rule);
	else if (!keep_run(move, run))
		engine_runs_give(rule, run);
}

/* As engine_step_find, counted. */
static inline const struct engine_transition *find_transition(const struct move *move,
							      const struct engine_transition *first, uint32_t count,
							      const char *slots)
{
	if (move->step.rule->why)
		engine_why_judge(&move->step, first, count, slots);
	return engine_step_find(&move->step, first, count, slots);
}

/* The transitions of its state for what happens are tried: a copy's, which stand first, then its own. */
PART void step_instance(struct move *move, struct engine_run *run, const struct engine_group *group, bool counts)
{
	const struct engine_transition *own = group->transitions, *end, *transition;

	if (!group->count)
		return;
	if (counts)
		engine_why_meet(move->step.rule, group);
	end = own + group->count;
	if (own < end && own->copies) {
		while (own < end && own->copies)
			own++;
		transition =
			find_transition(move, group->transitions, (uint32_t)(own - group->transitions), run->slots);
		if (transition)
			copy_run(move, run, transition);
	}
	transition = find_transition(move, own, (uint32_t)(end - own), run->slots);
	if (transition)
		advance(move, run, transition, counts);
}

static void open_instance(struct move *move, const struct engine_group *start)
{
	struct engine_rule *rule = move->step.rule;
	struct engine *engine = move->step.engine;
	const struct engine_transition *transition;

	if (rule->why)
		engine_why_meet(rule, start);
	transition = find_transition(move, start->transitions, start->count, engine->zeros);
	if (!transition)
		return;
	if (rule->why)
		engine_why_take(rule, NULL, transition, move->step.event->record);
	struct engine_run *run = engine_life_open(&move->step, transition);
	if (!run) {
		engine_refuse(rule);
		return;
	}
	if (run->state < PROGRAM_TARGET_MATCH) {
		if (!keep_run(move, run))
			engine_runs_give(rule, run);
		else if (transition->reports)
			report_run(move, run);
		return;
	}
	if (transition->reports)
		report_run(move, run);
	engine_runs_give(rule, run);
}

/* All states have the same transitions for such an event, which look at it alone and end the instance. */
static void end_any(struct move *move, const struct engine_entry *entry)
{
	struct engine_rule *rule = move->step.rule;
	const struct engine_event *event = move->step.event;
	const struct engine_any *any = entry->any;
	struct engine_run *run = engine_any_look(any, entry->keys->parts, (const char *)event->record), *next;
	const struct engine_group *group;

	if (!run)
		return;
	group = entry->groups[run->state];
	if (!engine_step_find(&move->step, group->transitions, group->count, run->slots))
		return;
	for (; run; run = next) {
		next = engine_any_link_of(any, run)->next;
		if (rule->why)
			engine_why_take(rule, run, entry->groups[1]->transitions, event->record);
		engine_life_end(rule, run);
	}
}

/* What a machine's step has no use for stays unset: zeroing it would be work for nothing. */
static inline void begin_move(struct move *move, struct engine *engine, struct engine_rule *rule,
			      const struct engine_event *event)
{
	move->step.engine = engine;
	move->step.rule = rule;
	move->step.event = event;
	move->step.epoch = rule->epoch + rule->doubts;
	move->step.marks_all = false;
	move->machine = rule->machine;
	move->fired = 0;
}

PART void step_machine(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event,
		       bool counts)
{
	struct engine_rule *rule = entry->rule;
	struct engine_run *run = NULL;
	struct move move;

	if (rule->live && entry->any) {
		begin_move(&move, engine, rule, event);
		end_any(&move, entry);
		return;
	}
	if (rule->live && entry->key_count)
		run = engine_index_look(rule, entry->keys, (const char *)event->record);
	if (!run && !entry->start.count)
		return; /* most events are about what no instance follows */
	begin_move(&move, engine, rule, event);
	if (run)
		step_instance(&move, run, entry->groups[run->state], counts);
	else
		open_instance(&move, &entry->start);
	if (rule->replaces)
		engine_places_free(rule, 0);
}

static __attribute__((noinline, cold)) void step_counted(struct engine *engine, const struct engine_entry *entry,
							 const struct engine_event *event)
{
	step_machine(engine, entry, event, true);
}

void engine_machine_step(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event)
{
	if (__builtin_expect(entry->rule->why != NULL, false))
		step_counted(engine, entry, event);
	else
		step_machine(engine, entry, event, false);
}

bool engine_machine_first(const struct engine_rule *rule, struct engine_deadline *first)
{
	struct engine_run *run = engine_due_first(rule->machine);

	if (!run)
		return false;
	first->at = rule->machine->due[0].at;
	first->ordinal = run->ordinal;
	return true;
}

void engine_machine_expire(struct engine *engine, struct engine_rule *rule)
{
	struct engine_machine *machine = rule->machine;
	struct engine_run *run = machine->due[0].run;
	struct event_header header = {
		.ts = machine->due[0].at,
		.seq = engine->seq,
		.cpu = (uint32_t)engine_word_at(run->slots + machine->context_offsets[0]),
		.pid = (uint32_t)engine_word_at(run->slots + machine->context_offsets[1]),
		.tid = (uint32_t)engine_word_at(run->slots + machine->context_offsets[2]),
		.type = PROGRAM_NONE,
	};
	const char *comm = run->slots + machine->context_offsets[3];
	const struct engine_event event = { &header, sizeof header, ++engine->number };
	const struct engine_group *group = engine_step_group(&rule->states[run->state], PROGRAM_TIMER);
	struct move move;
	const struct engine_transition *transition;

	if (rule->why)
		engine_why_meet(rule, group);
	begin_move(&move, engine, rule, &event);
	memcpy(header.comm, comm, strnlen(comm, EVENT_COMM_BYTES - 1));
	move.fired = header.ts;
	transition = find_transition(&move, group->transitions, group->count, run->slots);
	if (transition)
		advance(&move, run, transition, rule->why);
	else
		set_timer(&move, run);
}
