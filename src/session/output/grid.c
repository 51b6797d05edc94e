// SPDX-License-Identifier: BSD-2-Clause
/* Computes how wide columns are, and how long bars. */

#include "session/output/grid.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BAR_WIDTH = 40 };

bool grid_init(struct grid *grid, size_t rows, size_t columns)
{
	*grid = (struct grid){ .columns = columns, .rows = rows };
	grid->texts = alloc_zero(rows * columns, sizeof *grid->texts);
	grid->widths = alloc_zero(columns, sizeof *grid->widths);
	grid->is_left = alloc_zero(columns, sizeof *grid->is_left);
	return grid->texts && grid->widths && grid->is_left;
}

void grid_fini(struct grid *grid)
{
	for (size_t i = 0; grid->texts && i < grid->rows * grid->columns; i++)
		free(grid->texts[i]);
	alloc_free(grid->texts);
	alloc_free(grid->widths);
	alloc_free(grid->is_left);
}

/* Bytes but those within a character. */
int grid_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void grid_set(struct grid *grid, size_t row, size_t column, char *text)
{
	int width = text ? grid_width(text) : 0;

	grid->texts[row * grid->columns + column] = text;
	if (width > grid->widths[column])
		grid->widths[column] = width;
}

void grid_put(FILE *stream, const struct grid *grid)
{
	for (size_t row = 0; row < grid->rows; row++) {
		for (size_t column = 0; column < grid->columns; column++) {
			const char *text = grid->texts[row * grid->columns + column];
			bool is_last = column + 1 == grid->columns;
			int gap = grid->widths[column] - (text ? grid_width(text) : 0);

			fprintf(stream, "  %*s%s%*s", grid->is_left[column] ? 0 : gap, "", text ? text : "",
				grid->is_left[column] && !is_last ? gap : 0, "");
		}
		putc('\n', stream);
	}
}

void grid_put_bars(FILE *stream, const struct grid_bars *bars)
{
	uint64_t most = 1;
	int width = 0;

	for (uint32_t i = 0; i < bars->count; i++) {
		char *label = bars->counts[i] ? bars->label(bars->context, i) : NULL;

		width = label && grid_width(label) > width ? grid_width(label) : width;
		most = bars->counts[i] > most ? bars->counts[i] : most;
		free(label);
	}
	for (uint32_t i = 0; i < bars->count; i++) {
		int bar = (int)((double)bars->counts[i] / (double)most * BAR_WIDTH + 0.5);
		char *label = bars->counts[i] ? bars->label(bars->context, i) : NULL;
		int gap = width - (label ? grid_width(label) : 0);

		if (bars->counts[i])
			fprintf(stream, "    %*s%s  %10" PRIu64 "  %.*s\n", gap, "", label ? label : "",
				bars->counts[i], bar, "########################################");
		free(label);
	}
}
