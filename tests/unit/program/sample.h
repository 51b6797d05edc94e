/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_PROGRAM_SAMPLE_H
#define TEST_PROGRAM_SAMPLE_H

/*
 * Images built by hand, so that the loader is tested without the compiler. The sample holds every kind of thing an
 * image can hold; tests change one item of it and load it again.
 *
 *   types  A { x: i64, name: string[16] }
 *          B { x: i64, big: u64, real: f64, ok: bool, name: string[16] }
 *          C { }
 *          alarm { x: i64, who: string[16], ratio: f64 }
 *
 *   RULE pair      SKIPTILLNEXT   [A a, B[] b, C]   joined by tid, returns, emits alarm, calls
 *   RULE silence   SKIPTILLANY    [A a, ~[B, B], ~C] WITHIN 1s: a deadline, forbidding, progress in place; AGGREGATE
 *   RULE strict    STRICTSEQUENCE [A, B] OVER { * }
 *   RULE dropping  SKIPTILLNEXT   [alarm, A] [x] AFTER MATCH DROP, keyed by name and x
 */

#include "program/build.h"
#include "program/image.h"
#include "program/load.h"

enum { TYPE_A, TYPE_B, TYPE_C, TYPE_ALARM, SAMPLE_TYPES };

enum {
	FIELD_TS,
	FIELD_CPU,
	FIELD_PID,
	FIELD_TID,
	FIELD_COMM,
	FIELD_A_X,
	FIELD_A_NAME,
	FIELD_B_X,
	FIELD_B_BIG,
	FIELD_B_REAL,
	FIELD_B_OK,
	FIELD_B_NAME,
	FIELD_ALARM_X,
	FIELD_ALARM_WHO,
	FIELD_ALARM_RATIO,
};

enum { SAMPLE_TAG = 17 }; /* the first of RULE_DROPPING, among the indices */

enum { RULE_PAIR, RULE_SILENCE, RULE_STRICT, RULE_DROPPING, SAMPLE_RULES };

/* Short names, for tables. */
#define I64      PROGRAM_I64
#define U64      PROGRAM_U64
#define F64      PROGRAM_F64
#define BOOL     PROGRAM_BOOL
#define STRING   PROGRAM_STRING
#define OP(name) PROGRAM_OP_##name

/* Adds the header fields and the types above. */
void sample_types(struct program_build *build);

/* Node builders; they return the node's index. */
uint32_t sample_constant(struct program_build *build, enum program_kind kind, uint64_t bits);
uint32_t sample_text(struct program_build *build, const char *text);
uint32_t sample_field(struct program_build *build, uint32_t field);
uint32_t sample_slot(struct program_build *build, enum program_kind kind, uint32_t slot);
uint32_t sample_node(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b);

/* The whole sample; the caller frees it with alloc_free. */
void *sample_image(size_t *length);

/* Item index of a section of an image. */
void *sample_item(void *image, enum program_section_id section, uint32_t index);

/* Makes the checksum right again. */
void sample_seal(void *image, size_t length);

/* sample_image, loaded. */
struct program *sample_program(void);

#endif
