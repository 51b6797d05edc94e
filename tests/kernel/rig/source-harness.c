// SPDX-License-Identifier: BSD-2-Clause
#include "source-harness.h"

#include "base/alloc.h"
#include "event/tracefs.h"
#include "event/tracefs-priv.h"
#include "gate.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int check_failures;
char harness_skipped[256];

void check_failed(const char *file, int line, const char *text)
{
	printf("%s:%d: %s does not hold\n", file, line, text);
	check_failures++;
}

void check_equal(const char *file, int line, const char *text, uint64_t got, uint64_t wanted)
{
	if (got == wanted)
		return;
	printf("%s:%d: %s is %lld (0x%llx), not %lld\n", file, line, text, (long long)got, (unsigned long long)got,
	       (long long)wanted);
	check_failures++;
}

void check_text(const char *file, int line, const char *text, const char *got, const char *wanted)
{
	if (got && strcmp(got, wanted) == 0)
		return;
	printf("%s:%d: %s is \"%s\", not \"%s\"\n", file, line, text, got ? got : "(none)", wanted);
	check_failures++;
}

void harness_give_up(const char *what, int error, const struct asterism_diag *diag)
{
	const struct asterism_message *message;

	printf("%s: %s\n", what, strerror(-error));
	for (size_t i = 0; diag && (message = asterism_diag_get(diag, i)); i++)
		printf("  %s\n", message->text);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int harness_init(struct harness *harness, const char *catalog)
{
	struct asterism_diag *diag = asterism_diag_new();
	int result;

	if (geteuid() != 0) {
		printf("skipped: loading programs needs root\n");
		return HARNESS_SKIPPED;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	*harness = (struct harness){ .catalog = event_catalog_new() };
	result = ebpf_features_probe(&harness->features);
	if (result) {
		printf("skipped: this kernel does not run our programs: %s\n", strerror(-result));
		return HARNESS_SKIPPED;
	}
	result = event_catalog_read(harness->catalog, NULL, catalog, diag);
	if (result)
		harness_give_up(catalog, result, diag);
	result = btf_kernel_open(diag, &harness->btf);
	if (result)
		harness_give_up("BTF", result, diag);
	asterism_diag_free(diag);
	return 0;
}

void harness_fini(struct harness *harness)
{
	btf_kernel_close(harness->btf);
	event_catalog_free(harness->catalog);
}

/* A child that waits, then does what is planted. */
static pid_t start(const struct plan *plan, const char *name, struct gate *gate, struct reported *reported)
{
	pid_t pid = gate_fork(gate);

	if (pid) {
		while (!__atomic_load_n(&reported->ready, __ATOMIC_ACQUIRE))
			usleep(100);
		return pid;
	}
	prctl(PR_SET_NAME, name);
	__atomic_store_n(&reported->ready, true, __ATOMIC_RELEASE);
	gate_wait(gate);
	plan->plant(reported);
	_exit(0);
}

static int on_event(void *context, const struct event_header *record)
{
	struct outcome *outcome = context;
	uint32_t type = event_type_of(record), bytes = outcome->types[type]->record_bytes;

	if (alloc_grow(&outcome->records, &outcome->capacity, outcome->count, sizeof *outcome->records))
		return -ENOMEM;
	outcome->records[outcome->count] = alloc_zero(bytes, 1);
	memcpy(outcome->records[outcome->count], record, bytes);
	((struct event_header *)outcome->records[outcome->count++])->type = type;
	outcome->lost_before_last = outcome->lost;
	return 0;
}

static void on_lost(void *context, uint64_t lost)
{
	((struct outcome *)context)->lost += lost;
}

static void drain(struct source_set *set)
{
	uint64_t lost, wait;
	int result = source_set_poll(set, true, &lost, &wait);

	if (result)
		harness_give_up("poll", result, NULL);
}

/* Opens the gates and reads events until both children are done. */
static void observe(const struct plan *plan, struct source_set *set, struct outcome *outcome, struct gate gates[2])
{
	struct pollfd ready = { .fd = source_set_fd(set), .events = POLLIN };
	int status, left = 2;

	outcome->begin_ns = now_ns();
	for (int i = 0; i < 2; i++) {
		if (gate_open(&gates[i]))
			harness_give_up("gate", -errno, NULL);
	}
	while (left > 0) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid == outcome->child || pid == outcome->other) {
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				check_failed("plant", 0, "the child ends well");
			continue;
		}
		bool late = now_ns() < outcome->begin_ns + plan->late_ms * UINT64_C(1000000);

		poll(&ready, late ? 0 : 1, 1);
		if (!late)
			drain(set);
	}
	/* The last things that a process does come after its end can be waited for. */
	usleep(20000);
	drain(set);
	outcome->end_ns = now_ns();
}

static void make_set(const struct harness *harness, const struct plan *plan, struct outcome *outcome,
		     struct source_want *wants, struct source_set **set)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct source_set_options options = {
		.wants = wants,
		.scope = plan->scope,
		.btf = harness->btf,
		.features = &harness->features,
		.cautious = harness->cautious,
		.ship = { .ring_bytes = plan->ring_bytes,
			  .on_event = on_event,
			  .on_lost = on_lost,
			  .context = outcome },
	};
	int result;

	for (; plan->types[options.count]; options.count++) {
		size_t i = options.count;

		outcome->types[i] = event_catalog_find(harness->catalog, plan->types[i]);
		if (!outcome->types[i])
			harness_give_up(plan->types[i], -ENOENT, NULL);
		wants[i] = (struct source_want){ .type = outcome->types[i], .index = (uint32_t)i, .counted = true };
	}
	result = source_set_new(&options, diag, set);
	if (!result)
		result = source_set_attach(*set, diag);
	if (result)
		harness_give_up("the sources", result, diag);
	asterism_diag_free(diag);
}

void harness_run(const struct harness *harness, const struct plan *plan, struct outcome *outcome)
{
	struct source_want wants[TYPES_MAX];
	struct source_set *set;
	struct gate gates[2];
	struct reported *reported =
		mmap(NULL, 2 * sizeof *reported, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*outcome = (struct outcome){ .reported = reported };
	if (reported == MAP_FAILED)
		harness_give_up("mmap", -errno, NULL);
	outcome->child = start(plan, "planted", &gates[0], reported);
	outcome->other = start(plan, "bystander", &gates[1], reported + 1);
	make_set(harness, plan, outcome, wants, &set);
	if (plan->scope != EBPF_SCOPE_ALL) {
		int result = source_set_add(set, outcome->child);

		if (result)
			harness_give_up("scope", result, NULL);
	}
	observe(plan, set, outcome, gates);
	outcome->events = source_set_events(set);
	source_set_free(set);
	gate_close(&gates[0]);
	gate_close(&gates[1]);
}

void outcome_fini(struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->count; i++)
		alloc_free(outcome->records[i]);
	alloc_free(outcome->records);
	munmap(outcome->reported, 2 * sizeof *outcome->reported);
}

static bool is_called(const struct outcome *outcome, const struct event_header *record, const char *name)
{
	return strcmp(outcome->types[record->type]->name, name) == 0;
}

const struct event_header *record_get(const struct outcome *outcome, const char *name, size_t n)
{
	for (size_t i = 0; i < outcome->count; i++) {
		const struct event_header *record = (const void *)outcome->records[i];

		if (is_called(outcome, record, name) && n-- == 0)
			return record;
	}
	return NULL;
}

size_t record_count(const struct outcome *outcome, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < outcome->count; i++)
		count += is_called(outcome, (const void *)outcome->records[i], name);
	return count;
}

static const struct event_field *field_of(const struct outcome *outcome, const struct event_header *record,
					  const char *name)
{
	const struct event_field *field = record ? event_field_find(outcome->types[record->type], name) : NULL;

	if (!field)
		harness_give_up(name, record ? -ENOENT : -ESRCH, NULL);
	return field;
}

uint64_t field_number(const struct outcome *outcome, const struct event_header *record, const char *name)
{
	const struct event_field *field = field_of(outcome, record, name);
	uint64_t value = 0;

	memcpy(&value, (const char *)record + field->offset, field->bytes < 8 ? field->bytes : 8);
	return value;
}

const char *field_text(const struct outcome *outcome, const struct event_header *record, const char *name)
{
	return (const char *)record + field_of(outcome, record, name)->offset;
}

long plant_call(long number, const long *args)
{
	return syscall(number, args[0], args[1], args[2], args[3], args[4]);
}

size_t harness_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static bool has_tracepoint(const struct event_type *type, char *path, size_t size)
{
	const char *tracepoint = type->hook_count == 1 ? type->hooks[0].tracepoint : "";
	const char *colon = strchr(tracepoint, ':'), *folder = event_tracefs_folder();

	if (!folder || !colon || strcmp(colon + 1, type->name))
		return false;
	snprintf(path, size, "%s/events/%.*s/%s/format", folder, (int)(colon - tracepoint), tracepoint, colon + 1);
	return access(path, R_OK) == 0;
}

bool harness_add_twin(struct event_catalog *catalog, const struct event_type *type)
{
	static char text[1 << 16];
	struct event_format *format = calloc(1, sizeof *format);
	char path[256], name[128];
	struct event_hook source = { .paths = format->paths };
	struct event_type_spec spec = { .name = name, .fields = format->fields, .hooks = &source, .hook_count = 1 };
	const struct event_type *added;
	bool done = false;
	FILE *file = has_tracepoint(type, path, sizeof path) ? fopen(path, "r") : NULL;

	if (file) {
		size_t length = fread(text, 1, sizeof text, file);

		fclose(file);
		snprintf(name, sizeof name, "twin_%s", type->name);
		source.tracepoint = type->hooks[0].tracepoint;
		done = event_format_read(catalog->arena, text, length, format) == 0;
		spec.field_count = format->count;
		done = done && event_catalog_add(catalog, &spec, &added) == 0;
	}
	free(format);
	return done;
}

bool harness_offers(const struct harness *harness, const char *name)
{
	const struct event_type *type = event_catalog_find(harness->catalog, name);
	char reason[sizeof harness_skipped];

	if (source_available(harness->btf, type, 0, reason, sizeof reason) > 0)
		return true;
	memcpy(harness_skipped, reason, sizeof reason);
	return false;
}

void harness_check_header(const struct outcome *outcome, const struct event_header *record)
{
	CHECK(record->ts >= outcome->begin_ns && record->ts <= outcome->end_ns);
	CHECK_EQUAL(record->pid, outcome->child);
	CHECK_EQUAL(record->tid, outcome->child);
	CHECK(record->cpu < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	CHECK_TEXT(record->comm, "planted");
}

void harness_check_order(const struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->count; i++) {
		const struct event_header *record = (const void *)outcome->records[i];

		CHECK_EQUAL(record->seq, i + 1);
	}
	CHECK_EQUAL(outcome->lost, 0);
	CHECK_EQUAL(outcome->events, outcome->count);
}

int harness_main(int argc, char **argv, const struct harness_test *tests, size_t count)
{
	struct harness harness;
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/linux.events");

	if (result)
		return result;
	harness.cautious = argc > 2 && strcmp(argv[2], "cautious") == 0;
	for (size_t i = 0; i < count; i++) {
		int before = check_failures;

		if (argc > 2 && !harness.cautious && strcmp(argv[2], tests[i].name) != 0)
			continue;
		*harness_skipped = '\0';
		tests[i].run(&harness);
		printf("%s - %s%s%s\n", check_failures > before ? "not ok" : "ok", tests[i].name,
		       *harness_skipped ? " # SKIP " : "", harness_skipped);
	}
	harness_fini(&harness);
	return check_failures ? 1 : 0;
}
