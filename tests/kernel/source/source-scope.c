// SPDX-License-Identifier: BSD-2-Clause
/* Who is in scope, and that every loss is told before the record that follows it. */

#include "source-harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MARK = 4242 }; /* an argument of getpgid that nobody else uses */

static void mark(int number)
{
	plant_call(SYS_getpgid, (const long[]){ MARK + number, 0, 0, 0, 0 });
}

static void *in_thread(void *number)
{
	mark((int)(intptr_t)number);
	return NULL;
}

/* 0: the process, 1: its thread, 2: its child, 3: a thread of that, 4: a grandchild, 5: the process again. */
static void plant_generations(struct reported *reported)
{
	pthread_t thread;

	(void)reported;
	mark(0);
	pthread_create(&thread, NULL, in_thread, (void *)1);
	pthread_join(thread, NULL);
	pid_t child = fork();

	if (child == 0) {
		mark(2);
		pthread_create(&thread, NULL, in_thread, (void *)3);
		pthread_join(thread, NULL);
		pid_t grandchild = fork();

		if (grandchild == 0)
			mark(4);
		else
			waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	mark(5);
}

/* The marks seen, as bits; those of the bystander from bit 16 on. */
static uint32_t marks(const struct harness *harness, enum ebpf_scope scope)
{
	struct outcome outcome;
	uint32_t seen = 0;

	harness_run(harness,
		    &(struct plan){ .types = { "sys_enter_getpgid" }, .scope = scope, .plant = plant_generations },
		    &outcome);
	CHECK_EQUAL(outcome.lost, 0);
	for (size_t i = 0; i < outcome.count; i++) {
		const struct event_header *record = (const void *)outcome.records[i];
		uint64_t argument = field_number(&outcome, record, "target_pid");

		if (argument >= MARK && argument < MARK + 16)
			seen |= 1u << (argument - MARK) << (strcmp(record->comm, "bystander") == 0 ? 16 : 0);
	}
	outcome_fini(&outcome);
	return seen;
}

static void test_tree(const struct harness *harness)
{
	CHECK_EQUAL(marks(harness, EBPF_SCOPE_TREE), 0x3f);
}

static void test_pids(const struct harness *harness)
{
	CHECK_EQUAL(marks(harness, EBPF_SCOPE_PIDS), 0x23);
}

static void test_all(const struct harness *harness)
{
	CHECK_EQUAL(marks(harness, EBPF_SCOPE_ALL), 0x3f003f);
}

/* ---- the observer itself is never observed, not even by name */

static struct scope *make_scope(const struct harness *harness, enum ebpf_scope kind)
{
	struct scope_options options = { .kind = kind, .btf = harness->btf, .features = &harness->features };
	struct scope *scope = NULL;

	CHECK_EQUAL(scope_new(&options, NULL, &scope), 0);
	return scope;
}

static void test_add(const struct harness *harness)
{
	struct scope *scope = make_scope(harness, EBPF_SCOPE_TREE);
	int ready[2];

	CHECK_EQUAL(scope_add(scope, getpid()), -EINVAL);
	CHECK_EQUAL(scope_add(scope, 0), -EINVAL);
	CHECK_EQUAL(scope_add(scope, -5), -EINVAL);
	CHECK_EQUAL(scope_add(scope, 0x7fffffff), -EINVAL);
	CHECK(!scope_has(scope, getpid()));
	/* A tree that exists before anybody looks at it. */
	if (pipe(ready))
		return;
	pid_t child = fork();

	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0)
			grandchild = getpid();
		else if (write(ready[1], &grandchild, sizeof grandchild) != sizeof grandchild)
			_exit(1);
		pause();
		_exit(0);
	}
	pid_t grandchild = 0;

	CHECK_EQUAL(read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
	CHECK_EQUAL(scope_add(scope, child), 0);
	CHECK(scope_has(scope, child));
	CHECK(scope_has(scope, grandchild));
	CHECK(!scope_has(scope, getppid()));
	kill(grandchild, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK_EQUAL(scope_add(scope, child), -ESRCH);
	close(ready[0]);
	close(ready[1]);
	scope_free(scope);
	scope = make_scope(harness, EBPF_SCOPE_ALL);
	CHECK(!scope_has(scope, getpid()));
	CHECK(scope_has(scope, 1));
	scope_free(scope);
}

/* ---- in another pid namespace: we are process 1 there, and the real process 1 is somebody else */

static void in_namespace(const struct harness *harness, int pipe_end)
{
	pid_t real = 0;

	check_failures = 0;
	CHECK_EQUAL(read(pipe_end, &real, sizeof real), sizeof real);
	CHECK_EQUAL(getpid(), 1);
	struct scope *scope = make_scope(harness, EBPF_SCOPE_ALL);

	CHECK(!scope_has(scope, real));
	CHECK(scope_has(scope, 1));
	scope_free(scope);
	scope = make_scope(harness, EBPF_SCOPE_TREE);
	CHECK_EQUAL(scope_add(scope, 1), -EOPNOTSUPP);
	scope_free(scope);
	_exit(check_failures);
}

static void test_namespace(const struct harness *harness)
{
	int ends[2], status;

	if (pipe(ends))
		return;
	pid_t outer = fork();

	if (outer == 0) {
		if (unshare(CLONE_NEWPID))
			_exit(0);
		pid_t inner = fork();

		if (inner == 0)
			in_namespace(harness, ends[0]);
		if (write(ends[1], &inner, sizeof inner) != sizeof inner)
			_exit(1);
		waitpid(inner, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	waitpid(outer, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- a process number that is used again does not inherit the scope of the one that had it */

static void test_reuse(const struct harness *harness)
{
	struct scope *scope = make_scope(harness, EBPF_SCOPE_TREE);
	int status;

	CHECK_EQUAL(scope_attach(scope, NULL), 0);
	pid_t first = fork();

	if (first == 0) {
		pause();
		_exit(0);
	}
	CHECK_EQUAL(scope_add(scope, first), 0);
	CHECK(scope_has(scope, first));
	kill(first, SIGKILL);
	waitpid(first, &status, 0);
	/* Whoever gets the number next: make the kernel hand it out at once. */
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");

	if (!last || fprintf(last, "%d", first - 1) < 0 || fclose(last)) {
		printf("# ns_last_pid cannot be set: reuse of numbers is not tested\n");
		scope_free(scope);
		return;
	}
	pid_t second = fork();

	if (second == 0)
		_exit(0);
	waitpid(second, &status, 0);
	if (second == first)
		CHECK(!scope_has(scope, first));
	else
		printf("# somebody else took the number: reuse is not tested\n");
	scope_free(scope);
}

/* ---- a ring that is too small */

enum { BURST = 3000 };

static void plant_burst(struct reported *reported)
{
	(void)reported;
	for (int i = 0; i < BURST; i++)
		mark(0);
}

static void plant_gap(struct reported *reported)
{
	plant_burst(reported);
	usleep(300000);
	mark(1);
}

static void test_loss(const struct harness *harness)
{
	struct outcome outcome;
	struct plan plan = {
		.types = { "sys_enter_getpgid" }, .ring_bytes = 4096, .late_ms = 3600000, .plant = plant_burst
	};

	harness_run(harness, &plan, &outcome);
	CHECK(outcome.count > 0 && outcome.count < 100);
	CHECK_EQUAL(outcome.lost, BURST - outcome.count);
	CHECK_EQUAL(outcome.events, BURST);
	CHECK_EQUAL(outcome.lost_before_last, 0);
	outcome_fini(&outcome);
	/* Read after the burst: the record after the gap comes after the news of it, and nothing is told twice. */
	plan.late_ms = 100;
	plan.plant = plant_gap;
	harness_run(harness, &plan, &outcome);
	const struct event_header *last = record_get(&outcome, "sys_enter_getpgid", outcome.count - 1);

	CHECK_EQUAL(field_number(&outcome, last, "target_pid"), MARK + 1);
	CHECK(outcome.lost > 0);
	CHECK_EQUAL(outcome.lost, BURST + 1 - outcome.count);
	CHECK_EQUAL(outcome.lost_before_last, outcome.lost);
	outcome_fini(&outcome);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct harness *harness);
	} tests[] = {
		{ "tree", test_tree },
		{ "pids", test_pids },
		{ "all", test_all },
		{ "add", test_add },
		{ "reuse", test_reuse },
		{ "loss", test_loss },
		{ "namespace", test_namespace },
	};
	struct harness harness;
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/linux.events");

	if (result)
		return result;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		int before = check_failures;

		if (argc > 2 && strcmp(argv[2], tests[i].name) != 0)
			continue;
		tests[i].run(&harness);
		printf("%s - %s\n", check_failures > before ? "not ok" : "ok", tests[i].name);
	}
	harness_fini(&harness);
	return check_failures ? 1 : 0;
}
