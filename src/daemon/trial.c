// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tests whether the daemon can do anything: before it says that it observes, a rule is put to work and taken away
 * again, whatever rules there are. That asks for privileges, catalogs and kernel as those will.
 */

#include "daemon/trial.h"

#include "asterism/rules.h"
#include "daemon/log.h"

#include <errno.h>
#include <stdbool.h>

enum daemon_status trial_run(struct asterism_session *session)
{
	static const char text[] = "RULE trial PATTERN { sched_process_exec:a }";
	struct asterism_rules *rules = NULL;
	int result = asterism_rules_load_text(session, text, sizeof text - 1, "trial", &rules);
	bool is_loaded = !result;

	if (!result)
		result = asterism_rules_activate(rules);
	if (result)
		log_line(LOG_LEVEL_ERROR, "rules cannot run on this machine: %s", asterism_session_error(session));
	asterism_rules_unload(rules);
	if (!result)
		return DAEMON_FINE;
	if (result == -ENOMEM || result == -EMFILE || result == -ENFILE)
		return DAEMON_FAILED;
	return is_loaded ? DAEMON_KERNEL : DAEMON_USAGE;
}
