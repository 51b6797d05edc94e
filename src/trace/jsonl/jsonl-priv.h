/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_JSONL_JSONL_PRIV_H
#define TRACE_JSONL_JSONL_PRIV_H

/* The parts of the JSON-lines reader: lines from a descriptor, types by name, records from members. */

#include "base/hash-table.h"
#include "trace/jsonl/json-priv.h"
#include "trace/jsonl/jsonl.h"

/* Lines of a descriptor, one at a time. */
struct jsonl_lines {
	int fd;
	char *bytes;
	size_t room, start, end; /* bytes[start..end) are read and not used yet */
	uint64_t offset;         /* in the input, of bytes[start] */
	uint64_t number;         /* of the last line, from 1 */
	bool at_end;             /* of the input */
	bool skips;              /* the rest of a line that was too long is still to come */
};

struct jsonl_line {
	const char *text;
	size_t length;
	bool is_open;    /* the input ended before its newline */
	uint64_t offset; /* in the input */
};

/* A type that the input has used. */
struct jsonl_type {
	const struct event_type *type;
	uint32_t index;
};

/* Those, in the order of their first use. */
struct jsonl_types {
	const struct event_type **items;
	size_t count, capacity, unknown_count;
	struct hash_table by_name, unknown; /* unknown: hashes of names */
};

/* What is wrong with a record: a place in the line, and perhaps what would be right. */
struct jsonl_complaint {
	struct json_piece at;
	char text[400];
	char hint[160]; /* empty: none */
};

/* Makes room for the lines. Returns 0, -ENOMEM. */
int jsonl_lines_init(struct jsonl_lines *lines, int fd);
void jsonl_lines_fini(struct jsonl_lines *lines);

/* The next line without its newline: 1; 0 at the end; -E2BIG when it is too long (the next call goes on behind it),
 * -errno. */
int jsonl_lines_next(struct jsonl_lines *lines, struct jsonl_line *line);

/* The type called name (of length bytes): 1 with *found, 0 where neither the catalog nor one that is shipped has it,
 * -ENOMEM. */
int jsonl_types_find(struct jsonl_types *types, struct event_catalog *catalog, const struct json_piece *name,
		     struct jsonl_type *found);
void jsonl_types_fini(struct jsonl_types *types);

/* What lines had that nobody knows, and the first of it. */
struct jsonl_left_out {
	uint64_t fields, events;
	char field[128], event[128];
};

/* Where in the members that is which is no field: what names the type; and, or SIZE_MAX, when a late event came. */
struct jsonl_locations {
	size_t event, completed;
	const char *time_field;          /* what ts is called, or NULL */
	struct jsonl_left_out *left_out; /* NULL: unknown fields are errors */
};

/*
 * Fills the record of type from the members that are fields, all but seq and type. Returns 0; 1 with *complaint where a
 * field was not given, which is 0 or empty then; or -EINVAL with *complaint.
 */
int jsonl_fill(const struct event_type *type, const struct json_members *members, const struct jsonl_locations *places,
	       char *record, struct jsonl_complaint *complaint);

/* The time that member gives. Returns false where it gives none. */
bool jsonl_read_time(const struct json_member *member, uint64_t *ns);

#endif
