/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

/*
 * How reports write what they have found: a section per report, with notes and tables in it, whose columns say what
 * their cells are. A form (text, JSON, CSV, a page) is a descriptor that makes of that what its readers want. What
 * comes from outside is given as it is: the form escapes.
 */

#include "report/report.h"

#include "base/text.h"

#include <stdio.h>

enum report_cell_kind {
	CELL_TEXT,
	CELL_COUNT,
	CELL_TIME,     /* ns since the first event */
	CELL_DURATION, /* ns */
	CELL_SHARE,    /* a part of 1 */
	CELL_RATE,     /* per second */
	CELL_REAL,
	CELL_BYTES,
	CELL_BAR,    /* a part of 1 that is drawn; for programs a share */
	CELL_STRIP,  /* a text of one character per span of time, for people alone */
	CELL_THREAD, /* an index in threads: name, tid and more, as the form likes */
	CELL_PRIO,
};

struct report_column {
	const char *name;  /* for programs: time_ns, waker */
	const char *title; /* for people; "" for none; NULL: the column is for programs alone */
	enum report_cell_kind kind;
	bool is_deep; /* of a tree: the row's depth indents it */
};

struct report_cell {
	union {
		const char *text;
		uint64_t number;
		double real;
	};
	bool is_none; /* it is not known: an empty cell, null */
};

#define CELL_NONE ((struct report_cell){ .is_none = true })

enum { REPORT_COLUMNS_MAX = 16 };

struct report_tables;

/* What a form has to bring. */
struct report_form {
	const char *name;
	int (*open)(struct report_tables *tables);
	void (*section)(struct report_tables *tables, const struct report_kind *kind);
	void (*section_end)(struct report_tables *tables);
	void (*note)(struct report_tables *tables, const char *text);
	/* name is for programs, title for people. Rows follow, then table_end. */
	void (*table)(struct report_tables *tables, const char *name, const char *title);
	void (*row)(struct report_tables *tables, const struct report_cell *cells, unsigned depth);
	void (*table_end)(struct report_tables *tables);
	void (*picture)(struct report_tables *tables, struct report *report); /* of a report that has one */
	int (*close)(struct report_tables *tables);
};

struct report_tables {
	const struct report_form *form;
	const struct report_view *view;
	FILE *stream;
	struct report *const *reports; /* that are written: what the summary is made of */
	size_t report_count;
	const struct report_column *columns; /* of the table */
	unsigned column_count;
	uint32_t rows_most; /* of one table for people; UINT32_MAX: all */
	int failure;        /* -ENOMEM; what is missing then */
	void *state;        /* the form's */
};

extern const struct report_form report_form_text, report_form_json, report_form_csv;

/* Writes all reports, with what the trace lacks for them. Returns 0, -ENOMEM, or -errno of the stream. */
int report_write(struct report_tables *tables, struct report *const *reports, size_t count);

/* What happened, in two sentences: a note. */
void report_summary(struct report_tables *tables);

void report_note(struct report_tables *tables, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Where a table holds so many rows at most, and so many counts found no place in it. Nothing where none did. */
void report_note_left_out(struct report_tables *tables, uint64_t count);
void report_table(struct report_tables *tables, const char *name, const char *title,
		  const struct report_column *columns, unsigned count);
void report_row(struct report_tables *tables, const struct report_cell *cells, unsigned depth);
void report_table_end(struct report_tables *tables);

static inline struct report_cell report_cell_text(const char *text)
{
	return (struct report_cell){ .text = text, .is_none = !text };
}

static inline struct report_cell report_cell_number(uint64_t number)
{
	return (struct report_cell){ .number = number };
}

static inline struct report_cell report_cell_real(double real)
{
	return (struct report_cell){ .real = real };
}

static inline struct report_cell report_cell_thread(uint32_t thread)
{
	return (struct report_cell){ .number = thread, .is_none = thread == REPORT_NONE };
}

/* Where new threads were seen whose start function is not known. */
void report_note_functions(struct report_tables *tables);

/* "nginx 4711", "worker 4712" after its start function, "(interrupt)", for people: what CELL_THREAD is shown as in
 * texts. */
void report_thread_name(struct text_buffer *text, const struct report_view *view, uint32_t thread);

#endif
