// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plants behaviour in a process of its own, for the live tests: each scenario makes exactly the system calls, forks,
 * faults and waits that its name says, once, so that a rule has something to find or a near miss to pass over.
 */

#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(99);
	}
}

static long number(char **args, int index, long otherwise)
{
	return args[index] ? strtol(args[index], NULL, 10) : otherwise;
}

static void sleep_ms(long ms)
{
	struct timespec wait = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	syscall(SYS_nanosleep, &wait, NULL);
}

/* Calls the named bare system calls in order: "pid" "uid" "gid" "ppid" or a pause in ms. */
static int calls(char **args)
{
	for (; *args; args++) {
		if (!strcmp(*args, "pid"))
			syscall(SYS_getpid);
		else if (!strcmp(*args, "uid"))
			syscall(SYS_getuid);
		else if (!strcmp(*args, "gid"))
			syscall(SYS_getgid);
		else if (!strcmp(*args, "ppid"))
			syscall(SYS_getppid);
		else
			sleep_ms(strtol(*args, NULL, 10));
	}
	return 0;
}

/* flood CALLS: getpgid of 1000000, 1000001, ..., which are no processes, as fast as it goes. */
static int flood(char **args)
{
	for (long i = 0, count = number(args, 0, 1000); i < count; i++)
		syscall(SYS_getpgid, 1000000 + i);
	return 0;
}

/* sleep MS [TIMES] */
static int sleeps(char **args)
{
	for (long i = number(args, 1, 1); i > 0; i--)
		sleep_ms(number(args, 0, 100));
	return 0;
}

/* fork [PROGRAM]: a child that runs PROGRAM, or one that just ends. */
static int forks(char **args)
{
	pid_t child = fork();
	int status;

	check(child < 0, "fork");
	if (child == 0) {
		if (args[0])
			execl(args[0], args[0], (char *)NULL);
		_exit(args[0] ? 98 : 0);
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	return WIFEXITED(status) && WEXITSTATUS(status) != 98 ? 0 : 97;
}

/* futex timeout | mismatch */
static int futex(char **args)
{
	uint32_t word = 0;
	struct timespec wait = { .tv_nsec = 20000000 };
	uint32_t expected = args[0] && !strcmp(args[0], "timeout") ? 0 : 1;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &wait, NULL, 0);
	return 0;
}

/* faults PAGES [PAUSE_MS_EVERY_100] */
static int faults(char **args)
{
	long pages = number(args, 0, 1000), pause = number(args, 1, 0), page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)(pages * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory == MAP_FAILED, "mmap");
	madvise(memory, (size_t)(pages * page), MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++) {
		((volatile char *)memory)[i * page] = 1;
		if (pause && i % 100 == 99)
			sleep_ms(pause);
	}
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

/* Waits for the other side's byte, does its call, and wakes the other side. */
static void turn(int in, int out, long call)
{
	char byte;

	check(read(in, &byte, 1) != 1, "read");
	syscall(call);
	check(write(out, &byte, 1) != 1, "write");
}

/*
 * interleave CPU_A CPU_B both | split: two processes take turns; with "both" each calls getpid and then getgid, the
 * turns interleaved; with "split" one calls only getpid, the other only getgid.
 */
static int interleave(char **args)
{
	int there[2], back[2], split = args[2] && !strcmp(args[2], "split"), status;
	long first[2] = { SYS_getpid, split ? SYS_getpid : SYS_getgid };
	long second[2] = { split ? SYS_getgid : SYS_getpid, SYS_getgid };

	check(pipe(there) || pipe(back), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		pin((int)number(args, 1, 0));
		for (int i = 0; i < 2; i++)
			turn(there[0], back[1], second[i]);
		_exit(0);
	}
	pin((int)number(args, 0, 0));
	for (int i = 0; i < 2; i++) {
		char byte = 1;

		syscall(first[i]);
		check(write(there[1], &byte, 1) != 1, "write");
		check(read(back[0], &byte, 1) != 1, "read");
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

/* The two threads of a meeting: spin until both are in the same round, so that they call within a microsecond. */
struct meeting {
	_Atomic long arrived;
	long rounds;
	const char *how;
};

static void meet_at(struct meeting *meeting, long round)
{
	meeting->arrived++;
	while (meeting->arrived < 2 * round)
		;
}

/* Round 1, 2, ... of one side. Numbers are such that no call finds what it asks for. */
static void *attend(struct meeting *meeting, int side)
{
	long first = 1000000, steps = strcmp(meeting->how, "moved") ? 1 : 3;

	pin(side);
	for (long i = 1; i <= meeting->rounds; i++) {
		long x = first + 2 * i, y = x + 1;

		if (steps == 3 && side == 0)
			syscall(SYS_getpgid, x);
		meet_at(meeting, steps * i - steps + 1);
		if (!strcmp(meeting->how, "same"))
			syscall(SYS_getpriority, x, x);
		else if (!strcmp(meeting->how, "crossed"))
			syscall(SYS_getpriority, side ? y : x, side ? x : y);
		else
			syscall(side ? SYS_setpriority : SYS_getpriority, x, y, 0);
		if (steps == 3) {
			meet_at(meeting, 3 * i - 1);
			if (side == 0)
				syscall(SYS_getsid, y);
			meet_at(meeting, 3 * i);
		}
	}
	return NULL;
}

static void *attend_on_1(void *meeting)
{
	return attend(meeting, 1);
}

/*
 * meet same | crossed | moved ROUNDS: two threads on two CPUs do their calls at the same time, each round with other
 * numbers x and y. same: both getpriority(x, x). crossed: one getpriority(x, y), the other getpriority(y, x). moved:
 * one getpgid(x), then getpriority(x, y) while the other calls setpriority(x, y), then getsid(y).
 */
static int meet(char **args)
{
	struct meeting meeting = { .how = args[0], .rounds = number(args, 1, 1000) };
	pthread_t other;

	check(pthread_create(&other, NULL, attend_on_1, &meeting), "pthread_create");
	attend(&meeting, 0);
	pthread_join(other, NULL);
	return 0;
}

/* One round of a mixed load: calls, files, now and then a fault, a pause, a child. */
static void mix_once(long round, char *page)
{
	syscall(SYS_getpid);
	for (long i = 0; i < 1 + round % 4; i++)
		syscall(SYS_getppid);
	if (round % 97 == 0)
		syscall(SYS_getuid);
	syscall(SYS_getgid);
	int file = open(round % 101 ? "/dev/null" : "/no/such/file", O_RDONLY);

	if (file >= 0)
		close(file);
	if (round % 16 == 0) {
		page[0] = 1;
		madvise(page, 4096, MADV_DONTNEED);
	}
	if (round % 1024 == 0)
		sleep_ms(1);
	if (round % 512 == 0) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit((int)(round / 512 % 100));
		check(waitpid(child, &status, 0) != child, "waitpid");
	}
}

static void *mix_rounds(void *rounds)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(page == MAP_FAILED, "mmap");
	for (long i = 1; i <= *(long *)rounds; i++)
		mix_once(i, page);
	return NULL;
}

/* mix ROUNDS THREADS: that many threads do a mixed load, about 18 events a round. */
static int mix(char **args)
{
	long rounds = number(args, 0, 1000), count = number(args[0] ? args + 1 : args, 0, 1);
	pthread_t threads[16];

	for (long i = 0; i < count && i < 16; i++)
		check(pthread_create(&threads[i], NULL, mix_rounds, &rounds), "pthread_create");
	for (long i = 0; i < count && i < 16; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void ignore(int number_of_signal)
{
	(void)number_of_signal;
}

/* signal: a child gets SIGUSR1 and handles it. */
static int signals(char **args)
{
	int ready[2], status;
	char byte = 0;

	(void)args;
	check(pipe(ready), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		signal(SIGUSR1, ignore);
		check(write(ready[1], &byte, 1) != 1, "write");
		pause();
		_exit(0);
	}
	check(read(ready[0], &byte, 1) != 1, "read");
	sleep_ms(20);
	check(kill(child, SIGUSR1), "kill");
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

/* open PATH */
static int opens(char **args)
{
	int file = open(args[0], O_RDONLY);

	if (file >= 0)
		close(file);
	return 0;
}

/* slow-read MS: reads from a pipe into which a child writes after that time. */
static int slow_read(char **args)
{
	int ends[2], status;
	char byte = 0;

	check(pipe(ends), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		sleep_ms(number(args, 0, 300));
		_exit(write(ends[1], &byte, 1) != 1);
	}
	check(read(ends[0], &byte, 1) != 1, "read");
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

/* connect: a child that tries to connect to a closed port of the loopback and ends. */
static int connects(char **args)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET, .sin_port = htons(1) };
	int status;

	(void)args;
	nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		int end = socket(AF_INET, SOCK_STREAM, 0);

		connect(end, (struct sockaddr *)&nowhere, sizeof nowhere);
		_exit(0);
	}
	check(waitpid(child, &status, 0) != child, "waitpid");
	return status;
}

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

/* Takes a lock and, a little later, the other one. */
static void *take_both(void *first)
{
	pthread_mutex_t *mine = first, *other = mine == &locks[0] ? &locks[1] : &locks[0];

	pthread_mutex_lock(mine);
	sleep_ms(100);
	pthread_mutex_lock(other);
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(mine);
	return NULL;
}

/* deadlock crossed | same: two threads take two locks, in opposite or in the same order; ends with them. */
static int deadlock(char **args)
{
	pthread_t threads[2];
	int crossed = args[0] && !strcmp(args[0], "crossed");

	check(pthread_create(&threads[0], NULL, take_both, &locks[0]), "pthread_create");
	check(pthread_create(&threads[1], NULL, take_both, &locks[crossed]), "pthread_create");
	sleep_ms(600);
	if (!crossed) {
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
	}
	_exit(0);
}

static void *map_and_unmap(void *until)
{
	struct timespec now, *end = until;

	do {
		void *memory =
			mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		munmap(memory, 1 << 20);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end->tv_sec);
	return NULL;
}

/* contend THREADS: that many threads change the memory map of the process for one to two seconds. */
static int contend(char **args)
{
	pthread_t threads[64];
	long count = number(args, 0, 8);
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 2;
	for (long i = 0; i < count; i++)
		check(pthread_create(&threads[i], NULL, map_and_unmap, &end), "pthread_create");
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static sem_t begin_low, begin_high, begin_medium;
static int with_medium;

static void become_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	pin(0);
	check(sched_setscheduler(0, SCHED_FIFO, &param), "sched_setscheduler");
}

static void spin_ms(long ms)
{
	struct timespec now;
	int64_t end = 0;

	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!end)
			end = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + ms * 1000000;
	} while (now.tv_sec * INT64_C(1000000000) + now.tv_nsec < end);
}

static void *low(void *unused)
{
	become_fifo(10);
	sem_wait(&begin_low);
	pthread_mutex_lock(&locks[0]);
	sem_post(&begin_high);
	if (with_medium)
		sem_post(&begin_medium);
	spin_ms(5);
	pthread_mutex_unlock(&locks[0]);
	return unused;
}

static void *medium(void *unused)
{
	become_fifo(20);
	sem_wait(&begin_medium);
	spin_ms(30);
	return unused;
}

static void *high(void *unused)
{
	become_fifo(30);
	sem_wait(&begin_high);
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_unlock(&locks[0]);
	return unused;
}

/* inversion [medium]: a low thread holds a lock that a high one wants; a medium one, if any, keeps it from running. */
static int inversion(char **args)
{
	void *(*const bodies[])(void *) = { low, medium, high };
	pthread_t threads[3];

	with_medium = args[0] != NULL;
	check(sem_init(&begin_low, 0, 0) || sem_init(&begin_high, 0, 0) || sem_init(&begin_medium, 0, 0), "sem_init");
	for (int i = 0; i < 3; i++)
		check(pthread_create(&threads[i], NULL, bodies[i], NULL), "pthread_create");
	sleep_ms(100);
	sem_post(&begin_low);
	if (!with_medium) {
		sleep_ms(100);
		sem_post(&begin_medium);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static const struct scenario {
	const char *name;
	int (*run)(char **args);
} scenarios[] = {
	{ "calls", calls },         { "sleep", sleeps },
	{ "fork", forks },          { "futex", futex },
	{ "faults", faults },       { "interleave", interleave },
	{ "signal", signals },      { "open", opens },
	{ "slow-read", slow_read }, { "connect", connects },
	{ "deadlock", deadlock },   { "contend", contend },
	{ "inversion", inversion }, { "meet", meet },
	{ "flood", flood },         { "mix", mix },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
		if (!strcmp(argv[1], scenarios[i].name))
			return scenarios[i].run(argv + 2);
	}
	fprintf(stderr, "usage: plant SCENARIO ...\n");
	return 2;
}
