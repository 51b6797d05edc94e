// SPDX-License-Identifier: BSD-2-Clause
/* Lays out a record of a derived type: its fields in their order, lists included. */

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { LIST_BYTES_MAX = 1 << 20 };

static void append_record(const struct desl_making *making, const struct desl_type *of, uint32_t record,
			  struct text_buffer *text)
{
	for (unsigned i = 0; i < of->field_count; i++) {
		union desl_cell cell = of->table.cells[i][record];

		text_append(text, i ? "," : "{");
		text_json(text, of->fields[i].name.text);
		text_append(text, ":");
		if (desl_is_absent(of->fields[i].kind, cell))
			text_append(text, "null");
		else if (of->fields[i].kind == DESL_NUMBER)
			text_printf(text, "%.17g", cell.number);
		else
			text_json(text, making->program->texts.texts[cell.text].bytes);
	}
	text_append(text, "}");
}

/* The records for which the relation holds, as a JSON array. */
static int list_records(struct desl_making *making, const struct desl_expr *expr, const struct desl_at *of,
			union desl_cell *cell)
{
	const struct desl_expr *relation = expr->operands;
	unsigned source = relation->operands->source;
	struct text_buffer text = { 0 };
	uint32_t row[DESL_SOURCES_MAX], number = 0;
	struct desl_at at = *of;
	char *taken;
	int result;

	memcpy(row, of->row, making->type->source_count * sizeof *row);
	at.row = row;
	text_append(&text, "[");
	for (uint32_t i = 0; i < making->inputs[source].count; i++) {
		row[source] = i;
		if (++making->looks > DESL_LOOKS_MAX || text.length > LIST_BYTES_MAX) {
			text_fini(&text);
			diag_add(making->diag, ASTERISM_ERROR, &expr->location, "narrow the relation",
				 "the list is too long");
			return -EINVAL;
		}
		if (!desl_holds(relation, &at))
			continue;
		text_append(&text, text.length > 1 ? "," : "");
		append_record(making, making->type->sources[source].type, i, &text);
	}
	text_append(&text, "]");
	result = text_take(&text, &taken);
	if (!result)
		result = desl_text_add(&making->program->texts, taken, strlen(taken), false, &number);
	alloc_free(result ? NULL : taken);
	cell->text = number;
	return result;
}

int desl_add_record(struct desl_making *making, struct desl_at *at)
{
	struct desl_type *type = making->type;
	union desl_cell own[DESL_FIELDS_MAX];
	int result = 0;

	at->own = own;
	for (unsigned i = 0; i < type->field_count && !result; i++) {
		unsigned column = type->order[i];
		const struct desl_expr *filter = type->fields[column].filter;

		if (filter->op == DESL_LIST_OF)
			result = list_records(making, filter, at, &own[column]);
		else
			own[column] = desl_value(filter, at);
	}
	at->own = NULL;
	if (result)
		return result;
	if (at->is_divided) {
		type->divided++;
		return 0;
	}
	result = desl_table_grow(&type->table);
	for (unsigned i = 0; i < type->field_count && !result; i++)
		type->table.cells[i][type->table.rows] = own[i];
	type->table.rows += !result;
	return result;
}
