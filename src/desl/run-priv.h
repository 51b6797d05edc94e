/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_RUN_PRIV_H
#define DESL_RUN_PRIV_H

/* How the records of a derived type are worked out: combined, grouped, and each field from what its filter says. */

#include "desl/program-priv.h"

/* Pairs of records that are looked at for one type; combinations that are kept. */
#define DESL_LOOKS_MAX    (UINT64_C(1) << 33)
#define DESL_COMBINED_MAX (UINT32_C(1) << 27)

/* What an aggregate knows of records. */
struct desl_sum {
	double sum, count, min, max;
};

/* Candidates of a source: all of its records, or those of list; each stands for the records that sums are over. */
struct desl_input {
	const struct desl_table *table;
	uint32_t *list; /* NULL: all */
	size_t count;
	struct desl_sum *sums; /* of a candidate and a slot; NULL: nothing is aggregated */
	bool is_joined;
};

struct desl_making {
	struct desl_program *program;
	struct desl_type *type;
	struct asterism_diag *diag;
	struct desl_input inputs[DESL_SOURCES_MAX];
	uint32_t *rows; /* combinations: a candidate of each source, or HASH_NONE */
	size_t count, capacity;
	uint64_t looks;
	bool tested[256]; /* conjuncts */
};

/* What a value is worked out at. */
struct desl_at {
	const struct desl_making *making;
	const uint32_t *row;
	const struct desl_sum *sums; /* by slot */
	const union desl_cell *own;  /* fields that are done; NULL: by their filters */
	uint32_t earlier, earlier_first, earlier_count;
	bool is_divided; /* by zero */
};

union desl_cell desl_value(const struct desl_expr *expr, struct desl_at *at);
bool desl_holds(const struct desl_expr *expr, struct desl_at *at);
int desl_compare(const struct desl_program *program, enum desl_kind kind, union desl_cell a, union desl_cell b);

static inline bool desl_is_absent(enum desl_kind kind, union desl_cell cell)
{
	return kind == DESL_NUMBER ? isnan(cell.number) : !cell.text;
}

uint64_t desl_hash(uint64_t hash, enum desl_kind kind, union desl_cell cell);
bool desl_is_equal(enum desl_kind kind, union desl_cell a, union desl_cell b);

/* Whether the advice is for that record; *is_divided: its condition is divided by zero. */
bool desl_is_advised(const struct desl_program *program, const struct desl_type *type, const struct desl_advice *advice,
		     size_t record, bool *is_divided);

void desl_sum_add(struct desl_sum *to, const struct desl_sum *from);

/* Steps. All: 0, -ENOMEM, -E2BIG or -EINVAL after a message where that is not told yet. */
int desl_select(struct desl_making *making, unsigned source); /* candidates of a source */
int desl_join(struct desl_making *making);
int desl_group(struct desl_making *making);
int desl_follow(struct desl_making *making); /* selfreference */

/* Works out the record at a place; is_divided leaves it out. */
int desl_add_record(struct desl_making *making, struct desl_at *at);

#endif
