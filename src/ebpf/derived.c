// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which rules hand events to each other by EMIT. Rules connected in this way run in one place, and none may get
 * back what it raised: code for it would be in each program twice.
 */

#include "ebpf/matcher-priv.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>

bool derived_takes(const struct program *program, uint32_t index, uint32_t type)
{
	const struct program_rule *rule = &program->rules[index];

	if (!program_rule_sees(program, rule, type))
		return false;
	if (rule->semantics <= PROGRAM_STRICT_PARTITION)
		return true;
	for (uint32_t i = 0; i < rule->state_count; i++) {
		uint32_t count;

		program_transitions_on(program, &program_states(program, rule)[i], type, &count);
		if (count)
			return true;
	}
	return false;
}

bool derived_feeds(const struct program *program, uint32_t from, uint32_t to)
{
	const struct program_rule *rule = &program->rules[from];

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		uint32_t type = program_statements(program, rule)[i].type;

		if (type != PROGRAM_NONE && derived_takes(program, to, type))
			return true;
	}
	return false;
}

static bool any_emits(const struct program *program)
{
	uint32_t count = program->header->sections[PROGRAM_STATEMENTS].count;

	for (uint32_t i = 0; i < count; i++)
		if (program->statements[i].type != PROGRAM_NONE)
			return true;
	return false;
}

/* The rules that are found from one by going along feeds, or along it both ways. */
struct search {
	const struct program *program;
	bool both_ways;
	bool *found;
	uint32_t *list;
	uint32_t count;
};

static void look_from(struct search *search, uint32_t rule)
{
	for (uint32_t other = 0; other < search->program->rule_count; other++) {
		if (search->found[other] || !(derived_feeds(search->program, rule, other) ||
					      (search->both_ways && derived_feeds(search->program, other, rule))))
			continue;
		search->found[other] = true;
		search->list[search->count++] = other;
	}
}

static int run(struct search *search, uint32_t rule)
{
	search->found = alloc_zero(search->program->rule_count, sizeof *search->found);
	search->list = alloc_zero(search->program->rule_count, sizeof *search->list);
	if (!search->found || !search->list)
		return -ENOMEM;
	look_from(search, rule);
	for (uint32_t i = 0; i < search->count && search->count <= MATCHER_COMPANY_MAX; i++)
		look_from(search, search->list[i]);
	return search->count > MATCHER_COMPANY_MAX ? -E2BIG : 0;
}

static void fini(struct search *search)
{
	alloc_free(search->found);
	alloc_free(search->list);
}

int derived_returns(const struct program *program, uint32_t rule)
{
	struct search search = { .program = program };
	int result;

	if (!any_emits(program))
		return 0;
	result = run(&search, rule);
	if (!result)
		result = search.found[rule];
	fini(&search);
	return result;
}

int derived_company(const struct program *program, uint32_t rule, uint32_t **list, uint32_t *count)
{
	struct search search = { .program = program, .both_ways = true };
	int result;

	*list = NULL;
	*count = 0;
	if (!any_emits(program))
		return 0;
	result = run(&search, rule);
	if (!result) {
		*list = search.list;
		*count = search.count;
		search.list = NULL;
	}
	fini(&search);
	return result;
}

static bool is_taken(const struct ebpf_matcher *matcher, uint32_t type)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++)
		if (matcher->rules[i].here && derived_takes(matcher->program, i, type))
			return true;
	return false;
}

/* What can interrupt a rule can interrupt those that it feeds. */
static void pass_on_interrupts(struct ebpf_matcher *matcher, const struct matcher_rule *from)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		struct matcher_rule *to = &matcher->rules[i];

		if (!to->here || to->interrupted || !from->interrupted ||
		    !derived_feeds(matcher->program, from->index, i))
			continue;
		to->interrupted = true;
		pass_on_interrupts(matcher, to);
	}
}

static int find_due(struct ebpf_matcher *matcher, struct matcher_rule *rule)
{
	struct search search = { .program = matcher->program };
	int error;

	rule->raises_due_ns = UINT64_MAX;
	if (!rule->raises || !(rule->rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER)))
		return 0;
	error = run(&search, rule->index); /* which is here, so its company is small */
	for (uint32_t i = 0; i < search.count && !error; i++) {
		uint64_t within = matcher->program->rules[search.list[i]].within_ns;

		if (within && within < rule->raises_due_ns)
			rule->raises_due_ns = within;
		if (matcher->program->rules[search.list[i]].flags & PROGRAM_RULE_TIMER)
			rule->raises_due_ns = 0;
	}
	fini(&search);
	return error;
}

int derived_find(struct ebpf_matcher *matcher)
{
	const struct program *program = matcher->program;
	int error = 0;

	for (uint32_t i = 0; i < program->rule_count && any_emits(program); i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count && matcher->rules[i].here; j++) {
			uint32_t type = program_statements(program, rule)[j].type;

			if (type == PROGRAM_NONE || !is_taken(matcher, type))
				continue;
			matcher->rules[i].raises = true;
			matcher->types[type].raised = true;
		}
	}
	for (uint32_t i = 0; i < program->rule_count && !error; i++) {
		for (uint32_t type = 0; type < program->type_count; type++)
			if (matcher->rules[i].here && matcher->types[type].raised && derived_takes(program, i, type))
				matcher->rules[i].raised = true;
		if (matcher->rules[i].raises)
			pass_on_interrupts(matcher, &matcher->rules[i]);
		error = find_due(matcher, &matcher->rules[i]);
	}
	return error;
}
