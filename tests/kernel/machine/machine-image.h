/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef KERNEL_MACHINE_IMAGE_H
#define KERNEL_MACHINE_IMAGE_H

/*
 * Images of machines, written row by row. Event types A B C D carry p, q and r (i64). An instance has the slots p and q
 * (its key), uses, a notice, a timer and the context of the timer.
 */

#include "event/type.h"
#include "program/build.h"
#include "program/load.h"

enum { TYPE_A, TYPE_B, TYPE_C, TYPE_D, MACHINE_TYPES, TYPE_AFTER = 99 };
enum { TO_END = -1, TO_MATCH = -2 };

struct machine_record {
	struct event_header header;
	int64_t p, q, r;
};

/*
 * A transition. fit: "" or one of "u<N" "u>=N" (uses) "r>N" (the event's). acts, separated by spaces: "key" (from the
 * event), "as:F" (for a copy: the key is p, or q, or r of the event, then the instance's q), "uN", "u+", "tN" (timer
 * N ns after the event; t0: none), "w" (whoever raised the event becomes the context).
 */
struct machine_row {
	int state, type, target;
	const char *fit, *acts;
	uint32_t flags, notice; /* notice: what it tells; 0: nothing */
};

struct machine_spec {
	const char *name;
	uint64_t pool;
	uint32_t states, notices, silent; /* silent: bit i: notice i, from 1 */
	const char *keys;                 /* "A:pq D:p*" */
	const struct machine_row *rows;
	uint32_t row_count;
	bool timed;
	uint8_t loss;
	int emits; /* a type that notice emit_notice raises, with p and q of the instance, and r its uses; -1: none */
	uint32_t emit_notice;
};

/* Ends the process with a message where the image is not valid. */
struct program *machine_image(const struct machine_spec *specs, uint32_t count);

#endif
