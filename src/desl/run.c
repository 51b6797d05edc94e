// SPDX-License-Identifier: BSD-2-Clause
/* Computes the types of a program in order, and reports records that were left out. */

#include "desl/run-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

static int make_desl_rows(struct desl_making *making)
{
	unsigned width = making->type->source_count;
	int result = 0;

	for (size_t i = 0; i < making->count && !result; i++) {
		struct desl_at at = { .making = making, .row = making->rows + i * width };

		result = desl_add_record(making, &at);
	}
	return result;
}

static int make_rows(struct desl_making *making)
{
	struct desl_type *type = making->type;
	int result = desl_table_init(&type->table, type->field_count);

	for (unsigned i = 0; i < type->source_count && !result; i++)
		result = desl_select(making, i);
	if (!result)
		result = desl_join(making);
	if (result)
		return result;
	if (type->self_field >= 0)
		return desl_follow(making);
	return type->is_grouped || type->aggregate_count ? desl_group(making) : make_desl_rows(making);
}

static void warn_unadvised(const struct desl_program *program, const struct desl_type *type, struct asterism_diag *diag)
{
	size_t count = 0;

	for (size_t i = 0; i < type->table.rows; i++) {
		bool is_divided = false;

		for (const struct desl_advice *advice = type->advices; advice; advice = advice->next)
			desl_is_advised(program, type, advice, i, &is_divided);
		count += is_divided;
	}
	if (count)
		diag_add(diag, ASTERISM_WARNING, &type->name.location, "ask for it first: and(not(eq(x, 0)), ...)",
			 count == 1 ? "advice is skipped for %zu record of '%s': division by zero"
				    : "advice is skipped for %zu records of '%s': division by zero",
			 count, type->name.text);
}

static int derive(struct desl_program *program, struct desl_type *type, struct asterism_diag *diag)
{
	struct desl_making *making = alloc_zero(1, sizeof *making);
	int result = making ? 0 : -ENOMEM;

	if (making) {
		making->program = program;
		making->type = type;
		making->diag = diag;
		result = make_rows(making);
		for (unsigned i = 0; i < type->source_count; i++) {
			alloc_free(making->inputs[i].list);
			alloc_free(making->inputs[i].sums);
		}
		alloc_free(making->rows);
	}
	alloc_free(making);
	if (result == -E2BIG)
		return diag_error(diag, &type->name.location, -EINVAL, "'%s' has more than %u records", type->name.text,
				  DESL_ROWS_MAX);
	if (!result && type->is_wanted)
		warn_unadvised(program, type, diag);
	if (!result && type->divided)
		diag_add(diag, ASTERISM_WARNING, &type->name.location,
			 "leave them out in the constraint: not(eq(x, 0))",
			 type->divided == 1 ? "%zu record of '%s' is left out: division by zero"
					    : "%zu records of '%s' are left out: division by zero",
			 type->divided, type->name.text);
	return result;
}

/* Marks what the wanted types are made from; types come after those that they are made from. */
static void mark_needed(struct desl_program *program, bool *needed)
{
	bool changed = true;

	while (changed) {
		unsigned i = 0;

		changed = false;
		for (struct desl_type *type = program->types; type; type = type->next, i++) {
			if (!needed[i] && !type->is_wanted)
				continue;
			needed[i] = true;
			for (unsigned j = 0; j < type->source_count; j++) {
				unsigned k = 0;

				for (struct desl_type *of = program->types; of != type->sources[j].type; of = of->next)
					k++;
				changed = changed || !needed[k];
				needed[k] = true;
			}
		}
	}
}

static const char *file_of(const struct desl_type *type, const struct desl_binding *bindings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(bindings[i].type, type->name.text) == 0)
			return bindings[i].file;
	}
	return type->file.text;
}

static int check_bindings(const struct desl_program *program, const struct desl_binding *bindings, size_t count,
			  struct asterism_diag *diag)
{
	for (size_t i = 0; i < count; i++) {
		const struct desl_type *type = desl_find_type(program, bindings[i].type);
		const char *names[256], *nearest;
		char hint[300];
		size_t known = 0;

		if (type && type->is_input)
			continue;
		for (type = program->types; type && known < 256; type = type->next) {
			if (type->is_input)
				names[known++] = type->name.text;
		}
		nearest = diag_nearest(bindings[i].type, names, known);
		snprintf(hint, sizeof hint, nearest ? "did you mean '%s'?" : "its inputs begin with '%s'",
			 nearest ? nearest
			 : known ? names[0]
				 : "none");
		diag_add(diag, ASTERISM_ERROR, NULL, hint, "the program has no input '%s'", bindings[i].type);
		return -EINVAL;
	}
	return 0;
}

int desl_run(struct desl_program *program, const struct desl_binding *bindings, size_t count, desl_provide_fn *provide,
	     struct asterism_diag *diag)
{
	bool *needed = alloc_zero(program->type_count + 1, sizeof *needed);
	int result = needed ? check_bindings(program, bindings, count, diag) : -ENOMEM;
	unsigned i = 0;

	if (!result)
		mark_needed(program, needed);
	for (struct desl_type *type = program->types; type && !result; type = type->next, i++) {
		if (!needed[i])
			continue;
		if (type->is_input)
			result = provide(program, type, file_of(type, bindings, count), diag);
		else
			result = derive(program, type, diag);
	}
	alloc_free(needed);
	return result == -ENOMEM ? diag_no_memory(diag) : result;
}
