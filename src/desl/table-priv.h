/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_TABLE_PRIV_H
#define DESL_TABLE_PRIV_H

/* Records by columns, and the texts in them. */

#include "base/hash-table.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DESL_ROWS_MAX (UINT32_C(1) << 27) /* of one table */

/* Of a Number NAN is none, of all else text 0. */
union desl_cell {
	double number;
	uint64_t text;
};

struct desl_table {
	union desl_cell **cells; /* by column, then by record */
	unsigned columns;
	size_t rows, capacity;
};

/* Zeroed cells, columns by columns. 0 or -ENOMEM. */
int desl_table_init(struct desl_table *table, unsigned columns);
void desl_table_fini(struct desl_table *table);

/* Makes room for another record; -E2BIG beyond DESL_ROWS_MAX. */
int desl_table_grow(struct desl_table *table);

/* Texts by number. A Line that is a number is an address: 0x10 and 16 are one. */
struct desl_text {
	const char *bytes;
	uint32_t length;
	bool is_address;
	uint64_t address;
};

struct desl_texts {
	struct arena *arena;
	struct desl_text *texts;
	size_t count, capacity;
	struct hash_table numbers;
	uint64_t seed; /* of all hashes: files are not to choose what meets in one place */
};

int desl_texts_init(struct desl_texts *texts);
void desl_texts_fini(struct desl_texts *texts);
int desl_text_add(struct desl_texts *texts, const char *bytes, size_t length, bool is_line, uint32_t *number);

#endif
