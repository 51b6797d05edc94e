/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_CHECK_CHECK_PRIV_H
#define PROGRAM_CHECK_CHECK_PRIV_H

/*
 * The parts of the loader that judge the tables. Each check-*.c knows some of them, reports the first item that is
 * wrong and returns -EINVAL. They rely on each other in the order texts, types, nodes, rules, emissions. The time is
 * linear in the image but for what check_work counts and limits.
 */

#include "base/diag.h"
#include "program/load.h"
#include "program/section.h"

#include <stdbool.h>

/* What the fields of an expression ask of the event; any other value is the one type whose body fields it reads. */
#define READS_NOTHING UINT32_MAX
#define READS_HEADER  (UINT32_MAX - 1)
#define READS_MIXED   (UINT32_MAX - 2) /* body fields of several types: no event has them */

/* An item that messages speak of. */
struct check_item {
	enum program_section_id section;
	uint32_t index;
};

struct check_range {
	enum program_section_id section;
	uint32_t first, count;
};

struct check {
	const struct program *program;
	const struct diag_source *source;
	struct asterism_diag *diag;
	uint64_t work;
	uint8_t *texts;                          /* per byte of STRINGS: what text begins there */
	uint32_t *claims[PROGRAM_SECTION_COUNT]; /* per item: the index of its one owner, or PROGRAM_NONE */
	uint32_t *node_reads;                    /* per node: what its fields ask of the event */
	uint32_t *node_size;                     /* per node: how many nodes are visited to evaluate it */
	uint32_t *node_rule;                     /* per node: the last rule whose slots it was found to use well */
	uint32_t *type_stream;                   /* per type: the last rule whose over list has it */
	uint32_t *type_mark;                     /* per type: scratch, see check_new_mark */
	uint32_t mark;
};

/* Judges all tables of program, whose sections are in bounds. Returns 0, -EINVAL or -ENOMEM. */
int check_program(const struct program *program, const struct diag_source *source, struct asterism_diag *diag);

/* Reports what is wrong with an item, at its offset, and returns -EINVAL. */
int check_fail(struct check *check, struct check_item item, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts steps; -EINVAL when the image would keep its reader busy for too long. */
int check_work(struct check *check, struct check_item item, uint64_t steps);

/* Whether the range lies in its section; owner is blamed if not. */
int check_bounds(struct check *check, struct check_item owner, struct check_range range);

/* check_bounds, and that no other item has claimed any item of the range. */
int check_claim(struct check *check, struct check_item owner, struct check_range range);

/* A value that stands nowhere in type_mark yet. */
uint32_t check_new_mark(struct check *check);

/* A name is what programs tell things apart by: printable ASCII without blanks, quotes and backslashes. */
int check_name(struct check *check, struct check_item item, uint32_t text);

/* A label is for people: UTF-8 without control characters but tab and newline; may be PROGRAM_NONE. */
int check_label(struct check *check, struct check_item item, uint32_t text);

/* What values of this kind stand for (meaning/meaning.h); may be 0. */
int check_meaning(struct check *check, struct check_item item, uint32_t meaning, enum program_kind kind);

/* A constant is any text at all, length bytes long. */
int check_constant(struct check *check, struct check_item item, uint32_t text, uint32_t length);

/* That the names of the section's items, each of which begins with its name, all differ. */
int check_unique(struct check *check, enum program_section_id section);

/* The kind of value that a field of this enum event_value yields in an expression. */
enum program_kind check_kind_of(uint32_t value);

/* Whether items of type belong to the stream of rule, whose over list was read. */
bool check_in_stream(const struct check *check, uint32_t rule, uint32_t type);

/*
 * Whether node may stand at item's place in rule, where type is the current event's type, or READS_NOTHING where there
 * is no event.
 */
int check_expression(struct check *check, struct check_item item, uint32_t rule, uint32_t node, uint32_t type);

int check_texts(struct check *check);
int check_types(struct check *check);
int check_nodes(struct check *check);
int check_rules(struct check *check);
int check_properties(struct check *check, struct check_item item, const struct program_rule *rule);
int check_states(struct check *check, uint32_t rule);
int check_classes(struct check *check, uint32_t rule);
int check_results(struct check *check, uint32_t rule);
int check_aggregation(struct check *check, uint32_t rule);

/* Of check-results.c: that there, over slots, says whether a value is there. */
int check_there(struct check *check, struct check_item item, uint32_t rule, uint32_t node);
int check_emissions(struct check *check);

/* Of check-rules.c: that the four slots from which on time's behalf is told where it happened are there. */
/* That count slots from first on are there and U64. */
int check_words(struct check *check, struct check_item item, uint32_t first, uint32_t count);
int check_context_slots(struct check *check, struct check_item item, const struct program_rule *rule);

/* What check-machine.c knows of machines, whose parts are looked at where those of rules are. */
bool check_is_machine(const struct check *check, uint32_t rule);
bool check_is_key_slot(const struct check *check, uint32_t rule, uint32_t slot);
int check_machine(struct check *check, uint32_t rule);
int check_machine_target(struct check *check, struct check_item item, uint32_t rule, bool opens);
int check_machine_actions(struct check *check, struct check_item item, uint32_t rule, bool opens);
int check_machine_keys(struct check *check, uint32_t rule);
int check_notices(struct check *check, uint32_t rule);

#endif
