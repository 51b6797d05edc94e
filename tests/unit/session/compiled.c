// SPDX-License-Identifier: BSD-2-Clause
/* Compiles the rules of tests to programs: as the session does it, without its files and catalogs. */

#include "compiled.h"

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct program *compiled(const char *types, const char *rules)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct lang_input input = { .file = "test.rule", .text = rules, .length = strlen(rules) };
	struct lang_program *unit = NULL;
	struct program *program = NULL;
	void *bytes = NULL;
	size_t length;
	int result = event_catalog_parse(catalog, "types", types, strlen(types), diag);

	if (!result)
		result = lang_read(&input, 1, catalog, diag, &unit);
	if (!result)
		result = automaton_compile(lang_program_unit(unit), catalog, diag, &bytes, &length);
	if (!result)
		result = program_load(bytes, length, "test", diag, &program);
	if (result)
		print_error("%s\n", asterism_diag_get(diag, 0)->text);
	assert_int_equal(result, 0);
	alloc_free(bytes);
	lang_program_free(unit);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return program;
}
