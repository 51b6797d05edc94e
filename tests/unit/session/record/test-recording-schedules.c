// SPDX-License-Identifier: BSD-2-Clause
/*
 * Explores the schedules of a recording's owner and its thread. The code is that of
 * src/session/record/recording-thread.c, compiled against model/pthread.h, so that both are coroutines here and every
 * wait, signal and taking of the lock is a point at which the other one may go on. What both touch lies under one lock,
 * so finer points would add nothing. A schedule is the list of choices made; the next one is tried from the start.
 *
 * Only so many times does a schedule interrupt who could go on, or let a time pass that somebody waits for while the
 * other could go on: what a defect needs is found with few (see `muted`, whose defects must all be found).
 */

#include "session/record/recording-thread.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <cmocka.h>

enum {
	STACK_BYTES = 256 * 1024,
	CHOICES_MAX = 4096,
	LIBERTIES_MAX = 2,
	STEPS_MAX = 8,
	ROUNDS_MAX = 100000,
	LOOK_NS = 1000000,
};

/* What an owner does. */
enum step { END, TELL, MARK, FILL, SNAPSHOT, PATIENT, AWAIT_LOOK, AWAIT_MARKS, AWAIT_SNAPSHOT };

enum who { OWNER, THREAD, BOTH };

/* What a coroutine waits for. */
enum waiting { NOTHING, LOCK, CONDITION, TIMED_CONDITION, JOIN, TRUTH, ENDED };

/* A signal that is never sent: a defect to find. NONE: none. */
enum mute { NONE, IN_TELL, IN_MARK, IN_SNAPSHOT, IN_FINISH, OF_ROOM, MUTES };

static const char *const mute_names[] = { "none", "tell", "mark", "snapshot", "finish", "room" };

struct coroutine {
	ucontext_t context;
	char *stack;
	enum waiting waiting;
	const void *at; /* the condition */
	uint64_t until_ns;
	bool timed_out;
	bool (*is_true)(void);
};

/* What was carried out. */
struct work {
	uint64_t looks, marks, snapshots, finishes, missed;
	bool is_disordered;
};

static struct coroutine coroutines[BOTH];
static ucontext_t scheduler;
static enum who current;
static bool is_locked, is_lenient;
static uint64_t now_ns;
static void *(*thread_run)(void *);
static void *thread_context;
static const char *violation;

static const enum step *script;
static enum step step;
static enum mute mute;
static struct work work;
static uint64_t put, snapshots_put;

static struct {
	uint8_t made, of;
} choices[CHOICES_MAX];

static uint32_t choice_count, choice_at, interruptions, timeouts, liberties;

static void violate(const char *text)
{
	if (!violation)
		violation = text;
	is_lenient = true; /* all come to their ends */
}

/* The next choice of this schedule, below of. */
static uint32_t choose(uint32_t of)
{
	if (of < 2)
		return 0;
	if (choice_at == choice_count) {
		assert_true(choice_count < CHOICES_MAX);
		choices[choice_count].made = 0;
		choices[choice_count++].of = (uint8_t)of;
	}
	assert_int_equal(choices[choice_at].of, of);
	return choices[choice_at++].made;
}

/* Goes to the next schedule; false: that was the last. */
static bool advance(void)
{
	while (choice_count && choices[choice_count - 1].made + 1 == choices[choice_count - 1].of)
		choice_count--;
	if (choice_count)
		choices[choice_count - 1].made++;
	return choice_count > 0;
}

static void leave(enum waiting waiting)
{
	struct coroutine *coroutine = &coroutines[current];

	coroutine->waiting = waiting;
	swapcontext(&coroutine->context, &scheduler);
}

static bool may_go_on(const struct coroutine *coroutine)
{
	switch (coroutine->waiting) {
	case NOTHING:
		return true;
	case LOCK:
		return !is_locked;
	case CONDITION:
	case TIMED_CONDITION:
		return is_lenient && !is_locked;
	case JOIN:
		return coroutines[THREAD].waiting == ENDED;
	case TRUTH:
		return is_lenient || coroutine->is_true();
	case ENDED:
		break;
	}
	return false;
}

static bool may_time_out(const struct coroutine *coroutine)
{
	return coroutine->waiting == TIMED_CONDITION && !is_locked;
}

/* Who goes on. An option is a coroutine, or one whose time is up (BOTH + it). Returns -1 where nobody can. */
static int pick(void)
{
	int options[2 * BOTH];
	uint32_t count = 0;
	bool stays = may_go_on(&coroutines[current]), can_interrupt = interruptions < liberties;

	if (stays)
		options[count++] = current;
	for (int i = 0; i < BOTH; i++) {
		if (i != (int)current && may_go_on(&coroutines[i]) && (!stays || can_interrupt))
			options[count++] = i;
	}
	for (int i = 0; i < BOTH; i++) {
		if (may_time_out(&coroutines[i]) && (count == 0 || timeouts < liberties))
			options[count++] = BOTH + i;
	}
	if (!count)
		return -1;
	if (is_lenient)
		return options[count - 1];
	int option = options[choose(count)];

	interruptions += stays && option != (int)current && option < BOTH;
	timeouts += option >= BOTH && count > 1;
	return option;
}

static void run_schedule(void)
{
	for (uint32_t round = 0; coroutines[OWNER].waiting != ENDED; round++) {
		int option = pick();

		if (option < 0 || round == ROUNDS_MAX) {
			if (is_lenient)
				fail_msg("the model itself comes to no end");
			violate(option < 0 ? "both wait for each other" : "it comes to no end");
			round = 0;
			continue;
		}
		current = (enum who)(option % BOTH);
		struct coroutine *coroutine = &coroutines[current];

		coroutine->timed_out = option >= BOTH;
		if (coroutine->timed_out && now_ns < coroutine->until_ns)
			now_ns = coroutine->until_ns;
		coroutine->waiting = NOTHING;
		swapcontext(&scheduler, &coroutine->context);
	}
}

/* Only the thread's loop and the owner's calls come here, and never with the lock. */
int model_lock(pthread_mutex_t *mutex)
{
	(void)mutex;
	leave(LOCK);
	assert_false(is_locked);
	is_locked = true;
	return 0;
}

int model_unlock(pthread_mutex_t *mutex)
{
	(void)mutex;
	is_locked = false;
	return 0;
}

static int await(const pthread_cond_t *condition, uint64_t until_ns, enum waiting waiting)
{
	struct coroutine *coroutine = &coroutines[current];

	is_locked = false;
	coroutine->at = condition;
	coroutine->until_ns = until_ns;
	leave(waiting);
	if (is_locked)
		leave(LOCK);
	is_locked = true;
	return coroutine->timed_out ? ETIMEDOUT : 0;
}

int model_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	(void)mutex;
	return await(condition, 0, CONDITION);
}

int model_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	(void)mutex;
	return await(condition, (uint64_t)until->tv_sec * 1000000000 + (uint64_t)until->tv_nsec, TIMED_CONDITION);
}

static bool is_muted(void)
{
	static const enum mute of_step[] = {
		[TELL] = IN_TELL,        [MARK] = IN_MARK,        [FILL] = IN_MARK,  [SNAPSHOT] = IN_SNAPSHOT,
		[PATIENT] = IN_SNAPSHOT, [AWAIT_SNAPSHOT] = NONE, [END] = IN_FINISH,
	};

	return mute != NONE && mute == (current == THREAD ? OF_ROOM : of_step[step]);
}

int model_signal(pthread_cond_t *condition)
{
	struct coroutine *other = &coroutines[1 - current];

	if ((other->waiting == CONDITION || other->waiting == TIMED_CONDITION) && other->at == condition && !is_muted())
		other->waiting = LOCK;
	return 0;
}

uint64_t clock_now_ns(void)
{
	return ++now_ns;
}

static void thread_main(void)
{
	thread_run(thread_context);
	leave(ENDED);
}

static void prepare(enum who who, void (*run)(void))
{
	struct coroutine *coroutine = &coroutines[who];

	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&coroutine->context, run, 0);
	coroutine->waiting = NOTHING;
}

int model_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	(void)thread;
	(void)attributes;
	thread_run = run;
	thread_context = context;
	prepare(THREAD, thread_main);
	return 0;
}

int model_join(pthread_t thread, void **result)
{
	(void)thread;
	(void)result;
	leave(JOIN);
	return 0;
}

static int look(void *context, uint64_t missed, uint64_t *wait_ns)
{
	(void)context;
	(void)wait_ns;
	work.looks++;
	work.is_disordered |= missed < work.missed;
	work.missed = missed;
	return 0;
}

static int mark(void *context, const struct recording_mark *mark)
{
	(void)context;
	work.is_disordered |= mark->ts != work.marks++;
	return 0;
}

static int snapshot(void *context, const struct recording_snapshot_order *order)
{
	(void)context;
	work.is_disordered |= order->at_ns != work.snapshots++;
	return 0;
}

static int finish(void *context, uint64_t missed)
{
	(void)context;
	work.is_disordered |= work.marks != put || work.snapshots != snapshots_put;
	work.finishes++;
	work.missed = missed;
	return 0;
}

static void count(const void *context, struct recording_totals *totals)
{
	(void)context;
	totals->events = work.marks;
}

/* A mark whose texts take as much room as a trace holds of them. */
static bool put_mark(struct recording_thread *thread)
{
	static char values[4096];

	memset(values, 'v', sizeof values - 1);
	bool taken = recording_thread_mark(
		thread, &(struct recording_mark){ .ts = put, .comm = "comm", .rule = "rule", .values = values });

	put += taken;
	return taken;
}

static void put_snapshot(struct recording_thread *thread, bool patient)
{
	struct recording_snapshot_order order = { .at_ns = snapshots_put, .marks = recording_marks_new() };

	snapshots_put++;
	if (recording_thread_snapshot(thread, &order, patient))
		return;
	if (patient)
		violate("a patient snapshot is refused");
	snapshots_put--;
	recording_marks_free(order.marks);
}

static bool has_looked(void)
{
	return work.looks > 0;
}

static bool has_marked(void)
{
	return work.marks == put;
}

static bool has_snapped(void)
{
	return work.snapshots == snapshots_put;
}

static void await_truth(bool (*is_true)(void))
{
	coroutines[OWNER].is_true = is_true;
	leave(TRUTH);
}

static void take(struct recording_thread *thread)
{
	switch (step) {
	case TELL:
		return recording_thread_report(thread, work.missed);
	case MARK:
		put_mark(thread);
		return;
	case FILL:
		while (put < RECORDING_THREAD_QUEUE_BYTES / 4096 + 8 && put_mark(thread))
			;
		return;
	case SNAPSHOT:
	case PATIENT:
		return put_snapshot(thread, step == PATIENT);
	case AWAIT_LOOK:
		return await_truth(has_looked);
	case AWAIT_MARKS:
		return await_truth(has_marked);
	case AWAIT_SNAPSHOT:
		return await_truth(has_snapped);
	case END:
		break;
	}
}

static void owner_main(void)
{
	const struct recording_work what = { look, mark, snapshot, finish, count, NULL, NULL, LOOK_NS };
	struct recording_thread *thread = NULL;

	if (recording_thread_new(&what, &thread))
		abort();
	for (const enum step *at = script; *at != END; at++) {
		step = *at;
		take(thread);
	}
	step = END;
	recording_thread_finish(thread, 7);
	recording_thread_free(thread);
	leave(ENDED);
}

static void check_end(void)
{
	if (work.finishes != 1 || work.missed != 7)
		violate("the end is not carried out");
	if (work.marks != put || work.snapshots != snapshots_put)
		violate("what was ordered is not carried out");
	if (work.is_disordered)
		violate("it is carried out in another order");
}

struct script {
	const char *name;
	enum step steps[STEPS_MAX];
	uint32_t liberties; /* so many interruptions, and times that pass */
};

/* Returns what goes wrong in some schedule, or NULL; *explored: how many there are. */
static const char *explore(const struct script *chosen, enum mute muted, uint32_t *explored)
{
	violation = NULL;
	liberties = chosen->liberties;
	choice_count = 0;
	do {
		script = chosen->steps;
		mute = muted;
		work = (struct work){ 0 };
		put = snapshots_put = 0;
		is_locked = is_lenient = false;
		now_ns = 0;
		choice_at = interruptions = timeouts = 0;
		coroutines[THREAD].waiting = ENDED;
		current = OWNER;
		prepare(OWNER, owner_main);
		run_schedule();
		check_end();
		++*explored;
	} while (!violation && advance());
	return violation;
}

static const struct script scripts[] = {
	{ "nothing but the end", { END }, LIBERTIES_MAX },
	{ "told, then looked", { TELL, AWAIT_LOOK, END }, LIBERTIES_MAX },
	{ "a mark before anything is told, then looked", { MARK, TELL, AWAIT_LOOK, END }, LIBERTIES_MAX },
	{ "a mark alone, then looked and written", { MARK, AWAIT_LOOK, AWAIT_MARKS, END }, LIBERTIES_MAX },
	{ "marks between", { TELL, MARK, TELL, MARK, AWAIT_MARKS, END }, LIBERTIES_MAX },
	{ "a snapshot before anything is told", { SNAPSHOT, TELL, AWAIT_SNAPSHOT, AWAIT_LOOK, END }, LIBERTIES_MAX },
	{ "two snapshots, the second patient", { SNAPSHOT, PATIENT, AWAIT_SNAPSHOT, END }, LIBERTIES_MAX },
	{ "a mark, a snapshot, a mark",
	  { MARK, SNAPSHOT, MARK, TELL, AWAIT_SNAPSHOT, AWAIT_MARKS, AWAIT_LOOK, END },
	  LIBERTIES_MAX },
	{ "more marks than there is room for", { FILL, AWAIT_MARKS, END }, 1 },
	{ "the same once told", { TELL, FILL, TELL, AWAIT_LOOK, END }, 1 },
};

enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static void every_schedule_carries_out_what_is_ordered(void **state)
{
	(void)state;
	for (int i = 0; i < SCRIPTS; i++) {
		uint32_t explored = 0;
		const char *found = explore(&scripts[i], NONE, &explored);

		if (found)
			fail_msg("%s: %s", scripts[i].name, found);
		print_message("%s: %u schedules\n", scripts[i].name, explored);
	}
}

static void every_signal_that_is_not_sent_is_found(void **state)
{
	(void)state;
	for (int muted = NONE + 1; muted < MUTES; muted++) {
		const char *found = NULL;
		uint32_t explored = 0;

		for (int i = 0; i < SCRIPTS && !found; i++)
			found = explore(&scripts[i], (enum mute)muted, &explored);
		if (!found)
			fail_msg("no signal in %s: not found", mute_names[muted]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_schedule_carries_out_what_is_ordered),
		cmocka_unit_test(every_signal_that_is_not_sent_is_found),
	};

	for (int i = 0; i < BOTH; i++) {
		coroutines[i].stack = malloc(STACK_BYTES);
		if (!coroutines[i].stack)
			return 1;
	}
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	for (int i = 0; i < BOTH; i++)
		free(coroutines[i].stack);
	return result;
}
