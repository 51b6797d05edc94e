// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds the transitions by which the end of a process or a thread ends runs: those that wait for what it alone can do,
 * and can do no more once it has ended. Its number is then another's, who has no part in the run. What the kernel still
 * does in the name of who has ended - files and sockets are closed after that - is no such thing, so only states that
 * wait for system calls, programs, children and probes have an end of this kind. A thread that executes a program, and
 * is not the first one of its process, goes on under the number of the first one: its own number is another's from then
 * on, too.
 */

#include "automaton/rule/rule-priv.h"

#include <string.h>

/* As in event_header_fields. */
enum { FIELD_PID = 2, FIELD_TID = 3 };

static bool is_own_doing(const struct event_type *type)
{
	static const char *const hooks[] = { "raw_syscalls:",
					     "syscalls:",
					     "sched:sched_process_exec",
					     "sched:sched_process_fork",
					     "task:task_newtask",
					     "uprobe:",
					     "uretprobe:",
					     "usdt:" };

	for (uint32_t i = 0; i < type->hook_count; i++) {
		bool found = false;

		for (size_t j = 0; j < sizeof hooks / sizeof *hooks && !found; j++)
			found = strncmp(type->hooks[i].tracepoint, hooks[j], strlen(hooks[j])) == 0;
		if (!found)
			return false;
	}
	return type->hook_count > 0;
}

/* Whether every event that state waits for is the doing of the process, or thread, that it is found by; a run that
 * matches when the time is up waits for that. */
static bool waits_for_one(const struct state *state)
{
	for (size_t i = 0; i < state->pending_count; i++)
		if (!is_own_doing(state->pending[i].type))
			return false;
	return state->pending_count > 0 && !state->deadline;
}

/* Whether the class is found by nothing but pid and tid of an event; which of them. */
static bool is_of_task(const struct class_row *class, bool *of_thread)
{
	*of_thread = false;
	for (uint32_t i = 0; i < class->slot_count; i++) {
		for (size_t j = 0; j < class->key_count; j++)
			if (class->keys[j].fields[i] != class->keys[0].fields[i])
				return false;
		if (class->keys[0].fields[i] != FIELD_PID && class->keys[0].fields[i] != FIELD_TID)
			return false;
		*of_thread |= class->keys[0].fields[i] == FIELD_TID;
	}
	return class->slot_count && class->key_count;
}

/* An event with which a number is no task's any more, and what it has to say of that, as the catalog tells. */
struct task_end {
	const struct event_type *type; /* NULL: no catalog has it */
	const struct event_field *field;
};

static struct task_end find_end(const struct rule_build *build, const char *name, const char *field,
				enum event_value value)
{
	const struct event_type *type;
	struct task_end end = { 0 };

	for (size_t i = 0; (type = event_catalog_get(build->unit->catalog, i)); i++) {
		if (!type->hook_count || strcmp(type->name, name) != 0)
			continue;
		end.field = event_field_find(type, field);
		end.type = end.field && end.field->value == value ? type : NULL;
	}
	return end;
}

static struct pending_transition *add_gone(struct rule_build *build, uint32_t index, const struct event_type *type,
					   const char *note)
{
	struct pending_transition *pending = states_pending(build, index, type);

	pending->flags = PROGRAM_FORBID | PROGRAM_GONE;
	pending->note = note;
	return pending;
}

static void add_end(struct rule_build *build, uint32_t index, const struct task_end *end, bool of_thread)
{
	struct class_row *class = &build->classes[build->states[index].class];
	struct key_row key = { .type = unit_type(build->unit, end->type) };
	struct pending_transition *pending =
		add_gone(build, index, end->type, of_thread ? "the thread has ended" : "the process has ended");

	if (!of_thread)
		pending->fit = node_field(build, end->type, end->field);
	memcpy(key.fields, class->keys[0].fields, class->slot_count * sizeof key.fields[0]);
	keys_add(build, class, &key);
	build->ends = end->type;
}

/* The thread is found by the number that it had. */
static void add_renamed(struct rule_build *build, uint32_t index, const struct task_end *renamed)
{
	static const struct event_field *const tid = &event_header_fields[FIELD_TID];
	struct class_row *class = &build->classes[build->states[index].class];
	struct key_row key = { .type = unit_type(build->unit, renamed->type) };
	struct pending_transition *pending;

	pending = add_gone(build, index, renamed->type, "the thread has another number, as it executed a program");
	pending->fit = node_op(build, PROGRAM_OP_NE, PROGRAM_BOOL, node_field(build, renamed->type, renamed->field),
			       node_field(build, renamed->type, tid));
	for (uint32_t i = 0; i < class->slot_count; i++)
		key.fields[i] = class->keys[0].fields[i] == FIELD_TID
					? unit_field(build->unit, renamed->type, renamed->field)
					: class->keys[0].fields[i];
	keys_add(build, class, &key);
	build->renames = renamed->type;
}

/* Whether runs are found by what this type has anyway: it can be of one key only. */
static bool has_type_key(const struct rule_build *build, const struct event_type *type)
{
	uint32_t index = unit_type(build->unit, type);

	for (size_t i = 0; i < build->class_count; i++)
		for (size_t j = 0; j < build->classes[i].key_count; j++)
			if (build->classes[i].keys[j].type == index)
				return true;
	return false;
}

void ends_add(struct rule_build *build)
{
	enum lang_semantics semantics = build->rule->semantics;
	struct task_end end, renamed;
	bool is_known = false;

	if (semantics == LANG_STRICT_SEQUENCE || semantics == LANG_STRICT_PARTITION)
		return;
	end = find_end(build, "sched_process_exit", "group_dead", EVENT_BOOL);
	renamed = find_end(build, "sched_process_exec", "old_pid", EVENT_I32);
	for (uint32_t i = 1; end.type && i < build->state_count && !build->error; i++) {
		bool of_thread;

		if (!waits_for_one(&build->states[i]) ||
		    !is_of_task(&build->classes[build->states[i].class], &of_thread))
			continue;
		add_end(build, i, &end, of_thread);
		if (!of_thread || !renamed.type)
			continue;
		if (!is_known && has_type_key(build, renamed.type))
			renamed.type = NULL;
		else
			add_renamed(build, i, &renamed);
		is_known = true;
	}
}
