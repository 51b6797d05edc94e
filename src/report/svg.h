/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

/*
 * Pictures as SVG, for files of their own and inside a page: no style sheet, no script, and what comes from outside is
 * escaped. Lengths are pixels.
 */

#include "report/report.h"

#include "base/text.h"

#include <stdio.h>

enum { SVG_LETTER = 7, SVG_ROW = 18 }; /* about how wide a letter is, and how high a row */

void report_svg_begin(FILE *stream, double width, double height, const char *title);
void report_svg_end(FILE *stream);

struct report_box {
	double x, y, width, height;
};

/* hint is shown where somebody points at it; NULL: none. */
void report_svg_rect(FILE *stream, struct report_box box, const char *colour, const char *hint);
/* From the box's x and y to the corner across. */
void report_svg_line(FILE *stream, struct report_box box, const char *colour);

struct report_label {
	double x, y;
	unsigned most;      /* letters, else it is cut; 0: as it is */
	const char *anchor; /* which of its ends is at x: "end", "middle"; NULL: the start */
};

void report_svg_text(FILE *stream, struct report_label label, const char *text);
void report_svg_thread(FILE *stream, struct report_label label, const struct report_view *view, uint32_t thread);

/* A scale of time above the box and lines through it, which is length ns wide. */
void report_svg_times(FILE *stream, struct report_box box, uint64_t length);

/* A text as DOT has it, with the quotes. */
void report_dot_text(FILE *stream, const char *text);

#endif
