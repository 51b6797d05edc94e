// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the states of threads and CPUs, and reports each when it ends. Where the recording was of some processes
 * only, switches between others are missing: who is none of the observed has no states then, and a CPU that is
 * with such a thread, or with nobody, is with OTHERS.
 */

#include "report/pass-priv.h"

#include "base/alloc.h"
#include "base/text.h"
#include "meaning/meaning.h"

#include <errno.h>

/* The kernel's states as events have them. */
enum {
	LEFT_UNINTERRUPTIBLE = 2,
	LEFT_ASLEEP = 0xf,
	LEFT_STOPPED = 4,
	LEFT_TRACED = 8,
	LEFT_EXITED = 0x30,
	LEFT_IDLE = 0x80,
	LEFT_SLEEPING = 0xff,
	LEFT_PREEMPTED = 0x100,
};

static bool is_known_to_be_observed(const struct report_pass *pass, uint32_t thread)
{
	return !pass->view.is_partial || pass->lanes[thread].is_observed;
}

static void tell_state(struct report_pass *pass, struct report_slice slice)
{
	if (slice.begin < pass->options.from_ns)
		slice.begin = pass->options.from_ns;
	if (slice.end > pass->options.to_ns)
		slice.end = pass->options.to_ns;
	if (slice.begin >= slice.end)
		return;
	if (slice.thread != REPORT_NONE)
		pass->threads[slice.thread].state_ns[slice.state] += slice.end - slice.begin;
	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->slice)
			pass->failure = report->kind->slice(report, &slice);
	}
}

/* What the thread was until end. */
static void tell_thread(struct report_pass *pass, uint32_t thread, uint64_t end)
{
	const struct pass_lane *lane = &pass->lanes[thread];

	if (lane->state == REPORT_DEAD || !is_known_to_be_observed(pass, thread))
		return;
	tell_state(pass, (struct report_slice){
				 .begin = lane->since,
				 .end = end,
				 .thread = thread,
				 .waker = lane->waker,
				 .reason = lane->reason,
				 .cpu = lane->state == REPORT_RUNNING || lane->state == REPORT_READY ? lane->cpu : 0,
				 .state = lane->state,
				 .prio = pass->threads[thread].prio,
			 });
}

static void list_thread(struct report_pass *pass, uint32_t thread)
{
	if (pass->lanes[thread].is_listed)
		return;
	if (alloc_grow(&pass->active, &pass->active_capacity, pass->active_count, sizeof *pass->active)) {
		pass->failure = -ENOMEM;
		return;
	}
	pass->active[pass->active_count++] = thread;
	pass->lanes[thread].is_listed = true;
}

void pass_enter(struct report_pass *pass, uint32_t thread, enum report_state state, uint32_t reason, uint32_t waker)
{
	struct pass_lane *lane = &pass->lanes[thread];

	tell_thread(pass, thread, pass->now);
	lane->since = pass->now;
	lane->state = (uint8_t)state;
	lane->reason = reason;
	lane->waker = waker;
	lane->is_tentative = false;
	if (state != REPORT_RUNNING && state != REPORT_READY)
		lane->cpu = REPORT_NO_CPU;
	list_thread(pass, thread);
}

void pass_wake(struct report_pass *pass, uint32_t thread, uint32_t waker)
{
	struct pass_lane *lane = &pass->lanes[thread];

	switch (lane->state) {
	case REPORT_RUNNING:
		lane->pending_ns = pass->now;
		lane->pending_waker = waker;
		break;
	case REPORT_READY:
		if (!lane->is_tentative)
			break;
		lane->state = REPORT_BLOCKED; /* it had gone on when it was woken first */
		lane->reason = lane->blocked_reason;
		lane->waker = REPORT_NONE;
		pass_enter(pass, thread, REPORT_READY, REASON_WOKEN, waker);
		break;
	case REPORT_DEAD:
		break;
	default:
		pass_enter(pass, thread, REPORT_READY, REASON_WOKEN, waker);
	}
}

uint32_t pass_call_name(struct report_pass *pass, uint32_t call, bool is_uninterruptible)
{
	struct text_buffer text = { 0 };
	uint32_t number = call < PASS_CALLS ? pass->calls[call][is_uninterruptible] : 0;

	if (number)
		return number;
	meaning_show(&text, meaning_find("syscall"), (struct meaning_number){ call, false });
	if (is_uninterruptible)
		text_append(&text, " (D)");
	if (text.failure || report_names_add(&pass->names, text.bytes, &number))
		pass->failure = -ENOMEM;
	text_fini(&text);
	if (call < PASS_CALLS)
		pass->calls[call][is_uninterruptible] = number;
	return number;
}

static uint32_t reason_of(struct report_pass *pass, const struct pass_lane *lane, int64_t state)
{
	bool is_uninterruptible = state & LEFT_UNINTERRUPTIBLE;

	if (state & LEFT_STOPPED)
		return REASON_STOPPED;
	if (state & LEFT_TRACED)
		return REASON_TRACED;
	if (state & LEFT_IDLE)
		return REASON_IDLE_WORKER;
	if (lane->exit_ns)
		return REASON_EXIT;
	if (lane->call)
		return pass_call_name(pass, lane->call - 1, is_uninterruptible);
	if (lane->in_fault)
		return REASON_FAULT;
	return is_uninterruptible ? REASON_UNINTERRUPTIBLE : REASON_ASLEEP;
}

void pass_leave(struct report_pass *pass, uint32_t thread, int64_t state)
{
	struct pass_lane *lane = &pass->lanes[thread];
	bool is_woken = lane->pending_ns && pass->now - lane->pending_ns <= PASS_PENDING_NS;

	lane->pending_ns = 0;
	if (state & LEFT_PREEMPTED || !(state & LEFT_SLEEPING)) {
		pass_enter(pass, thread, REPORT_READY, REASON_PREEMPTED, REPORT_NONE);
	} else if ((state & LEFT_EXITED) && !(state & LEFT_ASLEEP)) {
		pass_die(pass, thread);
	} else {
		uint32_t reason = reason_of(pass, lane, state);

		if (is_woken) {
			pass_enter(pass, thread, REPORT_READY, REASON_WOKEN, lane->pending_waker);
			lane->blocked_reason = reason;
			lane->is_tentative = true;
		} else {
			pass_enter(pass, thread, REPORT_BLOCKED, reason, REPORT_NONE);
		}
	}
}

void pass_die(struct report_pass *pass, uint32_t thread)
{
	if (pass->lanes[thread].state == REPORT_DEAD)
		return;
	pass_enter(pass, thread, REPORT_DEAD, REASON_NONE, REPORT_NONE);
	pass->threads[thread].death = pass->now;
	pass_thread_forget(pass, thread);
}

struct pass_cpu *pass_cpu_get(struct report_pass *pass, uint32_t cpu)
{
	if (cpu >= REPORT_CPUS_MAX)
		return NULL;
	while (pass->view.cpu_count <= cpu) {
		if (alloc_grow(&pass->cpus, &pass->cpu_capacity, pass->view.cpu_count, sizeof *pass->cpus)) {
			pass->failure = -ENOMEM;
			return NULL;
		}
		pass->cpus[pass->view.cpu_count++] = (struct pass_cpu){ .current = REPORT_NONE };
	}
	if (!pass->cpus[cpu].is_met) {
		pass->cpus[cpu].is_met = true;
		pass->cpus[cpu].since = pass->view.first_ns;
	}
	return &pass->cpus[cpu];
}

/* The lane of a CPU where no thread's slices are it. */
static void tell_cpu(struct report_pass *pass, uint32_t cpu, enum report_state state, uint64_t end)
{
	tell_state(pass, (struct report_slice){
				 .begin = pass->cpus[cpu].since,
				 .end = end,
				 .thread = REPORT_NONE,
				 .waker = REPORT_NONE,
				 .cpu = (uint16_t)cpu,
				 .state = (uint8_t)state,
				 .prio = REPORT_NO_PRIO,
			 });
}

/* Somebody who is not observed was there; and the thread that was thought to be there left at a time not known. */
static void tell_missed(struct report_pass *pass, uint32_t cpu)
{
	uint32_t current = pass->cpus[cpu].current;

	pass->view.is_partial |= !pass->view.is_whole;
	tell_cpu(pass, cpu, REPORT_OTHERS, pass->now);
	if (current && pass->lanes[current].state == REPORT_RUNNING)
		pass->lanes[current].state = REPORT_UNKNOWN;
}

/* left: who left, as the event has it; where it ran, its slice was told already. */
void pass_cpu_turn(struct report_pass *pass, uint32_t cpu, uint32_t left, uint32_t current)
{
	struct pass_cpu *lane = &pass->cpus[cpu];

	if (lane->current == REPORT_NONE)
		tell_cpu(pass, cpu, REPORT_UNKNOWN, pass->now);
	else if (lane->current != left)
		tell_missed(pass, cpu);
	else if (!is_known_to_be_observed(pass, left))
		tell_cpu(pass, cpu, REPORT_OTHERS, pass->now);
	else if (left == 0)
		tell_cpu(pass, cpu, pass->view.is_partial ? REPORT_OTHERS : REPORT_IDLE, pass->now);
	lane->since = pass->now;
	lane->current = current;
	lane->current_tid = current == REPORT_NONE ? 0 : pass->threads[current].tid;
	lane->has_switched = true;
}

static void tell_loss(struct report_pass *pass, const struct report_loss *loss)
{
	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->loss)
			pass->failure = report->kind->loss(report, loss);
	}
}

static void keep_loss(struct report_pass *pass, const struct report_loss *loss)
{
	enum { LOSSES_MAX = 65536 };
	struct report_loss *last = pass->view.loss_count ? &pass->losses[pass->view.loss_count - 1] : NULL;

	if (last && (loss->begin <= last->end || pass->view.loss_count == LOSSES_MAX)) {
		last->end = loss->end > last->end ? loss->end : last->end;
		last->count += loss->count;
		return;
	}
	if (alloc_grow(&pass->losses, &pass->loss_capacity, pass->view.loss_count, sizeof *pass->losses)) {
		pass->failure = -ENOMEM;
		return;
	}
	pass->losses[pass->view.loss_count++] = *loss;
	pass->view.losses = pass->losses;
}

/* What the CPU was until end; a thread that runs there tells its own. */
static void tell_cpu_end(struct report_pass *pass, uint32_t cpu, uint64_t end)
{
	uint32_t current = pass->cpus[cpu].current;

	if (current == REPORT_NONE)
		tell_cpu(pass, cpu, REPORT_UNKNOWN, end);
	else if (!is_known_to_be_observed(pass, current) || (current == 0 && pass->view.is_partial))
		tell_cpu(pass, cpu, REPORT_OTHERS, end);
	else if (current == 0)
		tell_cpu(pass, cpu, REPORT_IDLE, end);
}

static void forget_all(struct report_pass *pass, uint64_t begin)
{
	for (uint32_t cpu = 0; cpu < pass->view.cpu_count; cpu++) {
		struct pass_cpu *lane = &pass->cpus[cpu];

		if (!lane->is_met || lane->current == REPORT_NONE)
			continue;
		tell_cpu_end(pass, cpu, begin);
		*lane = (struct pass_cpu){
			.since = begin, .current = REPORT_NONE, .is_met = true, .has_switched = true
		};
	}
	for (size_t i = 0; i < pass->active_count; i++) {
		struct pass_lane *lane = &pass->lanes[pass->active[i]];

		lane->is_listed = false;
		if (lane->state == REPORT_DEAD)
			continue;
		if (lane->state != REPORT_UNKNOWN) {
			tell_thread(pass, pass->active[i], begin);
			lane->since = begin;
		}
		*lane = (struct pass_lane){
			.since = lane->since,
			.exit_ns = lane->exit_ns,
			.waker = REPORT_NONE,
			.cpu = REPORT_NO_CPU,
			.is_observed = lane->is_observed,
			.is_foreign = lane->is_foreign,
		};
	}
	pass->active_count = 0;
}

void pass_gap(struct report_pass *pass, uint64_t begin, uint64_t end, uint64_t count)
{
	struct report_loss loss = { begin, end, count };

	keep_loss(pass, &loss);
	tell_loss(pass, &loss);
	forget_all(pass, begin);
}

/* The last of everything. */
void pass_end_all(struct report_pass *pass, uint64_t end)
{
	for (uint32_t cpu = 0; cpu < pass->view.cpu_count; cpu++) {
		if (pass->cpus[cpu].is_met)
			tell_cpu_end(pass, cpu, end);
	}
	for (uint32_t thread = 1; thread < pass->view.thread_count; thread++) {
		if (pass->lanes[thread].state != REPORT_DEAD)
			tell_thread(pass, thread, end);
		if (pass->lanes[thread].state != REPORT_DEAD && pass->lanes[thread].exit_ns)
			pass->threads[thread].death = pass->lanes[thread].exit_ns;
		pass->threads[thread].is_stranger = !is_known_to_be_observed(pass, thread);
	}
}
