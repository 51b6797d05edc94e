// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the recorded type that another one follows from: one that is raised at the same tracepoint, about the same
 * processes, wherever the other one would be. A type with several sources follows only if it does in all of them.
 */

#include "session/derive/plan.h"

#include "ebpf/source/plan.h"

#include <errno.h>
#include <string.h>

enum { REASON_BYTES = 256 };

static const char entry_point[] = "raw_syscalls:sys_enter", exit_point[] = "raw_syscalls:sys_exit";

bool derive_is_entry(const struct derive_base *base)
{
	return strcmp(base->source->tracepoint, entry_point) == 0;
}

bool derive_is_exit(const struct derive_base *base)
{
	return strcmp(base->source->tracepoint, exit_point) == 0;
}

/* What cannot be parsed was not recorded either; -ENOMEM sticks. */
static int parse_path(struct derive_plan *plan, const char *text, struct event_path **parsed)
{
	char reason[REASON_BYTES];
	int result = event_path_parse(text, plan->arena, parsed, reason, sizeof reason);

	if (result)
		*parsed = NULL;
	return result == -ENOMEM ? result : 0;
}

/* The conditions of a source, with the one that holds for its tracepoint whether the catalog says so or not. */
static int parse_when(struct derive_plan *plan, const struct event_hook *source, struct event_path_conditions *when)
{
	struct event_path_conditions implied = { 0 };
	char reason[REASON_BYTES];
	int result = event_path_parse_when(source->when, plan->arena, when, reason, sizeof reason);

	if (!result)
		result = event_path_parse_when(source_implied_when(source->tracepoint), plan->arena, &implied, reason,
					       sizeof reason);
	if (result || !implied.count)
		return result;
	struct event_path_condition *items = arena_zero(plan->arena, when->count + implied.count, sizeof *items);

	if (!items)
		return -ENOMEM;
	if (when->count)
		memcpy(items, when->items, when->count * sizeof *items);
	memcpy(items + when->count, implied.items, implied.count * sizeof *items);
	*when = (struct event_path_conditions){ items, when->count + implied.count };
	return 0;
}

static int add_base(struct derive_plan *plan, struct event_source *inner, const struct event_type *type)
{
	struct derive_base base = { .type = type, .source = type->hooks };
	int result;

	base.paths = arena_zero(plan->arena, type->field_count, sizeof *base.paths);
	if (!base.paths || alloc_grow(&plan->bases, &plan->base_capacity, plan->base_count, sizeof *plan->bases))
		return -ENOMEM;
	result = parse_when(plan, base.source, &base.when);
	if (result)
		return result == -ENOMEM ? result : 0;
	for (uint32_t i = 0; i < type->field_count && !result; i++) {
		if (base.source->paths[i] && event_source_holds(inner, type, i))
			result = parse_path(plan, base.source->paths[i], &base.paths[i]);
	}
	plan->bases[plan->base_count++] = base;
	return result;
}

int derive_plan_init(struct derive_plan *plan, struct event_source *inner, const struct event_catalog *catalog)
{
	const struct event_type *type;
	int result;

	*plan = (struct derive_plan){ .arena = arena_new() };
	if (!plan->arena)
		return -ENOMEM;
	result = parse_path(plan, "id", &plan->entry_number);
	if (!result)
		result = parse_path(plan, "regs->orig_ax", &plan->exit_number);
	for (size_t i = 0; !result && (type = event_catalog_get(catalog, i)); i++) {
		if (type->hook_count == 1 && event_source_holds(inner, type, EVENT_NO_FIELD))
			result = add_base(plan, inner, type);
	}
	return result;
}

void derive_plan_fini(struct derive_plan *plan)
{
	alloc_free(plan->bases);
	alloc_free(plan->items);
	arena_free(plan->arena);
	*plan = (struct derive_plan){ 0 };
}

static bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Whether an event of base was recorded wherever source raises one. */
static bool covers(const struct derive_base *base, const struct event_hook *source,
		   const struct event_path_conditions *when)
{
	const struct derive_base judged = { .when = *when };

	if (strcmp(base->source->tracepoint, source->tracepoint) != 0 ||
	    !is_same_text(base->source->scope, source->scope))
		return false;
	for (uint32_t i = 0; i < base->when.count; i++) {
		if (!derive_is_given(&judged, &base->when.items[i]))
			return false;
	}
	return true;
}

/* The recorded beginning of any call that base tells the end of. */
static const struct derive_base *entry_of(const struct derive_plan *plan, const struct derive_base *base)
{
	for (size_t i = 0; derive_is_exit(base) && i < plan->base_count; i++) {
		const struct derive_base *entry = &plan->bases[i];

		if (derive_is_entry(entry) && !entry->source->when && derive_field_of(entry, plan->entry_number) &&
		    derive_field_of(base, plan->exit_number))
			return entry;
	}
	return NULL;
}

/* What somebody wants to know of a type. */
struct demand {
	const struct event_want *want; /* NULL: only the field, if it is one */
	uint32_t field;
};

static bool is_field_demanded(const struct demand *demand, const struct event_type *type, uint32_t field)
{
	const struct event_want *want = demand->want;

	if (!want)
		return field == demand->field;
	return !want->wants_field || want->wants_field(want->context, type, field);
}

/* A derivation on its way: what of the type's sources it stands for, and what its paths may speak of. */
struct draft {
	struct derive_plan *plan;
	const struct event_hook *source;
	const struct demand *demand;
	struct event_path_conditions when;
	struct derive_scope scope;
	struct derivation made;
};

static int compile_when(struct draft *draft)
{
	struct derivation *made = &draft->made;

	made->when = arena_zero(draft->scope.arena, draft->when.count, sizeof *made->when);
	if (!made->when)
		return -ENOMEM;
	for (uint32_t i = 0; i < draft->when.count; i++) {
		const struct event_path_condition *condition = &draft->when.items[i];
		struct derive_condition *to = &made->when[made->when_count];
		int result;

		if (derive_is_given(draft->scope.base, condition))
			continue;
		result = derive_integer_compile(&draft->scope, condition->path, &to->node);
		if (result)
			return result;
		to->compare = condition->compare;
		to->value = (uint64_t)condition->value;
		made->when_count++;
	}
	return 0;
}

static int compile_fields(struct draft *draft)
{
	const struct event_type *type = draft->made.type;
	struct derive_node **fields = arena_zero(draft->scope.arena, type->field_count, sizeof *fields);
	int result = fields ? 0 : -ENOMEM;

	draft->made.fields = fields;
	for (uint32_t i = 0; i < type->field_count && !result; i++) {
		struct event_path *path = NULL;

		if (!is_field_demanded(draft->demand, type, i))
			continue;
		if (draft->source->paths[i])
			result = parse_path(draft->plan, draft->source->paths[i], &path);
		if (!result)
			result =
				path ? derive_path_compile(&draft->scope, path, &type->fields[i], &fields[i]) : -ENOENT;
	}
	return result;
}

/* One source of a type, by the first base that can. */
static int derive_source(struct draft *draft, const struct event_type *type)
{
	struct derive_plan *plan = draft->plan;
	int result = parse_when(plan, draft->source, &draft->when);

	if (result)
		return result == -ENOMEM ? result : -ENOENT;
	result = -ENOENT;
	for (size_t i = 0; result == -ENOENT && i < plan->base_count; i++) {
		const struct derive_base *base = &plan->bases[i];

		if (!covers(base, draft->source, &draft->when))
			continue;
		draft->scope = (struct derive_scope){ plan->arena, base, entry_of(plan, base) };
		draft->made = (struct derivation){ .type = type, .base = base, .number = UINT32_MAX };
		result = compile_when(draft);
		if (!result)
			result = compile_fields(draft);
	}
	return result;
}

/* All of its sources, added to the plan where add says so. Returns 0; -ENOENT: it does not follow; -ENOMEM. */
static int derive_type(struct derive_plan *plan, const struct event_type *type, const struct demand *demand, bool add)
{
	size_t before = plan->count;
	int result = type->hook_count ? 0 : -ENOENT;

	for (uint32_t i = 0; i < type->hook_count && !result; i++) {
		struct draft draft = { .plan = plan, .source = &type->hooks[i], .demand = demand };

		result = derive_source(&draft, type);
		if (result || !add)
			continue;
		if (alloc_grow(&plan->items, &plan->capacity, plan->count, sizeof *plan->items))
			result = -ENOMEM;
		else
			plan->items[plan->count++] = draft.made;
	}
	if (result)
		plan->count = before;
	return result;
}

static bool is_base(const struct derive_plan *plan, const struct event_type *type)
{
	for (size_t i = 0; i < plan->base_count; i++) {
		if (plan->bases[i].type == type)
			return true;
	}
	return false;
}

int derive_plan_make(struct derive_plan *plan, const struct event_catalog *catalog, const struct event_want *want)
{
	const struct demand demand = { .want = want };
	const struct event_type *type;
	int result = 0;

	for (size_t i = 0; want->names && (type = event_catalog_get(catalog, i)) && result != -ENOMEM; i++) {
		if (want->names(want->context, type) && !is_base(plan, type))
			result = derive_type(plan, type, &demand, true);
	}
	return result == -ENOMEM ? result : 0;
}

bool derive_plan_holds(struct derive_plan *plan, const struct event_type *type, uint32_t field)
{
	const struct demand demand = { .field = field };

	return derive_type(plan, type, &demand, false) == 0;
}
