/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_ASK_COMMAND_H
#define SESSION_VERDICT_ASK_COMMAND_H

/*
 * A command that answers questions: it is run for each of them, without a shell, with the match as a line of JSON on
 * its standard input and ASTERISM_RULE, _PID, _TID, _COMM, _DEFAULT and _LIMIT_MS in its environment. Exit status 0 is
 * CONTINUE, 1 is ABORT, anything else leaves it to the default. A command that is late is killed.
 */

#include "base/diag.h"
#include "session/verdict/requests.h"

struct ask_command;

/* text: the command and its arguments with blanks between them. Returns 0, -EINVAL, -ENOMEM with a message. */
int ask_command_new(const char *text, const struct program *program, struct asterism_diag *diag,
		    struct ask_command **made);

/* Kills the commands that still run. */
void ask_command_free(struct ask_command *command);

/* A session_ask_fn; context is the command. */
enum session_verdict ask_command_ask(void *context, const struct program_match *match, const struct session_ask *ask);

/* Readable when a command has ended. */
int ask_command_fd(const struct ask_command *command);

/* Passes answers on, starts what had to wait. Lessens *wait_ns to when something is due. */
void ask_command_poll(struct ask_command *command, uint64_t now_ns, uint64_t *wait_ns);

#endif
