// SPDX-License-Identifier: BSD-2-Clause
/* Lets a process that was stopped for a question continue. */

#include "session/verdict/stopped.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How soon to look again at what is not settled; how often to look for processes stopped for nothing. */
enum { LOOK_NS = 1000 * 1000, SCAN_NS = 50 * 1000 * 1000 };

/* A match is in the ring some microseconds after its stop was noted: later than this none will come. */
enum { ORPHAN_NS = 200 * 1000 * 1000 };

/* How late a SIGSTOP may be that the kernel has put off until interrupts are on again. */
enum { LATE_NS = 20 * 1000 * 1000 };

void stopped_list_init(struct stopped_list *stopped_list, struct react_stop_table *table, const struct undo *undo)
{
	*stopped_list = (struct stopped_list){ .table = table, .undo = undo };
}

static void drop_stopped(struct stopped_list *stopped_list, struct stopped *stopped)
{
	for (size_t i = 0; i < stopped_list->count; i++)
		if (stopped_list->items[i] == stopped)
			stopped_list->items[i] = stopped_list->items[--stopped_list->count];
	close(stopped->fd);
	alloc_free(stopped);
}

void stopped_list_fini(struct stopped_list *stopped_list)
{
	while (stopped_list->count)
		drop_stopped(stopped_list, stopped_list->items[0]);
	alloc_free(stopped_list->items);
	*stopped_list = (struct stopped_list){ 0 };
}

void stopped_signal(const struct stopped *stopped, int signal)
{
	syscall(SYS_pidfd_send_signal, stopped->fd, signal, NULL, 0);
}

bool stopped_is_gone(const struct stopped *stopped)
{
	struct pollfd fds = { .fd = stopped->fd, .events = POLLIN };

	return poll(&fds, 1, 0) > 0;
}

/* Returns 0, -ESRCH: it is gone, or another error: it is there, but cannot be held. */
static int make_stopped(struct stopped_list *stopped_list, pid_t pid, struct stopped **made)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), result = fd < 0 ? -errno : 0;
	struct stopped *stopped = NULL;

	if (!result)
		result = alloc_grow(&stopped_list->items, &stopped_list->capacity, stopped_list->count,
				    sizeof(struct stopped *));
	if (!result) {
		stopped = alloc_zero(1, sizeof *stopped);
		result = stopped ? 0 : -ENOMEM;
	}
	if (result) {
		if (fd >= 0)
			close(fd);
		return result;
	}
	*stopped = (struct stopped){ .pid = pid, .fd = fd, .idle_ns = clock_now_ns() };
	stopped_list->items[stopped_list->count++] = stopped;
	*made = stopped;
	return 0;
}

static struct stopped *find_stopped(const struct stopped_list *stopped_list, pid_t pid)
{
	for (size_t i = 0; i < stopped_list->count; i++)
		if (stopped_list->items[i]->pid == pid)
			return stopped_list->items[i];
	return NULL;
}

static void forget_stopped(struct stopped_list *stopped_list, pid_t pid, uint32_t most)
{
	struct react_stop_notes notes;

	react_stops_find(stopped_list->table, pid, false, &notes);
	react_stops_forget(stopped_list->table, &notes, most);
}

/* It is dead, and its id another's: what is still asked about it is answered without effect. */
static void part_stopped(struct stopped_list *stopped_list, struct stopped *stopped)
{
	forget_stopped(stopped_list, stopped->pid, stopped->notes);
	stopped->pid = 0;
	if (!stopped->requests)
		drop_stopped(stopped_list, stopped);
}

int stopped_list_ask(struct stopped_list *stopped_list, pid_t pid, struct stopped **asked)
{
	struct stopped *stopped = find_stopped(stopped_list, pid);
	int result = 0;

	if (stopped && stopped_is_gone(stopped)) {
		part_stopped(stopped_list, stopped);
		stopped = NULL;
	}
	if (!stopped)
		result = make_stopped(stopped_list, pid, &stopped);
	if (result == -ESRCH)
		forget_stopped(stopped_list, pid, 1);
	if (result)
		return result;
	stopped->requests++;
	stopped->notes++;
	stopped->went_on = false;
	*asked = stopped;
	return 0;
}

/* Whether a Stop lasts that no question is about. */
static bool is_stopped_for_good(const struct stopped_list *stopped_list, pid_t pid)
{
	const struct undo_change stopped = { .kind = UNDO_STOPPED, .id = pid };
	struct react_stop_notes notes;

	react_stops_find(stopped_list->table, pid, true, &notes);
	return notes.sum || (stopped_list->undo && undo_has(stopped_list->undo, &stopped));
}

/* Gives the default answer to questions that were lost on their way: what their notes say. */
static void answer_lost(struct stopped_list *stopped_list, const struct stopped *stopped,
			const struct react_stop_notes *notes)
{
	for (uint32_t i = 0; i < notes->slot_count; i++) {
		int signal = react_stops_take_signal(stopped_list->table, notes->slots[i]);

		if (signal)
			stopped_signal(stopped, signal);
	}
	stopped_list->orphans += notes->sum - stopped->notes;
}

/*
 * A process that was noted while it went on was stopped perhaps before it did, so it is stopped once more: true, and
 * the new question is waited for.
 */
static bool stop_again(struct stopped_list *stopped_list, struct stopped *stopped)
{
	struct react_stop_notes since;

	react_stops_find(stopped_list->table, stopped->pid, false, &since);
	if (since.sum <= stopped->notes && !is_stopped_for_good(stopped_list, stopped->pid))
		return false;
	stopped_signal(stopped, SIGSTOP);
	stopped->went_on = false;
	stopped->idle_ns = clock_now_ns();
	return true;
}

/* To be called while nothing is asked about it. */
static void let_go_on(struct stopped_list *stopped_list, struct stopped *stopped, uint64_t now_ns)
{
	/* In this order: a process that is seen stopped by a new stop is seen noted as well. */
	bool is_stopped = stopped->went_on && react_thread_state(stopped->pid, stopped->pid, UINT64_MAX / 2) == 'T';
	bool lasts = is_stopped_for_good(stopped_list, stopped->pid);
	struct react_stop_notes notes;

	if (!stopped->pid) {
		drop_stopped(stopped_list, stopped);
		return;
	}
	react_stops_find(stopped_list->table, stopped->pid, false, &notes);
	/* Another question is on its way to us, unless it takes too long. */
	if (notes.sum > stopped->notes && !stopped_is_gone(stopped)) {
		if (now_ns < stopped->idle_ns + ORPHAN_NS)
			return;
		answer_lost(stopped_list, stopped, &notes);
		react_stops_find(stopped_list->table, stopped->pid, false, &notes);
		stopped->notes = notes.sum;
	}
	if (lasts || stopped_is_gone(stopped)) {
		react_stops_forget(stopped_list->table, &notes, notes.sum);
		drop_stopped(stopped_list, stopped);
		return;
	}
	if (!stopped->went_on || is_stopped)
		stopped_signal(stopped, SIGCONT);
	if (!stopped->went_on)
		stopped->until_ns = stopped->unsure ? now_ns + LATE_NS : 0;
	stopped->went_on = true;
	if (!stop_again(stopped_list, stopped) && now_ns >= stopped->until_ns) {
		react_stops_forget(stopped_list->table, &notes, notes.sum);
		stopped->notes = 0;
		if (!stop_again(stopped_list, stopped))
			drop_stopped(stopped_list, stopped);
	}
}

void stopped_list_answer(struct stopped_list *stopped_list, struct stopped *stopped)
{
	stopped->requests--;
	if (stopped->requests)
		return;
	stopped->idle_ns = clock_now_ns();
	let_go_on(stopped_list, stopped, stopped->idle_ns);
}

/* Processes noted long ago of which nothing was told: the ring was full. */
static void scan(struct stopped_list *stopped_list, uint64_t now_ns)
{
	stopped_list->look_again = false;
	for (uint32_t i = 0; i < REACT_STOP_SLOTS; i++) {
		const struct react_stop *slot = &stopped_list->table->slots[i];
		uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
		pid_t pid = (pid_t)(word & REACT_STOP_PID_MASK);

		if (word >> 32 == 0 || word & REACT_STOP_FOR_GOOD)
			continue;
		stopped_list->look_again = true;
		uint64_t ts = __atomic_load_n(&slot->ts, __ATOMIC_RELAXED);

		if (find_stopped(stopped_list, pid) || now_ns < ts + ORPHAN_NS)
			continue;
		/* A younger process of the same id was not stopped by anybody. */
		struct stopped *stopped = NULL;
		int result = react_stops_is_newer(pid, ts) ? -ESRCH : make_stopped(stopped_list, pid, &stopped);

		if (!result)
			stopped->idle_ns = 0;
		else if (result == -ESRCH)
			forget_stopped(stopped_list, pid, UINT32_MAX);
	}
}

void stopped_list_poll(struct stopped_list *stopped_list, uint64_t now_ns, uint64_t *wait_ns)
{
	bool waits = false;

	for (size_t i = 0; i < stopped_list->count;) {
		struct stopped *stopped = stopped_list->items[i];

		if (!stopped->requests)
			let_go_on(stopped_list, stopped, now_ns);
		if (i < stopped_list->count && stopped_list->items[i] == stopped) {
			waits |= !stopped->requests;
			i++;
		}
	}
	if (waits && *wait_ns > LOOK_NS)
		*wait_ns = LOOK_NS;
	if (now_ns - stopped_list->looked_ns >= SCAN_NS) {
		stopped_list->looked_ns = now_ns;
		scan(stopped_list, now_ns);
	} else {
		stopped_list->look_again = true;
	}
	if (stopped_list->look_again && *wait_ns > SCAN_NS)
		*wait_ns = SCAN_NS;
}
