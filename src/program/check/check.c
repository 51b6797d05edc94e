// SPDX-License-Identifier: BSD-2-Clause
/* Checks the tables of an image, in order. */

#include "program/check/check-priv.h"

#include "base/alloc.h"
#include "event/type.h"

#include <errno.h>
#include <string.h>

/* count words of PROGRAM_NONE, or NULL. */
static uint32_t *new_words(uint32_t count)
{
	uint32_t *words = alloc_zero(count, sizeof *words);

	if (words)
		memset(words, 0xff, count * sizeof *words);
	return words;
}

static int make_scratch(struct check *check)
{
	static const enum program_section_id claimed[] = {
		PROGRAM_FIELDS,  PROGRAM_ELEMENTS, PROGRAM_SLOTS,        PROGRAM_STATES,     PROGRAM_TRANSITIONS,
		PROGRAM_CLASSES, PROGRAM_KEYS,     PROGRAM_RETURNS,      PROGRAM_STATEMENTS, PROGRAM_ARGS,
		PROGRAM_NOTICES, PROGRAM_PIECES,   PROGRAM_AGGREGATIONS, PROGRAM_AGGREGATES,
	};
	const struct program_section *sections = check->program->header->sections;
	uint32_t nodes = sections[PROGRAM_NODES].count, types = sections[PROGRAM_TYPES].count;

	for (size_t i = 0; i < sizeof claimed / sizeof *claimed; i++) {
		check->claims[claimed[i]] = new_words(sections[claimed[i]].count);
		if (!check->claims[claimed[i]])
			return -ENOMEM;
	}
	check->texts = alloc_zero(sections[PROGRAM_STRINGS].count, 1);
	check->node_reads = new_words(nodes);
	check->node_size = new_words(nodes);
	check->node_rule = new_words(nodes);
	check->type_stream = new_words(types);
	check->type_mark = alloc_zero(types, sizeof *check->type_mark);
	return check->texts && check->node_reads && check->node_size && check->node_rule && check->type_stream &&
			       check->type_mark
		       ? 0
		       : -ENOMEM;
}

static void free_scratch(struct check *check)
{
	for (int i = 0; i < PROGRAM_SECTION_COUNT; i++)
		alloc_free(check->claims[i]);
	alloc_free(check->texts);
	alloc_free(check->node_reads);
	alloc_free(check->node_size);
	alloc_free(check->node_rule);
	alloc_free(check->type_stream);
	alloc_free(check->type_mark);
}

int check_program(const struct program *program, const struct diag_source *source, struct asterism_diag *diag)
{
	static int (*const parts[])(struct check *) = {
		check_texts, check_types, check_nodes, check_rules, check_emissions,
	};
	struct check check = { .program = program, .source = source, .diag = diag };
	int result = make_scratch(&check);

	for (size_t i = 0; i < sizeof parts / sizeof *parts && !result; i++)
		result = parts[i](&check);
	free_scratch(&check);
	return result == -ENOMEM ? diag_no_memory(diag) : result;
}
