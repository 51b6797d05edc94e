// SPDX-License-Identifier: BSD-2-Clause
/* Decides the order of the passes that turn a unit into an image, and that no EMIT feeds itself. */

#include "automaton/compile.h"

#include "automaton/rule-priv.h"
#include "lang/ast-machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void rule_fini(struct rule_build *build)
{
	for (size_t i = 0; i < build->state_count; i++)
		alloc_free(build->states[i].drafts);
	for (size_t i = 0; i < build->class_count; i++)
		alloc_free(build->classes[i].keys);
	alloc_free(build->states);
	alloc_free(build->classes);
	alloc_free(build->slots);
	arena_free(build->arena);
}

static int rule_init(struct rule_build *build, struct unit_build *unit, const struct lang_rule *rule)
{
	int err;

	*build = (struct rule_build){ .unit = unit, .rule = rule, .arena = arena_new() };
	if (!build->arena)
		return -ENOMEM;
	build->flags = arena_zero(build->arena, rule->element_count + 1, sizeof *build->flags);
	if (!build->flags)
		return -ENOMEM;
	memset(build->flags, 0xff, (rule->element_count + 1) * sizeof *build->flags);
	err = pattern_build(&build->pattern, rule, build->arena);
	if (err == -E2BIG)
		diag_error(unit->diag, &rule->place, err, "the pattern of rule '%s' is too large", rule->name);
	return err;
}

/* Whether in some round around it the repeat that source is takes as many as it may. */
static bool takes(const struct pattern_node *node, const struct lang_structure *source)
{
	if (node->source == source && node->repeats && !node->eager)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (takes(node->children[i], source))
			return true;
	}
	return false;
}

/* A repeat that may be left out and is eager is always left out. */
static void warn_never(struct rule_build *build, const struct pattern_node *node)
{
	if (node->repeats && node->eager && node->min == 0 && !takes(build->pattern.root, node->source))
		diag_add(build->unit->diag, ASTERISM_WARNING, &node->source->place,
			 "an optional part closes as soon as its count may; put something behind it that tells them "
			 "apart",
			 "this optional part never takes an event");
	if (node->source->kind == LANG_NEGATION)
		return;
	for (uint32_t i = 0; i < (node->unrolled ? 1 : node->child_count); i++)
		warn_never(build, node->children[i]);
}

static int compile_rule(struct unit_build *unit, const struct lang_rule *rule)
{
	struct rule_build build;
	int err = rule_init(&build, unit, rule);

	if (!err) {
		warn_never(&build, build.pattern.root);
		slots_collect(&build);
		err = build.error;
	}
	if (!err)
		err = states_build(&build);
	if (!err) {
		keys_choose(&build);
		err = build.error;
	}
	if (!err) {
		rule_emit(&build);
		err = build.error;
	}
	rule_fini(&build);
	return err;
}

/* Whether rule's pattern names type. */
static bool uses(const struct lang_rule *rule, const struct event_type *type)
{
	for (uint32_t i = 0; i < rule->element_count; i++) {
		if (rule->elements[i].type == type)
			return true;
	}
	return false;
}

enum visit { UNSEEN, OPEN, DONE };

struct cycle_search {
	struct unit_build *unit;
	uint8_t *visits;
	uint32_t *trail;
	uint32_t depth;
};

static int report_cycle(struct cycle_search *search, uint32_t rule, const struct lang_statement *statement)
{
	const struct lang_rule *rules = search->unit->unit->rules;
	char path[512] = "";
	uint32_t i = 0;

	while (search->trail[i] != rule)
		i++;
	for (; i < search->depth; i++) {
		size_t used = strlen(path);

		snprintf(path + used, sizeof path - used, "%s -> ", rules[search->trail[i]].name);
	}
	return diag_error(search->unit->diag, &statement->place, -EINVAL, "EMIT feeds itself: %s%s", path,
			  rules[rule].name);
}

/* Depth-first: rule feeds every rule whose pattern names a type that rule emits. */
static int search_cycle(struct cycle_search *search, uint32_t index)
{
	const struct lang_unit *unit = search->unit->unit;
	const struct lang_rule *rule = &unit->rules[index];
	int err = 0;

	search->visits[index] = OPEN;
	search->trail[search->depth++] = index;
	for (uint32_t i = 0; i < rule->statement_count && !err; i++) {
		const struct lang_statement *statement = &rule->statements[i];

		for (uint32_t j = 0; j < unit->rule_count && statement->is_emit && !err; j++) {
			if (!uses(&unit->rules[j], statement->type))
				continue;
			if (search->visits[j] == OPEN)
				err = report_cycle(search, j, statement);
			else if (search->visits[j] == UNSEEN)
				err = search_cycle(search, j);
		}
	}
	search->depth--;
	search->visits[index] = DONE;
	return err;
}

static int check_cycles(struct unit_build *unit)
{
	uint32_t count = unit->unit->rule_count;
	struct cycle_search search = {
		.unit = unit,
		.visits = alloc_zero(count, sizeof *search.visits),
		.trail = alloc_zero(count + 1, sizeof *search.trail),
	};
	int err = search.visits && search.trail ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++) {
		if (search.visits[i] == UNSEEN)
			err = search_cycle(&search, i);
	}
	alloc_free(search.visits);
	alloc_free(search.trail);
	return err;
}

/* Types that a rule over the whole stream must know although no rule names them. */
static void add_stream_types(struct unit_build *unit)
{
	bool all = false;

	for (uint32_t i = 0; i < unit->unit->rule_count; i++)
		all |= unit->unit->rules[i].over_all;
	for (uint32_t i = 0; i < unit->unit->rule_count; i++) {
		for (uint32_t j = 0; j < unit->unit->rules[i].element_count; j++)
			unit_type(unit, unit->unit->rules[i].elements[j].type);
	}
	for (uint32_t i = 0; all && i < unit->unit->declared_count; i++)
		unit_type(unit, unit->unit->declared[i]);
}

int automaton_compile(const struct lang_unit *lang, const struct event_catalog *catalog, struct asterism_diag *diag,
		      void **bytes, size_t *length)
{
	struct unit_build unit = { .unit = lang, .catalog = catalog, .diag = diag, .out = program_build_new() };
	int err = unit.out ? check_cycles(&unit) : -ENOMEM, bad = 0;

	if (!err && lang->machine_count > 0)
		err = diag_error(diag, &lang->machines[0].place, -EINVAL, "machines cannot be compiled yet");
	if (!err)
		add_stream_types(&unit);
	for (uint32_t i = 0; i < lang->rule_count && !err; i++) {
		int failed = compile_rule(&unit, &lang->rules[i]);

		if (failed == -ENOMEM)
			err = failed;
		else if (failed)
			bad = failed;
	}
	if (!err)
		err = bad;
	if (!err)
		err = program_build_finish(unit.out, bytes, length);
	if (err == -ENOMEM)
		diag_no_memory(diag);
	alloc_free(unit.types);
	program_build_free(unit.out);
	return err;
}
