// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows threads and CPUs through the events, by role. In a gap only what does not depend on the events before it is
 * taken: names, births, ends.
 */

#include "report/pass-priv.h"

#include <errno.h>
#include <string.h>

struct followed {
	struct report_pass *pass;
	const struct report_event *event;
	struct pass_cpu *cpu; /* NULL: not known, or what it does is not */
	uint32_t thread;
};

static int64_t followed_number(const struct followed *at, unsigned place)
{
	return report_number(at->event->layout, at->event->event, place);
}

static const char *text(const struct followed *at, unsigned place)
{
	return report_text(at->event->layout, at->event->event, place);
}

static void take_prio(struct followed *at, uint32_t thread, unsigned place)
{
	struct report_pass *pass = at->pass;
	int64_t prio = followed_number(at, place);

	if (thread == REPORT_NONE || !at->event->layout->offset[place] || prio < 0 || prio >= 140 ||
	    pass->threads[thread].prio == prio)
		return;
	pass->threads[thread].prio = (uint8_t)prio;
	for (size_t i = 0; i < pass->report_count && !pass->failure; i++) {
		struct report *report = pass->reports[i];

		if (report->kind->priority)
			pass->failure = report->kind->priority(report, thread, (uint8_t)prio, pass->now);
	}
}

/* On which CPU a thread waits that has not left one. */
static void take_cpu(struct followed *at, uint32_t thread, unsigned place)
{
	int64_t cpu = followed_number(at, place);

	if (at->event->layout->offset[place] && cpu >= 0 && cpu < REPORT_CPUS_MAX)
		at->pass->lanes[thread].cpu = (uint16_t)cpu;
}

static bool is_foreign(const struct report_pass *pass, uint32_t thread)
{
	return !thread || (pass->lanes[thread].is_foreign && !pass->lanes[thread].is_observed);
}

/*
 * Every switch that is there has an observed thread on one side. The idle thread is none, and nor is whoever left or
 * came to the CPU by a switch that is missing: who is on the other side of one of these is observed.
 */
static void tell_apart(struct report_pass *pass, uint32_t current, uint32_t prev, uint32_t next)
{
	struct pass_lane *lanes = pass->lanes;

	if (current != REPORT_NONE && current != prev)
		lanes[current].is_foreign = lanes[prev].is_foreign = true;
	if (prev && next && is_foreign(pass, prev) && is_foreign(pass, next)) {
		/* A tid was used again: it is another thread. */
		lanes[prev].is_foreign = lanes[next].is_foreign = false;
		return;
	}
	lanes[next].is_observed |= is_foreign(pass, prev);
	lanes[prev].is_observed |= is_foreign(pass, next);
}

static void on_switch(struct followed *at)
{
	struct report_pass *pass = at->pass;
	const struct event_header *record = at->event->event->record;
	uint32_t prev_tid = (uint32_t)followed_number(at, SWITCH_PREV_TID),
		 next_tid = (uint32_t)followed_number(at, SWITCH_NEXT_TID);
	uint32_t prev =
		pass_thread_meet(pass, prev_tid, prev_tid == record->tid ? record->pid : 0, text(at, SWITCH_PREV_COMM));
	uint32_t next = pass_thread_meet(pass, next_tid, 0, text(at, SWITCH_NEXT_COMM));

	if (prev == REPORT_NONE || next == REPORT_NONE || !at->cpu)
		return;
	pass_thread_name(pass, prev, 0, text(at, SWITCH_PREV_COMM));
	pass_thread_name(pass, next, 0, text(at, SWITCH_NEXT_COMM));
	tell_apart(pass, at->cpu->current, prev, next);
	pass_cpu_turn(pass, record->cpu, prev, next);
	take_prio(at, prev, SWITCH_PREV_PRIO); /* what it had while it ran, if only at the end */
	if (prev) {
		if (pass->lanes[prev].state != REPORT_RUNNING)
			pass->lanes[prev].state = REPORT_UNKNOWN;
		pass_leave(pass, prev, followed_number(at, SWITCH_PREV_STATE));
		pass->lanes[prev].cpu = (uint16_t)record->cpu;
	}
	if (next) {
		if (pass->lanes[next].state == REPORT_RUNNING) /* it left another CPU at a time not known */
			pass->lanes[next].state = REPORT_UNKNOWN;
		pass_enter(pass, next, REPORT_RUNNING, REASON_NONE, REPORT_NONE);
		pass->lanes[next].cpu = (uint16_t)record->cpu;
		pass->lanes[next].pending_ns = 0;
		pass->threads[next].runs += pass->now >= pass->options.from_ns;
	}
	take_prio(at, next, SWITCH_NEXT_PRIO);
	pass->cpus[record->cpu].depth = 0;
	pass->cpus[record->cpu].timers = 0;
}

static bool is_in_call(const struct report_pass *pass, uint32_t thread, const int *calls)
{
	bool found = false;

	for (; thread != REPORT_NONE && *calls >= 0 && !found; calls++)
		found = pass->lanes[thread].call == (uint32_t)*calls + 1;
	return found;
}

/*
 * Interrupts that are not recorded hide behind the thread under them. But who sleeps for a time is woken by its timer,
 * unless by a signal.
 */
static uint32_t waker_of(const struct followed *at, uint32_t woken)
{
	static const int sleeps[] = { 35 /* nanosleep */, 230 /* clock_nanosleep */, -1 };
	static const int signals[] = { 62 /* kill */,    129 /* rt_sigqueueinfo */,   200 /* tkill */,
				       234 /* tgkill */, 297 /* rt_tgsigqueueinfo */, -1 };

	if (at->event->in_interrupt && at->cpu && at->cpu->timers & 1)
		return REPORT_TIMER;
	if (is_in_call(at->pass, woken, sleeps) && !is_in_call(at->pass, at->thread, signals))
		return REPORT_TIMER;
	if (at->event->in_interrupt || at->thread == 0)
		return REPORT_INTERRUPT;
	return at->thread;
}

static void on_waking(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t woken = pass_thread_meet(pass, (uint32_t)followed_number(at, WAKING_TID),
					  (uint32_t)followed_number(at, WAKING_PID), text(at, WAKING_COMM));

	if (woken == REPORT_NONE || woken == 0)
		return;
	take_prio(at, woken, WAKING_PRIO);
	if (pass->now > pass->gap_until_ns || !pass->gap_until_ns)
		pass_wake(pass, woken, waker_of(at, woken));
}

static void on_wakeup_new(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t made = pass_thread_meet(pass, (uint32_t)followed_number(at, WAKING_TID),
					 (uint32_t)followed_number(at, WAKING_PID), text(at, WAKING_COMM));

	if (made == REPORT_NONE || made == 0)
		return;
	take_prio(at, made, WAKING_PRIO);
	if ((pass->now > pass->gap_until_ns || !pass->gap_until_ns) && pass->lanes[made].state == REPORT_UNKNOWN)
		pass_enter(pass, made, REPORT_READY, REASON_NEW, waker_of(at, made));
	if (pass->lanes[made].state == REPORT_READY && pass->lanes[made].reason == REASON_NEW)
		take_cpu(at, made, WAKING_CPU);
}

/* Comes directly before the fork of the thread, by the same thread. */
static void on_thread_made(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint64_t ts = at->event->event->record->ts, wall_ns = pass->view.source->machine.wall_ns;
	struct report_start start = {
		.address = (uint64_t)followed_number(at, MADE_START),
		.code_start = (uint64_t)followed_number(at, MADE_CODE_START),
		.inode = (uint64_t)followed_number(at, MADE_INODE),
		.wall_ns = wall_ns ? wall_ns + ts : 0,
		.program = text(at, MADE_PROGRAM),
	};
	const char *name;

	if (!pass->options.function || at->thread == REPORT_NONE || !at->thread)
		return;
	name = pass->options.function(pass->options.context, &start);
	pass->lanes[at->thread].made_ns = pass->now;
	if (report_names_add(&pass->names, name ? name : "", &pass->lanes[at->thread].function))
		pass->failure = -ENOMEM;
}

/* The function that a new thread begins with, if what said so belongs to this fork. */
static void take_function(struct report_pass *pass, uint32_t maker, uint32_t made)
{
	struct pass_lane *lane = &pass->lanes[maker];

	if (pass->threads[made].pid == pass->threads[maker].pid &&
	    (!pass->gap_until_ns || lane->made_ns > pass->gap_until_ns))
		pass->threads[made].function = lane->function;
	lane->function = 0;
}

static void on_fork(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t tid = (uint32_t)followed_number(at, FORK_CHILD_TID);
	uint32_t made;

	if (!tid)
		return;
	made = pass_thread_find(pass, tid);
	if (made != REPORT_NONE) /* its end was not seen */
		pass_die(pass, made);
	made = pass_thread_make(pass, tid, (uint32_t)followed_number(at, FORK_CHILD_PID), text(at, FORK_CHILD_COMM));
	if (made == REPORT_NONE)
		return;
	pass->threads[made].is_born = true;
	pass->threads[made].parent = at->thread;
	if (at->thread != REPORT_NONE) {
		pass->threads[made].parent_pid = pass->threads[at->thread].pid;
		pass->threads[made].program = pass->threads[at->thread].program;
		pass->threads[made].arguments = pass->threads[at->thread].arguments;
		pass->threads[made].is_kernel = pass->threads[at->thread].is_kernel;
		take_function(pass, at->thread, made);
	}
	pass->lanes[made].is_observed = true;
	if (pass->now > pass->gap_until_ns || !pass->gap_until_ns)
		pass_enter(pass, made, REPORT_READY, REASON_NEW, at->thread);
}

/* Another thread than the first that calls exec goes on as the first. */
static void take_over(struct followed *at, uint32_t old_tid)
{
	struct report_pass *pass = at->pass;
	uint32_t old = pass_thread_find(pass, old_tid);
	uint32_t cpu = at->event->event->record->cpu;

	if (old == REPORT_NONE || old == 0 || old == at->thread)
		return;
	if (at->cpu && at->cpu->current == old) {
		pass_cpu_turn(pass, cpu, old, at->thread);
		pass_enter(pass, at->thread, REPORT_RUNNING, REASON_NONE, REPORT_NONE);
		pass->lanes[at->thread].cpu = (uint16_t)cpu;
	}
	pass_die(pass, old);
}

static void on_exec(struct followed *at)
{
	uint32_t old_tid = (uint32_t)followed_number(at, EXEC_OLD_TID);

	if (at->thread == REPORT_NONE || at->thread == 0)
		return;
	if (old_tid && old_tid != at->event->event->record->tid)
		take_over(at, old_tid);
	pass_thread_name(at->pass, at->thread, 0, at->event->event->record->comm);
	if (report_names_add(&at->pass->names, text(at, EXEC_FILE), &at->pass->threads[at->thread].program))
		at->pass->failure = -ENOMEM;
}

static void on_arguments(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t pid = (uint32_t)followed_number(at, ARGUMENTS_PID);
	uint32_t thread = pass_thread_meet(pass, pid, pid, "");

	if (thread != REPORT_NONE && thread &&
	    report_names_add(&pass->names, text(at, ARGUMENTS_TEXT), &pass->threads[thread].arguments))
		pass->failure = -ENOMEM;
}

static void on_process_exit(struct followed *at)
{
	if (at->thread != REPORT_NONE && at->thread)
		at->pass->lanes[at->thread].exit_ns = at->pass->now;
}

static void on_rename(struct followed *at)
{
	uint32_t tid = (uint32_t)followed_number(at, RENAME_TID);
	uint32_t thread = tid ? pass_thread_find(at->pass, tid) : at->thread;

	if (thread != REPORT_NONE && thread)
		pass_thread_name(at->pass, thread, 0, text(at, RENAME_COMM));
}

static void on_state(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t thread = pass_thread_meet(pass, (uint32_t)followed_number(at, STATE_TID),
					   (uint32_t)followed_number(at, STATE_PID), text(at, STATE_COMM));
	char state = *text(at, STATE_STATE);

	if (thread == REPORT_NONE || thread == 0)
		return;
	pass->threads[thread].is_kernel = followed_number(at, STATE_IS_KERNEL);
	/* Only recordings of the whole machine tell of threads of the kernel, and they do so among the first. */
	pass->view.is_whole |= pass->threads[thread].is_kernel;
	pass->view.is_partial = !pass->view.is_whole;
	if (!pass->threads[thread].parent_pid)
		pass->threads[thread].parent_pid = (uint32_t)followed_number(at, STATE_PARENT_PID);
	if (pass->threads[thread].prio == REPORT_NO_PRIO)
		take_prio(at, thread, STATE_PRIO);
	pass->lanes[thread].is_observed = true;
	if (pass->lanes[thread].state == REPORT_UNKNOWN && (state == 'S' || state == 'D' || state == 'I') &&
	    (pass->now > pass->gap_until_ns || !pass->gap_until_ns)) {
		pass_enter(pass, thread, REPORT_BLOCKED, REASON_NONE, REPORT_NONE);
		take_cpu(at, thread, STATE_CPU);
	}
}

static void on_priority(struct followed *at)
{
	take_prio(at, pass_thread_find(at->pass, (uint32_t)followed_number(at, PRIORITY_TID)), PRIORITY_NEW);
}

static void on_call(struct followed *at)
{
	int64_t id = followed_number(at, CALL_ID);

	if (at->thread != REPORT_NONE)
		at->pass->lanes[at->thread].call = id >= 0 && id < PASS_CALLS ? (uint32_t)id + 1 : 0;
}

/* What a thread that was asleep when the recording began is blocked for; any event of its own would have come later. */
static void on_call_state(struct followed *at)
{
	struct report_pass *pass = at->pass;
	uint32_t thread = pass_thread_find(pass, (uint32_t)followed_number(at, CALL_STATE_TID));
	struct pass_lane *lane = thread == REPORT_NONE ? NULL : &pass->lanes[thread];
	int64_t id = followed_number(at, CALL_ID);

	if (!lane || lane->state != REPORT_BLOCKED || lane->reason != REASON_NONE || id < 0 || id >= PASS_CALLS)
		return;
	lane->call = (uint32_t)id + 1;
	lane->reason = pass_call_name(pass, (uint32_t)id, false);
}

static void on_call_end(struct followed *at)
{
	if (at->thread != REPORT_NONE)
		at->pass->lanes[at->thread].call = 0;
}

static void on_fault(struct followed *at)
{
	if (at->thread != REPORT_NONE)
		at->pass->lanes[at->thread].in_fault = true;
}

static void enter_interrupt(struct followed *at, bool is_timer)
{
	if (!at->cpu)
		return;
	at->cpu->depth++;
	at->cpu->timers = at->cpu->timers << 1 | is_timer;
}

static void on_interrupt(struct followed *at)
{
	enter_interrupt(at, false);
}

static void on_timer(struct followed *at)
{
	enter_interrupt(at, true);
}

static void on_softirq(struct followed *at)
{
	int64_t vector = followed_number(at, SOFTIRQ_VECTOR);

	enter_interrupt(at, vector == 1 /* TIMER */ || vector == 8 /* HRTIMER */);
}

static void on_interrupt_end(struct followed *at)
{
	if (!at->cpu || !at->cpu->depth)
		return;
	at->cpu->depth--;
	at->cpu->timers >>= 1;
}

static const struct {
	void (*follow)(struct followed *at);
	bool shows_observed; /* whoever raises it is one of the observed */
	bool shows_running;  /* and runs: some are raised at a switch, behind it, in the name of who leaves */
} follows[ROLE_COUNT] = {
	[ROLE_SWITCH] = { on_switch, false, false },
	[ROLE_WAKING] = { on_waking, false, true },
	[ROLE_WAKEUP_NEW] = { on_wakeup_new, false, true },
	[ROLE_FORK] = { on_fork, true, true },
	[ROLE_THREAD_MADE] = { on_thread_made, true, true }, /* a probe: the thread runs */
	[ROLE_EXEC] = { on_exec, true, false },
	[ROLE_ARGUMENTS] = { on_arguments, false, false },
	[ROLE_EXIT] = { on_process_exit, true, true },
	[ROLE_RENAME] = { on_rename, false, false },
	[ROLE_STATE] = { on_state, false, false },
	[ROLE_PRIORITY] = { on_priority, false, true },
	[ROLE_CALL] = { on_call, true, true },
	[ROLE_CALL_STATE] = { on_call_state, false, false },
	[ROLE_CALL_END] = { on_call_end, true, true },
	[ROLE_IRQ] = { on_interrupt, true, true },
	[ROLE_IRQ_END] = { on_interrupt_end, true, true },
	[ROLE_SOFTIRQ] = { on_softirq, true, true },
	[ROLE_SOFTIRQ_END] = { on_interrupt_end, true, true },
	[ROLE_VECTOR] = { on_interrupt, true, true },
	[ROLE_VECTOR_END] = { on_interrupt_end, true, true },
	[ROLE_TIMER] = { on_timer, true, true },
	[ROLE_TIMER_END] = { on_interrupt_end, true, true },
	[ROLE_FAULT_USER] = { on_fault, true, true },
	[ROLE_FAULT_KERNEL] = { on_fault, true, true },
};

void pass_follow(struct report_pass *pass, const struct report_event *event)
{
	const struct event_header *record = event->event->record;
	struct followed at = { pass, event, NULL, event->thread };
	uint32_t role = event->layout->role;
	bool in_gap = pass->gap_until_ns && pass->now <= pass->gap_until_ns;

	if (!in_gap && record->cpu < pass->view.cpu_count)
		at.cpu = &pass->cpus[record->cpu];
	if (at.thread != REPORT_NONE && role != ROLE_FAULT_USER)
		pass->lanes[at.thread].in_fault = role == ROLE_SWITCH && pass->lanes[at.thread].in_fault;
	if (at.thread != REPORT_NONE && follows[role].shows_observed)
		pass->lanes[at.thread].is_observed = true;
	if (at.cpu && at.cpu->has_switched && at.thread != REPORT_NONE && follows[role].shows_running && at.thread &&
	    at.cpu->current != at.thread) {
		pass_cpu_turn(pass, record->cpu, at.thread, at.thread);
		if (pass->lanes[at.thread].state != REPORT_RUNNING) /* since when is not known */
			pass->lanes[at.thread].state = REPORT_UNKNOWN;
		pass_enter(pass, at.thread, REPORT_RUNNING, REASON_NONE, REPORT_NONE);
		pass->lanes[at.thread].cpu = (uint16_t)record->cpu;
	}
	if (follows[role].follow)
		follows[role].follow(&at);
}
