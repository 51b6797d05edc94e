/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LOAD_POLICY_H
#define SESSION_LOAD_POLICY_H

/*
 * What the rules of a session may do to the system. Actions that change nothing are always allowed. A policy file has
 * a statement a line, `#` begins a comment:
 *
 *   allow Stop, Continue       these actions ("allow all": every one)
 *   outside-scope              also to processes that are not observed
 *   clients-define             who sends rules to a daemon may define events by catalogs of their own
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "program/load.h"
#include "react/react.h"

#include <stdbool.h>

enum { POLICY_ACTIONS_MAX = 64 };

struct session_policy {
	bool allows_all;
	bool anywhere;       /* targets may be out of scope */
	bool clients_define; /* what this allows is its reader's affair */
	const struct react_action *actions[POLICY_ACTIONS_MAX];
	uint32_t action_count;
};

/* Adds what the file at path says. Returns 0, -EINVAL with the place, -errno. */
int policy_read(struct session_policy *policy, const char *path, struct asterism_diag *diag);

/* policy NULL: nothing that changes the system is allowed. */
bool policy_allows(const struct session_policy *policy, const struct react_action *action);

/*
 * Where there is a policy, every action of the program must be in it: -EINVAL names the rule and the action. Where
 * there is none, a note says which actions will only be reported.
 *
 * What rests on events of applications changes nothing: -EINVAL. But where these call the kernel, a rule over them may
 * act on the very process that has raised them, if all events of a match are of that one. catalog: of program's
 * types; NULL: none of them is a sensor.
 */
int policy_check(const struct session_policy *policy, const struct program *program, struct event_catalog *catalog,
		 struct asterism_diag *diag);

#endif
