/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEMON_TRIAL_H
#define DAEMON_TRIAL_H

#include "asterism/session.h"

/* The exit status of the daemon. */
enum daemon_status {
	DAEMON_FINE = 0,
	DAEMON_FAILED = 1, /* it could not begin or go on */
	DAEMON_USAGE = 2,  /* a wrong command line, no usable rules or catalogs */
	DAEMON_KERNEL = 4, /* privilege or a kernel feature is missing */
};

/* Whether a rule can be at work in the session. Returns DAEMON_FINE, or the status to end with after a line in the log.
 */
enum daemon_status trial_run(struct asterism_session *session);

#endif
