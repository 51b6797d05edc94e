// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends the runs whose time is up. The pools are looked through from here, without locks: what seems overdue is put into
 * the order of the deadlines and given to a program that looks again under the lock. A run opened after a look cannot
 * be due before the time of the look plus its rule's WITHIN, so until then there is no need to look again.
 */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"
#include "ebpf/codegen/part.h"
#include "ebpf/kernel/load.h"
#include "program/query.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a timer may go unnoticed that is set for a time which is not known before. */
enum { TIMER_WAIT_NS = 10 * 1000 * 1000 };

/* Where a rule of brief runs had none at so many looks one after the other, programs say when it has one again. */
enum { QUIET_LOOKS = 5 };

/* How late the first of them are found at worst: one may be opened just when this begins to rely on the programs. */
enum { QUIET_WAIT_NS = 500 * 1000 * 1000 };

static int compare_overdue(const void *left, const void *right)
{
	const struct matcher_due *a = left, *b = right;

	if (a->deadline != b->deadline)
		return a->deadline < b->deadline ? -1 : 1;
	if (a->only_ends != b->only_ends)
		return a->only_ends ? 1 : -1;
	if (a->made != b->made)
		return a->made < b->made ? -1 : 1;
	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static uint64_t later_deadline(uint64_t time, uint64_t by)
{
	return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

static uint64_t deadline_of(const struct plan_rule *rule, const struct program *program, const struct matcher_run *run)
{
	const struct program_slot *timer;
	const uint64_t *at;
	uint64_t due;

	if (!rule->timed && !rule->rule->within_ns)
		return UINT64_MAX;
	if (!rule->timed)
		return later_deadline(__atomic_load_n(&run->first_ts, __ATOMIC_RELAXED), rule->rule->within_ns);
	timer = &program_slots(program, rule->rule)[rule->rule->timer_slot];
	at = (const uint64_t *)((const uint8_t *)(run + 1) + timer->offset);
	due = __atomic_load_n(at, __ATOMIC_RELAXED);
	return due ? due : UINT64_MAX;
}

/* When a timer of rule may be due, as far as is known; `forget` when all instances are about to be looked at. */
static uint64_t first_timer(const struct ebpf_matcher *matcher, const struct plan_rule *rule, bool forget)
{
	struct matcher_cpu *cpus = memory_at(&matcher->memory, &matcher->memory.rules[rule->index].cpus);
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < matcher->memory.cpu_count; i++) {
		uint64_t due = forget ? __atomic_exchange_n(&cpus[i].due, 0, __ATOMIC_SEQ_CST)
				      : __atomic_load_n(&cpus[i].due, __ATOMIC_RELAXED);

		if (due && due < first)
			first = due;
	}
	return first;
}

/* Losses so far, where they end runs. */
static uint64_t epoch_of(const struct ebpf_matcher *matcher, const struct plan_rule *rule)
{
	const struct matcher_control *control =
		memory_at(&matcher->memory, &matcher->memory.rules[rule->index].control);

	return rule->rule->loss == PROGRAM_DISCARD ? __atomic_load_n(&control->epoch, __ATOMIC_ACQUIRE) : 0;
}

/* Until then nothing of rule can be overdue, as far as is known. */
static uint64_t next_look(const struct ebpf_matcher *matcher, const struct plan_rule *rule)
{
	const struct matcher_watch *watch = &matcher->sweep.watches[rule->index];

	if (epoch_of(matcher, rule) != watch->swept_epoch)
		return 0;
	uint64_t timer = rule->timed ? first_timer(matcher, rule, false) : UINT64_MAX;

	return timer < watch->look_again ? timer : watch->look_again;
}

/* Whether nothing happens to the run when its time is up but that it ends: what is raised at that time comes before. */
static bool only_ends(const struct ebpf_matcher *matcher, const struct plan_rule *rule, const struct matcher_run *run)
{
	uint16_t state = __atomic_load_n(&run->state, __ATOMIC_RELAXED);

	return !rule->timed && state < rule->rule->state_count &&
	       !(program_states(matcher->program, rule->rule)[state].flags & PROGRAM_STATE_DEADLINE);
}

/* Adds the overdue runs of rule and notes when it must be looked at again. */
static int look_at_overdue_runs(struct ebpf_matcher *matcher, const struct plan_rule *rule, uint64_t now)
{
	struct matcher_sweep *sweep = &matcher->sweep;
	struct matcher_watch *watch = &sweep->watches[rule->index];
	const struct memory_rule *at = &matcher->memory.rules[rule->index];
	const struct matcher_control *control = memory_at(&matcher->memory, &at->control);
	const uint8_t *runs = memory_at(&matcher->memory, &at->runs);
	uint64_t used;
	bool is_open = false;

	watch->look_again =
		rule->timed || !rule->rule->within_ns ? UINT64_MAX : later_deadline(now, rule->rule->within_ns);
	watch->swept_epoch = epoch_of(matcher, rule);
	if (rule->timed)
		first_timer(matcher, rule, true);
	used = __atomic_load_n(&control->used, __ATOMIC_ACQUIRE);
	if (used >= rule->rule->pool)
		used = at->places;
	for (uint64_t i = 1; i <= used; i++) {
		const struct matcher_run *run = (const struct matcher_run *)(runs + i * at->stride);
		uint64_t deadline = deadline_of(rule, matcher->program, run);

		if (!__atomic_load_n(&run->bucket, __ATOMIC_RELAXED))
			continue;
		is_open = true;
		if (rule->rule->loss == PROGRAM_DISCARD && run->epoch != (uint32_t)watch->swept_epoch)
			deadline = 0; /* its time is up at once */
		if (deadline >= now) {
			if (deadline < watch->look_again)
				watch->look_again = deadline;
			continue;
		}
		if (alloc_grow(&sweep->due, &sweep->due_capacity, sweep->due_count, sizeof *sweep->due))
			return -ENOMEM;
		sweep->due[sweep->due_count++] = (struct matcher_due){ .rule = rule->index,
								       .run = (uint32_t)i,
								       .deadline = deadline,
								       .only_ends = only_ends(matcher, rule, run),
								       .made = run->made,
								       .ordinal = run->ordinal };
	}
	watch->quiet_looks = is_open ? 0 : watch->quiet_looks + 1;
	if (!is_open && matcher->options.live && memory_is_brief(matcher->program, rule->rule))
		watch->look_again = later_deadline(now, MATCHER_BRIEF_NS);
	return 0;
}

/*
 * How many of the due runs come before any run that events which they raise may open. Where events are raised at all
 * one has to look again.
 */
static size_t sure_to_be_first(const struct ebpf_matcher *matcher, bool *look_again)
{
	const struct matcher_sweep *sweep = &matcher->sweep;
	uint64_t limit = UINT64_MAX;
	size_t count = 0;

	*look_again = false;
	for (; count < sweep->due_count && sweep->due[count].deadline <= limit; count++) {
		const struct plan_rule *rule = &matcher->plan->rules[sweep->due[count].rule];
		/* A timer may be followed by another one of its instance. Where events are fed, their order counts. */
		bool at_once = rule->timed && !matcher->options.live;

		if (!sweep->due[count].deadline)
			continue; /* it ends in silence */
		uint64_t opened = at_once ? sweep->due[count].deadline
					  : later_deadline(sweep->due[count].deadline, rule->raises_due_ns);

		*look_again |= at_once || rule->raises_due_ns != UINT64_MAX;
		if (opened < limit)
			limit = opened;
		if (rule->raises && !matcher->options.live && count + 1 < sweep->due_count &&
		    sweep->due[count + 1].deadline == sweep->due[count].deadline) {
			*look_again = true; /* what is raised may change what is due at the same time */
			return count + 1;
		}
	}
	return count;
}

/*
 * The programs of an event run one after the other, each with what it raises: numbers taken at a raised event are
 * behind those that all programs take at the event before it, and before those of the next.
 */
void matcher_begin_number(struct ebpf_matcher *matcher)
{
	struct matcher_work *work = memory_at(&matcher->memory, &matcher->memory.work);

	work->made += 2 * (uint64_t)MATCHER_MADE_BEHIND - work->made % MATCHER_MADE_BEHIND;
}

/* Gives the due runs to the program, as many at a time as it takes. */
static int expire(struct ebpf_matcher *matcher, uint64_t now)
{
	struct matcher_sweep *sweep = &matcher->sweep;
	struct matcher_work *work = memory_at(&matcher->memory, &matcher->memory.work);

	for (size_t done = 0; done < sweep->due_count; done += work->count) {
		size_t left = sweep->due_count - done;
		/* Where events are fed, on their CPU: places then go back to where they are taken from. */
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = matcher->options.live ? 0 : BPF_F_TEST_RUN_ON_CPU);

		work->count = left < MATCHER_WORK_MAX ? left : MATCHER_WORK_MAX;
		work->now = now;
		work->seq = sweep->seq;
		matcher_begin_number(matcher);
		for (size_t i = 0; i < work->count; i++)
			work->items[i] =
				(struct matcher_overdue){ sweep->due[done + i].rule, sweep->due[done + i].run };
		int result = bpf_prog_test_run_opts(sweep->fd, &opts);

		if (!result)
			result = matcher_inbox_drain(matcher);
		if (result)
			return result;
	}
	return 0;
}

/* Finds what is due, in order; all: whatever was found before. */
static int find_due(struct ebpf_matcher *matcher, uint64_t now, bool all)
{
	struct matcher_sweep *sweep = &matcher->sweep;

	sweep->due_count = 0;
	for (uint32_t i = 0; i < matcher->program->rule_count && sweep->fd >= 0; i++) {
		const struct plan_rule *rule = &matcher->plan->rules[i];

		if (!rule->swept || (next_look(matcher, rule) >= now && !all))
			continue;
		int result = look_at_overdue_runs(matcher, rule, now);

		if (result)
			return result;
	}
	if (sweep->due_count)
		qsort(sweep->due, sweep->due_count, sizeof *sweep->due, compare_overdue);
	return 0;
}

/* A live session looks again when it is polled again: a run whose lock cannot be had must not keep it here. */
int matcher_sweep_to(struct ebpf_matcher *matcher, uint64_t now)
{
	struct matcher_sweep *sweep = &matcher->sweep;
	int result;

	do {
		result = find_due(matcher, now, sweep->again);
		sweep->due_count = result ? 0 : sure_to_be_first(matcher, &sweep->again);
		if (!result && sweep->due_count)
			result = expire(matcher, now);
	} while (!result && sweep->again && !matcher->options.live);
	/* Who stopped it may come back: what is overdue still must not wait for a whole WITHIN. */
	for (uint32_t i = 0; i < matcher->program->rule_count && result; i++)
		matcher->sweep.watches[i].look_again = 0;
	return result;
}

/* When the next sweep is due, or UINT64_MAX. */
uint64_t matcher_sweep_next(const struct ebpf_matcher *matcher)
{
	uint64_t next = matcher->sweep.again ? 0 : UINT64_MAX;

	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		const struct plan_rule *rule = &matcher->plan->rules[i];

		if (rule->swept && next_look(matcher, rule) < next)
			next = next_look(matcher, rule);
	}
	return next;
}

/* For how long an action's value sets a timer: "the event's time + a constant"; 0 for all else. */
static uint64_t timer_of(const struct program *program, const struct program_action *action)
{
	const struct program_node *sum = &program->nodes[action->node], *time, *constant;

	if (action->op != PROGRAM_SET || sum->op != PROGRAM_OP_ADD)
		return 0;
	time = &program->nodes[sum->a];
	constant = &program->nodes[sum->b];
	if (time->op == PROGRAM_OP_CONVERT)
		time = &program->nodes[time->a];
	if (time->op != PROGRAM_OP_FIELD || time->a != 0 || time->b != PROGRAM_NONE)
		return 0;
	return constant->op == PROGRAM_OP_CONST ? constant->imm : 0;
}

static bool clears_timer(const struct program *program, const struct program_action *action)
{
	const struct program_node *node = &program->nodes[action->node];

	return action->op == PROGRAM_SET && node->op == PROGRAM_OP_CONST && !node->imm;
}

static uint64_t least_of_state(const struct program *program, const struct program_rule *rule, uint32_t state)
{
	const struct program_state *from = &program_states(program, rule)[state];
	const struct program_transition *transition = program_transitions(program, from);
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < from->transition_count; i++, transition++) {
		const struct program_action *action = program_actions(program, transition);

		for (uint32_t j = 0; j < transition->action_count; j++, action++) {
			if (action->slot != rule->timer_slot || clears_timer(program, action))
				continue;
			uint64_t set = timer_of(program, action);

			least = set < least ? set : least;
		}
	}
	return least;
}

/* Within this time no timer is due that is set from now on, so there is nothing to be looked for. */
static uint64_t least_timer(const struct ebpf_matcher *matcher)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		const struct program_rule *rule = matcher->plan->rules[i].rule;

		for (uint32_t state = 0; matcher->plan->rules[i].timed && state < rule->state_count; state++) {
			uint64_t set = least_of_state(matcher->program, rule, state);

			least = set < least ? set : least;
		}
	}
	return least > TIMER_WAIT_NS ? least : TIMER_WAIT_NS;
}

/* The first timer that is known of. */
static uint64_t first_known_timer(const struct ebpf_matcher *matcher)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		const struct plan_rule *rule = &matcher->plan->rules[i];

		if (rule->timed && rule->swept && next_look(matcher, rule) < first)
			first = next_look(matcher, rule);
	}
	return first;
}

/* When the next sweep is due if programs tell of the first run of a rule that had none for a while. */
static uint64_t next_while_dozing(const struct ebpf_matcher *matcher)
{
	uint64_t next = matcher->sweep.again ? 0 : UINT64_MAX;

	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		const struct plan_rule *rule = &matcher->plan->rules[i];
		uint64_t look = rule->swept ? next_look(matcher, rule) : UINT64_MAX;

		if (memory_is_brief(matcher->program, rule->rule) &&
		    matcher->sweep.watches[i].quiet_looks >= QUIET_LOOKS)
			look = later_deadline(look, QUIET_WAIT_NS - MATCHER_BRIEF_NS);
		next = look < next ? look : next;
	}
	return next;
}

/* Woken by a program: what was quiet is not. */
static void end_doze(struct ebpf_matcher *matcher)
{
	struct matcher_work *work = memory_at(&matcher->memory, &matcher->memory.work);
	bool was_woken = matcher->sweep.dozes && !__atomic_exchange_n(&work->dozing, 0, __ATOMIC_SEQ_CST);

	matcher->sweep.dozes = false;
	for (uint32_t i = 0; i < matcher->program->rule_count && was_woken; i++)
		matcher->sweep.watches[i].quiet_looks = 0;
}

/*
 * Timers may be set, and brief runs opened, at any time, and somebody has to look. As long as nothing of the kind
 * happens programs may as well wake this process when it does: that costs the thread it happens to some microseconds,
 * so it is asked for only where two looks in a row found the same. Returns when the next sweep is due.
 */
static uint64_t doze(struct ebpf_matcher *matcher, uint64_t now)
{
	struct matcher_work *work = memory_at(&matcher->memory, &matcher->memory.work);
	struct matcher_sweep *sweep = &matcher->sweep;
	uint64_t timer = first_known_timer(matcher), next = matcher_sweep_next(matcher);
	uint64_t capped = later_deadline(now, sweep->least_timer_ns);
	bool is_quiet = timer == sweep->known_timer && matcher->options.live && !matcher->options.silent;

	sweep->known_timer = timer;
	capped = next < capped ? next : capped;
	if (!is_quiet || next_while_dozing(matcher) <= capped)
		return capped;
	__atomic_store_n(&work->dozing, 1, __ATOMIC_SEQ_CST);
	sweep->dozes = true;
	if (first_known_timer(matcher) == timer)
		return next_while_dozing(matcher);
	end_doze(matcher);
	return capped;
}

int ebpf_matcher_poll(struct ebpf_matcher *matcher, uint64_t now_ns, uint64_t *wait_ns)
{
	int result;
	uint64_t next;

	end_doze(matcher);
	result = matcher_inbox_drain(matcher);
	*wait_ns = 0;
	if (!result)
		result = matcher_sweep_to(matcher, now_ns);
	next = result ? 0 : doze(matcher, now_ns);
	if (!result)
		*wait_ns = next == UINT64_MAX ? UINT64_MAX : next > now_ns ? next - now_ns : 0;
	return result;
}

static bool any_expires(const struct ebpf_matcher *matcher)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++)
		if (matcher->plan->rules[i].swept)
			return true;
	return false;
}

int matcher_sweep_open(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	struct ebpf_load_options options = { .name = "asterism_sweep",
					     .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					     .features = matcher->options.features };
	struct ebpf_asm *as;

	matcher->sweep.watches = alloc_zero(matcher->program->rule_count, sizeof *matcher->sweep.watches);
	if (!matcher->sweep.watches)
		return diag_no_memory(diag);
	matcher->sweep.least_timer_ns = least_timer(matcher);
	if (!any_expires(matcher))
		return 0;
	as = ebpf_asm_new();
	if (!as)
		return diag_no_memory(diag);
	codegen_sweep(&matcher->code, as);
	matcher->sweep.loading = ebpf_load_begin(as, &options, diag);
	return matcher->sweep.loading ? 0 : -ENOMEM;
}

int ebpf_matcher_ready(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	struct ebpf_loading *loading = matcher->sweep.loading;

	if (!loading)
		return 0;
	matcher->sweep.loading = NULL;
	matcher->sweep.fd = ebpf_load_end(loading, diag);
	return matcher->sweep.fd < 0 ? matcher->sweep.fd : 0;
}

void matcher_sweep_close(struct ebpf_matcher *matcher)
{
	ebpf_matcher_ready(matcher, NULL);
	if (matcher->sweep.fd >= 0)
		close(matcher->sweep.fd);
	alloc_free(matcher->sweep.watches);
	alloc_free(matcher->sweep.due);
}
