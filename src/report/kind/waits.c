// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which threads wait for which: decides for which objects threads wait, how long, and who has them. A wait is a call of
 * futex, from its entry to its return; one that finds the value changed already (EAGAIN) is none.
 */

#include "report/kind/waits-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>

static int waits_open(const struct report_view *view, struct report **made)
{
	struct waits *waits = alloc_zero(1, sizeof *waits);

	(void)view;
	if (!waits)
		return -ENOMEM;
	waits->objects = REPORT_TALLY(struct waits_object, WAITS_OBJECTS_MAX);
	waits->edges = REPORT_TALLY(struct waits_edge, WAITS_EDGES_MAX);
	waits->pairs = REPORT_TALLY(struct waits_pair, WAITS_PAIRS_MAX);
	waits->processes = REPORT_TALLY(struct waits_process, WAITS_PROCESSES_MAX);
	waits->circles = REPORT_TALLY(struct waits_circle, WAITS_CIRCLES_MAX);
	*made = &waits->report;
	return 0;
}

static void waits_free(struct report *report)
{
	struct waits *waits = (struct waits *)report;
	struct waits_circle *circles = waits->circles.items;

	for (size_t i = 0; i < waits->circles.count; i++)
		alloc_free(circles[i].members);
	report_tally_fini(&waits->objects);
	report_tally_fini(&waits->edges);
	report_tally_fini(&waits->pairs);
	report_tally_fini(&waits->processes);
	report_tally_fini(&waits->circles);
	alloc_free(waits->threads);
	alloc_free(waits->walk);
	alloc_free(waits->order);
	alloc_free(waits->numbers);
	alloc_free(waits);
}

static int failure_of(const struct waits *waits)
{
	return waits->objects.failure | waits->edges.failure | waits->pairs.failure | waits->processes.failure |
			       waits->circles.failure
		       ? -ENOMEM
		       : 0;
}

static struct waits_thread *thread_of(struct waits *waits, uint32_t thread)
{
	while (waits->thread_count <= thread) {
		if (alloc_grow(&waits->threads, &waits->thread_capacity, waits->thread_count, sizeof *waits->threads))
			return NULL;
		waits->threads[waits->thread_count++] = (struct waits_thread){ 0 };
	}
	return &waits->threads[thread];
}

static uint32_t object_index(const struct waits *waits, const struct waits_object *object)
{
	return (uint32_t)(object - waits_object(waits, 0));
}

static void add_wait(struct waits_sum *sum, uint64_t ns)
{
	sum->count++;
	sum->ns += ns;
	sum->most_ns = ns > sum->most_ns ? ns : sum->most_ns;
}

static void count_wait(struct waits *waits, uint32_t thread, uint32_t index, uint64_t ns)
{
	struct waits_object *object = waits_object(waits, index);
	uint64_t key[2] = { thread, index };
	struct waits_edge *edge = report_tally_at(&waits->edges, key);

	add_wait(&object->sum, ns);
	if (!edge)
		return;
	object->threads += edge->sum.count == 0;
	add_wait(&edge->sum, ns);
}

/* It is not stuck any more; before that all may have been. */
static int unstick(struct waits *waits, uint32_t thread, uint64_t ts)
{
	struct waits_process *process = waits_process_of(waits, thread);
	int result = 0;

	if (!waits->threads[thread].is_stuck || !process)
		return 0;
	result = waits_judge(waits, process, ts);
	waits->threads[thread].is_stuck = false;
	if (process->stuck)
		process->stuck--;
	if (process->stuck_mutex &&
	    waits_kind_of(waits_object(waits, waits->threads[thread].object - 1)) == WAITS_MUTEX)
		process->stuck_mutex--;
	return result;
}

/* Waits for mutexes that no other process has, and joins, end by threads of the process alone. */
static void stick(struct waits *waits, uint32_t thread, uint64_t ts)
{
	struct waits_process *process = waits_process_of(waits, thread);
	struct waits_thread *known = &waits->threads[thread];
	const struct waits_object *object = waits_object(waits, known->object - 1);
	bool is_mutex = waits_kind_of(object) == WAITS_MUTEX && object->is_private;

	if (known->is_timed || !process || !(is_mutex || waits_kind_of(object) == WAITS_JOIN))
		return;
	known->is_stuck = true;
	process->stuck++;
	process->stuck_mutex += is_mutex;
	process->stuck_since = ts;
}

static int begin_wait(struct waits *waits, uint32_t thread, const struct waits_call *call, uint64_t ts)
{
	struct waits_thread *known = &waits->threads[thread];
	uint64_t kind = WAITS_CONDITION;
	uint32_t joined = REPORT_NONE;
	struct waits_object *object;

	if (call->joined)
		joined = report_thread_find(waits->report.view, call->joined);
	if (joined != REPORT_NONE && joined != thread &&
	    report_process(waits->report.view, joined) == report_process(waits->report.view, thread))
		kind = WAITS_JOIN | (uint64_t)joined << 8;
	else if (call->is_mutex)
		kind = WAITS_MUTEX;
	object = waits_object_of(waits, thread, call->address, kind, true);
	known->object = object ? object_index(waits, object) + 1 : 0;
	known->begin = ts;
	known->is_timed = call->is_timed;
	known->inherits = call->inherits;
	if (!object)
		return failure_of(waits);
	object->is_private = call->is_private;
	if ((kind & 0xff) == WAITS_JOIN)
		waits_set_holder(object, joined, WAITS_PROVED);
	/* What it waits for it has not; by the probes only if it is in the lock's own function. */
	else if (object->holder == thread && !(object->proof == WAITS_PROVED && known->wanted == call->address))
		waits_set_holder(object, REPORT_NONE, WAITS_NOT_KNOWN);
	stick(waits, thread, ts);
	return waits_look_for_circle(waits, thread, ts);
}

static const enum waits_fate fates[] = {
	[WAITS_END_LOST] = WAITS_NOT_KNOWN_HOW,  [WAITS_END_NONE] = WAITS_ENDED,
	[WAITS_END_RETURN] = WAITS_ENDED,        [WAITS_END_SIGNAL] = WAITS_INTERRUPTED,
	[WAITS_END_RESUMED] = WAITS_INTERRUPTED, [WAITS_END_WOKEN] = WAITS_ENDED,
	[WAITS_END_EXIT] = WAITS_ENDED_BY_EXIT,
};

static int end_wait(struct waits *waits, uint32_t thread, uint64_t ts, enum waits_end end)
{
	struct waits_thread *known = &waits->threads[thread];
	struct waits_object *object;
	int result;

	if (!known->object)
		return 0;
	result = unstick(waits, thread, ts);
	waits_end_circle(waits, thread, ts, fates[end]);
	object = waits_object(waits, known->object - 1);
	if (end == WAITS_END_LOST)
		waits->halves++;
	else if (end != WAITS_END_NONE)
		count_wait(waits, thread, known->object - 1, ts > known->begin ? ts - known->begin : 0);
	if (end == WAITS_END_WOKEN && !known->inherits && waits_kind_of(object) == WAITS_MUTEX &&
	    object->holder == REPORT_NONE)
		waits_set_holder(object, thread, WAITS_SUSPECTED);
	known->object = 0;
	return result ? result : failure_of(waits);
}

/* Threads that wait at that address may go on, as far as this one had what they wait for. */
static void take_wake(struct waits *waits, uint32_t thread, uint64_t address)
{
	struct waits_object *mutex = waits_object_of(waits, thread, address, WAITS_MUTEX, false);
	struct waits_object *condition = waits_object_of(waits, thread, address, WAITS_CONDITION, false);

	if (condition) {
		condition->last = thread;
		condition->last_proof = WAITS_SUSPECTED;
	}
	if (!mutex || mutex->proof == WAITS_PROVED || (mutex->last == thread && mutex->last_proof == WAITS_PROVED))
		return;
	waits_set_holder(mutex, thread, WAITS_SUSPECTED);
	waits_set_holder(mutex, REPORT_NONE, WAITS_NOT_KNOWN);
}

static int take_call(struct waits *waits, const struct report_event *event, int64_t id)
{
	struct waits_thread *known = &waits->threads[event->thread];
	uint64_t ts = event->event->record->ts;
	uint32_t resumes = known->resumes;
	struct waits_call call = waits_read_call(event, id);
	int result = end_wait(waits, event->thread, ts, WAITS_END_LOST);

	known->resumes = 0;
	if (result)
		return result;
	switch (call.what) {
	case WAITS_CALL_WAIT:
		return begin_wait(waits, event->thread, &call, ts);
	case WAITS_CALL_WAKE:
		take_wake(waits, event->thread, call.address);
		return failure_of(waits);
	case WAITS_CALL_RESTART:
		known->object = resumes;
		known->begin = ts;
		known->is_timed = true;
		return resumes ? waits_look_for_circle(waits, event->thread, ts) : 0;
	case WAITS_CALL_UNREAD:
		waits->unread++;
		return 0;
	default:
		return 0;
	}
}

static int take_waiting_return(struct waits *waits, const struct report_event *event, int64_t id)
{
	struct waits_thread *known = &waits->threads[event->thread];
	enum waits_end end = waits_end_of(report_number(event->layout, event->event, CALL_END_RET));

	if (!waits_returns(id))
		return 0;
	known->resumes = end == WAITS_END_RESUMED ? known->object : 0;
	return end_wait(waits, event->thread, event->event->record->ts, end);
}

/* It has the mutex; another time, where that is recursive. */
static void take_mutex(struct waits *waits, uint32_t thread, uint64_t address)
{
	struct waits_object *object = waits_object_of(waits, thread, address, WAITS_MUTEX, true);

	if (!object)
		return;
	if (object->holder == thread && object->proof == WAITS_PROVED)
		object->depth++;
	else
		waits_set_holder(object, thread, WAITS_PROVED);
}

static void give_mutex(struct waits *waits, uint32_t thread, uint64_t address, bool is_whole)
{
	struct waits_object *object = waits_object_of(waits, thread, address, WAITS_MUTEX, false);

	if (!object || object->holder != thread)
		return;
	if (object->depth > 1 && !is_whole)
		object->depth--;
	else
		waits_set_holder(object, REPORT_NONE, WAITS_NOT_KNOWN);
}

/* Probes in the functions of locks. pthread_cond_wait gives a mutex back, and has it again whatever it returns. */
static int take_lock(struct waits *waits, const struct report_event *event)
{
	struct waits_thread *known = &waits->threads[event->thread];
	int64_t number = report_number(event->layout, event->event, LOCK_ADDRESS);
	uint64_t wanted = known->wanted;

	known->wanted = 0;
	switch (event->layout->role) {
	case ROLE_LOCK_WANTED:
		known->wanted = (uint64_t)number;
		break;
	case ROLE_CONDITION:
		known->wanted = (uint64_t)number;
		give_mutex(waits, event->thread, (uint64_t)number, true);
		break;
	case ROLE_LOCK_GIVEN:
		give_mutex(waits, event->thread, (uint64_t)number, false);
		break;
	case ROLE_LOCK_TAKEN:
		if (wanted && number == 0)
			take_mutex(waits, event->thread, wanted);
		break;
	default:
		if (wanted)
			take_mutex(waits, event->thread, wanted);
	}
	return failure_of(waits);
}

/* A thread is made. It is met behind this event. */
static int take_fork(struct waits *waits, const struct report_event *event)
{
	uint32_t tid = (uint32_t)report_number(event->layout, event->event, FORK_CHILD_TID);
	uint64_t pid = (uint32_t)report_number(event->layout, event->event, FORK_CHILD_PID);
	struct waits_process *process = pid ? waits_process_at(waits, pid) : NULL;

	if (!process)
		return failure_of(waits);
	if (tid == pid) {
		process->generation++;
		process->alive = process->stuck = process->stuck_mutex = process->made = process->met = 0;
		process->is_whole = true;
	}
	process->alive++;
	process->made++;
	return 0;
}

static int take_thread_state(struct waits *waits, const struct report_event *event)
{
	uint64_t pid = (uint32_t)report_number(event->layout, event->event, STATE_PID);
	struct waits_process *process = pid ? waits_process_at(waits, pid) : NULL;

	if (process) {
		process->alive++;
		process->made++;
		process->is_whole = true;
	}
	return failure_of(waits);
}

/* A thread that has shown itself may have left that call meanwhile. */
static int take_call_state(struct waits *waits, const struct report_event *event)
{
	uint32_t tid = (uint32_t)report_number(event->layout, event->event, CALL_STATE_TID);
	uint32_t thread = report_thread_find(waits->report.view, tid);
	struct waits_thread *known;
	struct waits_call call;

	if (thread == REPORT_NONE || !thread)
		return 0;
	known = thread_of(waits, thread);
	if (!known)
		return -ENOMEM;
	if (known->is_met || known->is_told)
		return 0;
	known->is_told = true;
	call = waits_read_call(event, report_number(event->layout, event->event, CALL_ID));
	waits->unread += call.what == WAITS_CALL_UNREAD;
	if (call.what != WAITS_CALL_WAIT)
		return 0;
	waits->earlier++;
	return begin_wait(waits, thread, &call, event->event->record->ts);
}

static int take_exit(struct waits *waits, const struct report_event *event)
{
	int result = end_wait(waits, event->thread, event->event->record->ts, WAITS_END_EXIT);
	struct waits_process *process = waits_process_of(waits, event->thread);

	waits->threads[event->thread].is_gone = true;
	if (!process)
		return failure_of(waits);
	if (process->alive)
		process->alive--;
	process->stuck_since = event->event->record->ts;
	return result;
}

static int take_exec(struct waits *waits, const struct report_event *event)
{
	struct waits_process *process = waits_process_of(waits, event->thread);

	if (!process)
		return failure_of(waits);
	process->generation++;
	process->alive = process->made = process->met = 1;
	process->stuck = process->stuck_mutex = 0;
	process->is_whole = true;
	return 0;
}

/* Who is woken is about to go on, whatever it waits for. */
static int take_waking(struct waits *waits, const struct report_event *event)
{
	uint32_t woken = report_thread_find(waits->report.view,
					    (uint32_t)report_number(event->layout, event->event, WAKING_TID));

	if (woken == REPORT_NONE || woken >= waits->thread_count)
		return 0;
	return unstick(waits, woken, event->event->record->ts);
}

/* A thread that has shown itself but whose begin is not in the trace may be one of several. */
static int meet(struct waits *waits, uint32_t thread)
{
	struct waits_thread *known = thread_of(waits, thread);
	struct waits_process *process = known && !known->is_met ? waits_process_of(waits, thread) : NULL;

	if (!known)
		return -ENOMEM;
	known->is_met = true;
	if (process)
		process->met++;
	return failure_of(waits);
}

static int waits_event(struct report *report, const struct report_event *event)
{
	struct waits *waits = (struct waits *)report;
	int64_t id = report_number(event->layout, event->event, CALL_ID);

	if (event->layout->role == ROLE_WAKING)
		return take_waking(waits, event);
	if (event->layout->role == ROLE_STATE)
		return take_thread_state(waits, event);
	if (event->layout->role == ROLE_CALL_STATE)
		return take_call_state(waits, event);
	if (event->thread == REPORT_NONE || !event->thread)
		return 0;
	if (meet(waits, event->thread))
		return -ENOMEM;
	switch (event->layout->role) {
	case ROLE_CALL:
		return take_call(waits, event, id);
	case ROLE_CALL_END:
		return take_waiting_return(waits, event, id);
	case ROLE_FORK:
		return take_fork(waits, event);
	case ROLE_EXEC:
		return take_exec(waits, event);
	case ROLE_EXIT:
		return take_exit(waits, event);
	default:
		return take_lock(waits, event);
	}
}

/* Slices of a thread come in their order: READY with its waker follows what it was blocked for. */
static int waits_slice(struct report *report, const struct report_slice *slice)
{
	struct waits *waits = (struct waits *)report;
	struct waits_thread *known;
	struct waits_pair *pair;

	if (slice->thread == REPORT_NONE || (slice->state != REPORT_BLOCKED && slice->state != REPORT_READY))
		return 0;
	known = thread_of(waits, slice->thread);
	if (!known)
		return -ENOMEM;
	if (slice->state == REPORT_BLOCKED) {
		known->blocked_end = slice->end;
		known->blocked_ns = slice->end - slice->begin;
		known->blocked_for = known->object ? waits_kind_of(waits_object(waits, known->object - 1))
						   : UINT64_C(256) + slice->reason;
		return 0;
	}
	if (!known->blocked_end || known->blocked_end != slice->begin || slice->waker == REPORT_NONE)
		return 0;
	pair = report_tally_at(&waits->pairs, (uint64_t[]){ slice->thread, slice->waker, known->blocked_for });
	known->blocked_end = 0;
	if (pair) {
		pair->count++;
		pair->ns += known->blocked_ns;
	}
	return failure_of(waits);
}

/* Nothing is known of who waits and who has what. */
static int waits_loss(struct report *report, const struct report_loss *loss)
{
	struct waits *waits = (struct waits *)report;

	waits->epoch++;
	for (uint32_t i = 0; i < waits->thread_count; i++) {
		bool is_gone = waits->threads[i].is_gone;

		waits->halves += waits->threads[i].object != 0;
		waits_end_circle(waits, i, loss->begin, WAITS_NOT_KNOWN_HOW);
		waits->threads[i] = (struct waits_thread){ .is_gone = is_gone, .is_met = true };
	}
	return 0;
}

static int by_wait_time(const void *left, const void *right, void *context)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t a_ns = waits_object(context, a)->sum.ns, b_ns = waits_object(context, b)->sum.ns;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Objects for which some thread has waited, by time; one in a cycle may have no wait whose length is known. */
static int put_in_order(struct waits *waits)
{
	waits->order = alloc_zero(waits->objects.count + 1, sizeof *waits->order);
	waits->numbers = alloc_zero(waits->objects.count + 1, sizeof *waits->numbers);
	if (!waits->order || !waits->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < waits->objects.count; i++) {
		if (waits_object(waits, i)->sum.count || waits_object(waits, i)->is_red)
			waits->order[waits->shown++] = i;
	}
	qsort_r(waits->order, waits->shown, sizeof *waits->order, by_wait_time, waits);
	for (uint32_t i = 0; i < waits->shown; i++)
		waits->numbers[waits->order[i]] = i + 1;
	return 0;
}

/* Waits that last end with the trace. */
static int waits_finish(struct report *report)
{
	struct waits *waits = (struct waits *)report;
	uint64_t end = report->view->last_ns;
	int result = 0;

	for (size_t i = 0; i < waits->processes.count && !result; i++)
		result = waits_judge(waits, (struct waits_process *)waits->processes.items + i, end);
	for (uint32_t i = 0; i < waits->thread_count && !result; i++) {
		const struct waits_thread *known = &waits->threads[i];

		waits_end_circle(waits, i, end, WAITS_STANDS);
		if (known->object && report->view->threads[i].death) /* its end was not seen when it came */
			waits->halves++;
		else if (known->object) {
			count_wait(waits, i, known->object - 1, end > known->begin ? end - known->begin : 0);
			waits->standing++;
		}
		result = failure_of(waits);
	}
	if (result)
		return result;
	waits_mark_circles(waits);
	result = put_in_order(waits);
	return result ? result : failure_of(waits);
}

#define ROLE(name) (UINT64_C(1) << ROLE_##name)

const struct report_kind report_waits = {
	.name = "waits",
	.title = "Waits",
	.question = "which threads wait for which",
	.needs = (const struct report_need[]){ { ROLE_CALL, "What threads waited for is unknown" },
					       { ROLE_CALL_END, "How long threads waited is unknown" },
					       { ROLE_WAKING, "Which threads woke waiting threads is unknown" },
					       { ROLE_FORK, "Which threads belong to which process is unknown" },
					       { 0 } },
	.open = waits_open,
	.event = waits_event,
	.slice = waits_slice,
	.loss = waits_loss,
	.finish = waits_finish,
	.write = waits_write,
	.draw = waits_draw,
	.graph = waits_graph,
	.free = waits_free,
	.roles = ROLE(CALL) | ROLE(CALL_END) | ROLE(WAKING) | ROLE(FORK) | ROLE(STATE) | ROLE(CALL_STATE) | ROLE(EXEC) |
		 ROLE(EXIT) | ROLE(LOCK_WANTED) | ROLE(LOCK_TAKEN) | ROLE(LOCK_GIVEN) | ROLE(CONDITION) |
		 ROLE(CONDITION_END),
};
