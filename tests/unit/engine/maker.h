/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_ENGINE_MAKER_H
#define TESTS_ENGINE_MAKER_H

/*
 * Writes programs row by row, for tests that need an exact image rather than what the compiler makes of a rule. Every
 * event type has the header fields and five of its own: x (i64), u (u64), f (f64), b (bool), s (string of 16).
 */

#include "event/type.h"
#include "program/build.h"
#include "program/load.h"

#include <stdbool.h>

enum maker_type { MAKER_A, MAKER_B, MAKER_C, MAKER_TYPES };
enum maker_field { MAKER_X, MAKER_U, MAKER_F, MAKER_BOOL, MAKER_S, MAKER_FIELDS };

/* A record of any of the types. */
struct maker_record {
	struct event_header header;
	int64_t x;
	uint64_t u;
	double f;
	uint64_t b;
	char s[16];
};

/* Index in FIELDS of a type's field; header fields are 0..4 (ts cpu pid tid comm). */
uint32_t maker_field(enum maker_type type, enum maker_field field);

struct maker_transition {
	uint32_t type; /* enum maker_type, PROGRAM_TIMER */
	uint32_t target;
	uint32_t fit, hold; /* nodes + 1, 0: none */
	struct {
		uint32_t op, slot, node; /* node + 1 */
	} actions[6];
	uint32_t element; /* + 1 */
	uint32_t flags;
};

struct maker_state {
	uint32_t class;
	uint32_t flags;
	struct maker_transition transitions[8];
	uint32_t count;
};

struct maker_class {
	uint32_t slots[2], slot_count;
	struct {
		uint32_t type;      /* PROGRAM_NONE: others */
		uint32_t fields[2]; /* of a machine: PROGRAM_NONE is any value */
	} keys[4];
	uint32_t key_count;
};

struct maker_rule {
	const char *name;
	enum program_semantics semantics;
	enum program_loss loss;
	uint32_t flags;
	uint64_t pool, within_ns;
	struct {
		uint32_t kind, bytes;
	} slots[10];
	uint32_t slot_count;
	uint32_t context_slot; /* + 1 */
	struct maker_class classes[4];
	uint32_t class_count;
	struct maker_state states[6]; /* the first one is the start state */
	uint32_t state_count;
	bool over_c;                       /* C is part of the stream, too */
	uint32_t returns[4], return_count; /* nodes */
	struct {
		uint32_t type;
		uint32_t node, field; /* one argument */
		uint32_t notice;
	} emit[3];
	uint32_t emit_count;
	/* Of a machine: flags per notice. */
	uint32_t notices[4], notice_count;
	uint32_t notice_slot, timer_slot;
};

struct program_build *maker_new(void);
uint32_t maker_const(struct program_build *build, enum program_kind kind, uint64_t imm);
uint32_t maker_leaf(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a);
uint32_t maker_text(struct program_build *build, const char *text);
uint32_t maker_node(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b);
void maker_add(struct program_build *build, const struct maker_rule *rule);

/* Frees build; fails the test with the loader's message when the image is not valid. */
struct program *maker_load(struct program_build *build);

#endif
