// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: spend COMMAND [ARG...]
 * Runs a command, its output to /dev/null, and says what it took: seconds of wall-clock time, seconds of CPU time, the
 * most KiB that were resident, and its exit status. A program of its own, because a child begins with the peak of the
 * process that it was forked from.
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void run(char **command)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (argc < 2)
		return 2;
	double begin = now();
	pid_t child = fork();

	if (child == 0)
		run(argv + 1);
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return 1;
	printf("%.6f %.6f %ld %d\n", now() - begin, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
