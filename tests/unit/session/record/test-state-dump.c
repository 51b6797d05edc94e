// SPDX-License-Identifier: BSD-2-Clause
/* What a state dump makes of the files of /proc, and that it finds our own threads. */

#include "session/record/state-dump.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define NUMBERS(state, flags)                                                                         \
	state " 40 41 41 0 -1 " flags                                                                 \
	      " 1 2 3 4 5 6 7 8 20 0 1 0 99 1000 10 18446744073709551615 1 1 1 1 1 1 0 0 0 1 0 0 17 " \
	      "3 0 0 0\n"

static const char status[] = "Name:\tx\nTgid:\t50\nPid:\t51\nNStgid:\t50\t7\nNSpid:\t51\t8\nNSpgid:\t50\t7\n";

static void a_thread_in_a_namespace(void **state)
{
	struct ctf_process process;

	(void)state;
	assert_int_equal(
		state_dump_parse("51 (worker) " NUMBERS("S", "4194304"), status, "x\nNStgid:\t40\t1\n", &process), 0);
	assert_int_equal(process.tid, 51);
	assert_int_equal(process.pid, 50);
	assert_int_equal(process.vtid, 8);
	assert_int_equal(process.vpid, 7);
	assert_int_equal(process.ppid, 40);
	assert_int_equal(process.vppid, 1);
	assert_int_equal(process.ns_level, 1);
	assert_int_equal(process.cpu, 3);
	assert_int_equal(process.type, CTF_USER_THREAD);
	assert_int_equal(process.mode, CTF_MODE_UNKNOWN);
	assert_int_equal(process.submode, CTF_SUBMODE_UNKNOWN);
	assert_int_equal(process.status, CTF_STATUS_WAIT);
	assert_string_equal(process.name, "worker");
	/* The parent is outside. */
	assert_int_equal(state_dump_parse("51 (w) " NUMBERS("S", "0"), status, "x\nNStgid:\t40\n", &process), 0);
	assert_int_equal(process.vppid, 0);
}

static void names_and_states(void **state)
{
	static const struct {
		const char *stat, *name;
		int status, type;
	} cases[] = {
		{ "51 (a) R (b)) " NUMBERS("R", "0"), "a) R (b)", CTF_STATUS_WAIT_CPU, CTF_USER_THREAD },
		{ "51 () " NUMBERS("Z", "0"), "", CTF_STATUS_ZOMBIE, CTF_USER_THREAD },
		{ "51 (kworker/u9:3-events_unbound) " NUMBERS("I", "69238880"), "kworker/u9:3-ev", CTF_STATUS_WAIT,
		  CTF_KERNEL_THREAD },
		{ "51 (t) " NUMBERS("T", "0"), "t", CTF_STATUS_UNNAMED, CTF_USER_THREAD },
		{ "51 (t) " NUMBERS("X", "0"), "t", CTF_STATUS_DEAD, CTF_USER_THREAD },
		{ "51 (t) " NUMBERS("D", "0"), "t", CTF_STATUS_WAIT, CTF_USER_THREAD },
	};
	struct ctf_process process;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(state_dump_parse(cases[i].stat, status, NULL, &process), 0);
		assert_string_equal(process.name, cases[i].name);
		assert_int_equal(process.status, cases[i].status);
		assert_int_equal(process.type, cases[i].type);
		assert_int_equal(process.cpu, 3);
	}
}

static void other_text_is_refused(void **state)
{
	static const char *const texts[] = { "",       "51",        "51 (a",    "51 a) S 1",     "51 )a( S 1",
					     "51 (a)", "51 (a)S 1", "51 (a) S", "51 (a) S 1 2 3" };
	struct ctf_process process;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(state_dump_parse(texts[i], status, NULL, &process), -EINVAL);
	assert_int_equal(state_dump_parse("51 (a) " NUMBERS("S", "0"), "x\nNSpid:\t1\n", NULL, &process), -EINVAL);
	assert_int_equal(state_dump_parse("51 (a) " NUMBERS("S", "0"), "x\nNSpid:\t1\nNStgid:\t1\t2\n", NULL, &process),
			 -EINVAL);
	assert_int_equal(state_dump_parse("51 (a) " NUMBERS("S", "0"), "", NULL, &process), -EINVAL);
}

struct seen {
	pid_t tid;
	unsigned threads, others;
	bool helper;
};

static int note(void *context, const struct ctf_process *process)
{
	struct seen *seen = context;

	if (process->pid != getpid()) {
		seen->others++;
		return 0;
	}
	seen->threads++;
	assert_int_equal(process->ppid, getppid());
	if (strcmp(process->name, "dumped helper") == 0)
		seen->helper = true;
	if (process->tid == getpid())
		assert_true(process->vtid > 0 && process->ns_inum != 0);
	return 0;
}

static void *wait_for_end(void *barrier)
{
	pthread_setname_np(pthread_self(), "dumped helper");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static int stop(void *context, const struct ctf_process *process)
{
	(void)process;
	++*(unsigned *)context;
	return -ENOSPC;
}

static void the_threads_of_this_process(void **state)
{
	struct seen seen = { 0 };
	pthread_barrier_t barrier;
	pthread_t thread;
	unsigned calls = 0;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(state_dump_process(getpid(), note, &seen), 0);
	assert_int_equal(seen.threads, 2);
	assert_true(seen.helper);
	assert_int_equal(state_dump_process(getpid(), stop, &calls), -ENOSPC);
	assert_int_equal(calls, 1);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	/* A process that is not there, and all but ourselves. */
	assert_int_equal(state_dump_process(1 << 22, stop, &calls), 0);
	seen = (struct seen){ 0 };
	assert_int_equal(state_dump_all(note, &seen), 0);
	assert_int_equal(seen.threads, 0);
	assert_true(seen.others > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_in_a_namespace),
		cmocka_unit_test(names_and_states),
		cmocka_unit_test(other_text_is_refused),
		cmocka_unit_test(the_threads_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
