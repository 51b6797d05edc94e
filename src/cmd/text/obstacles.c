// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the place in a rule's text of what the kernel cannot do. An image knows no places of expressions, so the word
 * that begins the construct, or the field that an expression looks at, is looked for in the rule's text; where that is
 * not found, or no text is at hand, the message is about the rule's line.
 */

#include "cmd/text/obstacles.h"

#include "base/alloc.h"
#include "base/text.h"
#include "ebpf/ebpf.h"
#include "program/explain/explain.h"
#include "program/query.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { REASON_BYTES = 400, FOUND_MAX = 32 };

struct search {
	const struct obstacles_rule *rule;
	struct asterism_diag *diag;
	size_t line, begin, end; /* in the text: of the rule's line; behind its name; of the rule */
	char *told[FOUND_MAX];
	uint32_t told_count;
};

static bool is_word_char(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_';
}

/* Behind the comment or string that begins at i, or i itself where there is none. */
static size_t pass_over(const struct diag_source *source, size_t i)
{
	const char *text = source->text;
	size_t length = source->length;

	if (i + 1 < length && text[i] == '/' && text[i + 1] == '/')
		while (i < length && text[i] != '\n')
			i++;
	else if (i + 1 < length && text[i] == '/' && text[i + 1] == '*')
		for (i += 2; i < length && !(text[i - 1] == '*' && text[i] == '/'); i++)
			;
	else if (text[i] == '"')
		for (i++; i < length && text[i] != '"' && text[i] != '\n'; i++)
			i += text[i] == '\\';
	return i;
}

/* Where word begins between from and end, or end. is_field: behind a dot only. */
static size_t find_word_end(const struct search *search, size_t from, const char *word, bool is_field)
{
	const char *text = search->rule->source->text;
	size_t length = strlen(word);

	for (size_t i = from; i + length <= search->end; i++) {
		size_t behind = pass_over(search->rule->source, i);

		if (behind != i) {
			i = behind;
			continue;
		}
		if (strncasecmp(text + i, word, length) != 0 || (i && is_word_char(text[i - 1])))
			continue;
		if (i + length < search->rule->source->length && is_word_char(text[i + length]))
			continue;
		if (!is_field || (i && text[i - 1] == '.'))
			return i;
	}
	return search->end;
}

/* Behind the name of the rule that a keyword at at begins, or at itself where it is another one's. */
static size_t pass_name(const struct search *search, size_t at)
{
	const struct program *program = search->rule->program;
	const char *name = program_text(program, program->rules[search->rule->rule].name);
	size_t from = at;

	while (from < search->rule->source->length && is_word_char(search->rule->source->text[from]))
		from++;
	while (from < search->rule->source->length && strchr(" \t\n", search->rule->source->text[from]))
		from++;
	return find_word_end(search, from, name, false) == from ? from + strlen(name) : at;
}

/* From behind the name of the rule, which is in its line or behind it, to the next rule or machine. */
static void find_rule(struct search *search)
{
	static const char *const begins[] = { "RULE", "MACHINE", "SYNCHRONOUS", "ASYNCHRONOUS" };
	size_t at = 0;

	for (uint32_t line = 1; line < search->rule->line && at < search->rule->source->length; at++)
		line += search->rule->source->text[at] == '\n';
	search->line = search->begin = at;
	search->end = search->rule->source->length;
	for (size_t i = 0; i < 2 && search->begin == search->line; i++)
		for (at = search->line; search->begin == search->line && at < search->end; at++) {
			at = find_word_end(search, at, begins[i], false);
			if (at < search->end && pass_name(search, at) != at)
				search->begin = pass_name(search, at);
		}
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		search->end = find_word_end(search, search->begin, begins[i], false);
}

/* What an expression of reals looks at, as its text has it: a field, behind its event's name; or a function of an
 * array. */
static const char *looked_at_name(const struct obstacles_rule *rule, uint32_t index)
{
	const struct program *program = rule->program;
	const struct program_node *node = &program->nodes[index];
	const char *name;

	if (node->op == PROGRAM_OP_FIELD && node->kind == PROGRAM_F64)
		return program_text(program, program->fields[node->a].name);
	if (node->op == PROGRAM_OP_SLOT && node->kind == PROGRAM_F64)
		return program_text(program, program_slots(program, &program->rules[rule->rule])[node->a].name);
	if (node->op == PROGRAM_OP_CONVERT && node->kind == PROGRAM_F64)
		return "avg";
	if (node->op < PROGRAM_OP_ADD || node->op == PROGRAM_OP_LIKE)
		return NULL;
	name = looked_at_name(rule, node->a);
	if (!name && node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT)
		name = looked_at_name(rule, node->b);
	return name;
}

static struct diag_location obstacle_place(const struct search *search, const struct ebpf_obstacle *obstacle)
{
	bool in_expression = !obstacle->word && obstacle->node != PROGRAM_NONE;
	const char *word = in_expression ? looked_at_name(search->rule, obstacle->node) : obstacle->word;
	struct diag_location place = {
		.source = search->rule->source, .offset = search->line, .line = search->rule->line, .column = 1
	};
	bool is_field = in_expression && word && !strchr(word, '.');
	size_t at =
		word && search->rule->source->text ? find_word_end(search, search->begin, word, is_field) : search->end;

	if (!search->rule->source->text || at >= search->end)
		return place;
	place.offset = at;
	place.line = 1;
	place.length = (uint32_t)strlen(word);
	for (size_t i = 0; i < at; i++) {
		place.column = search->rule->source->text[i] == '\n' ? 1 : place.column + 1;
		place.line += search->rule->source->text[i] == '\n';
	}
	return place;
}

/* Whether the same was said already: of a transition out of another state, or of an expression of it. */
static bool is_told(const struct search *search, const char *text)
{
	for (uint32_t i = 0; i < search->told_count; i++)
		if (strncmp(search->told[i], text, strlen(text)) == 0)
			return true;
	return false;
}

static void put_obstacle(void *context, const struct ebpf_obstacle *obstacle)
{
	struct search *search = context;
	const struct obstacles_rule *rule = search->rule;
	const struct program_rule *row = &rule->program->rules[rule->rule];
	struct diag_location place = obstacle_place(search, obstacle);
	struct text_buffer what = { 0 };
	char *reason = NULL;
	char hint[REASON_BYTES];

	text_append(&what, obstacle->reason);
	if (obstacle->node != PROGRAM_NONE) {
		text_append(&what, ": ");
		program_print_condition(&what, rule->program, row, obstacle->node, NULL);
	}
	snprintf(hint, sizeof hint, "write instead: %s", obstacle->instead ? obstacle->instead : "");
	if (!text_take(&what, &reason) && !is_told(search, reason)) {
		diag_add(search->diag, ASTERISM_NOTE, &place, obstacle->instead ? hint : NULL,
			 "%s %s cannot run in the kernel: %s", program_sort(row),
			 program_text(rule->program, row->name), reason);
		if (search->told_count < FOUND_MAX) {
			search->told[search->told_count++] = reason;
			reason = NULL;
		}
	}
	alloc_free(reason);
}

void obstacles_add(const struct obstacles_rule *rule, struct asterism_diag *diag)
{
	struct search search = { .rule = rule, .diag = diag };
	char reason[REASON_BYTES];

	if (rule->source->text)
		find_rule(&search);
	ebpf_each_obstacle(rule->program, rule->rule,
			   &(struct ebpf_obstacles){ put_obstacle, &search, reason, sizeof reason });
	for (uint32_t i = 0; i < search.told_count; i++)
		alloc_free(search.told[i]);
}
