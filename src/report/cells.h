/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_CELLS_H
#define REPORT_CELLS_H

/* Cells as texts: for people, and for programs. */

#include "report/table.h"

/* For people: with units; escaped. bar: how many characters a bar has at most. */
void report_cell_show(struct text_buffer *text, const struct report_view *view, enum report_cell_kind kind,
		      const struct report_cell *cell, unsigned bar);

/* For programs: numbers in base units (ns, bytes, parts of 1), not escaped. */
void report_cell_plain(struct text_buffer *text, const struct report_view *view, enum report_cell_kind kind,
		       const struct report_cell *cell);

/* Whether it is a text for programs, rather than a number. */
bool report_cell_is_text(enum report_cell_kind kind);

/* Whether people read it aligned to the right. */
bool report_cell_is_right(enum report_cell_kind kind);

#endif
