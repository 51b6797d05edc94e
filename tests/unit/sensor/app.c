// SPDX-License-Identifier: BSD-2-Clause
/*
 * An application with sensors, in what is hard for them: `app MODE [NUMBER...]`. Says at the end how many events it has
 * raised, and waits before for a line on standard input if there is one.
 */

#include "app.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

ASTERISM_SENSOR(step, "a step of a thread", APP_STEP)
ASTERISM_SENSOR(alarm_step, "a step of a signal handler", APP_STEP)
ASTERISM_SENSOR_BARE(beat, "")

static atomic_ulong raised, threads;
static unsigned long wanted;

static struct app_tally nobodys, *tally = &nobodys;

static void raise_step(uint64_t thread, uint64_t number)
{
	__atomic_store_n(&tally->begun[thread % APP_TALLIES], number + 1, __ATOMIC_RELEASE);
	if (number % 2) {
		ASTERISM_SENSE(step, thread, number, APP_CHECK(thread, number), "odd");
	} else {
		struct step *e = step_write();

		e->thread = thread, e->number = number, e->check = APP_CHECK(thread, number);
		strcpy(e->word, "even");
		step_commit(e);
	}
	__atomic_store_n(&tally->committed[thread % APP_TALLIES], number + 1, __ATOMIC_RELEASE);
	raised++;
}

static void open_tally(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	tally = memory == MAP_FAILED ? &nobodys : memory;
}

/* As fast as it goes, with pauses in which readers can nearly follow. */
static void *pour(void *unused)
{
	uint64_t thread = ++threads;

	for (unsigned long i = 0; i < wanted; i++) {
		ASTERISM_SENSE(step, thread, i, APP_CHECK(thread, i), "pour");
		if (i % 1024 == 1023)
			usleep(100);
	}
	raised += wanted;
	return unused;
}

static void *run_thread(void *unused)
{
	uint64_t thread = ++threads;

	for (unsigned long i = 0; i < wanted; i++) {
		raise_step(thread, i);
		if (i % 64 == 63)
			usleep(200);
	}
	return unused;
}

/* So many at a time, in so many waves. */
static void run_threads(unsigned long count, unsigned long waves, void *(*run)(void *))
{
	pthread_t *all = calloc(count, sizeof *all);

	for (unsigned long wave = 0; wave < waves; wave++) {
		for (unsigned long i = 0; i < count; i++)
			pthread_create(&all[i], NULL, run, NULL);
		for (unsigned long i = 0; i < count; i++)
			pthread_join(all[i], NULL);
	}
	free(all);
}

static void on_alarm(int number)
{
	static uint64_t alarms;

	(void)number;
	ASTERISM_SENSE(alarm_step, 1000, alarms, APP_CHECK(1000, alarms), "alarm");
	alarms++;
	raised++;
}

static void run_signals(unsigned long events)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned long i = 0; i < events; i++) {
		raise_step(1, i);
		if (i % 256 == 255)
			usleep(300);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static void be_child(unsigned long number)
{
	raised = 0;
	for (unsigned long i = 0; i < wanted; i++)
		raise_step(100 + number, i);
	_exit(0);
}

static void run_children(unsigned long count, int is_raw)
{
	for (unsigned long i = 0; i < wanted; i++)
		raise_step(1, i);
	for (unsigned long i = 0; i < count; i++) {
		long pid = is_raw ? syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0) : fork();

		if (pid == 0)
			be_child(i);
		raise_step(1, wanted + i);
		/* More at once might not all register before they end. */
		while (i % 20 == 19 && wait(NULL) > 0)
			raised += wanted;
	}
	while (wait(NULL) > 0)
		raised += wanted;
}

/* Ends, or is ended, in the midst of an event. */
static void hold(unsigned long events)
{
	for (unsigned long i = 0; i < events; i++)
		raise_step(1, i);
	struct step *e = step_write();

	e->thread = 1;
	puts("holding");
	fflush(stdout);
	for (;;)
		pause();
}

static void go_on(void)
{
	for (uint64_t i = 0;; i++) {
		raise_step(1, i);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "count";
	unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 1,
		      second = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	char line[16];

	if (step_is_watched())
		ASTERISM_SENSE(beat);
	wanted = second;
	open_tally(getenv("SENSOR_TALLY"));
	if (!strcmp(mode, "count")) {
		for (unsigned long i = 0; i < first; i++)
			raise_step(1, i);
	} else if (!strcmp(mode, "threads")) {
		run_threads(first, 3, run_thread);
	} else if (!strcmp(mode, "pour")) {
		run_threads(first, 1, pour);
	} else if (!strcmp(mode, "signals")) {
		run_signals(first);
	} else if (!strcmp(mode, "fork") || !strcmp(mode, "clone")) {
		run_children(first, *mode == 'c');
	} else if (!strcmp(mode, "fork-late")) {
		for (unsigned long i = 0; i < second; i++)
			raise_step(2, i);
		if (fgets(line, sizeof line, stdin))
			run_children(first, 0);
	} else if (!strcmp(mode, "hold")) {
		hold(first);
	} else if (!strcmp(mode, "go-on")) {
		go_on();
	}
	printf("%lu\n", raised);
	fflush(stdout);
	return fgets(line, sizeof line, stdin) ? 0 : 0;
}
