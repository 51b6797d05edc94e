// SPDX-License-Identifier: BSD-2-Clause
/* A puppet: calls getppid so often, or getpgid once, for each byte that it gets, and sends the byte back. */

#include "puppet.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static void be_puppet(int from, int to)
{
	unsigned char count;

	while (read(from, &count, 1) == 1) {
		for (unsigned i = 0; i < count && count != PUPPET_OTHER; i++)
			syscall(SYS_getppid);
		if (count == PUPPET_OTHER)
			syscall(SYS_getpgid, 0);
		if (write(to, &count, 1) != 1)
			break;
	}
	_exit(0);
}

int puppet_start(struct puppet *puppet)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back) || (puppet->pid = fork()) < 0)
		return -1;
	if (puppet->pid == 0) {
		close(there[1]);
		close(back[0]);
		be_puppet(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	puppet->to = there[1];
	puppet->from = back[0];
	return 0;
}

int puppet_call(const struct puppet *puppet, unsigned char count)
{
	return write(puppet->to, &count, 1) == 1 && read(puppet->from, &count, 1) == 1 ? 0 : -1;
}

void puppet_stop(struct puppet *puppet)
{
	close(puppet->to);
	kill(puppet->pid, SIGKILL); /* another puppet may have inherited the other end */
	waitpid(puppet->pid, NULL, 0);
	close(puppet->from);
}
