/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_LANG_READ_TEXT_H
#define TESTS_LANG_READ_TEXT_H

/* Reads rule texts for tests and shows what came of it. */

#include "base/text.h"
#include "lang/parse.h"

struct reading {
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct lang_program *program; /* NULL after an error */
	const struct lang_unit *unit;
	int result;
	char *bytes; /* of read_text */
};

/* Reads text as the only file, "t.rule", after declarations of the event types A, B and C. */
void read_text(struct reading *reading, const char *text);

/* Reads the inputs into a catalog of their own. */
void read_inputs(struct reading *reading, const struct lang_input *inputs, size_t count);

void reading_fini(struct reading *reading);

/* The first rule of text, printed by print_rule; the messages instead where there is an error. Free with alloc_free. */
char *show_rule(const char *text);

/*
 * All messages, one per line: "4:19+2: error: text", and the hint on a line of its own behind a tab. Without a place:
 * "error: text".
 */
char *show_messages(const struct asterism_diag *diag);

/* Fails unless text, as show_rule would print it, is expected. */
void expect_rule(const char *text, const char *expected);

/* Fails unless reading text gives exactly these messages. */
void expect_messages(const char *text, const char *expected);

#endif
