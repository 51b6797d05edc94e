// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads and closes the programs of a set. A program that is too large is split into two; one that the verifier refuses
 * is tried again without loads through kernel pointers, since what it lets pass has changed more than once. Each
 * program has memory of its own: per CPU a counter of its events and, where the stack is too small, room for a record.
 * The kernel never runs one program twice at a time on one CPU, so nothing there needs atomics.
 */

#include "ebpf/source/set-priv.h"

#include "base/clock.h"
#include "base/crew.h"
#include "ebpf/kernel/cpus.h"
#include "ebpf/path/walk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CACHE_LINE_BYTES = 64, SET_COUNTER_BYTES = sizeof(struct source_counters) };

/* How often misses are asked for at least. */
static const uint64_t misses_wait_ns = 1000 * 1000 * 1000;

/* NULL: operations of io_uring are not counted. */
static const struct source_want *ring_want(const struct source_set *set)
{
	return set->ring.counts.memory ? &set->wants[set->options.count] : NULL;
}

static void set_codegen_begin(void *context, struct ebpf_asm *as, const struct source_unit *unit,
			      const struct source_style *style, const struct scope *scope)
{
	struct source_set *set = context;

	if (set->options.begin)
		set->options.begin(set->options.body_context, as, unit, style, scope);
}

/* All kinds of wants meet here. */
static void set_emit_body(void *context, struct ebpf_asm *as, const struct source_entry *entry,
			  const struct source_style *style, const struct scope *scope)
{
	struct source_set *set = context;

	if (entry->want == ring_want(set))
		io_uring_emit(&set->ring, as);
	else if (entry->want->needs)
		set->options.body(set->options.body_context, as, entry, style, scope);
	else
		ship_emit(set->ship, as, entry->want->type->record_bytes, style->detached ? EVENT_LATE : 0);
}

static void set_codegen_unread(void *context, struct ebpf_asm *as, const struct source_entry *entry,
			       const struct source_style *style, const struct scope *scope)
{
	struct source_set *set = context;

	if (entry->want->needs)
		set->options.unread(set->options.body_context, as, entry, style, scope);
	else
		ship_emit(set->ship, as, sizeof(struct event_header),
			  EVENT_UNKNOWN | (style->detached ? EVENT_LATE : 0));
}

/* A part for each CPU with room for scratch, and what source/calls.h has behind them. */
static int make_program_memory(struct source_set *set, struct loaded *program, uint32_t scratch,
			       struct asterism_diag *diag)
{
	program->stride = (SET_COUNTER_BYTES + scratch + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
	uint32_t bytes = program->stride * set->cpu_count + SOURCE_CALLS;
	int result = ebpf_array_init(&program->area, "program", bytes, 1, PROT_READ | PROT_WRITE);

	return result ? diag_error(diag, NULL, result, "cannot allocate memory for a program: %s", strerror(-result))
		      : 0;
}

/* The code of program, and what it is loaded with. NULL: no memory. */
static struct ebpf_asm *emit_program(struct source_set *set, const struct source_unit *unit,
				     const struct loaded *program, bool cautious, struct ebpf_load_options *load)
{
	const char *colon = strrchr(program->tracepoint, ':');
	struct source_emit_options emit = {
		.scope = set->scope,
		.style = { .cast = set->cast,
			   .cautious = cautious,
			   .past = program->past,
			   .stack = source_stack_bytes(unit) },
		.tid = set->tid,
		.tgid = set->tgid,
		.begin = set_codegen_begin,
		.body = set_emit_body,
		.unread = set_codegen_unread,
		.context = set,
		.await = unit->await,
		.calls = program->calls,
		.late = program->late,
		.prefetches = program->prefetches,
		.place = program->place,
		.memory = { program->area.fd, program->stride, set->cpu_count, 0 },
	};
	*load = (struct ebpf_load_options){
		.name = colon ? colon + 1 : program->tracepoint,
		.file = program->tracepoint,
		.type = unit->spot_count   ? BPF_PROG_TYPE_KPROBE
			: program->classic ? BPF_PROG_TYPE_TRACEPOINT
					   : BPF_PROG_TYPE_TRACING,
		.attach_type = !program->classic                                        ? BPF_TRACE_RAW_TP
			       : unit->spot_count && set->options.features->probe_links ? ATTACH_PROBE_LINK
											: 0,
		.attach_btf_id = program->classic ? 0 : program->attach_id,
		.attach_module = unit->module,
		.may_wait = program->prefetches,
		.features = set->options.features,
		.log_level = set->options.log_level,
	};
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return NULL;
	emit.style.walk = emit.memory;
	emit.style.walk.offset = SET_COUNTER_BYTES + source_scratch_bytes(unit);
	source_emit_unit(as, unit, &emit);
	return as;
}

static int load_once(struct source_set *set, const struct source_unit *unit, struct loaded *program, bool cautious,
		     struct asterism_diag *diag)
{
	struct ebpf_load_options load;
	struct ebpf_asm *as = emit_program(set, unit, program, cautious, &load);

	if (!as)
		return diag_no_memory(diag);
	program->program = ebpf_load_program(as, &load, diag);
	ebpf_asm_free(as);
	return program->program < 0 ? program->program : 0;
}

static void close_program(struct loaded *program)
{
	watch_free(program->watch);
	ebpf_array_fini(&program->area);
	if (program->program >= 0)
		close(program->program);
}

/* The program is one of the set, or gone where result says that it failed. Gives result. */
static int keep_program(struct source_set *set, struct loaded *program, int result)
{
	if (!result && alloc_grow(&set->programs, &set->program_capacity, set->program_count, sizeof *set->programs))
		result = -ENOMEM;
	if (result)
		close_program(program);
	else
		set->programs[set->program_count++] = *program;
	return result;
}

/* Of unit's entries, or those of them that read memory of the user. */
static uint64_t bits_of_entries(const struct source_unit *unit, bool reading)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < unit->entry_count; i++)
		if (!reading || source_entry_reads_user(&unit->entries[i]))
			bits |= unit->entries[i].bit;
	return bits;
}

/* A program of unit, not loaded yet, which late (or NULL) says the place of. */
static struct loaded new_program(const struct source_unit *unit, const struct late_place *late)
{
	return (struct loaded){
		.tracepoint = late ? late->tracepoint : unit->tracepoint,
		.classic = unit->classic || unit->apart_count,
		.apart = unit->apart,
		.apart_count = unit->apart_count,
		.attach_id = late ? late->attach_id : unit->attach_id,
		.spots = unit->spots,
		.spot_count = unit->spot_count,
		.bits = bits_of_entries(unit, false),
		.late = late,
		.past = late && late->after,
		.program = -1,
	};
}

static int make_unit_memory(struct source_set *set, const struct source_unit *unit, struct loaded *program,
			    struct asterism_diag *diag)
{
	int result = make_program_memory(
		set, program, source_scratch_bytes(unit) + (source_walks(unit) ? SOURCE_WALK_BYTES : 0), diag);

	if (!result && !program->late && !unit->apart_count)
		program->calls =
			source_calls_find(unit, (uint8_t *)program->area.memory + program->stride * set->cpu_count);
	if (!result && !program->classic)
		program->place = chains_join(&set->chains, program->tracepoint);
	return result;
}

static int begin_await(struct source_set *set, struct source_unit *unit, struct asterism_diag *diag)
{
	if (!unit->awaits || unit->await)
		return 0;
	unit->await = arena_zero(set->plan->arena, 1, sizeof *unit->await);
	if (!unit->await)
		return diag_no_memory(diag);
	int result = source_await_init(unit->await, &set->await, diag);

	if (result) {
		source_await_fini(unit->await);
		unit->await = NULL;
	}
	return result;
}

static void load_draft(struct draft *draft)
{
	draft->program.program = ebpf_load_program(draft->as, &draft->load, NULL);
	draft->result = draft->program.program < 0 ? draft->program.program : 0;
}

static void load_draft_of(void *context, size_t index)
{
	load_draft(((struct draft **)context)[index]);
}

static int by_size(const void *a, const void *b)
{
	size_t left = ebpf_asm_count((*(struct draft *const *)a)->as),
	       right = ebpf_asm_count((*(struct draft *const *)b)->as);

	return left > right ? -1 : left < right;
}

/* The largest first: what is begun last is what all wait for. */
static void load_side_by_side(struct source_set *set)
{
	struct draft **order = alloc_zero(set->draft_count, sizeof *order);
	size_t count = 0;

	for (size_t i = 0; i < set->draft_count; i++)
		if (set->drafts[i].as && order)
			order[count++] = &set->drafts[i];
		else if (set->drafts[i].as)
			load_draft(&set->drafts[i]);
	if (count)
		qsort(order, count, sizeof *order, by_size);
	crew_do(count, crew_of_processors(), load_draft_of, order);
	alloc_free(order);
}

/* Tries each unit's own program. What has no draft afterwards is loaded in its turn, as if there were none of these. */
static void load_drafts(struct source_set *set)
{
	set->drafts = alloc_zero(set->plan->unit_count, sizeof *set->drafts);
	set->draft_count = set->drafts ? set->plan->unit_count : 0;
	for (size_t i = 0; i < set->draft_count; i++) {
		struct source_unit *unit = &set->plan->units[i];
		struct draft *draft = &set->drafts[i];

		draft->program = new_program(unit, NULL);
		if (!begin_await(set, unit, NULL) && !make_unit_memory(set, unit, &draft->program, NULL))
			draft->as = emit_program(set, unit, &draft->program, set->options.cautious, &draft->load);
	}
	load_side_by_side(set);
}

/* The draft of unit's own program is the caller's from here on. */
static bool take_draft(struct source_set *set, const struct source_unit *unit, struct loaded *program, int *result)
{
	size_t index = (size_t)(unit - set->plan->units);
	struct draft *draft = index < set->draft_count ? &set->drafts[index] : NULL;

	if (!draft || !draft->as)
		return false;
	ebpf_asm_free(draft->as);
	draft->as = NULL;
	*program = draft->program;
	draft->program = new_program(unit, NULL);
	*result = draft->result;
	return true;
}

/* Loads one program of unit, which late (or NULL) says the place of. Nothing is left behind on failure. */
static int load_unit_program(struct source_set *set, const struct source_unit *unit, const struct late_place *late,
			     struct asterism_diag *diag)
{
	struct loaded program = new_program(unit, late);
	int result;

	if (late || !take_draft(set, unit, &program, &result)) {
		result = make_unit_memory(set, unit, &program, diag);
		if (!result)
			result = load_once(set, unit, &program, set->options.cautious, NULL);
	}
	if (result == -EINVAL)
		result = load_once(set, unit, &program, true, diag);
	else if (result && result != -E2BIG && result != -ENOMEM) /* the first attempt said nothing */
		result = load_once(set, unit, &program, false, diag);
	if (!result && unit->classic && !unit->spot_count)
		result = watch_new(unit->tracepoint, set->options.btf, set->options.features, diag, &program.watch);
	return keep_program(set, &program, result);
}

/*
 * The program that is met before unit's, as programs of one probe are in the opposite order of attaching. A kernel that
 * lets no program wait (before 6.0) has none: there, memory that has not been touched is unread.
 */
static int load_prefetch(struct source_set *set, const struct source_unit *unit, struct asterism_diag *diag)
{
	struct loaded program = {
		.tracepoint = unit->tracepoint,
		.classic = true,
		.spots = unit->spots,
		.spot_count = unit->spot_count,
		.bits = bits_of_entries(unit, true),
		.prefetches = true,
		.program = -1,
	};
	int result = make_program_memory(set, &program, source_prefetch_bytes(unit), diag);

	if (!result)
		result = load_once(set, unit, &program, set->options.cautious, NULL);
	if (result && result != -EINVAL && result != -E2BIG && result != -ENOMEM)
		result = load_once(set, unit, &program, set->options.cautious, diag);
	keep_program(set, &program, result);
	return result == -EINVAL || result == -E2BIG ? 0 : result;
}

/* A kernel that does not keep the name as expected gives nothing back here: the call's exit finds it unread. */
static int make_past(struct source_set *set, struct source_unit *late, const struct late_place *place)
{
	char reason[256];
	struct source_binding binding = {
		.btf = set->options.btf, .arena = set->plan->arena, .reason = reason, .size = sizeof reason
	};
	int result = btf_kernel_tracepoint(set->options.btf, strchr(place->tracepoint, ':') + 1, &binding.tracepoint);

	if (!result)
		result = source_exec_rewrite(late, &set->await, &binding);
	if (result && result != -ENOMEM)
		late->entry_count = 0;
	return result == -ENOMEM ? result : 0;
}

/* The programs at one place where awaited calls of unit are given back. */
static int load_late(struct source_set *set, const struct source_unit *unit, const struct late_place *place,
		     struct asterism_diag *diag)
{
	struct source_unit late;
	int result = source_await_late(unit, place->for_exec, &late);

	if (!result && place->after)
		result = make_past(set, &late, place);
	if (!result && late.entry_count)
		result = load_unit_program(set, &late, place, diag);
	alloc_free(late.entries);
	return result == -ENOMEM ? diag_no_memory(diag) : result;
}

/* All programs of a unit, or none. */
static int load_together(struct source_set *set, struct source_unit *unit, struct asterism_diag *diag)
{
	size_t before = set->program_count;
	int result = begin_await(set, unit, diag);

	if (!result)
		result = load_unit_program(set, unit, NULL, diag);
	for (size_t i = 0; i < LATE_PLACES && unit->awaits && !result; i++)
		if (set->late[i].attach_id)
			result = load_late(set, unit, &set->late[i], diag);
	if (!result && source_prefetch_pays(unit))
		result = load_prefetch(set, unit, diag);
	for (size_t i = before; i < set->program_count; i++)
		set->programs[i].unit = (size_t)(unit - set->plan->units);
	while (result && set->program_count > before)
		close_program(&set->programs[--set->program_count]);
	return result;
}

/* Loads unit number index, in as many programs as it takes: the rest is then a unit further on. */
static int load_unit(struct source_set *set, size_t index, struct asterism_diag *diag)
{
	for (;;) {
		int result = load_together(set, &set->plan->units[index], diag);

		if (result != -E2BIG)
			return result == -ENOMEM ? diag_no_memory(diag) : result;
		result = source_plan_split(set->plan, index);
		if (result < 0)
			return diag_no_memory(diag);
		if (result == 0)
			return diag_error(diag, NULL, -E2BIG,
					  "the rules on %s do not fit into one program of this kernel",
					  set->plan->units[index].entries[0].want->type->name);
	}
}

static int load_all(struct source_set *set, struct asterism_diag *diag)
{
	int result = 0;

	load_drafts(set);
	for (size_t i = 0; i < set->plan->unit_count && !result; i++)
		result = load_unit(set, i, diag);
	for (size_t i = 0; i < set->draft_count; i++) {
		close_program(&set->drafts[i].program);
		ebpf_asm_free(set->drafts[i].as);
	}
	alloc_free(set->drafts);
	set->drafts = NULL;
	set->draft_count = 0;
	return result;
}

static int begin_set(const struct source_set_options *options, struct asterism_diag *diag, struct source_set **made)
{
	struct source_set *set = alloc_zero(1, sizeof *set);
	int cpus = set ? ebpf_possible_cpus(diag) : 0;

	if (!set)
		return diag_no_memory(diag);
	set->options = *options;
	chains_init(&set->chains);
	set->calls = (struct calls_32bit){ .program = -1, .link = -1 };
	set->cast = btf_kernel_find(options->btf, BTF_KIND_FUNC, "bpf_rdonly_cast");
	set->cpu_count = cpus < 0 ? 0 : (uint32_t)cpus;
	int result = cpus < 0 ? cpus : source_set_plan(set, diag);

	*made = set;
	return result;
}

/* The set in *made, or nothing where result says that it failed. Gives result. */
static int end_set(int result, struct source_set *set, struct source_set **made)
{
	if (result)
		source_set_free(set);
	else
		*made = set;
	return result;
}

int source_set_new(const struct source_set_options *options, struct asterism_diag *diag, struct source_set **made)
{
	struct source_set *set = NULL;
	int result = begin_set(options, diag, &set);

	if (!result && options->ship.on_event)
		result = ship_new(&options->ship, diag, &set->ship);
	if (!result)
		result = load_all(set, diag);
	return end_set(result, set, made);
}

int source_set_imagine(const struct source_set_options *options, struct asterism_diag *diag, struct source_set **made)
{
	struct source_set *set = NULL;
	int result = begin_set(options, diag, &set);

	return end_set(result, set, made);
}

void source_set_free(struct source_set *set)
{
	if (!set)
		return;
	source_set_detach(set);
	calls_32bit_fini(&set->calls);
	scope_free(set->scope);
	for (size_t i = 0; i < set->program_count; i++)
		close_program(&set->programs[i]);
	for (size_t i = 0; set->plan && i < set->plan->unit_count; i++)
		if (set->plan->units[i].await)
			source_await_fini(set->plan->units[i].await);
	chains_fini(&set->chains);
	ship_free(set->ship);
	source_plan_free(set->plan);
	io_uring_fini(&set->ring);
	alloc_free(set->wants);
	alloc_free(set->programs);
	links_fini(&set->links);
	alloc_free(set);
}

int source_set_add(struct source_set *set, pid_t pid)
{
	return scope_add(set->scope, pid);
}

bool source_set_has(const struct source_set *set, pid_t pid)
{
	return scope_has(set->scope, pid);
}

int source_set_fd(const struct source_set *set)
{
	return set->ship ? ship_fd(set->ship) : -1;
}

/* Firings that programs missed since the last time; a system call for each program, so not at every poll. */
static uint64_t new_misses(struct source_set *set, uint64_t now, bool last)
{
	uint64_t more = 0;

	if (now < set->next_misses_ns && !last)
		return 0;
	set->next_misses_ns = now - now % misses_wait_ns + misses_wait_ns; /* all sets at once: one wake of the owner */
	for (size_t i = 0; i < set->program_count; i++) {
		struct loaded *program = &set->programs[i];
		int64_t misses = program->watch ? watch_misses(program->watch) : -1;

		if (misses < 0 && program->misses >= 0)
			misses = attach_misses(program->program);
		if (misses > program->misses)
			more += (uint64_t)(misses - program->misses);
		program->misses = misses;
	}
	return more;
}

int source_set_poll(struct source_set *set, bool last, uint64_t *missed_now, uint64_t *wait_ns)
{
	uint64_t now = clock_now_ns(), missed = new_misses(set, now, last) + links_look(&set->links, now);
	int result = 0;

	set->missed += missed;
	if (missed && set->options.ship.on_lost)
		set->options.ship.on_lost(set->options.ship.context, missed);
	if (set->ship)
		result = ship_poll(set->ship);
	*missed_now = missed;
	*wait_ns = set->ship ? SHIP_WAIT_NS : set->next_misses_ns > now ? set->next_misses_ns - now : 0;
	return result;
}
