// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes system calls that rules with Veto look at, and says what became of them: a result per line, "ok" or the name of
 * the error.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, PAGE = 4096 };

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(99);
	}
}

/* 0 or the error of the one call that is asked for. */
static int try_open(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);

	if (fd < 0)
		return errno;
	syscall(SYS_close, fd);
	return 0;
}

static void say(int error)
{
	printf("%s\n", error ? strerrorname_np(error) : "ok");
	fflush(stdout);
}

/* One byte from a socket, by recvfrom. */
static void hear(void)
{
	int pair[2];
	char byte;

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	check(write(pair[0], "x", 1) != 1, "write");
	check(syscall(SYS_recvfrom, pair[1], &byte, 1, 0, NULL, NULL) != 1, "recvfrom");
	close(pair[0]);
	close(pair[1]);
}

/* "hear", "uid" or a path to open, in this order. */
static int calls(char **args)
{
	for (; *args; args++) {
		if (strcmp(*args, "hear") == 0)
			hear();
		else if (strcmp(*args, "uid") == 0)
			printf("%d\n", (int)geteuid());
		else
			say(try_open(*args));
	}
	return 0;
}

static void *thread_calls(void *args)
{
	calls(args);
	return NULL;
}

/* thread ARGS: what it opens, another thread opens. */
static int thread(char **args)
{
	pthread_t thread;

	hear();
	check(pthread_create(&thread, NULL, thread_calls, args), "pthread_create");
	pthread_join(thread, NULL);
	return 0;
}

/* fork ARGS: the child does it all. */
static int forks(char **args)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(calls(args));
	check(waitpid(child, &status, 0) != child || status, "child");
	return 0;
}

/* crowd COUNT ARGS: hears, then a child does so COUNT times, then ARGS. */
static int crowd(char **args)
{
	int status;

	hear();
	pid_t child = fork();

	if (child == 0) {
		for (long i = atol(args[0]); i > 0; i--)
			hear();
		_exit(0);
	}
	check(waitpid(child, &status, 0) != child || status, "child");
	return calls(args + 1);
}

/* crowds COUNT ARGS: likewise, but so many children receive once each, and end. */
static int crowds(char **args)
{
	int status;

	hear();
	for (long i = atol(args[0]); i > 0; i--) {
		pid_t child = fork();

		if (child == 0) {
			hear();
			_exit(0);
		}
		check(waitpid(child, &status, 0) != child || status, "child");
	}
	return calls(args + 1);
}

static void *hear_as_thread(void *tid)
{
	*(pid_t *)tid = gettid();
	hear();
	return NULL;
}

/* Its process goes on under another number, as another program that ends. */
static void *hear_and_execute(void *said)
{
	pid_t tid = gettid();

	hear();
	check(write(*(int *)said, &tid, sizeof tid) != sizeof tid, "write");
	execl("/proc/self/exe", "veto-plant", "calls", NULL);
	_exit(98);
}

/* The number of a thread, not the first one of its process, that executed a program. */
static pid_t heard_and_executed(void)
{
	int said[2], status;
	pthread_t thread;
	pid_t gone;

	check(pipe2(said, O_CLOEXEC), "pipe2");
	pid_t child = fork();

	if (child == 0) {
		check(pthread_create(&thread, NULL, hear_and_execute, &said[1]), "pthread_create");
		pthread_join(thread, NULL);
		_exit(97);
	}
	check(read(said[0], &gone, sizeof gone) != sizeof gone, "read");
	check(waitpid(child, &status, 0) != child || status, "child");
	return gone;
}

/* The number of one who received, and has ended. */
static pid_t heard_and_gone(const char *who)
{
	pthread_t thread;
	pid_t gone;
	int status;

	if (strcmp(who, "executor") == 0)
		return heard_and_executed();
	if (strcmp(who, "thread") == 0) {
		check(pthread_create(&thread, NULL, hear_as_thread, &gone), "pthread_create");
		pthread_join(thread, NULL);
		return gone;
	}
	gone = fork();
	if (gone == 0) {
		hear();
		_exit(0);
	}
	check(waitpid(gone, &status, 0) != gone || status, "child");
	return gone;
}

/* again WHO PATH: a process or thread receives and ends; a process gets its number, and opens. */
static int again(char **args)
{
	struct clone_args how = { .exit_signal = SIGCHLD, .set_tid_size = 1 };
	pid_t number = heard_and_gone(args[0]), child;
	int status;

	how.set_tid = (uintptr_t)&number;
	do
		child = (pid_t)syscall(SYS_clone3, &how, sizeof how);
	while (child < 0 && errno == EEXIST); /* the kernel is done with a thread a little later */
	check(child < 0, "clone3");
	if (child == 0)
		_exit(calls(args + 1));
	check(waitpid(child, &status, 0) != child || status, "child");
	return 0;
}

/* exec ARGS: hears, and then is another program. */
static int execs(char **args)
{
	char *next[32] = { "/proc/self/exe", "calls" };

	for (int i = 0; args[i] && i < 29; i++)
		next[i + 2] = args[i];
	hear();
	execv(next[0], next);
	return 98;
}

/* spawn ARGS: as system() does, the parent waiting in vfork. */
static int spawn(char **args)
{
	char *next[32] = { "veto-plant", "calls" };
	pid_t child;
	int status;

	for (int i = 0; args[i] && i < 29; i++)
		next[i + 2] = args[i];
	check(posix_spawn(&child, "/proc/self/exe", NULL, NULL, next, environ), "posix_spawn");
	check(waitpid(child, &status, 0) != child || status, "child");
	return 0;
}

struct storm {
	const char *path;
	long count, fine, refused, missing, other;
};

static void *run_storm(void *context)
{
	struct storm *storm = context;

	for (long i = 0; i < storm->count; i++) {
		int error = try_open(storm->path);

		storm->fine += error == 0;
		storm->refused += error == EPERM;
		storm->missing += error == ENOSYS;
		storm->other += error != 0 && error != EPERM && error != ENOSYS;
	}
	return NULL;
}

static void say_storm(const struct storm *storm)
{
	printf("ok %ld EPERM %ld ENOSYS %ld other %ld\n", storm->fine, storm->refused, storm->missing, storm->other);
}

/* storm COUNT PATH */
static int storm(char **args)
{
	struct storm storm = { .path = args[1], .count = atol(args[0]) };

	run_storm(&storm);
	say_storm(&storm);
	return 0;
}

/* storms COUNT PATH: in four threads at once, and so much each. */
static int storms(char **args)
{
	struct storm parts[THREADS], sum = { 0 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		parts[i] = (struct storm){ .path = args[1], .count = atol(args[0]) };
		check(pthread_create(&threads[i], NULL, run_storm, &parts[i]), "pthread_create");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum.fine += parts[i].fine;
		sum.refused += parts[i].refused;
		sum.missing += parts[i].missing;
		sum.other += parts[i].other;
	}
	say_storm(&sum);
	return 0;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* alarms COUNT PATH: a storm under signals that come all the time. */
static int alarmed(char **args)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	int result;

	check(sigaction(SIGALRM, &action, NULL), "sigaction");
	check(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
	result = storm(args);
	check(setitimer(ITIMER_REAL, &never, NULL), "setitimer");
	return alarms ? result : 97;
}

/* forever PATH: says "going", then opens it until there is no such call any more. */
static int forever(char **args)
{
	int error;

	puts("going");
	fflush(stdout);
	do
		error = try_open(args[0]);
	while (error != ENOSYS);
	say(error);
	return 0;
}

/* compat: a call as 32-bit code makes it; does not return if that is forbidden. */
static int compat(char **args)
{
	long result;

	(void)args;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	say(result < 0 ? (int)-result : 0);
	return 0;
}

/* compat_open PATH COUNT: opens it as 32-bit code does, so often; the name has an address of 32 bits. */
static int compat_open(char **args)
{
	char *name = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result = 0;

	check(name == MAP_FAILED, "mmap");
	snprintf(name, PAGE, "%s", args[0]);
	for (long left = strtol(args[1], NULL, 10); left > 0; left--)
		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(5), "b"(name), "c"(O_RDONLY), "d"(0)
				 : "memory", "r8", "r9", "r10", "r11");
	say(result < 0 ? (int)-result : 0);
	return 0;
}

/* x32: getpid in the x32 ABI. */
static int x32(char **args)
{
	(void)args;
	say(syscall(0x40000000 | SYS_getpid) < 0 ? errno : 0);
	return 0;
}

/* edges PATH: path names at the ends of what there is of memory. */
static int edges(char **args)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t length = strlen(args[0]);

	check(pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE), "mmap");
	say(try_open(NULL));
	memcpy(pages + PAGE - length, args[0], length);
	say(try_open(pages + PAGE - length)); /* without its NUL */
	memcpy(pages + PAGE - length - 1, args[0], length + 1);
	say(try_open(pages + PAGE - length - 1));
	return 0;
}

/* stall: a path name in memory that never comes. */
static int stall(char **args)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = { .range = { (uintptr_t)page, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	(void)args;
	check(fd < 0 || page == MAP_FAILED, "userfaultfd");
	check(ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &where), "userfaultfd");
	puts("going");
	fflush(stdout);
	say(try_open(page));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **args);
	int args;
} scenarios[] = {
	{ "calls", calls, 0 },     { "thread", thread, 0 },
	{ "fork", forks, 0 },      { "exec", execs, 0 },
	{ "spawn", spawn, 0 },     { "storm", storm, 2 },
	{ "storms", storms, 2 },   { "alarms", alarmed, 2 },
	{ "forever", forever, 1 }, { "compat", compat, 0 },
	{ "x32", x32, 0 },         { "edges", edges, 1 },
	{ "stall", stall, 0 },     { "compat_open", compat_open, 2 },
	{ "crowd", crowd, 1 },     { "crowds", crowds, 1 },
	{ "again", again, 2 },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
		if (strcmp(argv[1], scenarios[i].name) == 0 && argc - 2 >= scenarios[i].args)
			return scenarios[i].run(argv + 2);
	fprintf(stderr, "usage: veto-plant SCENARIO [ARG...]\n");
	return 2;
}
