// SPDX-License-Identifier: BSD-2-Clause
/* Starts programs of tests, and ends them for certain. */

#include "cmd/ruletest/supervisor.h"

#include "base/clock.h"
#include "cmd/options/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Who is told to end sweeps first; only who does not do so at all is killed. */
#define SUPERVISED_GRACE_NS 5000000000ull

enum { LOOK_MS = 100, SWEEPS_MAX = 1000, STATUS_NOT_RUN = 127 };

static volatile sig_atomic_t reported_to_end;

static void supervisor_on_signal(int signal_number)
{
	(void)signal_number;
	reported_to_end = 1;
}

static void sweep_once(void)
{
	FILE *children = fopen("/proc/thread-self/children", "re");
	int pid;

	while (children && fscanf(children, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (children)
		fclose(children);
}

/* Kills all children of the calling process, and theirs, which become its own. */
static void sweep(void)
{
	for (int i = 0; i < SWEEPS_MAX; i++) {
		sweep_once();
		if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
			return;
	}
}

static void give_descriptor(const char *path, int flags, int target)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		return;
	dup2(fd, target);
	if (fd != target)
		close(fd);
}

__attribute__((noreturn)) static void be_supervisor(const struct supervisor_work *work)
{
	const struct sigaction action = { .sa_handler = supervisor_on_signal };
	sigset_t none;

	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	give_descriptor("/dev/null", O_RDONLY, STDIN_FILENO);
	give_descriptor(work->log, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	work->work(work->context);
	sweep();
	_exit(0);
}

/* Waits until the process ends: 0; or -ETIME, -EINTR. */
static int await(pid_t pid, uint64_t limit_ns, const volatile sig_atomic_t *stop)
{
	struct pollfd poller = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	uint64_t end_ns = clock_now_ns() + limit_ns;
	int result = -EAGAIN;

	while (result == -EAGAIN) {
		if (poll(&poller, 1, LOOK_MS) > 0)
			result = 0;
		else if (stop && *stop)
			result = -EINTR;
		else if (clock_now_ns() >= end_ns)
			result = -ETIME;
	}
	close(poller.fd);
	return result;
}

int supervisor_run(const struct supervisor_work *work)
{
	int raw = 0, result;
	pid_t pid;

	/* What is buffered is the parent's to write. */
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		be_supervisor(work);
	result = await(pid, work->limit_ns, work->stop);
	if (result) {
		kill(pid, SIGTERM);
		await(pid, SUPERVISED_GRACE_NS, NULL);
	}
	kill(-pid, SIGKILL);
	if (result)
		kill(pid, SIGKILL); /* it may not have got as far as leading a group */
	while (waitpid(pid, &raw, 0) < 0 && errno == EINTR)
		;
	if (!result && (!WIFEXITED(raw) || WEXITSTATUS(raw)))
		result = -ECHILD;
	return result;
}

int supervisor_execute(char *const *command, const char *folder, const char *output, uint64_t limit_ns)
{
	int raw = 0, result;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (chdir(folder))
			_exit(STATUS_NOT_RUN);
		give_descriptor(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
		execv(command[0], command);
		fprintf(stderr, "cannot run %s: %m\n", command[0]);
		_exit(STATUS_NOT_RUN);
	}
	result = await(pid, limit_ns, &reported_to_end);
	if (result)
		return result; /* the sweep ends it */
	while (waitpid(pid, &raw, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(raw) ? STATUS_SIGNAL + WTERMSIG(raw) : WEXITSTATUS(raw);
}
