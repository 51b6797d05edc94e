/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_COUNTERS_H
#define COUNTERS_COUNTERS_H

/*
 * The registry of what CPUs and systems count: classes with inheritance, types that are counted, types that
 * follow from others by a formula, and where each is to be had. It is data (catalogs/hardware.counters,
 * software.counters); this reads it. Read files one after the other, then finish; after that nothing changes.
 */

#include "base/diag.h"
#include "base/hash-table.h"

#include <stdbool.h>

#define COUNTERS_BYTES_MAX (1 << 20)

enum {
	COUNTER_NAME_MAX = 64,
	COUNTERS_MAX = 4096,
	COUNTER_CLASSES_MAX = 512,
	COUNTER_STEPS_MAX = 64,
	COUNTER_DEPTH_MAX = 32,
	COUNTER_LINES_MAX = 16,
	COUNTER_FORMULAS_MAX = 4
};

enum counter_kind {
	COUNTER_SINGLE,    /* occurs once per cycle at most */
	COUNTER_DURATION,  /* grows while a condition holds */
	COUNTER_MULTI,     /* occurs several times per cycle */
	COUNTER_THRESHOLD, /* cycles in which a multiple occurrence exceeds a limit */
	COUNTER_GAUGE,     /* a state; not summed */
};

/* Machines whose counters are known from print. */
enum counter_platform {
	COUNTER_P6,
	COUNTER_ITANIUM,
	COUNTER_604E,
	COUNTER_WIN2000,
	COUNTER_LINUX24,
	COUNTER_PLATFORMS
};

enum counter_historic { COUNTER_UNSTATED, COUNTER_NO, COUNTER_APPROXIMATE, COUNTER_YES };

enum counter_from { COUNTER_PERF, COUNTER_TRACEPOINT, COUNTER_FILE, COUNTER_PMU };

/* Which lines of a file count. */
enum counter_rows { COUNTER_FIELD, COUNTER_TABLE, COUNTER_DISKS, COUNTER_INTERFACES, COUNTER_VALUE };

struct counter_source {
	struct counter_source *next; /* when this one is not there */
	const char *text;            /* as the catalog has it */
	const char *approximates;    /* what it counts instead; NULL: just this */
	enum counter_from from;
	uint32_t perf_type; /* PERF */
	uint64_t config;
	const char *path; /* FILE; of a TRACEPOINT "system:name"; of a PMU its name */
	enum counter_rows rows;
	const char *table, *field; /* of a PMU the field is an event's name, or terms */
	uint64_t columns;          /* bit n: the line's n-th word, from 1 */
	double times;
};

enum counter_op { COUNTER_OPERAND, COUNTER_CONSTANT, COUNTER_ADD, COUNTER_SUBTRACT, COUNTER_MULTIPLY, COUNTER_DIVIDE };

struct counter_place {
	uint32_t source, line, column, offset, length;
};

/* A formula is a list of these for a stack. */
struct counter_step {
	enum counter_op op;
	uint32_t type; /* OPERAND, of a finished registry */
	double number; /* CONSTANT */
	const char *name;
	struct counter_place place;
};

struct counter_formula {
	struct counter_formula *next; /* when an operand is not there */
	const char *text;
	struct counter_step *steps;
	uint32_t count;
};

struct counter_note {
	struct counter_note *next;
	const char *text;
};

struct counter_type {
	const char *name; /* of an inherited one CLASS.NAME */
	const char *doc, *unit;
	uint32_t class;
	uint32_t base; /* whose copy this is; HASH_NONE: of none */
	enum counter_kind kind;
	bool is_derived, is_ratio;
	struct counter_source *sources;
	struct counter_formula *formulas;
	struct counter_note *notes;
	unsigned char historic[COUNTER_PLATFORMS]; /* as printed */
	unsigned char computed[COUNTER_PLATFORMS]; /* of a derived one: what its operands come to */
	struct counter_place place;
};

struct counter_class {
	const char *name, *doc;
	uint32_t parent; /* HASH_NONE: none */
	uint32_t depth;
	bool is_abstract, is_interface;
};

struct counters {
	struct arena *arena;
	struct counter_class *classes;
	size_t class_count, class_capacity;
	struct counter_type *types;
	size_t type_count, type_capacity;
	struct hash_table names; /* of types, by name and by CLASS.NAME */
	uint32_t *order;         /* operands before what is derived from them */
	struct diag_source *sources;
	size_t source_count, source_capacity;
};

struct counters *counters_new(void);
void counters_free(struct counters *counters);

/*
 * Reads one catalog; its text must live until counters_finish, and no longer. Returns 0, or -EINVAL or -ENOMEM after
 * one message with its place.
 */
int counters_read(struct counters *counters, const struct diag_source *source, struct asterism_diag *diag);

/* Inherits, and resolves formulas: no name is unknown, no cycle, no gauge summed. The same results. */
int counters_finish(struct counters *counters, struct asterism_diag *diag);

/* The type of this name, an inherited one as CLASS.NAME; NULL: none. */
const struct counter_type *counters_find(const struct counters *counters, const char *name);

extern const char *const counters_kind_names[];
extern const char *const counters_platform_names[]; /* ended by NULL */
extern const char *const counters_historic_names[];

/* The value of a formula; operands by type. NAN where a division has no result. */
double counters_formula_value(const struct counter_formula *formula, const double *values);

#endif
