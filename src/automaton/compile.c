// SPDX-License-Identifier: BSD-2-Clause
/* Compiles a unit into an image: calls the passes in order. */

#include "automaton/compile.h"

#include "automaton/rule/rule-priv.h"

#include <errno.h>
#include <string.h>

static void rule_fini(struct rule_build *build)
{
	for (size_t i = 0; i < build->state_count; i++)
		alloc_free(build->states[i].pending);
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

	*build = (struct rule_build){ .unit = unit, .sort = "rule", .rule = rule, .arena = arena_new() };
	if (!build->arena)
		return -ENOMEM;
	build->flags = arena_zero(build->arena, rule->element_count + 1, sizeof *build->flags);
	if (!build->flags)
		return -ENOMEM;
	memset(build->flags, 0xff, (rule->element_count + 1) * sizeof *build->flags);
	err = pattern_build(&build->pattern, rule, build->arena);
	if (err == -E2BIG)
		diag_error(unit->diag, &rule->location, err, "the pattern of rule '%s' is too large", rule->name);
	return err;
}

/* Whether in some round around it the repeat that source is takes as many as it may. */
static bool takes_most_rounds(const struct pattern_node *node, const struct lang_structure *source)
{
	if (node->source == source && node->repeats && !node->eager)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++) {
		if (takes_most_rounds(node->children[i], source))
			return true;
	}
	return false;
}

/* A repeat that may be left out and is eager is always left out. */
static void warn_never(struct rule_build *build, const struct pattern_node *node)
{
	if (node->repeats && node->eager && node->min == 0 && !takes_most_rounds(build->pattern.root, node->source))
		diag_add(build->unit->diag, ASTERISM_WARNING, &node->source->location,
			 "an optional part ends as soon as it may; put something behind it that distinguishes them",
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
		shapes_warn(&build);
		ends_add(&build);
		err = build.error;
	}
	if (!err) {
		rule_emit(&build);
		err = build.error;
	}
	rule_fini(&build);
	return err;
}

/* Whether type is of the partitions of rule by fields of its own, and not by those that every event has. */
static bool is_partitioned(const struct lang_rule *rule, const struct event_type *type)
{
	bool has_own = false;

	for (uint32_t i = 0; i < rule->join_count; i++) {
		const struct event_field *model = rule->joins[i].fields[0];
		const struct event_field *field = event_field_find(type, rule->joins[i].name);

		if (!field || unit_kind(field->value) != unit_kind(model->value) ||
		    (field->value == EVENT_STRING && field->bytes != model->bytes))
			return false;
		has_own |= !event_field_is_header(field);
	}
	return has_own;
}

/* Which events interrupt must not depend on what other rules name. */
static void add_partitioned(struct unit_build *unit, const struct lang_rule *rule)
{
	const struct event_type *type;

	for (size_t i = 0; (type = event_catalog_get(unit->catalog, i)); i++)
		if (is_partitioned(rule, type))
			unit_type(unit, type);
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
	for (uint32_t i = 0; i < unit->unit->rule_count; i++) {
		const struct lang_rule *rule = &unit->unit->rules[i];

		if (rule->over_all && rule->semantics == LANG_STRICT_PARTITION)
			add_partitioned(unit, rule);
	}
}

/* Rules and machines are laid into the image in the order of their files and texts. */
int automaton_compile(const struct lang_unit *lang, const struct event_catalog *catalog, struct asterism_diag *diag,
		      void **bytes, size_t *length)
{
	struct unit_build unit = { .unit = lang, .catalog = catalog, .diag = diag, .out = program_build_new() };
	int err = unit.out ? rule_check_cycles(&unit) : -ENOMEM, bad = 0;

	if (!err)
		add_stream_types(&unit);
	for (uint32_t rule = 0, machine = 0; rule + machine < lang->rule_count + lang->machine_count && !err;) {
		bool is_machine = machine < lang->machine_count && lang->machines[machine].rules_before <= rule;
		int failed = is_machine ? machine_compile(&unit, &lang->machines[machine++])
					: compile_rule(&unit, &lang->rules[rule++]);

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
