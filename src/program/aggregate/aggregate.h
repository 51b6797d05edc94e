/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_AGGREGATE_AGGREGATE_H
#define PROGRAM_AGGREGATE_AGGREGATE_H

/*
 * Aggregates: what AGGREGATE of a rule says of its matches, by key. Whoever delivers matches hands each of them to
 * aggregates_add, in the order in which they are found; so the tables are the same whoever found them, and on however
 * many threads. Who adds matches up by himself, and delivers none of them, is a source: what he has is taken from him
 * when a table is to be reported.
 *
 * Time is that of the events. aggregates_begin says when it begins; where a rule has EVERY, its table is reported when
 * time has passed beyond each multiple of it since then. A match at exactly that time comes before.
 *
 * It belongs to one thread at a time and touches the image and its own memory alone. A table holds at most as many keys
 * as the rule's POOL says; a match whose key finds no place is counted as other.
 */

#include "program/eval.h"
#include "program/match.h"

enum {
	AGGREGATE_BUCKETS = 496, /* of values that are not negative */
	AGGREGATE_QUANTILES = 5,
};

/* Counts by bucket: those of the buckets from first on, and 0 elsewhere. */
struct aggregate_buckets {
	int32_t first;
	uint32_t count;
	uint64_t *counts;
};

/* What one aggregate has come to for one key. */
struct aggregate_cell {
	uint64_t count; /* values; a match may lack one */
	union {         /* SUM, AVG: the sum; MIN, MAX; in the kind of the value */
		uint64_t bits;
		double real;
	};
	struct aggregate_buckets buckets; /* HISTOGRAM, QUANTILES */
};

/* One key: its values one behind the other, as a table lays them out, and a cell for each aggregate. */
struct aggregate_row {
	const char *key;
	const struct aggregate_cell *cells;
};

struct aggregate_table;

/* A table as it is reported, borrowed for the length of the call: the first rows of what it holds, in order. */
struct aggregate_report {
	const struct aggregate_table *table;
	uint32_t rule; /* of the image */
	bool is_last;  /* of the session; else it is reported as time has passed up to ts */
	uint64_t ts;
	const struct aggregate_row *rows;
	size_t row_count, left_out; /* left_out: those behind the TOP ones */
	uint64_t other;             /* matches whose key found no place */
};

/* A negative result ends the session, as that of a match does. */
typedef int aggregate_report_fn(void *context, const struct aggregate_report *report);

/*
 * Where matches are added up as well. expect: a rule's table will be asked for up to due, then up to a multiple of its
 * EVERY after that; matches later than the first two of these times are not to be kept back, but delivered. take: adds
 * what there is of matches up to `until` to the table, and forgets it; returns 1 where there are later ones, 0, -errno.
 * share: a match up to due is delivered, and will be added to the table: keys that there are get places before it does,
 * and from here on one that finds no place there may have one here. 0, -ENOMEM.
 */
struct aggregate_source {
	void (*expect)(void *context, uint32_t rule, uint64_t due);
	int (*share)(void *context, uint32_t rule, uint64_t due, struct aggregate_table *table);
	int (*take)(void *context, uint32_t rule, uint64_t until, struct aggregate_table *table);
	void *context;
};

struct aggregates;

/* The rules of the program that aggregate. Returns 0, with *made NULL where there are none; -ENOMEM. */
int aggregates_new(const struct program *program, aggregate_report_fn *report, void *context, struct aggregates **made);

/* Everything below is of no effect where aggregates is NULL. Results: 0, -ENOMEM, what report returned. */
void aggregates_free(struct aggregates *aggregates);
/* Time begins at ts. Only the first call counts. */
void aggregates_begin(struct aggregates *aggregates, uint64_t ts);
/* From here on the source adds up, too, until it is detached: then everything that it has is taken. */
void aggregates_attach(struct aggregates *aggregates, const struct aggregate_source *source);
int aggregates_detach(struct aggregates *aggregates);
int aggregates_add(struct aggregates *aggregates, const struct program_match *match);
/* Time has passed up to ts; there may be matches at ts still. */
int aggregates_advance(struct aggregates *aggregates, uint64_t ts);
/* When aggregates_advance has something to report next; UINT64_MAX: never. */
uint64_t aggregates_due(const struct aggregates *aggregates);
/* No match after this: detaches the source, and reports all tables. */
int aggregates_finish(struct aggregates *aggregates);

/* Of one table. */
int aggregate_table_new(const struct program *program, uint32_t rule, struct aggregate_table **made);
void aggregate_table_free(struct aggregate_table *table);
int aggregate_table_add(struct aggregate_table *table, const struct program_match *match);
void aggregate_table_clear(struct aggregate_table *table);
bool aggregate_table_is_empty(const struct aggregate_table *table);

/*
 * What somebody else has added up. A key is laid out as a word with a bit for each value of BY that is there, then the
 * values, 8 bytes or a string's capacity, zero behind its end: equal keys have equal bytes. put: the number of its row,
 * AGGREGATE_NO_ROW where there is no place, and its matches are counted as other. A key without a match has a place,
 * and is not reported. 0, -ENOMEM.
 */
#define AGGREGATE_NO_ROW UINT32_MAX
int aggregate_table_put(struct aggregate_table *table, const char *key, uint64_t matches, uint32_t *row);
void aggregate_table_put_other(struct aggregate_table *table, uint64_t matches);
/* Of aggregate index in a row: count values and what they come to (a cell's bits); count values of one bucket. */
struct aggregate_part {
	uint32_t row, index;
	uint64_t count;
};
void aggregate_table_put_bits(struct aggregate_table *table, const struct aggregate_part *part, uint64_t bits);
int aggregate_table_put_bucket(struct aggregate_table *table, const struct aggregate_part *part, int32_t bucket);

/* Fills the rows and counts of report: by the first aggregate, the largest first, then by key. Returns 0, -ENOMEM. */
int aggregate_table_sort(struct aggregate_table *table, struct aggregate_report *report);

/* What is reported. The rows of the image: BY and the aggregates, in the order of the text. */
const struct program_aggregation *aggregate_table_row(const struct aggregate_table *table);
const struct program *aggregate_table_program(const struct aggregate_table *table);
/* Value index of BY; false: the matches had none there. */
bool aggregate_key(const struct aggregate_table *table, const struct aggregate_row *row, uint32_t index,
		   struct program_value *value);
/* Aggregate index, unless it is a HISTOGRAM or QUANTILES; false: no match had a value for it. */
bool aggregate_value(const struct aggregate_table *table, const struct aggregate_row *row, uint32_t index,
		     struct program_value *value);
extern const char *const aggregate_quantile_names[AGGREGATE_QUANTILES];
/* The upper bound of the bucket that holds the quantile; false: there are no values. */
bool aggregate_quantile(const struct aggregate_cell *cell, int quantile, struct program_value *value);

/* The bucket of a number, and the least and the greatest value of a bucket. */
struct aggregate_range {
	struct program_value low, high;
};

int32_t aggregate_bucket(const struct program_value *value);
struct aggregate_range aggregate_range(int32_t bucket);

#endif
