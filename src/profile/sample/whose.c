// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names threads: by the name that it had last, or else its maker. A number that is made again is
 * another thread from then on. What is beyond the limit of threads is one without a number.
 */

#include "profile/sample/whose.h"

#include "base/alloc.h"
#include "profile/threads.h"

#include <errno.h>
#include <string.h>

enum { THREAD_NAME_BYTES = 16, KNOWN_MAX = 1 << 20 };

struct known_thread {
	uint32_t tid, pid, thread; /* thread: of the profile; HASH_NONE: it has not been counted */
	char name[THREAD_NAME_BYTES];
};

struct whose {
	struct profile *profile;
	struct known_thread *items;
	size_t count, capacity;
	struct hash_table by_tid;
	uint32_t others; /* HASH_NONE: there are none */
};

struct whose *whose_new(struct profile *profile)
{
	struct whose *whose = alloc_zero(1, sizeof *whose);

	if (whose) {
		whose->profile = profile;
		whose->others = HASH_NONE;
	}
	return whose;
}

void whose_free(struct whose *whose)
{
	if (!whose)
		return;
	hash_table_fini(&whose->by_tid);
	alloc_free(whose->items);
	alloc_free(whose);
}

static uint64_t hash_tid(uint32_t tid)
{
	return tid * UINT64_C(0x9e3779b97f4a7c15);
}

static struct known_thread *find(const struct whose *whose, uint32_t tid)
{
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&whose->by_tid, hash_tid(tid), &step)) != HASH_NONE;) {
		if (whose->items[number].tid == tid)
			return &whose->items[number];
	}
	return NULL;
}

/* NULL: out of memory, or there are too many. */
static struct known_thread *find_or_add(struct whose *whose, uint32_t tid, uint32_t pid)
{
	struct known_thread *known = find(whose, tid);

	if (known || whose->count == KNOWN_MAX ||
	    alloc_grow(&whose->items, &whose->capacity, whose->count, sizeof *whose->items) ||
	    hash_table_reserve(&whose->by_tid, NULL, whose->count + 1))
		return known;
	hash_table_add(&whose->by_tid, hash_tid(tid), (uint32_t)whose->count);
	known = &whose->items[whose->count++];
	*known = (struct known_thread){ .tid = tid, .pid = pid, .thread = HASH_NONE };
	return known;
}

/* Names come from whoever runs: they are kept in one line. */
static int set_name(struct whose *whose, struct known_thread *known, const char *name)
{
	struct profile *profile = whose->profile;
	size_t length = strnlen(name, THREAD_NAME_BYTES - 1);

	for (size_t i = 0; i < length; i++)
		known->name[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
	known->name[length] = 0;
	if (known->thread == HASH_NONE)
		return 0;
	return profile_text(profile, known->name, length, &profile->threads[known->thread].name) ? -ENOMEM : 0;
}

static int take_made(struct whose *whose, const struct sample_record *record)
{
	struct known_thread *known = find_or_add(whose, record->tid, record->pid);
	const struct known_thread *maker = find(whose, record->parent_tid);

	if (!known)
		return whose->count == KNOWN_MAX ? 0 : -ENOMEM;
	known->pid = record->pid;
	known->thread = HASH_NONE;
	return maker && maker != known ? set_name(whose, known, maker->name) : 0;
}

int whose_take(struct whose *whose, const struct sample_record *record)
{
	struct known_thread *known;

	if (record->kind == RECORD_MAPPED)
		return 0;
	if (record->kind == RECORD_FORKED)
		return take_made(whose, record);
	known = find_or_add(whose, record->tid, record->pid);
	if (!known)
		return whose->count == KNOWN_MAX ? 0 : -ENOMEM;
	return record->kind == RECORD_SAMPLE ? 0 : set_name(whose, known, record->name);
}

static int add_thread(struct whose *whose, struct known_thread *known)
{
	uint32_t name;
	int result = profile_text(whose->profile, known->name, strlen(known->name), &name);

	return result ? result : profile_add_thread(whose->profile, known->pid, known->tid, name, &known->thread);
}

/* For those that have no room. */
static int find_others(struct whose *whose, uint32_t *thread)
{
	int result = 0;

	if (whose->others == HASH_NONE)
		result = profile_add_thread(whose->profile, 0, 0, 0, &whose->others);
	*thread = whose->others;
	return result;
}

int whose_count(struct whose *whose, uint32_t tid, uint32_t function, double weight)
{
	struct known_thread *known = find(whose, tid);
	uint32_t thread = known ? known->thread : HASH_NONE;
	int result = 0;

	if (known && thread == HASH_NONE && whose->profile->thread_count < PROFILE_THREADS_MAX - 1) {
		result = add_thread(whose, known);
		thread = known->thread;
	}
	if (!result && thread == HASH_NONE)
		result = find_others(whose, &thread);
	return result ? -ENOMEM : profile_add_part(whose->profile, thread, function, weight);
}
