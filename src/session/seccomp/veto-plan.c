// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the system calls that are held. The filter holds the calls that the rules look at and execve, at which the
 * launched command waits for its start; it lets all other native calls pass. Calls that the rules cannot tell - those
 * of 32-bit code, those of the x32 ABI, whose numbers mean other calls - would be a way around them: the first end the
 * process with SIGSYS, the second fail as on a kernel that does not have them.
 */

#include "session/seccomp/veto-plan.h"

#include "base/alloc.h"
#include "event/about.h"
#include "program/calls.h"
#include "program/emissions.h"
#include "program/reads.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum { X32_BIT = 0x40000000, FILTER_MAX = 2 * VETO_CALLS_MAX + 8, REASON_BYTES = 200 };
enum { HEADER_CPU = 1, HEADER_PID, HEADER_TID, HEADER_COMM };

/* What the rules read of events. */
struct reads {
	bool *types; /* per type of the program: a rule looks at it */
	bool header[EVENT_HEADER_FIELDS];
	bool *body; /* per field of the program */
};

static const struct react_action *veto_of(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct react_action *action = program_call(program, &program_statements(program, rule)[i]);

		if (action && action->fails_call)
			return action;
	}
	return NULL;
}

bool veto_plan_concerns(const struct program *program, uint32_t rule, const struct session_policy *policy)
{
	const struct react_action *action = veto_of(program, &program->rules[rule]);

	return action && policy_allows(policy, action);
}

/* An event that is kept as it is has a 'cpu', but it is not asked for. */
static void note_image_field(void *context, uint32_t field, enum program_read what_for)
{
	struct reads *reads = context;

	if (field >= EVENT_HEADER_FIELDS)
		reads->body[field] = true;
	else if (field != HEADER_CPU || what_for != PROGRAM_READ_TO_KEEP)
		reads->header[field] = true;
}

static int refuse_veto_rule(struct asterism_diag *diag, const struct program *program, const struct program_rule *rule,
			    const char *why)
{
	return diag_error(diag, NULL, -EINVAL, "rule %s cannot refuse system calls: %s",
			  program_text(program, rule->name), why);
}

/* What the compiler has refused already may still come from an image. */
static int check_rule(const struct program *program, const struct program_rule *rule, const struct reads *reads,
		      struct asterism_diag *diag)
{
	if (rule->flags & PROGRAM_RULE_DEADLINE)
		return refuse_veto_rule(diag, program, rule, "it may match at a timeout, while no call is held");
	if (rule->flags & PROGRAM_RULE_OVER_ALL)
		return refuse_veto_rule(diag, program, rule, "it looks at every event");
	if (rule->mode == PROGRAM_ASYNCHRONOUS)
		return refuse_veto_rule(diag, program, rule, "it is ASYNCHRONOUS, and no call waits for it");
	if (program_emits(program, rule))
		return refuse_veto_rule(diag, program, rule, "it emits events");
	if (reads->header[HEADER_CPU])
		return refuse_veto_rule(diag, program, rule, "it uses 'cpu', which a held call does not provide");
	return 0;
}

/* The image's fields must lie where the catalog's do. */
static bool is_same_layout(const struct program *program, const struct program_type *row, const struct event_type *type)
{
	if (!event_about_extends(type, row->field_count, row->record_bytes))
		return false;
	for (uint32_t i = 0; i < row->field_count; i++) {
		const struct program_field *field = &program_fields(program, row)[i];
		const struct event_field *known = &type->fields[i];

		if (field->value != known->value || field->offset != known->offset || field->bytes != known->bytes ||
		    strcmp(program_text(program, field->name), known->name) != 0)
			return false;
	}
	return true;
}

static int add_veto_type(struct veto_plan *plan, const struct session_rules *rules, uint32_t index, const bool *body,
			 struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	const struct program_type *row = &program->types[index];
	const char *name = program_text(program, row->name);
	const struct event_type *type = event_catalog_find(session_rules_catalog(rules), name);
	const struct veto_wish wish = { type, &body[row->first_field] };
	struct veto_type *made = &plan->types[plan->type_count++];
	char reason[REASON_BYTES] = "the catalog does not have it like this";
	int result = type && is_same_layout(program, row, type)
			     ? veto_type_init(made, &wish, plan->arena, reason, sizeof reason)
			     : -EINVAL;

	made->index = index;
	if (result == -EINVAL)
		return diag_error(diag, NULL, result, "rules over %s cannot judge system calls: %s", name, reason);
	return result ? diag_no_memory(diag) : 0;
}

/* Whether the rule takes the type for nothing but the end of runs; what an image may say, and no rule does. */
static bool only_ends(const struct program *program, const struct program_rule *rule, uint32_t type, bool *of_threads)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			const struct program_transition *transition = &program_transitions(program, state)[j];

			if (transition->type != type)
				continue;
			if (!(transition->flags & PROGRAM_GONE))
				return false;
			*of_threads |= transition->fit == PROGRAM_NONE;
		}
	}
	return true;
}

static int plan_end(struct veto_plan *plan, const struct session_rules *rules, uint32_t index,
		    struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	const struct program_type *row = &program->types[index];
	const char *name = program_text(program, row->name);
	const struct event_type *type = event_catalog_find(session_rules_catalog(rules), name);
	const struct event_field *last = type ? event_field_find(type, "group_dead") : NULL;
	struct veto_end end = { .wanted = true, .index = index, .record_bytes = row->record_bytes };

	if (!last || last->value != EVENT_BOOL || !is_same_layout(program, row, type))
		return diag_error(diag, NULL, -EINVAL, "rules over %s cannot judge system calls: %s", name,
				  "the catalog does not have it like this");
	for (uint32_t i = 0; i < program->rule_count; i++)
		if (plan->rules[i] && !only_ends(program, &program->rules[i], index, &end.of_threads))
			return refuse_veto_rule(diag, program, &program->rules[i], "it looks at the ends of processes");
	end.last_at = last->offset;
	plan->end = end;
	return 0;
}

/* A thread that executes a program has ended, as far as its descriptor tells. */
static int plan_renames(const struct veto_plan *plan, const struct session_rules *rules, uint32_t index,
			struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	bool of_threads = false;

	for (uint32_t i = 0; i < program->rule_count; i++)
		if (plan->rules[i] && !only_ends(program, &program->rules[i], index, &of_threads))
			return refuse_veto_rule(diag, program, &program->rules[i],
						"it looks at programs that are executed");
	return 0;
}

static int plan_type(struct veto_plan *plan, const struct session_rules *rules, uint32_t index, const bool *body,
		     struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	const char *name = program_text(program, program->types[index].name);

	if (strcmp(name, "sched_process_exit") == 0)
		return plan_end(plan, rules, index, diag);
	if (strcmp(name, "sched_process_exec") == 0)
		return plan_renames(plan, rules, index, diag);
	return add_veto_type(plan, rules, index, body, diag);
}

static int plan_rule(struct veto_plan *plan, const struct program *program, uint32_t index, struct reads *reads,
		     struct asterism_diag *diag)
{
	const struct program_rule *rule = &program->rules[index];

	plan->rules[index] = true;
	for (uint32_t i = 0; i < rule->over_count; i++)
		reads->types[program_over(program, rule)[i]] = true;
	program_each_read(program, index, PROGRAM_NONE, note_image_field, reads);
	return check_rule(program, rule, reads, diag);
}

static int plan_rules(struct veto_plan *plan, const struct session_rules *rules, const struct session_policy *policy,
		      struct reads *reads, struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count && !result; i++) {
		plan->others[i] = !veto_plan_concerns(program, i, policy);
		if (!plan->others[i])
			result = plan_rule(plan, program, i, reads, diag);
	}
	for (uint32_t i = 0; i < program->type_count && !result; i++)
		if (reads->types[i])
			result = plan_type(plan, rules, i, reads->body, diag);
	plan->wants_who = plan->end.wanted || reads->header[HEADER_PID] || reads->header[HEADER_COMM];
	return result;
}

static void put_instruction(struct sock_fprog *filter, struct sock_filter instruction)
{
	filter->filter[filter->len++] = instruction;
}

static int make_filter(struct veto_plan *plan)
{
	struct sock_fprog *filter = &plan->filter;
	bool numbers[VETO_CALLS_MAX] = { [SYS_execve] = true }, all = false;

	filter->filter = arena_zero(plan->arena, FILTER_MAX, sizeof *filter->filter);
	if (!filter->filter)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->type_count; i++)
		all |= veto_type_numbers(&plan->types[i], numbers) != 0;
	put_instruction(filter,
			(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	put_instruction(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	put_instruction(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	put_instruction(filter,
			(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	put_instruction(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1));
	put_instruction(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
	for (uint32_t i = 0; i < VETO_CALLS_MAX && !all; i++) {
		if (!numbers[i])
			continue;
		put_instruction(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1));
		put_instruction(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
	}
	put_instruction(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							     all ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW));
	return 0;
}

int veto_plan_init(struct veto_plan *plan, const struct session_rules *rules, const struct session_policy *policy,
		   struct asterism_diag *diag)
{
	const struct program *program = session_rules_program(rules);
	struct reads reads = { .body = NULL };
	bool any = false;
	int result;

	*plan = (struct veto_plan){ .arena = NULL };
	for (uint32_t i = 0; i < program->rule_count; i++)
		any |= veto_plan_concerns(program, i, policy);
	if (!any)
		return 0;
	plan->arena = arena_new();
	if (!plan->arena)
		return diag_no_memory(diag);
	plan->rules = arena_zero(plan->arena, program->rule_count, sizeof *plan->rules);
	plan->others = arena_zero(plan->arena, program->rule_count, sizeof *plan->others);
	plan->types = arena_zero(plan->arena, program->type_count, sizeof *plan->types);
	reads.types = arena_zero(plan->arena, program->type_count, sizeof *reads.types);
	reads.body = arena_zero(plan->arena, program->field_count, sizeof *reads.body);
	if (!plan->rules || !plan->others || !plan->types || !reads.types || !reads.body)
		return diag_no_memory(diag);
	result = plan_rules(plan, rules, policy, &reads, diag);
	if (!result && make_filter(plan))
		result = diag_no_memory(diag);
	return result;
}

void veto_plan_fini(struct veto_plan *plan)
{
	if (plan->arena)
		arena_free(plan->arena);
	*plan = (struct veto_plan){ .arena = NULL };
}

void session_place(const struct program *program, uint32_t rule, struct session_placement *placement)
{
	static const struct session_policy everything = { .allows_all = true };

	if (!veto_plan_concerns(program, rule, &everything)) {
		session_placement_of(program, rule, placement);
		return;
	}
	*placement = (struct session_placement){ .place = SESSION_VETO };
	snprintf(placement->reason, sizeof placement->reason,
		 "the call that completes the match waits for the decision");
}
