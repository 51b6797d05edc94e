/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_GRID_H
#define SESSION_OUTPUT_GRID_H

/* A table of texts for people, as wide as what it holds; and bars. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Row 0 holds the names of the columns. */
struct grid {
	char **texts;
	int *widths;
	bool *is_left; /* per column; false: it stands at the right */
	size_t columns, rows;
};

/* False: no memory. grid_fini is in place either way. */
bool grid_init(struct grid *grid, size_t rows, size_t columns);
void grid_fini(struct grid *grid);

/* Takes text, which was allocated by the C library; NULL: nothing stands there. */
void grid_set(struct grid *grid, size_t row, size_t column, char *text);

void grid_put(FILE *stream, const struct grid *grid);

/* The characters that are seen of text. */
int grid_width(const char *text);

/* Counts as bars; label gives the text of a bar, as grid_set takes it. Bars of 0 are left out. */
struct grid_bars {
	const uint64_t *counts;
	uint32_t count;
	char *(*label)(const void *context, uint32_t index);
	const void *context;
};

void grid_put_bars(FILE *stream, const struct grid_bars *bars);

#endif
