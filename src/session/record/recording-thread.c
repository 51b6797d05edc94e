// SPDX-License-Identifier: BSD-2-Clause
/*
 * Synchronizes a recording's owner and its thread. The owner waits only where it asks to (a patient snapshot, the end),
 * and, where marks come faster than they are written, PATIENCE_NS for a sign of life: so marks are slowed down to what
 * a disk takes, but a disk that stands still costs them rather than the matches they tell of.
 */

#include "session/record/recording-thread.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024, PATIENCE_NS = 50 * 1000 * 1000 };

/* What lies in the mailbox. */
struct mail {
	struct recording_queue marks;
	struct recording_snapshot_order snapshot;  /* marks NULL: none is wanted */
	struct recording_description *description; /* NULL: none is wanted */
	uint64_t missed, number;                   /* number: of the last order that is awaited */
	bool flush, finish, abandon;
};

struct recording_thread {
	struct recording_work work;
	pthread_t thread;
	bool is_running; /* the owner's: not joined yet */
	int event_fd;

	struct mail taken; /* the thread's: what it is at */
	uint64_t next_look_ns;
	int reported;                   /* the thread's: the failure that was news last */
	int described_now, flushed_now; /* the thread's */

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t orders, room;
	struct mail mail;
	bool is_reported;       /* the owner has set the thread to work */
	bool is_stuck;          /* the thread did not take the marks in PATIENCE_NS */
	int news;               /* a failure that the owner has not taken yet */
	uint64_t done;          /* the orders up to this number are carried out */
	int described, flushed; /* what became of the last description, and of the last flush */
	struct asterism_diag *messages;
	struct recording_totals totals;
};

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
}

/* Whether the thread has something to do before its next look. Marks usually wait for that. */
static bool is_urgent(const struct recording_thread *thread)
{
	const struct mail *mail = &thread->mail;

	return mail->finish || mail->abandon || mail->flush || mail->snapshot.marks || mail->description ||
	       mail->marks.used > mail->marks.capacity / 2;
}

/* Waits for something to do and takes it out of the mailbox. Returns false where the thread is to end at once. */
static bool take_mailbox(struct recording_thread *thread)
{
	struct mail *mail = &thread->mail, *taken = &thread->taken;
	struct recording_queue empty = taken->marks;
	struct timespec until = timespec_of(thread->next_look_ns);
	int timed_out = 0;

	empty.used = 0;
	pthread_mutex_lock(&thread->lock);
	while (!is_urgent(thread) && !timed_out) {
		if (thread->is_reported && thread->next_look_ns != UINT64_MAX)
			timed_out = pthread_cond_timedwait(&thread->orders, &thread->lock, &until);
		else
			pthread_cond_wait(&thread->orders, &thread->lock);
	}
	*taken = *mail;
	mail->marks = empty;
	mail->snapshot = (struct recording_snapshot_order){ 0 };
	mail->description = NULL;
	mail->flush = false;
	thread->is_stuck = false;
	pthread_cond_signal(&thread->room);
	pthread_mutex_unlock(&thread->lock);
	return !taken->abandon;
}

/* The first of two failures. */
static int first_failure(int result, int next)
{
	return result ? result : next;
}

static int write_marks(const struct recording_thread *thread)
{
	const struct recording_mark *mark;
	size_t at = 0;
	int result = 0;

	while ((mark = recording_queue_next(&thread->taken.marks, &at)))
		result = first_failure(result, thread->work.mark(thread->work.context, mark));
	return result;
}

/* Does what was taken, and looks where it is time to. */
static int carry_out_errand(struct recording_thread *thread)
{
	const struct recording_work *work = &thread->work;
	const struct mail *taken = &thread->taken;
	uint64_t now = clock_now_ns();
	uint64_t wait_ns = work->look_ns;
	int result = write_marks(thread);

	if (taken->description) {
		thread->described_now = work->describe(work->context, taken->description);
		result = first_failure(result, thread->described_now);
	}
	if (taken->snapshot.marks)
		result = first_failure(result, work->snapshot(work->context, &taken->snapshot));
	if (taken->flush) {
		thread->flushed_now = work->flush ? work->flush(work->context) : 0;
		result = first_failure(result, thread->flushed_now);
	}
	if (now >= thread->next_look_ns) {
		result = first_failure(result, work->look(work->context, taken->missed, &wait_ns));
		thread->next_look_ns = now + wait_ns;
	}
	return taken->finish ? first_failure(result, work->finish(work->context, taken->missed)) : result;
}

/* Tells what has become of it. What fails again and again in the same way is told once. */
static void publish_outcome(struct recording_thread *thread, int result)
{
	struct recording_totals totals = { 0 };
	bool is_new = result && result != thread->reported;
	bool is_told = !result && thread->work.diag && asterism_diag_get(thread->work.diag, 0);
	bool is_news = is_new || is_told || thread->taken.snapshot.marks;
	uint64_t one = 1;

	thread->work.count(thread->work.context, &totals);
	pthread_mutex_lock(&thread->lock);
	thread->totals = totals;
	thread->done = thread->taken.number;
	thread->described = thread->described_now;
	thread->flushed = thread->flushed_now;
	pthread_cond_signal(&thread->room);
	if (is_new) {
		thread->news = thread->reported = result;
		diag_forget(thread->work.diag, 1); /* the others of the same moment say the same */
		diag_take(thread->messages, thread->work.diag);
	}
	if (is_told)
		diag_take(thread->messages, thread->work.diag);
	pthread_mutex_unlock(&thread->lock);
	if (result && !is_new && thread->work.diag)
		asterism_diag_clear(thread->work.diag);
	if (is_news && write(thread->event_fd, &one, sizeof one) != sizeof one)
		return; /* it is readable already */
}

static void *run_recording_thread(void *context)
{
	struct recording_thread *thread = context;

	while (take_mailbox(thread)) {
		publish_outcome(thread, carry_out_errand(thread));
		recording_marks_free(thread->taken.snapshot.marks);
		thread->taken.snapshot.marks = NULL;
		if (thread->taken.finish)
			break;
	}
	return NULL;
}

static int start_recording_thread(struct recording_thread *thread)
{
	int result = thread_start(&thread->thread, STACK_BYTES, run_recording_thread, thread);

	thread->is_running = result == 0;
	return result;
}

int recording_thread_new(const struct recording_work *work, struct recording_thread **made)
{
	struct recording_thread *thread = alloc_zero(1, sizeof *thread);
	pthread_condattr_t steady;
	int result;

	if (!thread)
		return -ENOMEM;
	thread->work = *work;
	thread->next_look_ns = work->look_ns == UINT64_MAX ? UINT64_MAX : 0;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&thread->orders, &steady);
	pthread_cond_init(&thread->room, &steady);
	pthread_condattr_destroy(&steady);
	thread->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	result = thread->event_fd < 0 ? -errno : 0;
	thread->messages = asterism_diag_new();
	if (!result && !thread->messages)
		result = -ENOMEM;
	if (!result)
		result = recording_queue_init(&thread->mail.marks, RECORDING_THREAD_QUEUE_BYTES);
	if (!result)
		result = recording_queue_init(&thread->taken.marks, RECORDING_THREAD_QUEUE_BYTES);
	if (!result)
		result = start_recording_thread(thread);
	if (result)
		recording_thread_free(thread);
	else
		*made = thread;
	return result;
}

static void join_recording_thread(struct recording_thread *thread)
{
	if (thread->is_running)
		pthread_join(thread->thread, NULL);
	thread->is_running = false;
}

void recording_thread_free(struct recording_thread *thread)
{
	if (!thread)
		return;
	pthread_mutex_lock(&thread->lock);
	thread->mail.abandon = true;
	pthread_cond_signal(&thread->orders);
	pthread_mutex_unlock(&thread->lock);
	join_recording_thread(thread);
	recording_marks_free(thread->mail.snapshot.marks);
	recording_marks_free(thread->taken.snapshot.marks);
	recording_queue_fini(&thread->mail.marks);
	recording_queue_fini(&thread->taken.marks);
	asterism_diag_free(thread->messages);
	pthread_cond_destroy(&thread->orders);
	pthread_cond_destroy(&thread->room);
	pthread_mutex_destroy(&thread->lock);
	if (thread->event_fd >= 0)
		close(thread->event_fd);
	alloc_free(thread);
}

int recording_thread_fd(const struct recording_thread *thread)
{
	return thread->event_fd;
}

/* The session that sets the thread to work wakes it: until then it waits for that without an end. */
static void set_to_work(struct recording_thread *thread)
{
	if (!thread->is_reported)
		pthread_cond_signal(&thread->orders);
	thread->is_reported = true;
}

void recording_thread_report(struct recording_thread *thread, uint64_t missed)
{
	pthread_mutex_lock(&thread->lock);
	thread->mail.missed = missed;
	set_to_work(thread);
	pthread_mutex_unlock(&thread->lock);
}

/* Waits until the thread takes the marks, if that may be soon. */
static void await_room(struct recording_thread *thread)
{
	struct timespec until = timespec_of(clock_now_ns() + PATIENCE_NS);

	pthread_cond_signal(&thread->orders);
	while (thread->mail.marks.used && !thread->is_stuck)
		thread->is_stuck = pthread_cond_timedwait(&thread->room, &thread->lock, &until) == ETIMEDOUT &&
				   thread->mail.marks.used;
}

bool recording_thread_mark(struct recording_thread *thread, const struct recording_mark *mark)
{
	struct recording_queue *marks = &thread->mail.marks;
	bool was_urgent, put;

	pthread_mutex_lock(&thread->lock);
	set_to_work(thread);
	was_urgent = is_urgent(thread);
	put = recording_queue_put(marks, mark);
	if (!put && !thread->is_stuck) {
		await_room(thread);
		put = recording_queue_put(marks, mark);
	}
	if (!was_urgent && is_urgent(thread))
		pthread_cond_signal(&thread->orders);
	pthread_mutex_unlock(&thread->lock);
	return put;
}

bool recording_thread_snapshot(struct recording_thread *thread, const struct recording_snapshot_order *order,
			       bool patient)
{
	struct mail *mail = &thread->mail;

	pthread_mutex_lock(&thread->lock);
	thread->is_reported = true;
	while (mail->snapshot.marks && patient)
		pthread_cond_wait(&thread->room, &thread->lock);
	bool put = !mail->snapshot.marks;

	if (put)
		mail->snapshot = *order;
	pthread_cond_signal(&thread->orders);
	pthread_mutex_unlock(&thread->lock);
	return put;
}

void recording_thread_flush(struct recording_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->is_reported = true;
	thread->mail.flush = true;
	pthread_cond_signal(&thread->orders);
	pthread_mutex_unlock(&thread->lock);
}

static bool await_number(struct recording_thread *thread, uint64_t number, uint64_t until_ns)
{
	struct timespec until = timespec_of(until_ns);
	int timed_out = 0;

	pthread_cond_signal(&thread->orders);
	while (thread->done < number && !timed_out)
		timed_out = pthread_cond_timedwait(&thread->room, &thread->lock, &until);
	return thread->done >= number;
}

int recording_thread_await(struct recording_thread *thread, uint64_t until_ns)
{
	int result;

	pthread_mutex_lock(&thread->lock);
	thread->is_reported = true;
	thread->mail.flush = true;
	result = await_number(thread, ++thread->mail.number, until_ns) ? thread->flushed : -EINPROGRESS;
	pthread_mutex_unlock(&thread->lock);
	return result;
}

int recording_thread_describe(struct recording_thread *thread, struct recording_description *description,
			      uint64_t until_ns)
{
	int result;

	pthread_mutex_lock(&thread->lock);
	thread->is_reported = true;
	thread->mail.description = description;
	if (await_number(thread, ++thread->mail.number, until_ns))
		result = thread->described;
	else
		result = thread->mail.description ? -EBUSY : -EINPROGRESS;
	thread->mail.description = NULL;
	pthread_mutex_unlock(&thread->lock);
	return result;
}

int recording_thread_news(struct recording_thread *thread, struct asterism_diag *diag)
{
	uint64_t reported;
	int news;

	if (read(thread->event_fd, &reported, sizeof reported) != sizeof reported)
		reported = 0; /* no news */
	pthread_mutex_lock(&thread->lock);
	news = thread->news;
	thread->news = 0;
	diag_take(diag, thread->messages);
	pthread_mutex_unlock(&thread->lock);
	return news;
}

void recording_thread_count(struct recording_thread *thread, struct recording_totals *totals)
{
	pthread_mutex_lock(&thread->lock);
	*totals = thread->totals;
	pthread_mutex_unlock(&thread->lock);
}

void recording_thread_finish(struct recording_thread *thread, uint64_t missed)
{
	pthread_mutex_lock(&thread->lock);
	thread->mail.missed = missed;
	thread->mail.finish = true;
	pthread_cond_signal(&thread->orders);
	pthread_mutex_unlock(&thread->lock);
	join_recording_thread(thread);
}
