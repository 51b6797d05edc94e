/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_OPTIONS_H
#define SESSION_VERDICT_OPTIONS_H

#include "session/load/policy.h"
#include "session/verdict/requests.h"

/* What the responses to matches are told of the session that they are part of; borrowed until they are closed. */
struct responses_options {
	const struct program *program;
	struct event_catalog *catalog;       /* of the program's types */
	const struct session_policy *policy; /* NULL: nothing that changes the system */
	bool (*in_scope)(void *context, int pid);
	int (*snapshot)(void *context, const char *rule); /* as in react_agent_options */
	session_ask_fn *on_ask;                           /* as in session_live_options */
	const char *ask_command;                          /* asked where on_ask is NULL; may be NULL */
	void *ask_context;                                /* of on_ask */
	program_match_fn *report;                         /* a match whose question has its verdict */
	void *context;                                    /* of in_scope, snapshot and tell */
	struct asterism_diag *stops; /* whom a rule has stopped and no rule lets go on; outlives this; NULL */
};

#endif
