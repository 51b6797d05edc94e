/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MONITOR_KEYS_H
#define MONITOR_KEYS_H

/*
 * Which fields of an element an evaluation looks at, and a table of the keys that it has met: so many at most, and none
 * is ever forgotten, so a key's row is its number for good. Finding and adding allocate nothing. One thread adds;
 * another one may read the rows below monitor_keys_count at any time.
 */

#include "monitor/evaluation.h"

#include <stdatomic.h>

/* How a field's bytes are to be taken: as event/type.h lays records out. */
enum monitor_word {
	MONITOR_NONE, /* there is no such field */
	MONITOR_UNSIGNED,
	MONITOR_SIGNED,
	MONITOR_REAL,
	MONITOR_TEXT,
};

struct monitor_field {
	enum monitor_word word;
	uint32_t offset, bytes; /* in the record; numbers have 4 or 8 */
};

/* 64 bits, in the kind that the word says. */
union monitor_value {
	uint64_t u64;
	int64_t i64;
	double real;
};

/* False: the element is too short to have it. Numbers only. */
bool monitor_field_read(const struct monitor_field *field, const struct monitor_element *element,
			union monitor_value *value);

struct monitor_keys {
	struct monitor_field field; /* MONITOR_NONE: all elements have one key, which is there from the beginning */
	uint32_t bytes, most, mask;
	_Atomic uint32_t count;
	uint64_t seed;
	uint32_t *places; /* row + 1; 0: free */
	uint8_t *rows;    /* keys of bytes each */
	uint8_t *wanted;  /* the key that is looked for */
};

#define MONITOR_NO_ROW UINT32_MAX

/* Returns 0 or -ENOMEM; monitor_keys_fini is in place either way. */
int monitor_keys_init(struct monitor_keys *keys, const struct monitor_field *field, uint32_t most);
void monitor_keys_fini(struct monitor_keys *keys);

/* Reads the element's key. False: it has none. */
bool monitor_keys_read(struct monitor_keys *keys, const struct monitor_element *element);

/* The row of the key that was read last; a new one where it is not there yet; MONITOR_NO_ROW: no room. */
uint32_t monitor_keys_row(struct monitor_keys *keys);

/* How many rows there are. */
static inline uint32_t monitor_keys_count(const struct monitor_keys *keys)
{
	return atomic_load_explicit(&keys->count, memory_order_acquire);
}

/* A number's 8 bytes, or a NUL-terminated text. */
const void *monitor_keys_get(const struct monitor_keys *keys, uint32_t row);

#endif
