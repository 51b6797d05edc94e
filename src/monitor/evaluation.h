/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_EVALUATION_H
#define MONITOR_EVALUATION_H

/*
 * What is done with every element of sensors: by rules, by a measure, by a function of a program that embeds us. The
 * same evaluation is fed by a monitor with or without guarantee, and by a replay, where a record of the trace is the
 * element.
 *
 * prepare, commit, lose and pass are called by one thread at a time, which may have to answer in real time: they do not
 * allocate, lock, print or call the system, and what they have to tell goes through a bounded queue to somebody who
 * may. They take turns with those of other evaluations, so a context may belong to several of them without a lock.
 */

#include <stdbool.h>
#include <stdint.h>

/* An element, borrowed until the call returns. */
struct monitor_element {
	uint32_t sensor; /* its type: the number that its owner knows it by */
	uint32_t pid, tid, cpu;
	uint64_t at_ns;   /* CLOCK_MONOTONIC, or the trace's */
	const void *data; /* the event record as event/type.h has it, from its header on */
	uint32_t bytes;
	bool is_late; /* elements with later times have come before it */
};

struct monitor_evaluation_kind {
	const char *name;
	/* Looks at the element, which its application may be overwriting. Whether there is something to commit. NULL:
	 * there always is. */
	bool (*prepare)(void *context, const struct monitor_element *element);
	/* ok: prepare said yes, and what it has seen is what was raised. Else what was prepared is to be forgotten. */
	void (*commit)(void *context, bool ok, const struct monitor_element *element);
	/* So many elements, of whatever sensor, are missing before the next. NULL: does not matter. */
	void (*lose)(void *context, uint64_t lost);
	/* No element from before now_ns will come. Once per period. NULL: does not matter. */
	void (*pass)(void *context, uint64_t now_ns);
	/*
	 * Another context that does the same work, whose results nobody sees: to find out what an element costs. It is
	 * released like the other one. NULL from it: no memory. NULL: what it costs has to be said. Not in real time,
	 * as the next.
	 */
	void *(*twin)(const void *context);
	/* No call will follow. NULL: nothing to do. */
	void (*release)(void *context);
};

static inline void monitor_evaluate(const struct monitor_evaluation_kind *kind, void *context,
				    const struct monitor_element *element)
{
	bool ok = !kind->prepare || kind->prepare(context, element);

	kind->commit(context, ok, element);
}

#endif
