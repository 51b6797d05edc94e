// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every message of reading, exactly: messages.txt holds blocks "== case" with what
 * tests/golden/errors/<case>/input.rule must give. A folder without a block fails, and so does a block without a
 * folder.
 */

#include "base/alloc.h"
#include "read-text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	struct text_buffer text = { 0 };
	char part[4096], *bytes;

	if (!file)
		fail_msg("cannot open %s", path);
	for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
		text_append_bytes(&text, part, got);
	fclose(file);
	text_append(&text, "");
	*length = text.length;
	assert_int_equal(text_take(&text, &bytes), 0);
	return bytes;
}

/* What the case's rule file gives, in the form of messages.txt. */
static char *messages_of(const char *name)
{
	char path[600], folder[512];
	struct lang_input input = { .file = "input.rule", .folder = folder };
	struct reading reading;

	snprintf(folder, sizeof folder, "%s/%s", ERROR_CASES, name);
	snprintf(path, sizeof path, "%s/input.rule", folder);
	char *text = read_file(path, &input.length);

	input.text = text;
	read_inputs(&reading, &input, 1);
	char *shown = show_messages(reading.diag);

	if (asterism_diag_count(reading.diag, ASTERISM_ERROR))
		assert_int_not_equal(reading.result, 0);
	else
		assert_int_equal(reading.result, 0);
	reading_fini(&reading);
	alloc_free(text);
	return shown;
}

/* Compares one block, "== case\n" and its messages, and returns what follows it. */
static char *check_block(char *block)
{
	char *name = block + strlen("== "), *messages = strchr(block, '\n') + 1, *next = strstr(messages, "\n== ");

	messages[-1] = 0;
	if (next)
		*next++ = 0;
	char *shown = messages_of(name);
	size_t length = strlen(shown);

	/* The block's last newline went with the separator. */
	if (next && length > 0 && shown[length - 1] == '\n')
		shown[length - 1] = 0;
	if (strcmp(shown, messages) != 0)
		fail_msg("case %s gives\n%s\ninstead of\n%s", name, shown, messages);
	alloc_free(shown);
	return next;
}

static void test_every_case(void **state)
{
	size_t length;
	char *text = read_file(MESSAGES, &length);

	(void)state;
	for (char *block = text; block;)
		block = check_block(block);
	alloc_free(text);
}

static void test_every_folder_has_a_block(void **state)
{
	size_t length;
	char *text = read_file(MESSAGES, &length);
	DIR *folder = opendir(ERROR_CASES);

	(void)state;
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		char block[512];

		snprintf(block, sizeof block, "== %s\n", entry->d_name);
		if (entry->d_name[0] != '.' && !strstr(text, block))
			fail_msg("messages.txt has no block for %s", entry->d_name);
	}
	closedir(folder);
	alloc_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_case),
		cmocka_unit_test(test_every_folder_has_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
