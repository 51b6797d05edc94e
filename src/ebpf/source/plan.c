// SPDX-License-Identifier: BSD-2-Clause
/*
 * Spreads the wanted types over programs. Sources of one tracepoint share a program, so that the kernel enters BPF once
 * per firing, unless their SCOPE differs: a program begins with one scope test for all.
 */

#include "ebpf/source/plan.h"

#include "ebpf/kernel/attach-tracefs.h"
#include "ebpf/kernel/btf-module.h"
#include "ebpf/path/value.h"
#include "ebpf/path/walk.h"
#include "ebpf/source/await.h"
#include "ebpf/source/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLAN_REASON_BYTES = 256 };

static bool uses_record(const struct source_node *node)
{
	if (!node)
		return false;
	if (node->op >= SOURCE_CTX)
		return true;
	return uses_record(node->left) || uses_record(node->right);
}

/* A source whose texts are parsed, on the way to becoming an entry of a unit. */
struct plan_draft {
	struct source_binding binding;
	const struct event_type *type;
	const struct event_hook *source;
	const struct attach_place *place; /* where the source's probe stands; of a tracepoint, none */
	const struct source_want *want;
	struct source_entry entry;
	struct source_unit unit;  /* without entries */
	struct btf_module module; /* the binding's, where the tracepoint is a module's; else empty */
	bool *absent;             /* per field: the path ends in a constant, as this kernel has nothing else of it */
};

static bool is_needed(const struct source_want *want, uint32_t field)
{
	return !want || !want->needs || want->needs->body[field];
}

static int parse_conditions(struct plan_draft *draft)
{
	struct source_binding *binding = &draft->binding;
	const struct event_hook *source = draft->source;
	int result = path_parse_when(source->when, binding->arena, &draft->entry.when, binding->reason, binding->size);

	if (!result)
		result = path_parse_scope(source->scope, binding->arena, &draft->unit.scope, binding->reason,
					  binding->size);
	draft->entry.paths = arena_zero(binding->arena, draft->type->field_count, sizeof *draft->entry.paths);
	draft->absent = arena_zero(binding->arena, draft->type->field_count, sizeof *draft->absent);
	if (!draft->entry.paths || !draft->absent)
		return -ENOMEM;
	for (uint32_t i = 0; i < draft->type->field_count && !result; i++) {
		if (!is_needed(draft->want, i))
			continue;
		if (!source->paths[i]) {
			snprintf(binding->reason, binding->size, "the catalog has no path for the field");
			result = -EINVAL;
			break;
		}
		result = path_parse_path(source->paths[i], binding->arena, &draft->entry.paths[i], binding->reason,
					 binding->size);
		binding->classic = binding->classic || (!result && uses_record(draft->entry.paths[i]));
	}
	for (uint32_t i = 0; i < draft->entry.when.count && !result; i++)
		binding->classic = binding->classic || uses_record(draft->entry.when.items[i].path);
	return result;
}

/* Looks for the tracepoint among those of modules, whose types the paths are then resolved against. */
static int find_in_modules(struct plan_draft *draft)
{
	struct source_binding *binding = &draft->binding;
	const struct btf_module_search search = {
		binding->btf, BTF_MODULE_FOLDER, draft->source->tracepoint, binding->reason, binding->size,
	};
	int result = btf_module_find(&search, &draft->module);
	uint32_t id;

	if (result == -ENOENT && attach_tracefs_id(draft->source->tracepoint, &id) == 0) {
		snprintf(binding->reason, binding->size,
			 "/sys/kernel/btf does not describe the tracepoint %s: the type information of its module is "
			 "missing or incomplete",
			 draft->source->tracepoint);
		return -ENODATA;
	}
	if (result)
		return result;
	draft->unit.module = arena_text(binding->arena, draft->module.name, strlen(draft->module.name));
	if (!draft->unit.module)
		return -ENOMEM;
	binding->btf = draft->module.btf;
	return btf_kernel_tracepoint(binding->btf, strchr(draft->source->tracepoint, ':') + 1, &binding->tracepoint);
}

/* Finds the tracepoint: as a raw one where paths do not speak of a record, else through tracefs. */
static int find_planned_tracepoint(struct plan_draft *draft)
{
	struct source_binding *binding = &draft->binding;
	const char *colon = strchr(draft->source->tracepoint, ':');
	const char *name = colon ? colon + 1 : draft->source->tracepoint;
	int result = -ENOENT;

	draft->unit.tracepoint = draft->source->tracepoint;
	if (attach_is_probe(draft->source->tracepoint)) {
		draft->unit.classic = binding->classic = binding->is_probe = true;
		draft->unit.spots = arena_zero(binding->arena, 1, sizeof *draft->unit.spots);
		if (!draft->unit.spots)
			return -ENOMEM;
		draft->unit.spots[0] =
			(struct source_spot){ .tracepoint = draft->source->tracepoint, .place = *draft->place };
		draft->unit.spot_count = 1;
		draft->unit.is_own = draft->place->is_own;
		binding->place = draft->place;
		return 0;
	}
	if (!binding->classic) {
		result = btf_kernel_tracepoint(binding->btf, name, &binding->tracepoint);
		if (result == -ENOENT && colon && draft->type->origin != EVENT_TRACEFS)
			result = find_in_modules(draft);
		if (result && result != -ENOENT)
			return result;
		draft->unit.attach_id = binding->tracepoint.id;
	}
	if (result && (binding->classic || draft->type->origin == EVENT_TRACEFS)) {
		binding->classic = true;
		result = attach_tracefs_id(draft->source->tracepoint, &draft->unit.attach_id);
	}
	draft->unit.classic = binding->classic;
	if (result == -ENOENT)
		snprintf(binding->reason, binding->size, "the kernel has no tracepoint %s", draft->source->tracepoint);
	else if (result)
		snprintf(binding->reason, binding->size, "tracefs does not describe %s: %s", draft->source->tracepoint,
			 strerror(-result));
	return result;
}

/* Eight bytes of the user's, as they lie there, are what the user says they are. */
static bool is_any_number(const struct source_node *path)
{
	return path->op == SOURCE_USER_WORD && (path->bytes == 0 || path->bytes == 8);
}

/* What a field takes: strings take strings, numbers take numbers, and both take 0. */
static int resolve_field(struct plan_draft *draft, uint32_t i)
{
	const struct event_field *field = &draft->type->fields[i];
	struct source_node *path = draft->entry.paths[i];
	bool chooses = path->op == SOURCE_CHOICE;
	int result = path_resolve(&draft->binding, path);

	if (result)
		return result;
	draft->absent[i] = chooses && path->op == SOURCE_CONST;
	bool is_text = path_is_string(path), is_zero = path->op == SOURCE_CONST && path->value == 0;

	if (is_text != (field->value == EVENT_STRING) && !is_zero) {
		snprintf(draft->binding.reason, draft->binding.size,
			 "its path leads to a %s, which its type does not take", is_text ? "string" : "number");
		return -EINVAL;
	}
	if (field->value == EVENT_F64 && !is_zero && !is_any_number(path)) {
		snprintf(draft->binding.reason, draft->binding.size, "the kernel has no floating point numbers");
		return -EINVAL;
	}
	if (draft->want && draft->want->packed)
		draft->entry.extent += is_text || field->value == EVENT_STRING ? field->bytes : 0;
	else if (field->offset + field->bytes > draft->entry.extent)
		draft->entry.extent = field->offset + field->bytes;
	return 0;
}

/* Puts where before the reason. */
static void prefix_reason(const struct plan_draft *draft, const char *where)
{
	char text[PLAN_REASON_BYTES];

	snprintf(text, sizeof text, "%s: %s", where, draft->binding.reason);
	snprintf(draft->binding.reason, draft->binding.size, "%s", text);
}

/* Whose event it is must be known: memory of the user may not be there. */
static int resolve_scope(struct plan_draft *draft, struct source_node *path)
{
	int result = path_resolve_integer(&draft->binding, path);

	if (result || !path_reads_user(path))
		return result;
	snprintf(draft->binding.reason, draft->binding.size, "it lies in user memory, which may not be present");
	return -EINVAL;
}

static int resolve_draft(struct plan_draft *draft)
{
	int result = find_planned_tracepoint(draft);

	if (result)
		return result;
	for (uint32_t i = 0; i < draft->entry.when.count && !result; i++)
		result = path_resolve_integer(&draft->binding, draft->entry.when.items[i].path);
	if (result) {
		prefix_reason(draft, "WHEN");
		return result;
	}
	for (uint32_t i = 0; i < draft->unit.scope.count && !result; i++)
		result = resolve_scope(draft, draft->unit.scope.items[i]);
	if (result) {
		prefix_reason(draft, "SCOPE");
		return result;
	}
	for (uint32_t i = 0; i < draft->type->field_count; i++) {
		if (!draft->entry.paths[i])
			continue;
		result = resolve_field(draft, i);
		if (result) {
			prefix_reason(draft, draft->type->fields[i].name);
			return result;
		}
	}
	return 0;
}

static int add_implied_condition(struct plan_draft *draft)
{
	const char *text = source_implied_when(draft->source->tracepoint);
	struct source_conditions *when = &draft->entry.when, implied;
	char reason[PLAN_REASON_BYTES];
	struct source_binding binding = draft->binding;

	if (draft->unit.classic || !text)
		return 0;
	binding.reason = reason;
	binding.size = sizeof reason;
	int result = path_parse_when(text, binding.arena, &implied, reason, sizeof reason);

	if (!result)
		result = path_resolve_integer(&binding, implied.items[0].path);
	if (result)
		return result == -ENOMEM ? result : 0; /* a kernel without such a flag runs no such programs */
	struct source_condition *items = arena_zero(binding.arena, when->count + 1, sizeof *items);
	uint32_t count = 0;

	if (!items)
		return -ENOMEM;
	/* First, also where it stands already: a call of no wanted number is to be counted, too. */
	items[count++] = implied.items[0];
	for (uint32_t i = 0; i < when->count; i++) {
		if (!path_same(when->items[i].path, items[0].path))
			items[count++] = when->items[i];
		else if (!path_same_condition(&when->items[i], &items[0]))
			return 0; /* it asks for calls of 32-bit code itself */
	}
	*when = (struct source_conditions){ .items = items, .count = count };
	draft->unit.native = items;
	return 0;
}

/* want NULL: all fields, for judging only. */
static int draft_place(struct plan_draft *draft, const struct btf_kernel *btf, struct arena *arena,
		       const struct source_want *want)
{
	draft->want = want;
	draft->binding.btf = btf;
	draft->binding.arena = arena;
	draft->entry.want = want;
	draft->entry.extent = want && want->packed ? 0 : sizeof(struct event_header);
	draft->unit.scope_text = draft->source->scope ? draft->source->scope : "";
	draft->unit.group = want ? want->group : 0;
	int result = parse_conditions(draft);

	if (!result)
		result = resolve_draft(draft);
	if (!result)
		result = add_implied_condition(draft);
	btf_module_close(&draft->module);
	return result;
}

/* One draft for each place where the source is met; a tracepoint is one. */
struct drafts {
	struct plan_draft *items;
	size_t count;
};

/* one has what all have in common. All of them can be served, or the source cannot. */
static int draft_source(const struct plan_draft *one, const struct btf_kernel *btf, struct arena *arena,
			const struct source_want *want, struct drafts *drafts)
{
	const struct attach_reason reason = { one->binding.reason, one->binding.size };
	struct attach_places places = { NULL, 1 };
	int result = 0;

	if (attach_is_probe(one->source->tracepoint))
		result = attach_probe_find(one->source->tracepoint, arena, &places, &reason);
	if (result)
		return result;
	drafts->count = places.count;
	drafts->items = arena_zero(arena, places.count, sizeof *drafts->items);
	for (size_t i = 0; drafts->items && i < places.count && !result; i++) {
		drafts->items[i] = *one;
		drafts->items[i].place = places.items ? &places.items[i] : NULL;
		result = draft_place(&drafts->items[i], btf, arena, want);
	}
	return drafts->items ? result : -ENOMEM;
}

/* Several places of one probe have programs of their own at first. */
static uint64_t probe_offset(const struct source_unit *unit)
{
	return unit->spot_count ? unit->spots[0].place.offset : 0;
}

static struct source_unit *unit_for(struct source_plan *plan, const struct source_unit *wanted)
{
	for (size_t i = 0; i < plan->unit_count; i++) {
		struct source_unit *unit = &plan->units[i];

		if (strcmp(unit->tracepoint, wanted->tracepoint) == 0 && unit->classic == wanted->classic &&
		    strcmp(unit->scope_text, wanted->scope_text) == 0 && unit->group == wanted->group &&
		    probe_offset(unit) == probe_offset(wanted))
			return unit;
	}
	if (alloc_grow(&plan->units, &plan->unit_capacity, plan->unit_count, sizeof *plan->units))
		return NULL;
	plan->units[plan->unit_count] = *wanted;
	return &plan->units[plan->unit_count++];
}

static int add_drafts(struct source_plan *plan, const struct drafts *drafts)
{
	int result = 0;

	for (size_t i = 0; i < drafts->count && !result; i++) {
		struct source_unit *unit = unit_for(plan, &drafts->items[i].unit);

		result = unit ? source_unit_add_entry(unit, &drafts->items[i].entry) : -ENOMEM;
	}
	return result;
}

static bool is_told(const struct source_plan *plan, const struct event_field *field)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i] == field)
			return true;
	return false;
}

static bool is_asked(const struct source_want *want, uint32_t field)
{
	return want->asked ? want->asked[field] : want->needs && want->needs->body[field];
}

/* A value that says nothing must not be taken for one that does. Several wants of a field hear it once. */
static int tell_absent_value(struct source_plan *plan, const struct plan_draft *draft, struct asterism_diag *diag)
{
	const struct event_type *type = draft->type;

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];

		if (!draft->absent[i] || !is_asked(draft->want, i) || is_told(plan, field))
			continue;
		if (alloc_grow(&plan->absent, &plan->absent_capacity, plan->absent_count, sizeof *plan->absent))
			return -ENOMEM;
		plan->absent[plan->absent_count++] = field;
		diag_add(diag, ASTERISM_WARNING, NULL, NULL,
			 "this kernel does not provide %s of %s: it is always %" PRId64, field->name, type->name,
			 draft->entry.paths[i]->value);
	}
	return 0;
}

static int add_want(struct source_plan *plan, const struct btf_kernel *btf, const struct source_want *want,
		    struct asterism_diag *diag)
{
	const struct event_type *type = want->type;
	char reason[PLAN_REASON_BYTES], first[PLAN_REASON_BYTES] = "";
	uint32_t served = 0;

	for (uint32_t i = 0; i < type->hook_count; i++) {
		struct plan_draft draft = { .type = type, .source = &type->hooks[i] };
		struct drafts drafts;

		draft.binding.reason = reason;
		draft.binding.size = sizeof reason;
		int result = draft_source(&draft, btf, plan->arena, want, &drafts);

		if (!result) {
			result = add_drafts(plan, &drafts);
			if (!result && !served++)
				result = tell_absent_value(plan, &drafts.items[0], diag);
		}
		if (result == -ENOMEM)
			return diag_no_memory(diag);
		if (result && !*first)
			snprintf(first, sizeof first, "%s", reason);
	}
	if (type->hook_count == 0)
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "the kernel does not raise the event %s: its declaration has no source", type->name);
	if (served == 0)
		return diag_error(diag, NULL, -EOPNOTSUPP, "this kernel does not have the event %s: %s", type->name,
				  first);
	return 0;
}

/* Each call of 32-bit code counts once: where calls begin, or, if that is not observed, where they end. */
static void choose_counting(struct source_plan *plan)
{
	struct source_unit *chosen = NULL;

	for (size_t i = 0; i < plan->unit_count; i++) {
		struct source_unit *unit = &plan->units[i];
		bool begins = strcmp(unit->tracepoint, "raw_syscalls:sys_enter") == 0;

		if (unit->native && (!chosen || (begins && strcmp(chosen->tracepoint, unit->tracepoint) != 0)))
			chosen = unit;
	}
	if (chosen)
		chosen->counts_others = true;
}

int source_plan_new(const struct btf_kernel *btf, const struct source_want *wants, size_t count,
		    struct asterism_diag *diag, struct source_plan **made)
{
	struct source_plan *plan = alloc_zero(1, sizeof *plan);
	int result = 0;

	if (!plan || !(plan->arena = arena_new())) {
		source_plan_free(plan);
		return diag_no_memory(diag);
	}
	for (size_t i = 0; i < count && !result; i++)
		result = add_want(plan, btf, &wants[i], diag);
	if (!result && source_merge_units(plan))
		result = diag_no_memory(diag);
	for (size_t i = 0; i < plan->unit_count && !result; i++)
		source_await_plan(&plan->units[i]);
	choose_counting(plan);
	if (result)
		source_plan_free(plan);
	else
		*made = plan;
	return result;
}

void source_plan_free(struct source_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->unit_count; i++)
		alloc_free(plan->units[i].entries);
	alloc_free(plan->units);
	alloc_free(plan->absent);
	arena_free(plan->arena);
	alloc_free(plan);
}

int source_plan_split(struct source_plan *plan, size_t index)
{
	if (plan->units[index].entry_count < 2)
		return 0;
	if (alloc_grow(&plan->units, &plan->unit_capacity, plan->unit_count, sizeof *plan->units))
		return -ENOMEM;
	struct source_unit *unit = &plan->units[index], half = *unit;
	size_t keep = unit->entry_count / 2;

	half.entries = NULL;
	half.await = NULL;
	half.counts_others = false;
	half.entry_count = half.entry_capacity = 0;
	for (size_t i = keep; i < unit->entry_count; i++) {
		if (source_unit_add_entry(&half, &unit->entries[i])) {
			alloc_free(half.entries);
			return -ENOMEM;
		}
	}
	unit->entry_count = keep;
	plan->units[plan->unit_count++] = half;
	return 1;
}

int source_judge(const struct btf_kernel *btf, const struct event_type *type, uint32_t source, char *reason,
		 size_t size)
{
	struct plan_draft draft = { .type = type, .source = &type->hooks[source] };
	struct arena *arena = arena_new();
	struct drafts drafts;

	if (!arena)
		return -ENOMEM;
	draft.binding.reason = reason;
	draft.binding.size = size;
	int result = draft_source(&draft, btf, arena, NULL, &drafts);

	arena_free(arena);
	return result;
}

int source_available(const struct btf_kernel *btf, const struct event_type *type, uint32_t source, char *reason,
		     size_t size)
{
	int result = source_judge(btf, type, source, reason, size);

	return result == -ENOMEM ? result : result == 0;
}
