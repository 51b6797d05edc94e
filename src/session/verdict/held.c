// SPDX-License-Identifier: BSD-2-Clause
/* Decides when a process that was stopped for a question goes on. */

#include "session/verdict/held.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How soon to look again at what is not settled; how often to look for whoever is stopped for nothing. */
enum { LOOK_NS = 1000 * 1000, SCAN_NS = 50 * 1000 * 1000 };

/* A match is in the ring some microseconds after its stop was noted: later than this none will come. */
enum { ORPHAN_NS = 200 * 1000 * 1000 };

/* How late a SIGSTOP may be that the kernel has put off until interrupts are on again. */
enum { LATE_NS = 20 * 1000 * 1000 };

void helds_init(struct helds *helds, struct react_stop_table *table, const struct undo *undo)
{
	*helds = (struct helds){ .table = table, .undo = undo };
}

static void drop(struct helds *helds, struct held *held)
{
	for (size_t i = 0; i < helds->count; i++)
		if (helds->items[i] == held)
			helds->items[i] = helds->items[--helds->count];
	close(held->fd);
	alloc_free(held);
}

void helds_fini(struct helds *helds)
{
	while (helds->count)
		drop(helds, helds->items[0]);
	alloc_free(helds->items);
	*helds = (struct helds){ 0 };
}

void held_signal(const struct held *held, int signal)
{
	syscall(SYS_pidfd_send_signal, held->fd, signal, NULL, 0);
}

bool held_is_gone(const struct held *held)
{
	struct pollfd fds = { .fd = held->fd, .events = POLLIN };

	return poll(&fds, 1, 0) > 0;
}

/* Returns 0, -ESRCH: it is gone, or another error: it is there, but cannot be held. */
static int make(struct helds *helds, pid_t pid, struct held **made)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), result = fd < 0 ? -errno : 0;
	struct held *held = NULL;

	if (!result)
		result = alloc_grow(&helds->items, &helds->capacity, helds->count, sizeof(struct held *));
	if (!result) {
		held = alloc_zero(1, sizeof *held);
		result = held ? 0 : -ENOMEM;
	}
	if (result) {
		if (fd >= 0)
			close(fd);
		return result;
	}
	*held = (struct held){ .pid = pid, .fd = fd, .idle_ns = clock_now_ns() };
	helds->items[helds->count++] = held;
	*made = held;
	return 0;
}

static struct held *find(const struct helds *helds, pid_t pid)
{
	for (size_t i = 0; i < helds->count; i++)
		if (helds->items[i]->pid == pid)
			return helds->items[i];
	return NULL;
}

static void forget(struct helds *helds, pid_t pid, uint32_t most)
{
	struct react_stop_notes notes;

	react_stops_find(helds->table, pid, false, &notes);
	react_stops_forget(helds->table, &notes, most);
}

/* It is dead, and its id another's: what is still asked about it is answered to nobody. */
static void part(struct helds *helds, struct held *held)
{
	forget(helds, held->pid, held->notes);
	held->pid = 0;
	if (!held->asks)
		drop(helds, held);
}

int helds_ask(struct helds *helds, pid_t pid, struct held **asked)
{
	struct held *held = find(helds, pid);
	int result = 0;

	if (held && held_is_gone(held)) {
		part(helds, held);
		held = NULL;
	}
	if (!held)
		result = make(helds, pid, &held);
	if (result == -ESRCH)
		forget(helds, pid, 1);
	if (result)
		return result;
	held->asks++;
	held->notes++;
	held->went_on = false;
	*asked = held;
	return 0;
}

/* Whether a Stop lasts that is nobody's question. */
static bool is_stopped_for_good(const struct helds *helds, pid_t pid)
{
	const struct undo_change stopped = { .kind = UNDO_STOPPED, .id = pid };
	struct react_stop_notes notes;

	react_stops_find(helds->table, pid, true, &notes);
	return notes.sum || (helds->undo && undo_has(helds->undo, &stopped));
}

/* Gives the default answer to questions that were lost on their way: what their notes say. */
static void answer_lost(struct helds *helds, const struct held *held, const struct react_stop_notes *notes)
{
	for (uint32_t i = 0; i < notes->slot_count; i++) {
		int signal = react_stops_take_signal(helds->table, notes->slots[i]);

		if (signal)
			held_signal(held, signal);
	}
	helds->orphans += notes->sum - held->notes;
}

/*
 * Whoever was noted while it went on was stopped perhaps before it did, so it is stopped once more: true, and the new
 * question is waited for.
 */
static bool stop_again(struct helds *helds, struct held *held)
{
	struct react_stop_notes since;

	react_stops_find(helds->table, held->pid, false, &since);
	if (since.sum <= held->notes && !is_stopped_for_good(helds, held->pid))
		return false;
	held_signal(held, SIGSTOP);
	held->went_on = false;
	held->idle_ns = clock_now_ns();
	return true;
}

/* To be called while nothing is asked about it. */
static void let_go_on(struct helds *helds, struct held *held, uint64_t now_ns)
{
	/* In this order: whoever is seen stopped by a new stop is seen noted as well. */
	bool is_stopped = held->went_on && react_thread_state(held->pid, held->pid, UINT64_MAX / 2) == 'T';
	bool lasts = is_stopped_for_good(helds, held->pid);
	struct react_stop_notes notes;

	if (!held->pid) {
		drop(helds, held);
		return;
	}
	react_stops_find(helds->table, held->pid, false, &notes);
	/* Another question is on its way to us, unless it takes too long. */
	if (notes.sum > held->notes && !held_is_gone(held)) {
		if (now_ns < held->idle_ns + ORPHAN_NS)
			return;
		answer_lost(helds, held, &notes);
		react_stops_find(helds->table, held->pid, false, &notes);
		held->notes = notes.sum;
	}
	if (lasts || held_is_gone(held)) {
		react_stops_forget(helds->table, &notes, notes.sum);
		drop(helds, held);
		return;
	}
	if (!held->went_on || is_stopped)
		held_signal(held, SIGCONT);
	if (!held->went_on)
		held->until_ns = held->unsure ? now_ns + LATE_NS : 0;
	held->went_on = true;
	if (!stop_again(helds, held) && now_ns >= held->until_ns) {
		react_stops_forget(helds->table, &notes, notes.sum);
		held->notes = 0;
		if (!stop_again(helds, held))
			drop(helds, held);
	}
}

void helds_answer(struct helds *helds, struct held *held)
{
	held->asks--;
	if (held->asks)
		return;
	held->idle_ns = clock_now_ns();
	let_go_on(helds, held, held->idle_ns);
}

/* Processes noted long ago of which nothing was told: the ring was full. */
static void scan(struct helds *helds, uint64_t now_ns)
{
	helds->look_again = false;
	for (uint32_t i = 0; i < REACT_STOP_SLOTS; i++) {
		const struct react_stop *slot = &helds->table->slots[i];
		uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
		pid_t pid = (pid_t)(word & REACT_STOP_PID_MASK);

		if (word >> 32 == 0 || word & REACT_STOP_FOR_GOOD)
			continue;
		helds->look_again = true;
		uint64_t ts = __atomic_load_n(&slot->ts, __ATOMIC_RELAXED);

		if (find(helds, pid) || now_ns < ts + ORPHAN_NS)
			continue;
		/* A younger process of the same id was not stopped by anybody. */
		struct held *held = NULL;
		int result = react_stops_is_newer(pid, ts) ? -ESRCH : make(helds, pid, &held);

		if (!result)
			held->idle_ns = 0;
		else if (result == -ESRCH)
			forget(helds, pid, UINT32_MAX);
	}
}

void helds_poll(struct helds *helds, uint64_t now_ns, uint64_t *wait_ns)
{
	bool waits = false;

	for (size_t i = 0; i < helds->count;) {
		struct held *held = helds->items[i];

		if (!held->asks)
			let_go_on(helds, held, now_ns);
		if (i < helds->count && helds->items[i] == held) {
			waits |= !held->asks;
			i++;
		}
	}
	if (waits && *wait_ns > LOOK_NS)
		*wait_ns = LOOK_NS;
	if (now_ns - helds->looked_ns >= SCAN_NS) {
		helds->looked_ns = now_ns;
		scan(helds, now_ns);
	} else {
		helds->look_again = true;
	}
	if (helds->look_again && *wait_ns > SCAN_NS)
		*wait_ns = SCAN_NS;
}
