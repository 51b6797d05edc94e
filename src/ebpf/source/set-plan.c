// SPDX-License-Identifier: BSD-2-Clause
/* Decides which programs a set has and where they are attached, and tells it. */

#include "ebpf/source/set-priv.h"

#include "ebpf/source/apart.h"
#include "ebpf/source/prefetch.h"

#include <errno.h>
#include <string.h>

/* A path at a tracepoint, or NULL where this kernel has no such thing. */
static struct source_node *path_at(struct source_set *set, const struct btf_tracepoint *tracepoint, const char *text)
{
	char reason[256];
	struct source_binding binding = {
		.btf = set->options.btf, .arena = set->plan->arena, .reason = reason, .size = sizeof reason
	};
	struct source_node *node;

	if (tracepoint)
		binding.tracepoint = *tracepoint;
	if (path_parse_path(text, binding.arena, &node, reason, sizeof reason) || path_resolve_integer(&binding, node))
		return NULL;
	return node;
}

/* The arguments of a call, as where it begins. */
static void find_registers(struct source_set *set)
{
	char text[] = "syscall_arg(0)";
	struct btf_tracepoint enter = { 0 };

	if (btf_kernel_tracepoint(set->options.btf, "sys_enter", &enter))
		return;
	for (int i = 0; i < SOURCE_AWAIT_REGISTERS; i++) {
		text[sizeof text - sizeof "0)"] = (char)('0' + i);
		set->await.registers[i] = path_at(set, &enter, text);
	}
}

/* Where awaited calls are given back on this kernel; where it does not offer that, nothing is awaited. */
static void find_late_places(struct source_set *set)
{
	static const struct late_place places[LATE_PLACES] = {
		{ .tracepoint = "raw_syscalls:sys_exit" },
		{ .tracepoint = "sched:sched_prepare_exec", .for_exec = true },
		{ .tracepoint = "sched:sched_process_exec", .for_exec = true, .after = true },
	};

	for (size_t i = 0; i < LATE_PLACES; i++) {
		struct btf_tracepoint found = { 0 };

		set->late[i] = places[i];
		btf_kernel_tracepoint(set->options.btf, strchr(places[i].tracepoint, ':') + 1, &found);
		set->late[i].attach_id = found.id;
	}
	if (set->options.past_exec)
		set->late[1].attach_id = 0;
	if (set->late[1].attach_id)
		set->late[2].attach_id = 0;
	set->await.mm = path_at(set, NULL, "current->mm");
	if (set->late[2].attach_id)
		find_registers(set);
	if (!set->await.mm || !set->late[0].attach_id)
		source_await_none(set->plan);
}

/* The options' wants, and where system calls are among them what io_uring does instead. */
static int make_wants(struct source_set *set, struct asterism_diag *diag)
{
	const struct source_set_options *options = &set->options;
	uint64_t opcodes = 0;

	set->wants = alloc_zero(options->count + 1, sizeof *set->wants);
	if (!set->wants)
		return diag_no_memory(diag);
	for (size_t i = 0; i < options->count; i++) {
		set->wants[set->want_count++] = options->wants[i];
		if (io_uring_opcodes(options->wants[i].type, &opcodes))
			return diag_no_memory(diag);
	}
	int result = opcodes ? io_uring_plan(&set->ring, options->btf, diag) : 0;

	if (!result && opcodes)
		set->wants[set->want_count++] = set->ring.want;
	return result || !opcodes || !options->features ? result : io_uring_init(&set->ring, diag);
}

/* Where the programs that are about system calls are attached. */
static int plan_calls(struct source_set *set, struct asterism_diag *diag)
{
	const struct source_set_options *options = &set->options;

	calls_32bit_init(&set->calls, set->plan,
			 &(struct calls_32bit_options){ options->btf, options->features, set->scope });
	if (!options->cautious && source_apart_plan(set->plan, options->features))
		return diag_no_memory(diag);
	chains_plan(&set->chains, set->plan, set->late[0].attach_id ? set->late[0].tracepoint : NULL,
		    options->features);
	return 0;
}

int source_set_plan(struct source_set *set, struct asterism_diag *diag)
{
	const struct source_set_options *options = &set->options;
	struct scope_options scope = {
		.kind = options->scope, .btf = options->btf, .features = options->features, .filter = options->filter
	};
	int result = make_wants(set, diag);

	if (!result)
		result = source_plan_new(options->btf, set->wants, set->want_count, diag, &set->plan);
	if (result)
		return result;
	set->tid = path_at(set, NULL, "current->pid");
	set->tgid = path_at(set, NULL, "current->tgid");
	find_late_places(set);
	if (options->features)
		result = scope_new(&scope, diag, &set->scope);
	return result ? result : plan_calls(set, diag);
}

/* Of the unit's own program. */
static void place_unit(const struct source_set *set, const struct source_unit *unit, struct source_place *place)
{
	*place = (struct source_place){ .unit = unit, .kind = SOURCE_RAW, .tracepoint = unit->tracepoint };
	if (unit->spot_count) {
		place->kind = SOURCE_PROBE;
		place->why = "a probe in user code raises the events";
	} else if (unit->classic) {
		place->kind = SOURCE_TRACEFS;
		place->why = "fields are read from the record that tracefs describes";
	} else if (unit->apart_count) {
		place->kind = SOURCE_TRACEFS;
		place->why = unit->why;
	} else {
		place->why = unit->why ? unit->why
			     : unit->group == SOURCE_GROUP_OWN
				     ? "operations that stand for calls raise no events, and are only counted"
				     : "fields are read from the tracepoint's arguments";
		place->chain = chains_length(&set->chains, unit->tracepoint);
	}
}

static struct source_place place_late(const struct source_set *set, const struct source_unit *unit,
				      const struct late_place *late)
{
	return (struct source_place){
		.unit = unit,
		.kind = SOURCE_RAW,
		.tracepoint = late->tracepoint,
		.chain = chains_length(&set->chains, late->tracepoint),
		.why = late->for_exec ? "a program's name that could not be read at once is read before its memory goes"
				      : "strings that could not be read where calls begin are read where they end",
		.role = late->for_exec ? SOURCE_LATE_EXEC : SOURCE_LATE,
	};
}

bool source_place_has(const struct source_place *place, const struct source_entry *entry)
{
	switch (place->role) {
	case SOURCE_LATE:
	case SOURCE_LATE_EXEC:
		return source_is_late(entry, place->role == SOURCE_LATE_EXEC);
	case SOURCE_PREFETCH:
		return source_entry_reads_user(entry);
	default:
		return true;
	}
}

static bool has_some(const struct source_place *place)
{
	for (size_t i = 0; i < place->unit->entry_count; i++)
		if (source_place_has(place, &place->unit->entries[i]))
			return true;
	return false;
}

int source_set_places(const struct source_set *set, struct source_place **places, size_t *count)
{
	enum { OF_A_UNIT = 2 + LATE_PLACES };
	struct source_place *made = alloc_zero(set->plan->unit_count * OF_A_UNIT + 1, sizeof *made), *next = made;

	for (size_t i = 0; i < set->plan->unit_count && made; i++) {
		const struct source_unit *unit = &set->plan->units[i];

		place_unit(set, unit, next++);
		for (size_t j = 0; j < LATE_PLACES && unit->awaits; j++) {
			*next = place_late(set, unit, &set->late[j]);
			next += set->late[j].attach_id && has_some(next);
		}
		if (source_prefetch_pays(unit)) {
			*next = next[-1];
			next->role = SOURCE_PREFETCH;
			next->why = "memory that is read there is fetched first, as the other program must not wait";
			next++;
		}
	}
	if (!made)
		return -ENOMEM;
	*places = made;
	*count = (size_t)(next - made);
	return 0;
}
