// SPDX-License-Identifier: BSD-2-Clause
/* Finds, starts and reaps the observed command. */

#include "session/live/launch.h"

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_SIGNAL = 128, STATUS_NOT_RUN = 127, STATUS_NOT_KNOWN = -ECHILD };

/* How long a child is given to begin to wait: half a second, on a machine that is very busy. */
enum { SETTLE_PAUSE_NS = 500 * 1000, SETTLE_PAUSES_MAX = 1000 };

static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return access(path, X_OK) ? -errno : 0;
}

/* As execvp looks: a name with a slash is a path, else the first executable in PATH. */
static int find_executable(const char *name)
{
	const char *path = getenv("PATH");
	int found = -ENOENT;

	if (strchr(name, '/'))
		return check_executable(name);
	for (const char *part = path ? path : "/bin:/usr/bin"; found && *name;) {
		size_t length = strcspn(part, ":");
		char candidate[PATH_MAX];

		snprintf(candidate, sizeof candidate, "%.*s/%s", length ? (int)length : 1, length ? part : ".", name);
		int result = check_executable(candidate);

		/* What cannot even be seen is as good as not there. */
		if (result == 0 || (result == -EACCES && access(candidate, F_OK) == 0))
			found = result;
		if (!part[length])
			break;
		part += length + 1;
	}
	return found;
}

static int explain_launch_error(struct asterism_diag *diag, const char *name, int error)
{
	switch (error) {
	case -ENOENT:
		return diag_error(diag, NULL, -EINVAL, "command not found: '%s'", name);
	case -EISDIR:
		return diag_error(diag, NULL, -EINVAL, "'%s' is a directory, not a command", name);
	case -EACCES:
		return diag_error(diag, NULL, -EINVAL, "cannot run '%s': permission denied", name);
	default:
		return diag_error(diag, NULL, -EINVAL, "cannot run '%s': %s", name, strerror(-error));
	}
}

/*
 * The call that the child waits in has its end observed, not its beginning. So it is one that is not asked for its
 * arguments, as one may for what was read; and the word itself is left unread, since its execve is to be the next.
 */
static bool await_word(int go_fd)
{
	struct pollfd wait = { .fd = go_fd, .events = POLLIN };

	while (ppoll(&wait, 1, NULL, NULL) < 0) {
		if (errno != EINTR)
			return false;
	}
	return wait.revents == POLLIN; /* who has died is readable, too */
}

/* From the word to go until it is the command, the child does nothing else: it is observed already. */
__attribute__((noreturn)) static void be_child(char *const *command, const struct listener *listener, int go_fd,
					       int error_fd)
{
	if (listener->filter)
		listener_be_child(listener);
	else if (!await_word(go_fd))
		_exit(STATUS_NOT_RUN);
	execvp(command[0], command);
	int error = errno;

	if (write(error_fd, &error, sizeof error) != sizeof error)
		_exit(STATUS_NOT_RUN);
	_exit(STATUS_NOT_RUN);
}

static void close_launch_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The child exists. */
static int take_child(struct launch *launch, struct asterism_diag *diag)
{
	launch->pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	if (launch->pidfd < 0)
		return diag_error(diag, NULL, -EOPNOTSUPP, "this kernel has no pidfd_open: %s", strerror(errno));
	return listener_take(&launch->listener, launch->pidfd, diag);
}

int launch_prepare(char *const *command, const struct sock_fprog *filter, struct asterism_diag *diag,
		   struct launch *launch)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 };
	int result = find_executable(command[0]);
	pid_t pid;

	*launch = (struct launch){ .pidfd = -1, .go_fd = -1, .error_fd = -1, .listener = { .fd = -1 } };
	if (result)
		return explain_launch_error(diag, command[0], result);
	result = listener_init(&launch->listener, filter, diag);
	if (result)
		return result;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) || pipe2(error, O_CLOEXEC) || (pid = fork()) < 0) {
		result = diag_error(diag, NULL, -EAGAIN, "cannot create a process for '%s': %s", command[0],
				    strerror(errno));
		goto out;
	}
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		be_child(command, &launch->listener, go[0], error[1]);
	}
	launch->pid = pid;
	launch->go_fd = go[1];
	launch->error_fd = error[0];
	go[1] = error[0] = -1;
	close_launch_fd(&error[1]); /* who holds it is told apart from the command by it */
	result = take_child(launch, diag);
	if (result)
		launch_fini(launch);
out:
	close_launch_fd(&go[0]);
	close_launch_fd(&go[1]);
	close_launch_fd(&error[0]);
	close_launch_fd(&error[1]);
	return result;
}

/* Whether the child is inside the call that it waits in, as far as the kernel tells. */
static bool is_waiting(const struct launch *launch)
{
	char path[64], line[64];
	long call;

	snprintf(path, sizeof path, "/proc/%d/syscall", launch->pid);
	ssize_t got = proc_read(path, line, sizeof line);

	if (got < 0)
		return got != -EPERM;
	return sscanf(line, "%ld", &call) == 1 && call == SYS_ppoll;
}

bool launch_is_stopped(const struct launch *launch)
{
	struct proc_stat stat;

	return proc_stat(launch->pid, 0, &stat) == 0 && stat.state == 'T';
}

void launch_settle(const struct launch *launch)
{
	const struct timespec pause = { .tv_nsec = SETTLE_PAUSE_NS };

	for (int i = 0; i < SETTLE_PAUSES_MAX && !launch->listener.filter && !is_waiting(launch); i++)
		nanosleep(&pause, NULL);
}

int launch_go(struct launch *launch, const char *name, struct asterism_diag *diag)
{
	int error = 0;
	ssize_t got;

	/* A child that is no more cannot read it; what ended it - Ctrl-C, most likely - is told when it is reaped. */
	if (send(launch->go_fd, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
		return diag_error(diag, NULL, -EINVAL, "cannot start '%s': %s", name, strerror(errno));
	do
		got = read(launch->error_fd, &error, sizeof error);
	while (got < 0 && errno == EINTR);
	close_launch_fd(&launch->go_fd); /* not before the word was seen: a closed pipe means not to go */
	close_launch_fd(&launch->error_fd);
	if (got != sizeof error)
		return 0;
	waitpid(launch->pid, NULL, 0);
	launch->reaped = true;
	return explain_launch_error(diag, name, -error);
}

int launch_reap(struct launch *launch, int *status)
{
	int raw;

	if (launch->pid == 0 || launch->reaped)
		return 0;
	pid_t reaped = waitpid(launch->pid, &raw, WNOHANG);

	if (reaped != launch->pid && !(reaped < 0 && errno == ECHILD))
		return 0;
	launch->reaped = true;
	if (reaped < 0) {
		*status = STATUS_NOT_KNOWN;
		return 1;
	}
	*status = WIFSIGNALED(raw) ? STATUS_SIGNAL + WTERMSIG(raw) : WEXITSTATUS(raw);
	return 1;
}

void launch_fini(struct launch *launch)
{
	bool waits = launch->go_fd >= 0;

	if (waits && launch->listener.filter && launch->pid)
		kill(launch->pid, SIGKILL); /* it may wait for anything */
	listener_fini(&launch->listener);
	if (launch->pid == 0)
		return;
	close_launch_fd(&launch->go_fd);
	close_launch_fd(&launch->error_fd);
	close_launch_fd(&launch->pidfd);
	if (waits && !launch->reaped) {
		kill(launch->pid, SIGKILL); /* a fork elsewhere in this process may hold the other end open */
		waitpid(launch->pid, NULL, 0);
	}
	launch->pid = 0;
}
