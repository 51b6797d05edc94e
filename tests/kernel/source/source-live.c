// SPDX-License-Identifier: BSD-2-Clause
/* What a process does on purpose, and whether every field of the records that the kernel makes of it is right. */

#include "source-harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NUMBER(name) field_number(&outcome, record, name)
#define TEXT(name)   field_text(&outcome, record, name)

/* ---- openat: strings from user memory, and the system call tree */

static const char open_path[] = "/proc/self/no-such-entry";

static void plant_open(struct reported *reported)
{
	reported->numbers[0] = (uint64_t)openat(AT_FDCWD, open_path, O_RDWR | O_CREAT, 0640);
	reported->numbers[1] = (uint64_t)openat(17, "", O_RDONLY);
	/* A string that cannot be read. */
	plant_call(SYS_openat, (const long[]){ AT_FDCWD, 8, O_RDONLY, 0, 0 });
}

static void test_open(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(harness, &(struct plan){ .types = { "sys_enter_openat", "sys_exit_openat" }, .plant = plant_open },
		    &outcome);
	harness_check_order(&outcome);
	CHECK_EQUAL(record_count(&outcome, "sys_enter_openat"), 3);
	CHECK_EQUAL(record_count(&outcome, "sys_exit_openat"), 3);
	const struct event_header *record = record_get(&outcome, "sys_enter_openat", 0);

	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("dfd"), (int64_t)AT_FDCWD);
	CHECK_TEXT(TEXT("filename"), open_path);
	CHECK_EQUAL(NUMBER("flags"), O_RDWR | O_CREAT);
	CHECK_EQUAL(NUMBER("mode"), 0640);
	for (size_t i = sizeof open_path; i < 256; i++)
		CHECK_EQUAL(TEXT("filename")[i], 0);
	record = record_get(&outcome, "sys_exit_openat", 0);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("ret"), (int64_t)-ENOENT);
	CHECK(record->ts > record_get(&outcome, "sys_enter_openat", 0)->ts);
	record = record_get(&outcome, "sys_enter_openat", 1);
	CHECK_EQUAL(NUMBER("dfd"), 17);
	CHECK_TEXT(TEXT("filename"), "");
	record = record_get(&outcome, "sys_exit_openat", 1);
	CHECK_EQUAL(NUMBER("ret"), (int64_t)-ENOENT);
	record = record_get(&outcome, "sys_enter_openat", 2);
	CHECK_TEXT(TEXT("filename"), "");
	record = record_get(&outcome, "sys_exit_openat", 2);
	CHECK_EQUAL(NUMBER("ret"), (int64_t)-EFAULT);
	outcome_fini(&outcome);
}

/* ---- any system call, several types of one firing */

enum { CALLS = 1000 };

static void plant_calls(struct reported *reported)
{
	reported->numbers[0] = (uint64_t)getppid();
	for (int i = 1; i < CALLS; i++)
		plant_call(SYS_getppid, (const long[]){ i, -i, 3, 4, 5 });
}

static void test_calls(const struct harness *harness)
{
	struct outcome outcome;
	size_t entered = 0, left = 0, named = 0;

	harness_run(harness,
		    &(struct plan){ .types = { "sys_enter", "sys_exit", "sys_enter_getppid", "sys_enter_getpid" },
				    .plant = plant_calls },
		    &outcome);
	harness_check_order(&outcome);
	for (size_t i = 0; i < outcome.count; i++) {
		const struct event_header *record = (const void *)outcome.records[i];

		harness_check_header(&outcome, record);
		if (record->type == 2) {
			const struct event_header *general = (const void *)outcome.records[i - 1];

			CHECK(i > 0 && general->type == 0 && general->ts == record->ts);
			named++;
		} else if (NUMBER("id") != SYS_getppid) {
			continue; /* what it takes to begin and to end */
		} else if (record->type == 0) {
			if (entered > 0) {
				CHECK_EQUAL(NUMBER("arg0"), entered);
				CHECK_EQUAL(NUMBER("arg1"), -entered);
				CHECK_EQUAL(NUMBER("arg2"), 3);
				CHECK_EQUAL(NUMBER("arg3"), 4);
				CHECK_EQUAL(NUMBER("arg4"), 5);
			}
			entered++;
		} else {
			CHECK_EQUAL(NUMBER("ret"), getpid());
			left++;
		}
	}
	CHECK_EQUAL(outcome.reported->numbers[0], getpid());
	CHECK_EQUAL(entered, CALLS);
	CHECK_EQUAL(left, CALLS);
	CHECK_EQUAL(named, CALLS);
	CHECK_EQUAL(record_count(&outcome, "sys_enter_getpid"), 0);
	outcome_fini(&outcome);
}

/* ---- fork, exec, exit, threads, renaming */

static void plant_family(struct reported *reported)
{
	/* On the stack, so that it is in memory: a page that is not cannot be read at the call. */
	char path[] = "/bin/true";
	pid_t child = fork();

	if (child == 0) {
		execl(path, "true", NULL);
		_exit(9);
	}
	reported->numbers[0] = (uint64_t)child;
	waitpid(child, NULL, 0);
}

static void test_family(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(harness,
		    &(struct plan){ .types = { "sched_process_fork", "task_newtask", "sched_process_exec",
					       "sched_process_exit", "sys_enter_execve", "task_rename" },
				    .plant = plant_family },
		    &outcome);
	pid_t grandchild = (pid_t)outcome.reported->numbers[0];
	const struct event_header *record = record_get(&outcome, "sched_process_fork", 0);

	harness_check_order(&outcome);
	CHECK_EQUAL(record_count(&outcome, "sched_process_fork"), 1);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("parent_pid"), outcome.child);
	CHECK_TEXT(TEXT("parent_comm"), "planted");
	CHECK_EQUAL(NUMBER("child_pid"), grandchild);
	CHECK_EQUAL(NUMBER("child_tgid"), grandchild);
	CHECK_TEXT(TEXT("child_comm"), "planted");
	record = record_get(&outcome, "task_newtask", 0);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("target_tid"), grandchild);
	CHECK_TEXT(TEXT("target_comm"), "planted");
	record = record_get(&outcome, "sys_enter_execve", 0);
	CHECK_EQUAL(record->pid, grandchild);
	CHECK_TEXT(TEXT("filename"), "/bin/true");
	record = record_get(&outcome, "task_rename", 0);
	CHECK_TEXT(TEXT("oldcomm"), "planted");
	CHECK_TEXT(TEXT("newcomm"), "true");
	record = record_get(&outcome, "sched_process_exec", 0);
	CHECK_EQUAL(record_count(&outcome, "sched_process_exec"), 1);
	CHECK_EQUAL(record->pid, grandchild);
	CHECK_EQUAL(record->tid, grandchild);
	CHECK_TEXT(record->comm, "true");
	CHECK_TEXT(TEXT("filename"), "/bin/true");
	CHECK_EQUAL(NUMBER("old_pid"), grandchild);
	CHECK_EQUAL(record_count(&outcome, "sched_process_exit"), 2);
	record = record_get(&outcome, "sched_process_exit", 0);
	CHECK_EQUAL(record->pid, grandchild);
	CHECK_TEXT(record->comm, "true");
	CHECK_EQUAL(NUMBER("prio"), 120 + getpriority(PRIO_PROCESS, 0));
	CHECK_EQUAL(NUMBER("group_dead"), 1);
	record = record_get(&outcome, "sched_process_exit", 1);
	harness_check_header(&outcome, record);
	outcome_fini(&outcome);
}

/* ---- two processes that wake each other: events about one process that another raises */

enum { ROUNDS = 50 };

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void plant_ping_pong(struct reported *reported)
{
	int there[2], back[2];
	char byte = 0;
	cpu_set_t one;
	struct rusage before, after;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	if (pipe(there) || pipe(back))
		_exit(4);
	pid_t child = fork();

	reported->numbers[1] = child ? clock_now() : reported->numbers[1];
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < ROUNDS; i++) {
		if (child ? write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1
			  : read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			_exit(5);
	}
	if (!child)
		_exit(0);
	getrusage(RUSAGE_SELF, &after);
	reported->numbers[2] = clock_now();
	reported->numbers[0] = (uint64_t)child;
	reported->numbers[3] = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
	reported->numbers[4] = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	waitpid(child, NULL, 0);
}

static bool is_near(uint64_t a, uint64_t b)
{
	return a <= b + 2 && b <= a + 2;
}

static void test_ping_pong(const struct harness *harness)
{
	struct outcome outcome;
	size_t slept = 0, preempted = 0, came = 0, woken = 0;

	harness_run(harness, &(struct plan){ .types = { "sched_switch", "sched_waking" }, .plant = plant_ping_pong },
		    &outcome);
	pid_t parent = outcome.child, child = (pid_t)outcome.reported->numbers[0];

	harness_check_order(&outcome);
	for (size_t i = 0; i < outcome.count; i++) {
		const struct event_header *record = (const void *)outcome.records[i];
		bool ours = (pid_t)record->pid == parent || (pid_t)record->pid == child;
		bool timed = record->ts >= outcome.reported->numbers[1] && record->ts <= outcome.reported->numbers[2];

		if (record->type == 1) {
			pid_t target = (pid_t)NUMBER("target_pid");

			CHECK(ours || target == parent || target == child);
			if (target == parent)
				CHECK_TEXT(TEXT("target_comm"), "planted");
			woken += target == parent && timed;
			continue;
		}
		pid_t from = (pid_t)NUMBER("prev_pid"), to = (pid_t)NUMBER("next_pid");

		CHECK_EQUAL(from, record->tid);
		CHECK(ours || to == parent || to == child);
		if (ours)
			CHECK_TEXT(TEXT("prev_comm"), "planted");
		if (to == parent || to == child) {
			CHECK_TEXT(TEXT("next_comm"), "planted");
			CHECK_EQUAL(NUMBER("next_prio"), 120 + getpriority(PRIO_PROCESS, 0));
		}
		/* Of the states 0 and preempted it goes on by itself. It also sleeps for the pipe's own lock, in
		 * another. */
		bool is_ready = (NUMBER("prev_state") & ~0x100) == 0;

		came += to == parent && timed;
		slept += from == parent && timed && !is_ready;
		preempted += from == parent && timed && is_ready;
	}
	/* What the kernel itself has counted, but for a switch between the clock and the counts, before and after. */
	CHECK(is_near(slept, outcome.reported->numbers[3]));
	CHECK(is_near(preempted, outcome.reported->numbers[4]));
	CHECK(is_near(came, slept + preempted));
	CHECK(is_near(woken, slept));
	CHECK(slept + preempted > 0);
	outcome_fini(&outcome);
}

/* ---- conditions over arguments, alternatives, two sources of one type */

static void plant_futex(struct reported *reported)
{
	static uint32_t word = 7;
	struct timespec time = { .tv_nsec = 30000000 };

	reported->numbers[0] = (uint64_t)(uintptr_t)&word;
	plant_call(SYS_futex, (const long[]){ (long)&word, FUTEX_WAIT_PRIVATE, 7, (long)&time, 0 });
	plant_call(SYS_futex, (const long[]){ (long)&word, FUTEX_WAIT_PRIVATE, 8, (long)&time, 0 });
	plant_call(SYS_futex, (const long[]){ (long)&word, FUTEX_WAKE_PRIVATE, 3, 0, 0 });
}

static void test_futex(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(harness,
		    &(struct plan){ .types = { "futex_wait", "futex_wait_end", "futex_wake", "sys_exit_futex" },
				    .plant = plant_futex },
		    &outcome);
	const struct event_header *record = record_get(&outcome, "futex_wait", 0);
	uint64_t begin = record->ts;

	harness_check_order(&outcome);
	CHECK_EQUAL(record_count(&outcome, "futex_wait"), 2);
	CHECK_EQUAL(record_count(&outcome, "futex_wait_end"), 2);
	CHECK_EQUAL(record_count(&outcome, "futex_wake"), 1);
	CHECK_EQUAL(record_count(&outcome, "sys_exit_futex"), 3);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("uaddr"), outcome.reported->numbers[0]);
	CHECK_EQUAL(NUMBER("op"), FUTEX_WAIT_PRIVATE);
	CHECK_EQUAL(NUMBER("val"), 7);
	CHECK(NUMBER("timeout") != 0);
	record = record_get(&outcome, "futex_wait_end", 0);
	CHECK_EQUAL(NUMBER("ret"), (int64_t)-ETIMEDOUT);
	CHECK(record->ts - begin >= 30000000);
	record = record_get(&outcome, "futex_wait_end", 1);
	CHECK_EQUAL(NUMBER("ret"), (int64_t)-EAGAIN);
	record = record_get(&outcome, "futex_wake", 0);
	CHECK_EQUAL(NUMBER("val"), 3);
	outcome_fini(&outcome);
}

/* ---- page faults */

enum { PAGES = 64 };

static void plant_faults(struct reported *reported)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
	reported->numbers[0] = (uint64_t)(uintptr_t)pages;
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * page] = 1;
}

static void test_faults(const struct harness *harness)
{
	struct outcome outcome;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t next = 0;

	harness_run(harness, &(struct plan){ .types = { "page_fault_user" }, .plant = plant_faults }, &outcome);
	uint64_t start = outcome.reported->numbers[0];

	harness_check_order(&outcome);
	for (size_t i = 0; i < outcome.count; i++) {
		const struct event_header *record = (const void *)outcome.records[i];

		harness_check_header(&outcome, record);
		if (NUMBER("address") < start || NUMBER("address") >= start + PAGES * page)
			continue;
		CHECK_EQUAL(NUMBER("address"), start + next * page);
		CHECK_EQUAL(NUMBER("error_code"), 6); /* a write, in user mode, to what is not there */
		CHECK(NUMBER("ip") != 0);
		next++;
	}
	CHECK_EQUAL(next, PAGES);
	outcome_fini(&outcome);
}

/* ---- timers */

static void plant_sleep(struct reported *reported)
{
	struct timespec time = { .tv_nsec = 20000000 };

	reported->numbers[0] = (uint64_t)(uintptr_t)&time;
	plant_call(SYS_clock_nanosleep, (const long[]){ CLOCK_MONOTONIC, 0, (long)&time, 0, 0 });
}

static void test_sleep(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(
		harness,
		&(struct plan){ .types = { "sys_enter_clock_nanosleep", "sys_exit_clock_nanosleep", "hrtimer_start" },
				.plant = plant_sleep },
		&outcome);
	const struct event_header *record = record_get(&outcome, "sys_enter_clock_nanosleep", 0);
	uint64_t begin = record->ts;
	size_t found = 0;

	harness_check_order(&outcome);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("which_clock"), CLOCK_MONOTONIC);
	CHECK_EQUAL(NUMBER("rqtp"), outcome.reported->numbers[0]);
	record = record_get(&outcome, "sys_exit_clock_nanosleep", 0);
	CHECK_EQUAL(NUMBER("ret"), 0);
	CHECK(record->ts - begin >= 20000000 && record->ts - begin < 2000000000);
	for (size_t i = 0; (record = record_get(&outcome, "hrtimer_start", i)); i++) {
		/* The timer of the sleep fires when the sleep is over, give or take its slack of 50 us. */
		uint64_t soft = NUMBER("softexpires");

		found += soft >= begin + 20000000 && soft < begin + 40000000 && NUMBER("expires") - soft == 50000;
	}
	CHECK_EQUAL(found, 1);
	outcome_fini(&outcome);
}

/* ---- what the kernel leaves out: records of a tracepoint while a map is updated */

enum { UPDATES = 200, KEY_BYTES = 8 };

static void plant_updates(struct reported *reported)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "planted", KEY_BYTES, 8, UPDATES, &options);
	uint64_t value = 7;

	for (uint32_t i = 0; i < UPDATES; i++) {
		const uint32_t key[KEY_BYTES / 4] = { 32, i };

		reported->numbers[0] += bpf_map_update_elem(map, key, &value, BPF_ANY) == 0;
	}
}

static void test_left_out(const struct harness *harness)
{
	struct outcome outcome;

	CHECK(harness_add_twin(harness->catalog, event_catalog_find(harness->catalog, "kmalloc")));
	harness_run(harness, &(struct plan){ .types = { "kmalloc", "twin_kmalloc" }, .plant = plant_updates },
		    &outcome);
	size_t all = record_count(&outcome, "kmalloc"), records = record_count(&outcome, "twin_kmalloc");

	CHECK_EQUAL(outcome.reported->numbers[0], UPDATES);
	CHECK(all > 0);
	CHECK(records + outcome.lost >= all);
	printf("# %zu allocations, %zu records, %llu told as lost\n", all, records, (unsigned long long)outcome.lost);
	outcome_fini(&outcome);
}

/* ---- signals: an argument that is no pointer */

static void plant_signals(struct reported *reported)
{
	int broken[2];

	signal(SIGUSR1, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	kill(getpid(), SIGUSR1);
	/* The kernel sends this one by itself, without a siginfo: the tracepoint gets NULL or 1. */
	if (pipe(broken))
		_exit(8);
	close(broken[0]);
	reported->numbers[0] = (uint64_t)write(broken[1], "", 1);
}

static void test_signals(const struct harness *harness)
{
	struct outcome outcome;

	harness_run(harness, &(struct plan){ .types = { "signal_generate" }, .plant = plant_signals }, &outcome);
	const struct event_header *record = record_get(&outcome, "signal_generate", 0);

	harness_check_order(&outcome);
	harness_check_header(&outcome, record);
	CHECK_EQUAL(NUMBER("sig"), SIGUSR1);
	CHECK_EQUAL(NUMBER("target_pid"), outcome.child);
	CHECK_EQUAL(NUMBER("code"), 0);
	CHECK_TEXT(TEXT("target_comm"), "planted");
	record = record_get(&outcome, "signal_generate", 1);
	CHECK_EQUAL(NUMBER("sig"), SIGPIPE);
	CHECK_EQUAL(NUMBER("errno"), 0);
	outcome_fini(&outcome);
}

int main(int argc, char **argv)
{
	static const struct harness_test tests[] = {
		{ "open", test_open },           { "calls", test_calls },       { "family", test_family },
		{ "ping-pong", test_ping_pong }, { "futex", test_futex },       { "faults", test_faults },
		{ "sleep", test_sleep },         { "left out", test_left_out }, { "signals", test_signals },
	};

	return harness_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
