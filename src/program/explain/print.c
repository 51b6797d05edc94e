// SPDX-License-Identifier: BSD-2-Clause
/* Prints expressions: the language's own notation, with no more parentheses than it needs. */

#include "meaning/meaning.h"
#include "program/eval.h"
#include "program/explain/explain.h"
#include "program/explain/print-priv.h"
#include "program/query.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loosest first, as docs/language.md orders them. */
enum precedence { LOOSEST, OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, ATOM };

struct operator
{
	const char *sign;
	enum precedence precedence;
	bool left_bare, right_bare; /* an operand of the same precedence needs no parentheses on this side */
};

static const struct operator operators[PROGRAM_OP_COUNT] = {
	[PROGRAM_OP_ADD] = { " + ", SUM, true, false },
	[PROGRAM_OP_SUB] = { " - ", SUM, true, false },
	[PROGRAM_OP_MUL] = { " * ", PRODUCT, true, false },
	[PROGRAM_OP_DIV] = { " / ", PRODUCT, true, false },
	[PROGRAM_OP_MOD] = { " % ", PRODUCT, true, false },
	[PROGRAM_OP_AND] = { " & ", BIT_AND, true, true },
	[PROGRAM_OP_OR] = { " | ", BIT_OR, true, true },
	[PROGRAM_OP_XOR] = { " ^ ", BIT_XOR, true, true },
	[PROGRAM_OP_SHL] = { " << ", SHIFT, true, false },
	[PROGRAM_OP_SHR] = { " >> ", SHIFT, true, false },
	[PROGRAM_OP_EQ] = { " == ", COMPARISON, false, false },
	[PROGRAM_OP_NE] = { " != ", COMPARISON, false, false },
	[PROGRAM_OP_LT] = { " < ", COMPARISON, false, false },
	[PROGRAM_OP_LE] = { " <= ", COMPARISON, false, false },
	[PROGRAM_OP_GT] = { " > ", COMPARISON, false, false },
	[PROGRAM_OP_GE] = { " >= ", COMPARISON, false, false },
	[PROGRAM_OP_LIKE] = { " LIKE ", COMPARISON, false, false },
	[PROGRAM_OP_LAND] = { " AND ", AND, true, true },
	[PROGRAM_OP_LOR] = { " OR ", OR, true, true },
	[PROGRAM_OP_LNOT] = { "NOT ", NOT, false, true },
};

struct printer {
	struct text_buffer *text;
	const struct program *program;
	const struct program_rule *rule;
	bool for_people;   /* constants are shown by what they mean, fields behind the name of their event */
	const char *event; /* or NULL */
};

/* The shortest decimal that reads back as the same number, and reads as a real. */
static void print_real(struct text_buffer *text, uint64_t bits)
{
	char digits[40];
	double real;

	memcpy(&real, &bits, sizeof real);
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	text_append(text, digits);
	if (isfinite(real) && !strpbrk(digits, ".e"))
		text_append(text, ".0");
}

static void print_constant(struct text_buffer *text, const struct program_node *node)
{
	switch ((enum program_kind)node->kind) {
	case PROGRAM_F64:
		print_real(text, node->imm);
		break;
	case PROGRAM_BOOL:
		text_append(text, node->imm ? "TRUE" : "FALSE");
		break;
	case PROGRAM_U64: /* large ones are addresses and masks */
		text_printf(text, node->imm > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64, node->imm);
		break;
	default:
		text_printf(text, "%" PRId64, (int64_t)node->imm);
		break;
	}
}

void program_print_slot(struct text_buffer *text, const struct program *program, const struct program_rule *rule,
			uint32_t slot)
{
	const char *name = program_text(program, program_slots(program, rule)[slot].name);

	if (*name)
		text_append(text, name);
	else
		text_printf(text, "slot%" PRIu32, slot);
}

static void print_leaf(const struct printer *printer, const struct program_node *node)
{
	const struct program *program = printer->program;

	switch ((enum program_op)node->op) {
	case PROGRAM_OP_CONST:
		print_constant(printer->text, node);
		break;
	case PROGRAM_OP_TEXT:
		text_quote(printer->text, program_text(program, node->a));
		break;
	case PROGRAM_OP_FIELD:
		if (printer->event)
			text_printf(printer->text, "%s.", printer->event);
		text_append(printer->text, program_text(program, program->fields[node->a].name));
		break;
	default:
		program_print_slot(printer->text, program, printer->rule, node->a);
		break;
	}
}

static void print_node(const struct printer *printer, uint32_t index, enum precedence around, bool bare);

static void print_convert(const struct printer *printer, const struct program_node *node)
{
	static const char *const names[] = { [PROGRAM_I64] = "i64", [PROGRAM_U64] = "u64", [PROGRAM_F64] = "f64" };

	text_printf(printer->text, "%s(", names[node->kind]);
	print_node(printer, node->a, LOOSEST, true);
	text_append(printer->text, ")");
}

/* The field or slot that all alternatives below a node compare for equality with constants, or NULL. */
static const struct program_node *listed(const struct program *program, const struct program_node *node)
{
	const struct program_node *a = &program->nodes[node->a], *b = &program->nodes[node->b];

	if (node->op == PROGRAM_OP_EQ) {
		bool leaf = a->op == PROGRAM_OP_FIELD || a->op == PROGRAM_OP_SLOT;

		return leaf && (b->op == PROGRAM_OP_CONST || b->op == PROGRAM_OP_TEXT) ? a : NULL;
	}
	if (node->op != PROGRAM_OP_LOR)
		return NULL;
	a = listed(program, a);
	b = a ? listed(program, b) : NULL;
	return b && a->op == b->op && a->a == b->a ? a : NULL;
}

static void print_list(const struct printer *printer, const struct program_node *node)
{
	if (node->op == PROGRAM_OP_LOR) {
		print_list(printer, &printer->program->nodes[node->a]);
		text_append(printer->text, ", ");
		print_list(printer, &printer->program->nodes[node->b]);
	} else {
		print_leaf(printer, &printer->program->nodes[node->b]);
	}
}

/* x == 1 OR x == 2 as people write it: x IN { 1, 2 }. */
static void print_in(const struct printer *printer, const struct program_node *node)
{
	print_leaf(printer, listed(printer->program, node));
	text_append(printer->text, " IN { ");
	print_list(printer, node);
	text_append(printer->text, " }");
}

static bool is_time_node(const struct program *program, const struct program_rule *rule,
			 const struct program_node *node)
{
	const char *name, *dot;

	if (node->op == PROGRAM_OP_FIELD)
		return node->a == 0; /* ts */
	if (node->op != PROGRAM_OP_SLOT)
		return false;
	name = program_text(program, program_slots(program, rule)[node->a].name);
	dot = strrchr(name, '.');
	return dot && strcmp(dot, ".ts") == 0;
}

/* What the number that node yields stands for, as far as the image tells; NULL: nothing. */
static const struct meaning *node_meaning(const struct printer *printer, const struct program_node *node)
{
	const struct program *program = printer->program;

	if (node->op == PROGRAM_OP_SUB && is_time_node(program, printer->rule, &program->nodes[node->a]) &&
	    is_time_node(program, printer->rule, &program->nodes[node->b]))
		return &meaning_duration;
	if (node->op != PROGRAM_OP_FIELD || !program->fields[node->a].meaning)
		return NULL;
	return meaning_find(program_text(program, program->fields[node->a].meaning - 1));
}

/* Whether a constant has been shown by what the other operand means. */
static bool print_meant(const struct printer *printer, uint32_t index, uint32_t other)
{
	const struct program_node *node = &printer->program->nodes[index];
	const struct meaning *meaning;

	if (!printer->for_people || node->op != PROGRAM_OP_CONST || node->kind == PROGRAM_F64)
		return false;
	meaning = node_meaning(printer, &printer->program->nodes[other]);
	if (meaning)
		meaning_show(printer->text, meaning, (struct meaning_number){ node->imm, node->kind == PROGRAM_I64 });
	return meaning;
}

static void print_operation(const struct printer *printer, const struct program_node *node)
{
	const struct operator* operator= & operators[node->op];
	bool compares = operator->precedence == COMPARISON;

	if (node->op == PROGRAM_OP_LNOT) {
		text_append(printer->text, operator->sign);
		print_node(printer, node->a, operator->precedence, operator->right_bare);
		return;
	}
	if (!compares || !print_meant(printer, node->a, node->b))
		print_node(printer, node->a, operator->precedence, operator->left_bare);
	text_append(printer->text, operator->sign);
	if (!compares || !print_meant(printer, node->b, node->a))
		print_node(printer, node->b, operator->precedence, operator->right_bare);
}

/* around, bare: the operator this is an operand of, and whether it puts up with one of its own precedence here. */
static void print_node(const struct printer *printer, uint32_t index, enum precedence around, bool bare)
{
	const struct program_node *node = &printer->program->nodes[index];
	bool in = node->op == PROGRAM_OP_LOR && listed(printer->program, node);
	enum precedence precedence = in ? COMPARISON : operators[node->op].precedence;
	bool enclosed = precedence < around || (precedence == around && !bare);

	if (printer->text->failure)
		return;
	if (node->op == PROGRAM_OP_CONVERT) {
		print_convert(printer, node);
		return;
	}
	if (!operators[node->op].sign) {
		print_leaf(printer, node);
		return;
	}
	if (enclosed)
		text_append(printer->text, "(");
	if (in)
		print_in(printer, node);
	else
		print_operation(printer, node);
	if (enclosed)
		text_append(printer->text, ")");
}

void program_print(struct text_buffer *text, const struct program *program, const struct program_rule *rule,
		   uint32_t node)
{
	struct printer printer = { .text = text, .program = program, .rule = rule };

	print_node(&printer, node, LOOSEST, true);
}

void program_print_condition(struct text_buffer *out, const struct program *program, const struct program_rule *rule,
			     uint32_t node, const char *event)
{
	struct printer printer = { .text = out, .program = program, .rule = rule, .for_people = true, .event = event };

	print_node(&printer, node, LOOSEST, true);
}

void program_print_node(const struct program *program, const struct program_rule *rule, uint32_t node, char *buffer,
			size_t size)
{
	static const char more[] = "...";
	struct text_buffer text;

	text_init_fixed(&text, buffer, size);
	program_print(&text, program, rule, node);
	if (!text.failure || size < sizeof more)
		return;
	size_t end = size - sizeof more;
	while (end && (buffer[end] & 0xc0) == 0x80) /* not within a character */
		end--;
	memcpy(buffer + end, more, sizeof more);
}
