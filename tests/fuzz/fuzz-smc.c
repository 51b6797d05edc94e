// SPDX-License-Identifier: BSD-2-Clause
/*
 * State machines in SMC's language: what is before the first NUL is the .sm file, the rest is the binding. Whatever the
 * bytes are, a text comes out or an error with its file, and the text is no longer than what may be made of it.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "smc/smc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RULE_BYTES_MAX = 1 << 26 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static bool find_none(const char *class, struct diag_source *binding)
{
	expect(*class && !binding->text);
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t length = end ? (size_t)(end - data) : size;
	struct smc_input input = { .machine = { .file = "fuzz.sm", .text = (const char *)data, .length = length },
				   .find = find_none };
	struct asterism_diag *diag = asterism_diag_new();
	char *rule = NULL;
	int result;

	if (end)
		input.binding = (struct diag_source){ .file = "fuzz.bind",
						      .text = (const char *)end + 1,
						      .length = size - length - 1 };
	result = smc_translate(&input, diag, &rule);
	expect(result == 0 || result == -EINVAL);
	expect(!result == !asterism_diag_count(diag, ASTERISM_ERROR) && !result == (rule != NULL));
	for (size_t i = 0; i < asterism_diag_count(diag, ASTERISM_ERROR); i++)
		expect(asterism_diag_get(diag, i)->file && *asterism_diag_get(diag, i)->text);
	expect(!rule || (strstr(rule, "MACHINE ") && strlen(rule) < RULE_BYTES_MAX));
	alloc_free(rule);
	asterism_diag_free(diag);
	return 0;
}
