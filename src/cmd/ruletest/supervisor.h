/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_RULETEST_KEEPER_H
#define CMD_RULETEST_KEEPER_H

/*
 * A supervisor is a process that does something with programs of which nothing may stay behind. It leads a session and
 * a process group of its own, orphans below it become its children, and whatever is left when its work is done it
 * kills.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct supervisor_work {
	void (*work)(void *context); /* in the supervisor; results go to shared memory or files */
	void *context;
	const char *log; /* a file for what is written to standard output and error */
	/*
	 * The work should have ended by itself by then. A supervisor that has not is killed, its group with it.
	 */
	uint64_t limit_ns;
	const volatile sig_atomic_t *stop; /* becomes true when everything is to end */
};

/* Returns 0 when the work was done; -ETIME, -EINTR (stopped), -ECHILD (the supervisor came to harm), -errno. */
int supervisor_run(const struct supervisor_work *work);

/* In a supervisor: runs the program for limit_ns at most, as its child. Returns its status as a shell has it, -ETIME,
 * -errno. */
int supervisor_execute(char *const *command, const char *folder, const char *output, uint64_t limit_ns);

#endif
