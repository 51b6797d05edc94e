// SPDX-License-Identifier: BSD-2-Clause
/*
 * Remembers the arguments of each thread's call until it ends. A thread is in one call at a time, so its last beginning
 * is the one, unless events are missing in between. A place stays its thread's, so there are never more than threads.
 */

#include "session/derive/calls.h"

#include <errno.h>
#include <string.h>

enum { PLACES_FIRST = 256 };

/* Calls that do not end as they began: their registers are those of a new program, or of an interrupted one. */
#if defined(__x86_64__)
static const uint64_t changed[] = { 15, 59, 322 }; /* rt_sigreturn, execve, execveat */
#else
static const uint64_t changed[] = { 139, 221, 281 };
#endif

void derive_calls_fini(struct derive_calls *calls)
{
	alloc_free(calls->places);
	*calls = (struct derive_calls){ 0 };
}

/* The place of the thread, or the free one where it belongs. The table is never full. */
static struct derive_call *call_slot(const struct derive_calls *calls, uint32_t tid)
{
	for (size_t i = tid * 2654435761u;; i++) {
		struct derive_call *place = &calls->places[i & (calls->place_count - 1)];

		if (!place->tid || place->tid == tid)
			return place;
	}
}

static int widen_calls(struct derive_calls *calls)
{
	struct derive_calls wider = { .place_count = calls->place_count ? calls->place_count * 2 : PLACES_FIRST };

	if (calls->used < calls->place_count / 2)
		return 0;
	wider.places = alloc_zero(wider.place_count, sizeof *wider.places);
	if (!wider.places)
		return -ENOMEM;
	for (size_t i = 0; i < calls->place_count; i++) {
		if (calls->places[i].tid)
			*call_slot(&wider, calls->places[i].tid) = calls->places[i];
	}
	alloc_free(calls->places);
	calls->places = wider.places;
	calls->place_count = wider.place_count;
	return 0;
}

int derive_calls_begin(struct derive_calls *calls, const struct derive_call *call)
{
	struct derive_call *place;

	if (!call->tid) /* no call is an idle CPU's */
		return 0;
	if (widen_calls(calls))
		return -ENOMEM;
	place = call_slot(calls, call->tid);
	calls->used += place->tid == 0;
	*place = *call;
	place->age = calls->age;
	return 0;
}

const uint64_t *derive_calls_end(struct derive_calls *calls, uint32_t tid, uint64_t number)
{
	struct derive_call *place = tid && calls->place_count ? call_slot(calls, tid) : NULL;
	bool is_known = place && place->tid && place->age == calls->age && place->number == number;

	for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
		is_known &= number != changed[i];
	if (place && place->tid)
		place->age = calls->age - 1; /* it has ended */
	return is_known ? place->args : NULL;
}

void derive_calls_forget(struct derive_calls *calls)
{
	calls->age++;
}
