// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters as a program reads them: values from a file, whose numbers are known, and page faults of loops, which
 * getrusage knows as well. Needs no privilege.
 */

#include <asterism/asterism.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__
enum { PAGES = 2000, SLACK = 900 }; /* a thread's stack has a shadow, too, whose pages fault */
#else
enum { PAGES = 2000, SLACK = 50 };
#endif

static char folder[] = "/tmp/asterism-api-counter-XXXXXX";

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(folder) || chdir(folder) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink("machine");
	unlink("own.counters");
	unsetenv("ASTERISM_COUNTERS");
	return chdir("/") ? -1 : rmdir(folder);
}

static int use_machine(void **state)
{
	(void)state;
	write_file("machine", "perf hardware cpu-cycles = 0 1000 3000 7000@0.5 7000@0\n"
			      "perf hardware instructions = 0 2000 3000 9000@0.5 9000\n"
			      "perf hardware branch-misses = 0 0 0\n"
			      "file \"/proc/stat\" field procs_running = 1 4 2 3\n");
	write_file("own.counters", "CLASS OWN\nDERIVED SHARE = CPU_CYCLES / PROCESSOR_PIPELINE_FLUSHES_BRANCH\n");
	return setenv("ASTERISM_COUNTERS", "machine", 1);
}

static int use_real(void **state)
{
	(void)state;
	return unsetenv("ASTERISM_COUNTERS");
}

static struct asterism_counter_set *open_types(const char *const *types, size_t count,
					       const struct asterism_counter_options *options)
{
	struct asterism_counter_set *set = NULL;
	struct asterism_diag *diag = asterism_diag_new();
	int result = asterism_counter_open(types, count, options, diag, &set);

	if (result)
		fail_msg("%d: %s", result, asterism_diag_get(diag, 0)->text);
	asterism_diag_free(diag);
	return set;
}

static struct asterism_counter_value between(const struct asterism_counter_snapshot *from,
					     const struct asterism_counter_snapshot *to, size_t index, int wanted)
{
	struct asterism_counter_value value = { .size = sizeof value };

	assert_int_equal(asterism_counter_between(from, to, index, &value), wanted);
	return value;
}

static void values_lie_between_snapshots(void **state)
{
	const char *const types[] = { "CPU_CYCLES", "INST_RETIRED_PER_CYCLE", "PROCESSOR_QUEUE_LENGTH" };
	struct asterism_counter_set *set = open_types(types, 3, NULL);
	struct asterism_counter_snapshot *all[4] = { NULL };
	struct asterism_counter_value value;

	(void)state;
	assert_int_equal(asterism_counter_count(set), 3);
	for (size_t i = 0; i < 4; i++) {
		usleep(1000);
		assert_int_equal(asterism_counter_read(set, &all[i]), 0);
		assert_int_equal(asterism_diag_count(asterism_counter_diag(set), ASTERISM_NOTE), 0);
	}
	assert_true(asterism_counter_snapshot_time_ns(all[0]) < asterism_counter_snapshot_time_ns(all[1]));
	/* The first value is what there was when it was opened. */
	value = between(NULL, all[0], 0, 0);
	assert_float_equal(value.value, 1000, 0);
	assert_true(value.elapsed_ns >= 1000000);
	value = between(all[0], all[1], 0, 0);
	assert_float_equal(value.value, 2000, 0);
	assert_float_equal(value.share, 1, 0);
	assert_float_equal(value.per_second, 2000 * 1e9 / (double)value.elapsed_ns, 1e-6);
	assert_int_equal(value.elapsed_ns,
			 asterism_counter_snapshot_time_ns(all[1]) - asterism_counter_snapshot_time_ns(all[0]));
	assert_int_equal(value.enabled_ns, 1000000000);
	assert_int_equal(value.running_ns, 1000000000);
	/* Half of the time: scaled. */
	value = between(all[1], all[2], 0, 0);
	assert_float_equal(value.value, 8000, 0);
	assert_float_equal(value.share, 0.5, 0);
	assert_int_equal(value.running_ns, 500000000);
	/* Over both, whatever was read meanwhile. */
	value = between(all[0], all[2], 0, 0);
	assert_float_equal(value.value, 10000, 0);
	assert_float_equal(value.share, 0.75, 0);
	/* Derived: of what operands have grown by. */
	value = between(NULL, all[0], 1, 0);
	assert_float_equal(value.value, 2, 0);
	assert_true(isnan(value.per_second));
	assert_float_equal(between(all[0], all[2], 1, 0).value, 13000.0 / 10000, 1e-12);
	/* A gauge is what it is. */
	value = between(all[0], all[2], 2, 0);
	assert_float_equal(value.value, 3, 0);
	assert_true(isnan(value.per_second));
	/* Not counted at all, in the last interval and whatever holds it. */
	value = between(all[2], all[3], 0, -ENODATA);
	assert_true(isnan(value.value));
	assert_float_equal(value.share, 0, 0);
	between(all[0], all[3], 0, -ENODATA);
	between(all[2], all[3], 1, -ENODATA);
	between(all[0], all[2], 0, 0);
	for (size_t i = 0; i < 4; i++)
		asterism_counter_snapshot_free(all[i]);
	asterism_counter_free(set);
}

static void what_is_known_of_types(void **state)
{
	const char *const catalogs[] = { "own.counters" }, *const types[] = { "SHARE", "PROCESSOR_QUEUE_LENGTH" };
	const struct asterism_counter_options options = { .size = sizeof options,
							  .catalogs = catalogs,
							  .catalog_count = 1 };
	struct asterism_counter_set *set = open_types(types, 2, &options);
	struct asterism_counter_about about = { .size = sizeof about };
	struct asterism_counter_snapshot *snapshot = NULL;
	struct {
		size_t size;
		const char *name;
		const char *after;
	} older = { .size = offsetof(struct asterism_counter_about, doc), .after = "mine" };

	(void)state;
	assert_int_equal(asterism_counter_describe(set, 0, &about), 0);
	assert_string_equal(about.name, "SHARE");
	assert_string_equal(about.formula, "CPU_CYCLES / PROCESSOR_PIPELINE_FLUSHES_BRANCH");
	assert_null(about.source);
	assert_true(about.is_ratio);
	assert_int_equal(asterism_counter_describe(set, 1, &about), 0);
	assert_int_equal(about.kind, ASTERISM_COUNTER_GAUGE);
	assert_string_equal(about.source, "file \"/proc/stat\" field procs_running");
	assert_null(about.formula);
	assert_false(about.is_ratio);
	assert_int_equal(asterism_counter_describe(set, 2, &about), -EINVAL);
	about.size = 0;
	assert_int_equal(asterism_counter_describe(set, 0, &about), -EINVAL);
	assert_int_equal(asterism_counter_describe(set, 0, (struct asterism_counter_about *)&older), 0);
	assert_string_equal(older.name, "SHARE");
	assert_string_equal(older.after, "mine");
	/* No branch was mispredicted. */
	assert_int_equal(asterism_counter_read(set, &snapshot), 0);
	assert_true(isnan(between(NULL, snapshot, 0, -EDOM).value));
	asterism_counter_snapshot_free(snapshot);
	asterism_counter_free(set);
}

static void snapshots_belong_to_a_set(void **state)
{
	const char *const type = "CPU_CYCLES";
	struct asterism_counter_set *set = open_types(&type, 1, NULL), *other = open_types(&type, 1, NULL);
	struct asterism_counter_snapshot *first = NULL, *second = NULL, *others = NULL;
	struct asterism_counter_value value = { .size = sizeof value };

	(void)state;
	assert_int_equal(asterism_counter_read(set, &first), 0);
	usleep(1000);
	assert_int_equal(asterism_counter_read(set, &second), 0);
	assert_int_equal(asterism_counter_read(other, &others), 0);
	between(second, first, 0, -EINVAL);
	between(others, second, 0, -EINVAL);
	between(first, second, 1, -EINVAL);
	between(first, NULL, 0, -EINVAL);
	assert_int_equal(asterism_counter_between(first, second, 0, NULL), -EINVAL);
	value.size = 3;
	assert_int_equal(asterism_counter_between(first, second, 0, &value), -EINVAL);
	assert_int_equal(asterism_counter_read(set, &others), -EINVAL);
	assert_string_equal(asterism_diag_get(asterism_counter_diag(set), 0)->text,
			    "the snapshot belongs to another set");
	assert_int_equal(asterism_counter_read(set, NULL), -EINVAL);
	/* Read to again: the same place, another time. */
	uint64_t before = asterism_counter_snapshot_time_ns(first);
	struct asterism_counter_snapshot *same = first;

	assert_int_equal(asterism_counter_read(set, &first), 0);
	assert_ptr_equal(first, same);
	assert_true(asterism_counter_snapshot_time_ns(first) > before);
	asterism_counter_snapshot_free(NULL);
	asterism_counter_snapshot_free(first);
	asterism_counter_snapshot_free(second);
	asterism_counter_snapshot_free(others);
	asterism_counter_free(set);
	asterism_counter_free(other);
	asterism_counter_free(NULL);
}

/* Opens one type, which fails with the code and the text. */
static void refuse(const char *type, const struct asterism_counter_options *options, int code, const char *text,
		   const char *hint)
{
	struct asterism_counter_set *set = NULL;
	struct asterism_diag *diag = asterism_diag_new();
	const struct asterism_message *message;

	assert_int_equal(asterism_counter_open(&type, 1, options, diag, &set), code);
	assert_null(set);
	message = asterism_diag_get(diag, 0);
	assert_non_null(message);
	assert_int_equal(message->severity, ASTERISM_ERROR);
	assert_string_equal(message->text, text);
	if (hint)
		assert_string_equal(message->hint, hint);
	/* The same, of no interest. */
	assert_int_equal(asterism_counter_open(&type, 1, options, NULL, &set), code);
	asterism_diag_free(diag);
}

static void errors_have_sentences(void **state)
{
	const char *const missing = "missing.counters", *none = NULL, *type = "CPU_CYCLES";
	char text[200];
	struct {
		struct asterism_counter_options options;
		uint64_t unknown;
	} newer = { { .size = sizeof newer }, 1 };
	struct asterism_counter_options options = { .size = sizeof options };
	struct asterism_counter_set *set = NULL;

	(void)state;
	refuse("CPU_CYCELS", NULL, -ENOENT, "unknown counter 'CPU_CYCELS'", "did you mean CPU_CYCLES?");
	refuse("zzz", NULL, -ENOENT, "unknown counter 'zzz'", "'asterism counters list' shows all counters");
	refuse(NULL, NULL, -EINVAL, "types[]: a counter has no name", NULL);
	refuse("PAGED_PAGE_FAULTS", NULL, -EOPNOTSUPP,
	       "PAGED_PAGE_FAULTS is not available on this machine: machine does not have it",
	       "'asterism counters --probe' shows which counters are available, and why others are not");
	options.scope = 3;
	refuse(type, &options, -EINVAL, "invalid scope 3", NULL);
	options.scope = ASTERISM_COUNTER_PROCESS;
	refuse(type, &options, -EINVAL, "invalid process id 0", NULL);
	options.pid = 0x7ffffff0;
	refuse(type, &options, -ESRCH, "process 2147483632 does not exist", NULL);
	options = (struct asterism_counter_options){ .size = sizeof options, .catalogs = &missing, .catalog_count = 1 };
	refuse(type, &options, -ENOENT, "missing.counters: file not found", NULL);
	options.catalogs = &none;
	refuse(type, &options, -EINVAL, "a catalog has no path", NULL);
	options.catalogs = NULL;
	refuse(type, &options, -EINVAL, "no catalogs were given", NULL);
	options.size = 1;
	snprintf(text, sizeof text,
		 "unsupported options: size 1 is impossible; set it to sizeof the structure, %zu here", sizeof options);
	refuse(type, &options, -EINVAL, text, NULL);
	snprintf(text, sizeof text,
		 "unsupported options of %zu bytes: this library knows the first %zu, and something after them is set; "
		 "use a newer library",
		 sizeof newer, sizeof options);
	refuse(type, &newer.options, -EINVAL, text, NULL);
	assert_int_equal(asterism_counter_open(&type, 0, NULL, NULL, &set), -EINVAL);
	assert_int_equal(asterism_counter_open(&type, 257, NULL, NULL, &set), -EINVAL);
	assert_int_equal(asterism_counter_open(NULL, 1, NULL, NULL, &set), -EINVAL);
	assert_int_equal(asterism_counter_open(&type, 1, NULL, NULL, NULL), -EINVAL);
	setenv("ASTERISM_COUNTERS", "missing.machine", 1);
	refuse(type, NULL, -ENOENT, "cannot read missing.machine: No such file or directory", NULL);
}

static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, pages * page);
}

static double faults_so_far(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (double)(usage.ru_minflt + usage.ru_majflt);
}

static const char *const faults = "PROCESS_THREAD_PAGE_FAULTS";

static void own_faults_are_those_of_getrusage(void **state)
{
	struct asterism_counter_set *set = open_types(&faults, 1, NULL);
	struct asterism_counter_snapshot *from = NULL, *to = NULL;
	struct asterism_counter_value value;
	double before, known;

	(void)state;
	assert_int_equal(asterism_counter_read(set, &from), 0);
	assert_int_equal(asterism_counter_read(set, &to), 0);
	before = faults_so_far();
	assert_int_equal(asterism_counter_read(set, &from), 0);
	touch(PAGES);
	assert_int_equal(asterism_counter_read(set, &to), 0);
	known = faults_so_far() - before;
	value = between(from, to, 0, 0);
	assert_true(known >= PAGES);
	assert_true(fabs(value.value - known) <= SLACK);
	assert_float_equal(value.per_second, value.value * 1e9 / (double)value.elapsed_ns, 1e-3);
	assert_true(value.enabled_ns > 0 && value.running_ns <= value.enabled_ns);
	/* Nothing but what happens is counted. */
	assert_int_equal(asterism_counter_read(set, &from), 0);
	assert_true(between(to, from, 0, 0).value <= SLACK);
	asterism_counter_snapshot_free(from);
	asterism_counter_snapshot_free(to);
	asterism_counter_free(set);
}

static pthread_barrier_t barrier;

static void *work(void *unused)
{
	pthread_barrier_wait(&barrier);
	touch(PAGES);
	pthread_barrier_wait(&barrier);
	return unused;
}

/* One that was there before, and one that comes later. */
static void all_threads_count(void **state)
{
	struct asterism_counter_snapshot *from = NULL, *to = NULL;
	struct asterism_counter_set *set;
	pthread_t before, later;
	double grown;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 3);
	assert_int_equal(pthread_create(&before, NULL, work, NULL), 0);
	set = open_types(&faults, 1, NULL);
	assert_int_equal(asterism_counter_read(set, &from), 0);
	assert_int_equal(pthread_create(&later, NULL, work, NULL), 0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	assert_int_equal(asterism_counter_read(set, &to), 0);
	grown = between(from, to, 0, 0).value;
	assert_true(grown >= 2 * PAGES && grown <= 2 * PAGES + 2 * SLACK);
	pthread_join(before, NULL);
	pthread_join(later, NULL);
	pthread_barrier_destroy(&barrier);
	/* Threads that have ended keep what they counted. */
	assert_int_equal(asterism_counter_read(set, &to), 0);
	assert_true(between(from, to, 0, 0).value >= 2 * PAGES);
	asterism_counter_snapshot_free(from);
	asterism_counter_snapshot_free(to);
	asterism_counter_free(set);
}

static volatile bool is_over;

static void *keep_touching(void *unused)
{
	while (!is_over)
		touch(50);
	return unused;
}

/* Operands are read at one time, though a thread goes on meanwhile: it may be within one fault each time. */
static void operands_are_read_together(void **state)
{
	const char *const catalogs[] = { "own.counters" }, *const type = "LARGE";
	const struct asterism_counter_options options = { .size = sizeof options,
							  .catalogs = catalogs,
							  .catalog_count = 1 };
	struct asterism_counter_snapshot *last = NULL, *now = NULL, *first = NULL;
	struct asterism_counter_set *set;
	pthread_t thread;

	(void)state;
	write_file("own.counters", "CLASS OWN\n"
				   "COUNTER ALL \"faults\" KIND single\n  ON linux: perf software page-faults\n"
				   "COUNTER SMALL \"soft ones\" KIND single\n  ON linux: perf software minor-faults\n"
				   "DERIVED LARGE = ALL - SMALL\n");
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, keep_touching, NULL), 0);
	set = open_types(&type, 1, &options);
	assert_int_equal(asterism_counter_read(set, &first), 0);
	assert_int_equal(asterism_counter_read(set, &last), 0);
	for (int i = 0; i < 2000; i++) {
		struct asterism_counter_snapshot *older = last;

		assert_int_equal(asterism_counter_read(set, &now), 0);
		assert_true(fabs(between(last, now, 0, 0).value) <= 1);
		last = now;
		now = older;
	}
	assert_true(fabs(between(first, last, 0, 0).value) <= 1);
	is_over = true;
	pthread_join(thread, NULL);
	asterism_counter_snapshot_free(first);
	asterism_counter_snapshot_free(last);
	asterism_counter_snapshot_free(now);
	asterism_counter_free(set);
}

static void *keep_forking(void *unused)
{
	while (!is_over) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return unused;
}

/* A child that is begun while a group is opened would have a part of it, and nothing could be read. */
static void a_process_that_forks_is_counted(void **state)
{
	const char *const catalogs[] = { "own.counters" }, *const type = "LARGE";
	const struct asterism_counter_options options = { .size = sizeof options,
							  .catalogs = catalogs,
							  .catalog_count = 1 };
	struct asterism_diag *diag = asterism_diag_new();
	int opened = 0, refused = 0;
	pthread_t thread;

	(void)state;
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, keep_forking, NULL), 0);
	while (opened < 20 && refused < 1000) {
		struct asterism_counter_snapshot *snapshot = NULL;
		struct asterism_counter_set *set;
		int result;

		asterism_diag_clear(diag);
		result = asterism_counter_open(&type, 1, &options, diag, &set);
		if (result) {
			if (result != -EAGAIN)
				fail_msg("%d: %s", result, asterism_diag_get(diag, 0)->text);
			assert_non_null(
				strstr(asterism_diag_get(diag, 0)->text, "faster than counters can be attached"));
			refused++;
			continue;
		}
		assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 0);
		assert_int_equal(asterism_counter_read(set, &snapshot), 0);
		asterism_counter_snapshot_free(snapshot);
		asterism_counter_free(set);
		opened++;
	}
	is_over = true;
	pthread_join(thread, NULL);
	assert_int_equal(opened, 20);
	asterism_diag_free(diag);
}

static void another_process_counts(void **state)
{
	struct asterism_counter_options options = { .size = sizeof options, .scope = ASTERISM_COUNTER_PROCESS };
	struct asterism_counter_snapshot *snapshot = NULL;
	struct asterism_counter_set *set;
	int go[2], status;
	char byte, text[64];
	double grown;

	(void)state;
	assert_int_equal(pipe(go), 0);
	options.pid = fork();
	if (!options.pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			touch(PAGES);
		_exit(0);
	}
	close(go[0]);
	set = open_types(&faults, 1, &options);
	/* What we do is not counted. */
	touch(PAGES);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(options.pid, &status, 0), options.pid);
	close(go[1]);
	assert_int_equal(asterism_counter_read(set, &snapshot), 0);
	grown = between(NULL, snapshot, 0, 0).value;
	assert_true(grown >= PAGES && grown < 2 * PAGES);
	asterism_counter_snapshot_free(snapshot);
	asterism_counter_free(set);
	snprintf(text, sizeof text, "process %d does not exist", (int)options.pid);
	refuse(faults, &options, -ESRCH, text, NULL);
}

/* Interrupts are in a file of the machine alone: a process hears of it. */
static void the_machine_counts(void **state)
{
	const char *const type = "PROCESSOR_INTERRUPTS";
	struct asterism_counter_options options = { .size = sizeof options, .scope = ASTERISM_COUNTER_MACHINE };
	struct asterism_diag *diag = asterism_diag_new();
	struct asterism_counter_about about = { .size = sizeof about };
	struct asterism_counter_snapshot *snapshot = NULL;
	struct asterism_counter_set *set = NULL;
	struct asterism_counter_value value;

	(void)state;
	assert_int_equal(asterism_counter_open(&type, 1, &options, diag, &set), 0);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_NOTE), 0);
	for (int i = 0; i < 20; i++)
		usleep(1000);
	assert_int_equal(asterism_counter_read(set, &snapshot), 0);
	value = between(NULL, snapshot, 0, 0);
	assert_true(value.value > 0);
	assert_int_equal(value.enabled_ns, 0);
	asterism_counter_snapshot_free(snapshot);
	asterism_counter_free(set);
	options.scope = ASTERISM_COUNTER_OWN;
	assert_int_equal(asterism_counter_open(&type, 1, &options, diag, &set), 0);
	assert_string_equal(asterism_diag_get(diag, 0)->text,
			    "PROCESSOR_INTERRUPTS counts the whole machine: its source cannot count single processes");
	assert_int_equal(asterism_counter_describe(set, 0, &about), 0);
	assert_true(about.is_of_machine);
	asterism_counter_free(set);
	/* What both have is the process's for a process. */
	const char *const both = "PAGED_PAGE_FAULTS";

	set = open_types(&both, 1, NULL);
	assert_int_equal(asterism_counter_describe(set, 0, &about), 0);
	assert_string_equal(about.source, "perf software page-faults");
	assert_string_equal(about.approximates, "those of user tasks");
	assert_true(about.is_approximate);
	assert_false(about.is_of_machine);
	asterism_counter_free(set);
	asterism_diag_free(diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(values_lie_between_snapshots, use_machine),
		cmocka_unit_test_setup(what_is_known_of_types, use_machine),
		cmocka_unit_test_setup(snapshots_belong_to_a_set, use_machine),
		cmocka_unit_test_setup(errors_have_sentences, use_machine),
		cmocka_unit_test_setup(own_faults_are_those_of_getrusage, use_real),
		cmocka_unit_test_setup(all_threads_count, use_real),
		cmocka_unit_test_setup(operands_are_read_together, use_real),
		cmocka_unit_test_setup(a_process_that_forks_is_counted, use_real),
		cmocka_unit_test_setup(another_process_counts, use_real),
		cmocka_unit_test_setup(the_machine_counts, use_real),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
