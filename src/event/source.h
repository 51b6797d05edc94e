/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_SOURCE_H
#define EVENT_SOURCE_H

/*
 * A source of events: a format, or several inputs made one, behind one interface. Every source numbers the event types
 * that it meets, from 0 in the order of their first event, and puts this number into record->type. So a reader of
 * maps each type once, when its number is first seen, and then by a table. One source belongs to one thread at a time.
 */

#include "event/event.h"

#include <stdbool.h>

struct event_source;

/* Which events a reader is after. Asked once per type. */
struct event_want {
	bool (*wants)(void *context, const struct event_type *type);
	/*
	 * Whether the reader speaks of this type by its name. Only then is it given what is another view of an event of
	 * another type (a foreign trace's system calls as sys_enter). NULL: it does not.
	 */
	bool (*names)(void *context, const struct event_type *type);
	/* Of a wanted type: whether the field may not be left out. NULL: all of them are wanted. */
	bool (*wants_field)(void *context, const struct event_type *type, uint32_t field);
	void *context;
	bool drops; /* the others may be left out altogether; ordinals count them all the same */
};

/* In place of a field: no matter which. */
#define EVENT_NO_FIELD UINT32_MAX

/* What a format has to bring. */
struct event_source_kind {
	const char *name;
	/*
	 * Fills event and returns 1; 0 at the end; -EINVAL (the input is wrong, the diag says where), -ENOMEM, -EINTR
	 * (a signal came while it waited for input; it may be asked again), -errno.
	 */
	int (*next)(struct event_source *source, struct event *event);
	void (*free)(struct event_source *source);
	/* How many bytes of the input have been read. */
	uint64_t (*position)(const struct event_source *source);
	/*
	 * Before the first event: only events of wanted types need to be decoded. The others are given as well, so that
	 * time and ordinals are those of the input, but of their record only ts, seq and type are set. Fields that
	 * are not wanted may hold anything. Copies *want.
	 * NULL: the format decodes everything.
	 */
	void (*want)(struct event_source *source, const struct event_want *want);
	/*
	 * Before anything is asked of it: whether the input was to hold the events of type, and field (by its number)
	 * of them. NULL: the format does not tell, and they may be there.
	 */
	bool (*holds)(struct event_source *source, const struct event_type *type, uint32_t field);
};

enum { EVENT_HOST_BYTES = 65 };

/* The clock and the machine that events come from. */
struct event_machine {
	uint64_t wall_ns;            /* what added to a time gives CLOCK_REALTIME; 0: unknown */
	char host[EVENT_HOST_BYTES]; /* its name, cut; may hold anything; "": unknown */
};

/*
 * The first member of every source. The losses are kept by the source and are true for the event last given, and at the
 * end for the whole input. A loss is a number of events and a time up to which they may have happened; it began before
 * the event with which it is told. So there may be a gap before an event if lost has grown since the one before, or if
 * it is not after lossy_until_ns.
 *
 * Where the input says until when it was watched, until_ns is that time as far as it has been read, at the end of all
 * of it: between the last event and then there was none.
 */
struct event_source {
	const struct event_source_kind *kind;
	uint64_t lost;           /* events known to be missing; 1 for each piece of unknown size */
	uint64_t lossy_until_ns; /* 0: nothing is known to be missing */
	uint64_t until_ns;       /* 0: unknown */
	uint64_t bytes_total;    /* of the input; 0: unknown */
	struct event_machine machine;
};

static inline int event_source_next(struct event_source *source, struct event *event)
{
	return source->kind->next(source, event);
}

static inline uint64_t event_source_position(const struct event_source *source)
{
	return source->kind->position(source);
}

static inline void event_source_want(struct event_source *source, const struct event_want *want)
{
	if (source->kind->want)
		source->kind->want(source, want);
}

static inline bool event_source_holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	return !source->kind->holds || source->kind->holds(source, type, field);
}

static inline void event_source_free(struct event_source *source)
{
	if (source)
		source->kind->free(source);
}

#endif
