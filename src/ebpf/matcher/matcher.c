// SPDX-License-Identifier: BSD-2-Clause
/* Creates a matcher for the rules of a plan, and divides their code into parts. */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"
#include "ebpf/codegen/part.h"
#include "ebpf/memory/log.h"
#include "ebpf/sums/sums.h"
#include "event/type.h"

#include <errno.h>
#include <string.h>

/*
 * The verifier looks at an instruction some six times, at one of a rule that copies runs some thirty times, and at no
 * more than a million altogether; a program has at most 256 functions.
 */
enum { PART_INSNS = 20000, PART_FUNCTIONS = 240, WEIGHT_OF_COPIES = 4 };

void ebpf_matcher_set_place(struct ebpf_matcher *matcher, const struct scope *scope, bool knows_who)
{
	matcher->code.scope = scope;
	matcher->code.knows_who = knows_who;
}

void ebpf_matcher_begin(struct ebpf_matcher *matcher, struct ebpf_asm *as, const struct ebpf_matcher_part *parts,
			size_t count)
{
	codegen_derived_fini(&matcher->derived);
	matcher->code.has_repeats = false;
	for (size_t i = 0; i < count; i++) {
		const struct plan_part *part = &matcher->types[parts[i].type].parts[parts[i].part];

		for (size_t j = 0; j < i; j++)
			matcher->code.has_repeats |= memcmp(&parts[i], &parts[j], sizeof *parts) == 0;
		int error = codegen_derived_add(&matcher->code, parts[i].type, part, &matcher->derived);

		if (error < 0)
			ebpf_asm_fail(as, error);
	}
	codegen_begin(&matcher->code, as, &matcher->derived, true);
}

void ebpf_matcher_emit(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part,
		       uint32_t record_bytes)
{
	matcher->code.record_bytes = record_bytes;
	codegen_part(&matcher->code, as, type, &matcher->types[type].parts[part]);
}

void ebpf_matcher_emit_unread(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part,
			      bool for_all)
{
	codegen_part_unread(&matcher->code, as, type, &matcher->types[type].parts[part], for_all);
}

void ebpf_matcher_needs(const struct ebpf_matcher *matcher, uint32_t type, uint32_t part, struct ebpf_needs *needs)
{
	const struct plan_part *of = &matcher->types[type].parts[part];
	const struct plan_type *events = &matcher->plan->types[type];
	uint32_t fields = matcher->program->types[type].field_count;

	*needs = (struct ebpf_needs){ .late_ts = (of->header.late | of->header.match) & PLAN_HEADER_TS };
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		needs->header[i] = of->header.early >> i & 1;
	for (uint32_t i = 0; i < events->event_count; i++) {
		const struct plan_event *event = &events->events[i];

		for (uint32_t field = 0; field < fields && event->rule >= of->first && event->rule < of->end; field++)
			needs->body[field] |= event->reads[field];
	}
	for (uint32_t i = of->first; i < of->end; i++)
		needs->raises |= matcher->plan->rules[i].raises;
}

bool ebpf_matcher_waits(const struct ebpf_matcher *matcher)
{
	return matcher->plan->waits;
}

/* What code costs: instructions as the verifier feels them, and functions. */
struct cost {
	size_t insns, functions;
};

/* The cost of one rule, functions that it does not use left out. */
static int measure_rule(struct ebpf_matcher *matcher, uint32_t type, uint32_t rule, struct cost *cost)
{
	bool copies = matcher->program->rules[rule].semantics == PROGRAM_SKIP_TILL_ANY;
	struct plan_part part = { .first = rule, .end = rule + 1 };
	struct emit_context context = matcher->code;
	struct emit_derived derived = { .map = -1 };
	struct ebpf_asm *as = ebpf_asm_new();
	struct ebpf_code code;
	int error;

	if (!as)
		return -ENOMEM;
	part.header = plan_part_header(matcher->plan, type, &part);
	error = codegen_derived_add(&context, type, &part, &derived);
	if (error < 0)
		ebpf_asm_fail(as, error);
	codegen_begin(&context, as, &derived, false);
	codegen_part(&context, as, type, &part);
	ebpf_exit(as);
	error = ebpf_asm_finish(as, matcher->options.features->long_jump, &code);
	*cost = (struct cost){ code.insn_count * (copies ? WEIGHT_OF_COPIES : 1), code.function_count };
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
	codegen_derived_fini(&derived);
	return error;
}

/*
 * Whether the rule must be in one part with those before it: what a rule raises comes when all that may see it have
 * dealt with the event.
 */
static bool belongs(const struct ebpf_matcher *matcher, const struct matcher_type *type, uint32_t rule)
{
	bool raises = false, concerned = false;

	for (uint32_t i = type->part_count ? type->parts[type->part_count - 1].first : rule; i < rule; i++)
		raises |= matcher->plan->rules[i].raises;
	for (uint32_t i = rule; i < matcher->program->rule_count; i++)
		concerned |= matcher->plan->rules[i].raises || matcher->plan->rules[i].raised;
	return raises && concerned;
}

/* Adds rule to the last part of its type, or to a new one where that would become too large. */
static int add_to_part(struct ebpf_matcher *matcher, struct matcher_type *type, uint32_t rule, const struct cost *cost,
		       struct cost *used)
{
	size_t most = matcher->options.part_insns ? matcher->options.part_insns : PART_INSNS;

	if (!type->part_count ||
	    (!belongs(matcher, type, rule) &&
	     (used->insns + cost->insns > most || used->functions + cost->functions > PART_FUNCTIONS))) {
		if (alloc_grow(&type->parts, &type->part_capacity, type->part_count, sizeof *type->parts))
			return -ENOMEM;
		type->parts[type->part_count++].first = rule;
		*used = (struct cost){ 0 };
	}
	used->insns += cost->insns;
	used->functions += cost->functions;
	type->parts[type->part_count - 1].end = rule + 1;
	return 0;
}

static int divide_type(struct ebpf_matcher *matcher, uint32_t type, struct asterism_diag *diag)
{
	struct matcher_type *divided = &matcher->types[type];
	const struct plan_part all = { .first = 0, .end = matcher->program->rule_count };
	const struct plan_event *event;
	struct cost used = { 0 }, cost;

	for (uint32_t i = 0; (event = plan_next(matcher->plan, type, &all, &i));) {
		int error = measure_rule(matcher, type, event->rule, &cost);

		if (!error)
			error = add_to_part(matcher, divided, event->rule, &cost, &used);
		if (error == -ENOMEM)
			return diag_no_memory(diag);
		if (error)
			return diag_error(diag, NULL, error, "%s %s is too large for the kernel",
					  program_sort(&matcher->program->rules[event->rule]),
					  program_text(matcher->program, matcher->program->rules[event->rule].name));
	}
	for (size_t i = 0; i < divided->part_count; i++)
		divided->parts[i].header = plan_part_header(matcher->plan, type, &divided->parts[i]);
	return 0;
}

uint32_t ebpf_matcher_parts(const struct ebpf_matcher *matcher, uint32_t type)
{
	return (uint32_t)matcher->types[type].part_count;
}

static int make_plan(struct ebpf_matcher *matcher)
{
	const struct ebpf_matcher_options *options = &matcher->options;
	struct plan_options plan = {
		.excluded = options->excluded,
		.may_be_unread = options->may_be_unread,
		.from_interrupt = options->from_interrupt,
		.allowed = options->acts ? options->acts->allowed : NULL,
		.may_stop = options->acts && options->acts->stops_fd,
		.can_lock_out = options->irq_save && options->irq_restore,
		.deliver_all = options->deliver_all,
		.live = options->live,
		.counts_why = options->counts_why,
	};

	return plan_new(matcher->program, &plan, &matcher->plan);
}

static bool adds_up(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->program->rule_count; i++)
		if (plan->rules[i].here && plan->rules[i].sums.here)
			return true;
	return false;
}

/* Where sums would take more than there is room for, matches are delivered instead. */
static int make_matcher_memory(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	uint32_t ring_bytes = matcher->options.ring_bytes;
	bool may_deliver = adds_up(matcher->plan);
	int error = memory_init(&matcher->memory, matcher->plan, ring_bytes, may_deliver ? NULL : diag);

	if (!error || !may_deliver)
		return error;
	memory_fini(&matcher->memory);
	matcher->memory = (struct memory){ .ring_fd = -1 };
	plan_free(matcher->plan);
	matcher->plan = NULL;
	matcher->options.deliver_all = true;
	if (make_plan(matcher))
		return diag_no_memory(diag);
	return memory_init(&matcher->memory, matcher->plan, ring_bytes, diag);
}

static int make_matcher(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	int error;

	matcher->types = alloc_zero(matcher->program->type_count, sizeof *matcher->types);
	if (!matcher->types || make_plan(matcher))
		return diag_no_memory(diag);
	error = make_matcher_memory(matcher, diag);
	matcher->code = (struct emit_context){
		.plan = matcher->plan,
		.memory = &matcher->memory,
		.acts = matcher->options.acts,
		.irq_save = matcher->options.irq_save,
		.irq_restore = matcher->options.irq_restore,
		.silent = matcher->options.silent,
		.room = -1,
	};
	for (uint32_t type = 0; type < matcher->program->type_count && !error; type++)
		error = divide_type(matcher, type, diag);
	if (!error)
		error = matcher_inbox_open(matcher, diag);
	if (!error)
		error = matcher_sweep_open(matcher, diag);
	return error;
}

int ebpf_matcher_new(const struct program *program, const struct ebpf_matcher_options *options,
		     struct asterism_diag *diag, struct ebpf_matcher **made)
{
	struct ebpf_matcher *matcher = alloc_zero(1, sizeof *matcher);

	if (!matcher)
		return diag_no_memory(diag);
	matcher->program = program;
	matcher->options = *options;
	matcher->memory.ring_fd = matcher->sweep.fd = -1;
	int error = make_matcher(matcher, diag);

	if (error)
		ebpf_matcher_free(matcher);
	else
		*made = matcher;
	return error;
}

void ebpf_matcher_free(struct ebpf_matcher *matcher)
{
	if (!matcher)
		return;
	matcher_sweep_close(matcher);
	matcher_inbox_close(matcher);
	codegen_derived_fini(&matcher->derived);
	memory_fini(&matcher->memory);
	for (uint32_t i = 0; matcher->types && i < matcher->program->type_count; i++)
		alloc_free(matcher->types[i].parts);
	alloc_free(matcher->types);
	plan_free(matcher->plan);
	alloc_free(matcher);
}

void ebpf_matcher_tally(const struct ebpf_matcher *matcher, uint32_t statement, uint64_t *buckets)
{
	memory_tally(&matcher->memory, statement, buckets);
}

void ebpf_matcher_count_why(const struct ebpf_matcher *matcher, uint32_t rule, uint64_t *counts)
{
	memory_count_why(&matcher->memory, rule, counts);
}

static void expect_sums(void *context, uint32_t rule, uint64_t due)
{
	const struct ebpf_matcher *matcher = context;

	sums_expect(&matcher->memory, rule, due);
}

static int share_table(void *context, uint32_t rule, uint64_t due, struct aggregate_table *table)
{
	const struct ebpf_matcher *matcher = context;

	return sums_share(&matcher->memory, rule, due, table);
}

static int take_rule_aggregates(void *context, uint32_t rule, uint64_t until, struct aggregate_table *table)
{
	const struct ebpf_matcher *matcher = context;

	return sums_take(&matcher->memory, rule, until, table);
}

void ebpf_matcher_source(const struct ebpf_matcher *matcher, struct aggregate_source *source)
{
	*source = (struct aggregate_source){
		.expect = expect_sums, .share = share_table, .take = take_rule_aggregates, .context = (void *)matcher
	};
}

void ebpf_matcher_lose(struct ebpf_matcher *matcher, uint64_t lost)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		if (!matcher->plan->rules[i].here)
			continue;
		struct matcher_control *control = memory_at(&matcher->memory, &matcher->memory.rules[i].control);

		__atomic_fetch_add(&control->lost, lost, __ATOMIC_RELAXED);
		__atomic_fetch_add(&control->epoch, 1, __ATOMIC_RELEASE);
	}
}

static uint64_t counter(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

void ebpf_matcher_stats(const struct ebpf_matcher *matcher, uint32_t rule, struct program_rule_stats *stats)
{
	*stats = (struct program_rule_stats){ 0 };
	if (!matcher->plan->rules[rule].here)
		return;
	const struct matcher_control *control = memory_at(&matcher->memory, &matcher->memory.rules[rule].control);

	const struct matcher_cpu *cpus = memory_at(&matcher->memory, &matcher->memory.rules[rule].cpus);

	for (uint32_t i = 0; i < matcher->memory.cpu_count; i++)
		stats->runs_opened += counter(&cpus[i].opened);
	for (uint32_t i = 0; i < matcher->memory.cpu_count; i++) {
		stats->excepted += counter(&cpus[i].excepted);
		stats->replaced += counter(&cpus[i].replaced);
		stats->crowded += counter(&cpus[i].crowded);
	}
	stats->events_refused = memory_log_refused(&matcher->memory, rule);
	stats->pool_exhausted = counter(&control->refused);
	/* Which were counted before a place was looked for. */
	stats->runs_opened -= stats->pool_exhausted - stats->events_refused;
	stats->matches = counter(&control->matches);
	stats->runs_live_max = counter(&control->used);
	if (stats->runs_live_max > matcher->program->rules[rule].pool)
		stats->runs_live_max = matcher->program->rules[rule].pool; /* somebody is just finding it full */
	stats->unraised = counter(&control->unraised);
	stats->lost = counter(&control->lost);
	stats->divisions_by_zero = counter(&control->divisions);
	stats->unread = counter(&control->unread);
	stats->unread_type = (uint32_t)(stats->unread >> MATCHER_UNREAD_BITS);
	stats->unread &= (1ULL << MATCHER_UNREAD_BITS) - 1;
}
