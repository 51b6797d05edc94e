/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_RESULT_PRIV_H
#define SESSION_OUTPUT_RESULT_PRIV_H

/* How single values are written, shared by both forms of output. */

#include "program/whose.h"
#include "session/output/result.h"

/* text as a JSON string with its quotes. */
void result_put_string(FILE *stream, const char *text);

void result_put_value(FILE *stream, const struct program_value *value);

/*
 * The same for people: numbers as what they mean (as the image has it), strings as they are, without quotes. match: it
 * is a value of its process, whose addresses may have names; else NULL.
 */
void result_show_value(FILE *stream, const struct program *program, uint32_t meaning, const struct program_value *value,
		       const struct program_match *match);

/*
 * Whose address the value of node is, given its meaning: match where it is one of its process; what stands in for it
 * where it is another one's, in room; NULL: nobody's, or that is not known.
 */
struct result_room {
	struct program_owner owner;
	struct program_match match;
};
const struct program_match *result_owner(const struct program *program, const struct program_match *match,
					 uint32_t node, uint32_t meaning, struct result_room *room);

/* The same for the values of an event of the match, which may be another process's; no namer where that is not known.
 */
struct program_match result_owner_of(const struct program *program, const struct program_match *match,
				     const struct event_header *header);

/* A member of "names": what stands before it, its key, meaning as the image has it. */
struct result_named {
	const char *before, *key;
	uint32_t meaning;
	const struct program_value *value;
	const struct program_match *owner; /* as above */
};

/* Writes it where the value's family has a name for it. False: it has none, and nothing is written. */
bool result_put_name(FILE *stream, const struct program *program, const struct result_named *named);

/* ,"names":{...}: the returned values whose family has a name for them, by that; nothing where there is none. */
void result_put_names(FILE *stream, const struct program *program, const struct program_match *match);

/* The node over the match's slots; null for a division by zero. */
void result_put_node(FILE *stream, const struct program *program, const struct program_match *match, uint32_t node);

/* ,"severity":... ,"tags":[...] ,"description":... as far as the rule says them. */
void result_put_properties(FILE *stream, const struct program *program, const struct program_rule *rule);

/* The column of severities, where some rule of the program has one. */
void result_put_severity(FILE *stream, const struct program *program, const struct program_rule *rule);

/* The text of a Message, which the caller frees; NULL: it is something else, or memory is short. As result_warning. */
char *result_message(const struct program *program, const struct program_match *match,
		     const struct program_statement *statement, bool is_shown);

/* "[pid/tid]", or one number for a thread that leads its process. Returns the characters written. */
int result_put_ids(FILE *stream, uint32_t pid, uint32_t tid);

/* The members ts, cpu, pid and tid, with a comma before each; the cpu is null where it is not known. */
void result_put_place(FILE *stream, uint64_t ts, uint32_t cpu, uint32_t pid, uint32_t tid);

/* "  cpu n", in a column; "-" where it is not known. */
void result_put_cpu(FILE *stream, uint32_t cpu);

/* ,"warning":"..." and ,"trail":[...] of a machine's match. */
void result_put_warning(FILE *stream, const struct program *program, const struct program_match *match);
void result_put_trail(FILE *stream, const struct program *program, const struct program_match *match);

/* The trail for people, a line each. */
void result_write_trail(FILE *stream, const struct program *program, const struct program_match *match);

/* ,"counters":{...},"histograms":{...} as far as there are any. */
void result_put_tallies(FILE *stream, const struct react_tallies *tallies);

#endif
