// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs with sensors that do what ordinary ones do not: `odd MODE [ARGUMENT]`. All raise `step`s, whose numbers say
 * which; and end with status 0 where nothing came in their way.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "asterism/sensor.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP(F) F(u64, number, "", "") F(text16, word, "", "")
ASTERISM_SENSOR(step, "a step", STEP)

extern char **environ;
static char *own;

static void raise_steps(uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		ASTERISM_SENSE(step, from + i, "odd");
}

static int do_count(const char *argument)
{
	raise_steps(0, argument ? strtoul(argument, NULL, 10) : 10);
	return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/*
 * A sanitizer does not take care of its own locks at a fork: where another thread held one, the child waits for it
 * before fork returns there. Such a child is killed by the timer, which is set before any other handler runs, and
 * counts as fine. It may have blocked all other signals.
 */
static void end_if_stuck(void)
{
	struct sigevent kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec late = { .it_value.tv_sec = 20 };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &kill, &timer) || timer_settime(timer, 0, &late, NULL))
		abort();
}

__attribute__((constructor(101))) static void begin_forks(void)
{
	pthread_atfork(NULL, NULL, end_if_stuck);
}

static bool is_stuck(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}
#else
static bool is_stuck(int status)
{
	(void)status;
	return false;
}
#endif

static int await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return is_stuck(status) ? 0 : status;
}

static int do_vfork(const char *argument)
{
	(void)argument;
	raise_steps(0, 5);
	pid_t pid = vfork();

	if (pid == 0) {
		execl(own, own, "count", "5", (char *)NULL);
		_exit(127);
	}
	raise_steps(5, 5);
	return await(pid);
}

static int do_spawn(const char *argument)
{
	char *arguments[] = { own, (char *)"count", (char *)"5", NULL };
	pid_t pid;

	(void)argument;
	raise_steps(0, 5);
	if (posix_spawn(&pid, own, NULL, NULL, arguments, environ))
		return 1;
	raise_steps(5, 5);
	return await(pid);
}

/* The one that asked has ended long before the last step. */
static int do_daemon(const char *argument)
{
	int ready[2];
	char byte;

	(void)argument;
	raise_steps(0, 5);
	if (pipe(ready))
		return 1;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			alarm(50); /* a sanitizer's allocator may have been locked by another thread at the fork */
			raise_steps(5, 5);
			return write(ready[1], "", 1) != 1;
		}
		_exit(0);
	}
	return read(ready[0], &byte, 1) != 1;
}

static int do_storm(const char *argument)
{
	int children = argument ? atoi(argument) : 100, status = 0;

	for (int i = 0; i < children; i++) {
		if (fork() == 0) {
			if (i % 2)
				raise_steps((uint64_t)i, 1);
			_exit(0);
		}
		if (i % 8 == 7) {
			for (int j = 0; j < 8; j++)
				status |= await(-1);
		}
	}
	return status;
}

#ifdef IS_WHOLE
/* Children whose first event comes while their helper is registering them: it has their rings, and has told of no type.
 */
static int do_midway(const char *argument)
{
	int status = 0;

	for (int i = atoi(argument); i > 0; i--) {
		pid_t child = fork();

		if (child == 0) {
			while (!__atomic_load_n(&asterism_client.writers, __ATOMIC_ACQUIRE))
				;
			raise_steps((uint64_t)i, 1);
			_exit(0);
		}
		status |= await(child);
	}
	return status;
}
#endif

/* Loads and unloads, so often, a plug-in that raises two steps of its own each time. */
static int do_plugin(const char *path)
{
	for (int i = 0; i < 20; i++) {
		void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*run)(void) = plugin ? (void (*)(void))(uintptr_t)dlsym(plugin, "plugin_run") : NULL;

		if (!run) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		run();
		dlclose(plugin);
		raise_steps((uint64_t)i, 1);
		if (fork() == 0) {
			raise_steps((uint64_t)i, 1);
			_exit(0);
		}
		if (await(-1))
			return 1;
	}
	return 0;
}

static void *run_thread(void *context)
{
	raise_steps((uint64_t)(uintptr_t)context, 10);
	return NULL;
}

static int do_threads(const char *argument)
{
	pthread_t all[64];

	(void)argument;
	for (int wave = 0; wave < 4; wave++) {
		for (uintptr_t i = 0; i < 64; i++)
			pthread_create(&all[i], NULL, run_thread, (void *)i);
		for (int i = 0; i < 64; i++)
			pthread_join(all[i], NULL);
	}
	return 0;
}

static int do_longjmp(const char *argument)
{
	static jmp_buf out;

	(void)argument;
	raise_steps(0, 5);
	if (!setjmp(out)) {
		struct step *e = step_write();

		e->number = 1000;
		longjmp(out, 1);
	}
	raise_steps(5, 5);
	return 0;
}

static int do_exec(const char *argument)
{
	(void)argument;
	raise_steps(0, 5);
	step_write()->number = 1000;
	execl(own, own, "count", "5", (char *)NULL);
	return 127;
}

/* From here on the call, of any thread, does what action says. */
static int forbid(long call, uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* A program in a filter that refuses what registering needs, from its first moment. */
static int do_refused(const char *argument)
{
	static const long calls[] = { SYS_socket,  SYS_connect, SYS_recvmsg, SYS_mlock,
				      SYS_madvise, SYS_fcntl,   SYS_clone3,  SYS_memfd_create };
	long index = argument ? strtol(argument, NULL, 10) : 0;

	if (forbid(calls[index], SECCOMP_RET_ERRNO | EPERM))
		return 1;
	execl(own, own, "count", "5", (char *)NULL);
	return 127;
}

/* One that puts itself in a filter in which it must not look for a directory any more. */
static int do_confined(const char *argument)
{
	(void)argument;
	if (forbid(SYS_socket, SECCOMP_RET_KILL_PROCESS))
		return 1;
	for (int i = 0; i < 25; i++) {
		raise_steps((uint64_t)i, 1);
		usleep(100000);
	}
	return 0;
}

/* One in which the thread, which has a ring, may do nothing but end. */
static int do_sealed(const char *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	(void)argument;
	raise_steps(0, 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	raise_steps(1, 1000);
	_exit(0);
}

/* Raises so many steps, says so, and as many again each time SIGUSR1 comes. */
static int do_stay(const char *argument)
{
	uint64_t count = argument ? strtoul(argument, NULL, 10) : 10;
	sigset_t awaited;
	int signal;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR1);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	for (uint64_t from = 0;; from += count) {
		raise_steps(from, count);
		printf("raised\n");
		fflush(stdout);
		if (sigwait(&awaited, &signal))
			return 1;
	}
}

static const struct {
	const char *name;
	int (*run)(const char *argument);
} modes[] = { { "count", do_count },     { "vfork", do_vfork },       { "spawn", do_spawn },
	      { "daemon", do_daemon },   { "storm", do_storm },       { "plugin", do_plugin },
	      { "threads", do_threads }, { "longjmp", do_longjmp },   { "exec", do_exec },
	      { "refused", do_refused }, { "confined", do_confined }, { "stay", do_stay },
#ifdef IS_WHOLE
	      { "midway", do_midway },
#endif
	      { "sealed", do_sealed } };

int main(int argc, char **argv)
{
	own = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
		if (!strcmp(modes[i].name, argv[1]))
			return modes[i].run(argv[2]) != 0;
	}
	return 2;
}
