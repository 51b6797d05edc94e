// SPDX-License-Identifier: BSD-2-Clause
/* Remembers who runs where. What a trace says about it is bounded: as many CPUs and threads as Linux can have. */

#include "trace/babel/who.h"

#include "base/alloc.h"

#include <string.h>

enum { CPUS_MAX = 8192, TIDS_MAX = 1 << 22 };

struct running {
	uint32_t tid;
	char comm[EVENT_COMM_BYTES];
};

struct babel_who {
	struct running *cpus;
	uint32_t *pids; /* by thread; pages that are not touched cost nothing */
};

struct babel_who *babel_who_new(void)
{
	struct babel_who *who = alloc_zero(1, sizeof *who);

	if (!who)
		return NULL;
	who->cpus = alloc_zero(CPUS_MAX, sizeof *who->cpus);
	who->pids = alloc_zero(TIDS_MAX, sizeof *who->pids);
	if (who->cpus && who->pids)
		return who;
	babel_who_free(who);
	return NULL;
}

void babel_who_free(struct babel_who *who)
{
	if (!who)
		return;
	alloc_free(who->cpus);
	alloc_free(who->pids);
	alloc_free(who);
}

static struct running *running_at(const struct babel_who *who, const struct babel_class *class, const bt_event *event)
{
	uint64_t cpu = 0;

	return class->who.has_cpu && babel_class_integer(event, BABEL_PACKET, class->who.cpu, &cpu) && cpu < CPUS_MAX
		       ? &who->cpus[cpu]
		       : NULL;
}

void babel_who_apply(const struct babel_who *who, const struct babel_class *class, const bt_event *event,
		     struct event_header *header)
{
	const struct running *running = running_at(who, class, event);

	if (!running || !running->tid)
		return;
	if (class->who.lacks_tid)
		header->tid = running->tid;
	if (class->who.lacks_comm)
		memcpy(header->comm, running->comm, sizeof header->comm);
	if (class->who.lacks_pid && header->tid < TIDS_MAX)
		header->pid = who->pids[header->tid];
}

static void learn_switch(struct babel_who *who, const struct babel_class *class, const bt_event *event)
{
	struct running *running = running_at(who, class, event);
	uint64_t tid;

	if (!running || !babel_class_integer(event, BABEL_PAYLOAD, class->who.tid, &tid))
		return;
	*running = (struct running){ .tid = (uint32_t)tid };
	babel_class_text(event, BABEL_PAYLOAD, class->who.other, running->comm, sizeof running->comm);
}

static void learn_thread(struct babel_who *who, const struct babel_class *class, const bt_event *event)
{
	uint64_t tid, pid;

	if (babel_class_integer(event, BABEL_PAYLOAD, class->who.tid, &tid) && tid < TIDS_MAX &&
	    babel_class_integer(event, BABEL_PAYLOAD, class->who.other, &pid))
		who->pids[tid] = (uint32_t)pid;
}

void babel_who_learn(struct babel_who *who, const struct babel_class *class, const bt_event *event)
{
	if (class->who.kind == BABEL_WHO_SWITCH)
		learn_switch(who, class, event);
	else if (class->who.kind == BABEL_WHO_THREAD)
		learn_thread(who, class, event);
}
