// SPDX-License-Identifier: BSD-2-Clause
/* Lets a child wait: for a byte out of a pipe. */

#include "gate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NEVER_OPENED = 3 };

pid_t gate_fork(struct gate *gate)
{
	pid_t pid = pipe(gate->ends) ? -1 : fork();

	if (pid < 0) {
		perror("a child behind a gate");
		exit(1);
	}
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(gate->ends[pid ? 0 : 1]);
	return pid;
}

void gate_wait(struct gate *gate)
{
	char byte;

	if (read(gate->ends[0], &byte, 1) != 1)
		_exit(NEVER_OPENED);
	close(gate->ends[0]);
}

int gate_open(struct gate *gate)
{
	return write(gate->ends[1], "x", 1) == 1 ? 0 : -errno;
}

void gate_close(struct gate *gate)
{
	close(gate->ends[1]);
}
