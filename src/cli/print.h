/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

/*
 * What people read on standard error: messages with their place, and one-line errors, notes and hints. Programs that
 * want them otherwise have a writer.
 */

#include "asterism/diag.h"

#include <stdbool.h>

/* What messages about no input begin with; without this call asterism. */
void cli_program_name(const char *name);

/* choice: the value of --color, or NULL for auto. Without this call nothing is coloured. */
void cli_color(const char *choice);

/* Silences notes and warnings that are about no input (-q). */
void cli_quiet(bool quiet);

/* Takes one message. A hint of cli_hint comes as a note of its own. */
typedef void cli_message_writer(const struct asterism_message *message);

/* From now on messages go to writer in place of standard error. */
void cli_messages_to(cli_message_writer *writer);

/*
 * Prints every message of diag:
 *
 *   file:line:column: error: what is wrong
 *       3 | the source line
 *         |     ^~~~
 *   help: what would be right
 */
void cli_print(const struct asterism_diag *diag);

/* "asterism: error: ...", "asterism: note: ...", "help: ..."; one line each. Hints follow what they explain. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
