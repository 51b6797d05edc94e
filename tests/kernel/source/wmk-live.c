// SPDX-License-Identifier: BSD-2-Clause
/* The catalog wmk.events on a running kernel: what a process does on purpose becomes the events that rules look for. */

#include "source-harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NUMBER(name) field_number(&outcome, record, name)
#define TEXT(name)   field_text(&outcome, record, name)

enum { CUSTOM = 0x41535452, MET = 0, TIME_UP = 258, FAILED = -1 };

/* ---- waiting */

static uint32_t word = 5;

static void plant_waits(struct reported *reported)
{
	const struct timespec soon = { .tv_nsec = 1000000 };
	struct pollfd none = { .fd = -1 };

	reported->numbers[0] = (uint64_t)(uintptr_t)&word;
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &soon, NULL, 0); /* time up */
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 6, &soon, NULL, 0); /* nothing to wait for */
	syscall(SYS_futex, 1, FUTEX_WAIT_PRIVATE, 6, &soon, NULL, 0);     /* not aligned */
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	poll(&none, 1, 1);
	poll(NULL, 0, 1); /* a way to sleep */
}

static void check_wait(const struct outcome *all, size_t n, uint64_t object, int64_t result)
{
	struct outcome outcome = *all;

	for (int begin = 1; begin >= 0; begin--) {
		const struct event_header *record = record_get(&outcome, "waitevent", 2 * n + (begin ? 0 : 1));

		CHECK_EQUAL(record->pid, outcome.child);
		CHECK_EQUAL(NUMBER("Flag"), begin);
		CHECK_EQUAL(NUMBER("ReturnValue"), begin ? 0 : result);
		if (object)
			CHECK_EQUAL(NUMBER("Object"), object);
		CHECK_EQUAL(NUMBER("MultipleObjectsDataSize"), object ? 0 : 8);
		CHECK_EQUAL(NUMBER("Type"), object ? 1 : 2);
	}
}

static void test_waits(const struct harness *harness)
{
	struct outcome outcome;
	const struct event_header *record;

	harness_run(harness, &(struct plan){ .types = { "waitevent", "waitrelease" }, .plant = plant_waits }, &outcome);
	CHECK_EQUAL(record_count(&outcome, "waitevent"), 8);
	check_wait(&outcome, 0, outcome.reported->numbers[0], TIME_UP);
	check_wait(&outcome, 1, outcome.reported->numbers[0], MET);
	check_wait(&outcome, 2, 1, FAILED);
	check_wait(&outcome, 3, 0, TIME_UP);
	CHECK_EQUAL(record_count(&outcome, "waitrelease"), 1);
	record = record_get(&outcome, "waitrelease", 0);
	CHECK_EQUAL(NUMBER("Object"), outcome.reported->numbers[0]);
	outcome_fini(&outcome);
}

/* ---- objects, files, data, and an application's own event */

/* Names whose ends lie about the pieces in which a length is found, and beyond what is recorded. */
static const uint32_t name_lengths[] = { 0, 1, 50, 51, 52, 102, 254, 255, 256, 3000 };

enum { NAME_COUNT = sizeof name_lengths / sizeof *name_lengths };

static void open_long_names(void)
{
	static char name[4096];

	for (size_t i = 0; i < NAME_COUNT; i++) {
		memset(name, 'n', name_lengths[i]);
		name[name_lengths[i]] = 0;
		(void)!open(name, O_RDONLY);
	}
}

static void check_long_names(const struct outcome *all)
{
	struct outcome outcome = *all;

	for (size_t i = 0; i < NAME_COUNT; i++) {
		const struct event_header *record = record_get(&outcome, "createfile", 3 + i);
		uint32_t length = name_lengths[i] < 255 ? name_lengths[i] : 255;

		CHECK_EQUAL(NUMBER("FileNameLength"), length);
		CHECK_EQUAL(strlen(TEXT("FileName")), length);
	}
}

static void plant_resources(struct reported *reported)
{
	char bytes[100] = "";
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);

	reported->numbers[0] = (uint64_t)null;
	(void)!open("/no/such/file", O_RDONLY);
	reported->numbers[1] = (uint64_t)socket(AF_UNIX, SOCK_STREAM, 0);
	(void)!socket(-1, 0, 0);
	(void)!write(null, bytes, 33);
	(void)!read(zero, bytes, 77);
	(void)!read(-1, bytes, 77);
	prctl(CUSTOM, 3, 9, 5, "hello");
	prctl(PR_GET_DUMPABLE);
	open_long_names();
}

static void check_objects(struct outcome *all)
{
	struct outcome outcome = *all;
	const struct event_header *record = record_get(&outcome, "createobject", 0);

	CHECK_EQUAL(record_count(&outcome, "createobject"), 5 + NAME_COUNT);
	CHECK_EQUAL(NUMBER("Object"), outcome.reported->numbers[0] + 1);
	CHECK_EQUAL(NUMBER("SyscallNr"), SYS_openat);
	record = record_get(&outcome, "createobject", 2);
	CHECK_EQUAL(NUMBER("Object"), 0);
	record = record_get(&outcome, "createobject", 3);
	CHECK_EQUAL(NUMBER("Object"), outcome.reported->numbers[1] + 1);
	CHECK_EQUAL(NUMBER("SyscallNr"), SYS_socket);
	record = record_get(&outcome, "createobject", 4);
	CHECK_EQUAL(NUMBER("Object"), 0);
}

static void test_resources(const struct harness *harness)
{
	struct outcome outcome;
	const struct event_header *record;

	harness_run(harness,
		    &(struct plan){ .types = { "createobject", "createfile", "iotransfer", "custom" },
				    .plant = plant_resources },
		    &outcome);
	check_objects(&outcome);
	CHECK_EQUAL(record_count(&outcome, "createfile"), 3 + NAME_COUNT);
	record = record_get(&outcome, "createfile", 0);
	CHECK_EQUAL(NUMBER("Status"), 0);
	CHECK_TEXT(TEXT("FileName"), "/dev/null");
	CHECK_EQUAL(NUMBER("FileNameLength"), 9);
	record = record_get(&outcome, "createfile", 2);
	CHECK_EQUAL(NUMBER("Status"), (int64_t)-ENOENT);
	CHECK_TEXT(TEXT("FileName"), "/no/such/file");
	CHECK_EQUAL(NUMBER("FileNameLength"), 13);
	check_long_names(&outcome);
	/* The first one is the byte that opened the gate. */
	CHECK_EQUAL(record_count(&outcome, "iotransfer"), 3);
	record = record_get(&outcome, "iotransfer", 1);
	CHECK_EQUAL(NUMBER("IOType"), 1);
	CHECK_EQUAL(NUMBER("TransferCount"), 33);
	record = record_get(&outcome, "iotransfer", 2);
	CHECK_EQUAL(NUMBER("IOType"), 0);
	CHECK_EQUAL(NUMBER("TransferCount"), 77);
	CHECK_EQUAL(record_count(&outcome, "custom"), 1);
	record = record_get(&outcome, "custom", 0);
	CHECK_EQUAL(NUMBER("CustomEventHandle"), 3);
	CHECK_EQUAL(NUMBER("CustomEventId"), 9);
	CHECK_EQUAL(NUMBER("DataLength"), 5);
	CHECK_TEXT(TEXT("Data"), "hello");
	outcome_fini(&outcome);
}

/* ---- threads and processes */

static void *be_a_thread(void *argument)
{
	*(uint64_t *)argument = (uint64_t)gettid();
	usleep(2000);
	return NULL;
}

/* Where the code of this program begins, as the kernel says: field 26 of its line. */
static uint64_t start_of_code(void)
{
	char line[1024] = "";
	unsigned long long start = 0;
	FILE *stat = fopen("/proc/self/stat", "re");

	if (stat && fgets(line, sizeof line, stat) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1,
		       " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%llu",
		       &start);
	if (stat)
		fclose(stat);
	return start;
}

static void plant_family(struct reported *reported)
{
	reported->numbers[2] = start_of_code();
	prctl(PR_SET_NAME, "fifteen-letters");
	pthread_t thread;

	if (pthread_create(&thread, NULL, be_a_thread, &reported->numbers[0]))
		_exit(4);
	pthread_join(thread, NULL);
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	reported->numbers[1] = (uint64_t)pid;
	waitpid(pid, NULL, 0);
}

static void check_switches(const struct outcome *all, uint64_t thread)
{
	struct outcome outcome = *all;
	const struct event_header *record;
	size_t to_thread = 0;

	for (size_t i = 0; (record = record_get(&outcome, "contextswitch", i)); i++) {
		if (NUMBER("ThreadId") != thread)
			continue;
		CHECK_EQUAL(NUMBER("ProcessId"), outcome.child);
		CHECK_EQUAL(NUMBER("Priority"), 19 - getpriority(PRIO_PROCESS, 0));
		to_thread++;
	}
	CHECK(to_thread >= 1);
}

static void test_family(const struct harness *harness)
{
	struct outcome outcome;
	const struct event_header *record;

	harness_run(harness,
		    &(struct plan){ .types = { "threadcreation", "processcreation", "threadtermination",
					       "processtermination", "contextswitch" },
				    .plant = plant_family },
		    &outcome);
	CHECK_EQUAL(record_count(&outcome, "threadcreation"), 2);
	record = record_get(&outcome, "threadcreation", 0);
	CHECK_EQUAL(record->tid, outcome.child);
	CHECK_EQUAL(NUMBER("ThreadId"), outcome.reported->numbers[0]);
	CHECK_EQUAL(NUMBER("ProcessId"), outcome.child);
	CHECK_TEXT(TEXT("Name"), "fifteen-letters");
	CHECK_EQUAL(NUMBER("StringLength"), 15);
	CHECK_EQUAL(record_count(&outcome, "processcreation"), 1);
	record = record_get(&outcome, "processcreation", 0);
	CHECK_EQUAL(NUMBER("ProcessId"), outcome.reported->numbers[1]);
	CHECK_EQUAL(NUMBER("ParentProcessId"), outcome.child);
	CHECK(outcome.reported->numbers[2] != 0);
	CHECK_EQUAL(NUMBER("SectionBaseAddress"), outcome.reported->numbers[2]);
	CHECK_EQUAL(record_count(&outcome, "threadtermination"), 3);
	CHECK_EQUAL(record_get(&outcome, "threadtermination", 0)->tid, outcome.reported->numbers[0]);
	CHECK_EQUAL(record_count(&outcome, "processtermination"), 2);
	CHECK_EQUAL(record_get(&outcome, "processtermination", 0)->pid, outcome.reported->numbers[1]);
	CHECK_EQUAL(record_get(&outcome, "processtermination", 1)->pid, outcome.child);
	check_switches(&outcome, outcome.reported->numbers[0]);
	outcome_fini(&outcome);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct harness *harness);
	} tests[] = { { "waits", test_waits }, { "resources", test_resources }, { "family", test_family } };
	struct harness harness;
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/wmk.events");

	if (result)
		return result;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		int before = check_failures;

		tests[i].run(&harness);
		printf("%s - %s\n", check_failures > before ? "not ok" : "ok", tests[i].name);
	}
	harness_fini(&harness);
	return check_failures ? 1 : 0;
}
