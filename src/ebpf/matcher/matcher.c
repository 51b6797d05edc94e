// SPDX-License-Identifier: BSD-2-Clause
/* Decides which rules a matcher holds and how their code is divided into parts. */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"
#include "ebpf/codegen/derived.h"
#include "ebpf/codegen/part.h"
#include "ebpf/kernel/cpus.h"

#include <bpf/bpf.h>
#include <errno.h>

/*
 * The verifier looks at an instruction some six times, at one of a rule that copies runs some thirty times, and at no
 * more than a million altogether; a program has at most 256 functions.
 */
enum { PART_INSNS = 20000, PART_FUNCTIONS = 240, WEIGHT_OF_COPIES = 4, REASON_BYTES = 200 };

struct emit matcher_emit_of(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t rule, uint32_t type)
{
	return (struct emit){
		.matcher = matcher,
		.as = as,
		.program = matcher->program,
		.place = &matcher->rules[rule],
		.rule = &matcher->program->rules[rule],
		.type = type,
		.lower = { .as = as,
			   .program = matcher->program,
			   .rule = &matcher->program->rules[rule],
			   .info = matcher->nodes,
			   .slots = R7,
			   .slots_off = sizeof(struct matcher_run) },
	};
}

/* Whether a program that holds a lock of this rule could be interrupted by one that wants it. */
static bool can_be_interrupted(const struct ebpf_matcher *matcher, uint32_t rule)
{
	const bool *from_interrupt = matcher->options.from_interrupt;

	for (uint32_t type = 0; from_interrupt && type < matcher->program->type_count; type++)
		if (from_interrupt[type] && program_rule_sees(matcher->program, &matcher->program->rules[rule], type))
			return true;
	return false;
}

void ebpf_matcher_set_place(struct ebpf_matcher *matcher, const struct scope *scope, bool knows_who)
{
	matcher->scope = scope;
	matcher->knows_who = knows_who;
}

void ebpf_matcher_emit(struct ebpf_matcher *matcher, struct ebpf_asm *as, uint32_t type, uint32_t part)
{
	const struct matcher_part *emitted = &matcher->types[type].parts[part];
	struct emit_derived derived;
	int found = emit_derived_find(matcher, type, emitted, &derived), error = 0;

	if (found > 0)
		error = emit_derived_map(matcher, &derived);
	if (found < 0 || error)
		ebpf_asm_fail(as, found < 0 ? found : error);
	emit_part(matcher, as, type, emitted, found > 0 ? &derived : NULL);
	emit_derived_fini(&derived);
}

/* What code costs: instructions as the verifier feels them, and functions. */
struct cost {
	size_t insns, functions;
};

/* The cost of one rule, functions that it does not use left out. */
static int measure(struct ebpf_matcher *matcher, uint32_t type, uint32_t rule, struct cost *cost)
{
	bool copies = matcher->program->rules[rule].semantics == PROGRAM_SKIP_TILL_ANY;
	struct matcher_part part = { .first = rule, .end = rule + 1 };
	struct ebpf_asm *as = ebpf_asm_new();
	struct emit_derived derived;
	struct ebpf_code code;
	int error, found = emit_derived_find(matcher, type, &part, &derived);

	if (!as || found < 0) {
		ebpf_asm_free(as);
		return -ENOMEM;
	}
	matcher_header_needs(matcher, type, &part);
	emit_part(matcher, as, type, &part, found ? &derived : NULL);
	emit_derived_fini(&derived);
	ebpf_exit(as);
	error = ebpf_asm_finish(as, matcher->options.features->long_jump, &code);
	*cost = (struct cost){ code.insn_count * (copies ? WEIGHT_OF_COPIES : 1), code.function_count };
	ebpf_code_fini(&code);
	ebpf_asm_free(as);
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
		raises |= matcher->rules[i].raises;
	for (uint32_t i = rule; i < matcher->program->rule_count; i++)
		concerned |= matcher->rules[i].raises || matcher->rules[i].raised;
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

static int divide(struct ebpf_matcher *matcher, uint32_t type, struct asterism_diag *diag)
{
	struct matcher_type *divided = &matcher->types[type];
	struct cost used = { 0 }, cost;

	for (uint32_t rule = 0; rule < matcher->program->rule_count; rule++) {
		if (!matcher_wants(matcher, rule, type))
			continue;
		int error = measure(matcher, type, rule, &cost);

		if (!error)
			error = add_to_part(matcher, divided, rule, &cost, &used);
		if (error == -ENOMEM)
			return diag_no_memory(diag);
		if (error)
			return diag_error(diag, NULL, error, "%s %s is too large for the kernel",
					  program_sort(&matcher->program->rules[rule]),
					  program_text(matcher->program, matcher->program->rules[rule].name));
	}
	for (size_t i = 0; i < divided->part_count; i++)
		matcher_header_needs(matcher, type, &divided->parts[i]);
	return 0;
}

uint32_t ebpf_matcher_parts(const struct ebpf_matcher *matcher, uint32_t type)
{
	return (uint32_t)matcher->types[type].part_count;
}

static int choose_rules(struct ebpf_matcher *matcher)
{
	const struct program *program = matcher->program;
	char reason[REASON_BYTES];

	matcher->nodes = ebpf_node_info_new(program);
	matcher->rules = alloc_zero(program->rule_count, sizeof *matcher->rules);
	matcher->types = alloc_zero(program->type_count, sizeof *matcher->types);
	if (!matcher->nodes || !matcher->rules || !matcher->types)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		bool excluded = matcher->options.excluded && matcher->options.excluded[i];
		int can = excluded ? 0 : matcher_can_run(program, matcher->nodes, i, reason, sizeof reason);

		if (can < 0)
			return can;
		matcher->rules[i] = (struct matcher_rule){
			.rule = &program->rules[i],
			.index = i,
			.here = can > 0,
			.interrupted = can_be_interrupted(matcher, i),
		};
	}
	if (derived_find(matcher))
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count; i++)
		matcher->rules[i].locks_out_interrupts =
			matcher->rules[i].interrupted && matcher->options.irq_save && matcher->options.irq_restore;
	return 0;
}

static int make(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	int error = choose_rules(matcher);

	if (error)
		return diag_no_memory(diag);
	error = matcher_layout(matcher, diag);
	if (!error)
		error = matcher_make_maps(matcher, diag);
	for (uint32_t type = 0; type < matcher->program->type_count && !error; type++)
		error = divide(matcher, type, diag);
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
	matcher->ring_fd = matcher->sweep.fd = -1;
	int cpus = ebpf_possible_cpus(diag);
	int error = cpus < 0 ? cpus : 0;

	if (!error) {
		matcher->cpu_count = (uint32_t)cpus;
		error = make(matcher, diag);
	}

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
	matcher_close_maps(matcher);
	for (uint32_t i = 0; matcher->rules && i < matcher->program->rule_count; i++) {
		alloc_free(matcher->rules[i].group_of);
		alloc_free(matcher->rules[i].groups);
	}
	for (uint32_t i = 0; matcher->types && i < matcher->program->type_count; i++)
		alloc_free(matcher->types[i].parts);
	alloc_free(matcher->rules);
	alloc_free(matcher->types);
	alloc_free(matcher->tally_offsets);
	alloc_free(matcher->nodes);
	alloc_free(matcher);
}

void ebpf_matcher_lose(struct ebpf_matcher *matcher, uint64_t lost)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		if (!matcher->rules[i].here)
			continue;
		struct matcher_control *control = matcher_at(matcher, &matcher->rules[i].control);

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
	if (!matcher->rules[rule].here)
		return;
	const struct matcher_control *control = matcher_at(matcher, &matcher->rules[rule].control);

	const struct matcher_cpu *cpus = matcher_at(matcher, &matcher->rules[rule].cpus);

	for (uint32_t i = 0; i < matcher->cpu_count; i++)
		stats->runs_opened += counter(&cpus[i].opened);
	stats->runs_opened -= counter(&control->refused); /* which were counted before a place was looked for */
	stats->matches = counter(&control->matches);
	stats->runs_live_max = counter(&control->used);
	if (stats->runs_live_max > matcher->rules[rule].rule->pool)
		stats->runs_live_max = matcher->rules[rule].rule->pool; /* somebody is just finding it full */
	stats->pool_exhausted = counter(&control->refused);
	stats->unraised = counter(&control->unraised);
	stats->lost = counter(&control->lost);
	stats->divisions_by_zero = counter(&control->divisions);
	stats->unread = counter(&control->unread);
}
