// SPDX-License-Identifier: BSD-2-Clause
#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"

#include <string.h>

void rules_init(struct rules *rules, const char *text)
{
	struct lang_input input = { .file = "test.rule", .text = text, .length = strlen(text) };
	struct asterism_diag *diag = asterism_diag_new();
	struct lang_program *parsed = NULL;
	void *image = NULL;
	size_t bytes = 0;

	rules->catalog = event_catalog_new();
	rules->program = NULL;
	if (!lang_read(&input, 1, rules->catalog, diag, &parsed) &&
	    !automaton_compile(lang_program_unit(parsed), rules->catalog, diag, &image, &bytes))
		program_load(image, bytes, "test.rule", diag, &rules->program);
	if (!rules->program)
		fail_msg("%s", asterism_diag_get(diag, 0)->text);
	alloc_free(image);
	lang_program_free(parsed);
	asterism_diag_free(diag);
}

void rules_fini(struct rules *rules)
{
	program_free(rules->program);
	event_catalog_free(rules->catalog);
}
