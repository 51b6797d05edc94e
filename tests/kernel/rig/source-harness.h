/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef KERNEL_SOURCE_HARNESS_H
#define KERNEL_SOURCE_HARNESS_H

/*
 * Runs planted behaviour in a child process while the wanted events are shipped, and keeps the records. A second child,
 * which is not in scope, does the same at the same time: none of its events may show.
 */

#include "ebpf/source/set.h"
#include "event/catalog.h"

#include <sys/types.h>

enum { TYPES_MAX = 16, HARNESS_SKIPPED = 77 };

struct harness {
	struct event_catalog *catalog;
	struct btf_kernel *btf;
	struct ebpf_features features;
	bool cautious;
};

/* What a plant may tell the test: memory shared with the child. */
struct reported {
	uint64_t numbers[16];
	bool ready; /* has its name and waits */
};

struct plan {
	const char *types[TYPES_MAX]; /* ends with NULL */
	enum ebpf_scope scope;
	uint32_t ring_bytes;
	uint32_t late_ms; /* the ring is not read before */
	void (*plant)(struct reported *reported);
};

struct outcome {
	const struct event_type *types[TYPES_MAX];
	char **records; /* struct event_header, in stream order; type = index in types */
	size_t count, capacity;
	pid_t child, other;
	struct reported *reported; /* by the child in scope */
	uint64_t begin_ns, end_ns, lost, events;
	uint64_t lost_before_last; /* told before the last record came */
};

/* Returns 0, or HARNESS_SKIPPED having said why. */
int harness_init(struct harness *harness, const char *catalog);
void harness_fini(struct harness *harness);

/*
 * Runs the tests over the catalog that the first argument names: all, or the one of the name that the second is;
 * "cautious": all with the other form of programs, which read by helper calls only. Gives the status of the process.
 */
struct harness_test {
	const char *name;
	void (*run)(const struct harness *harness);
};

int harness_main(int argc, char **argv, const struct harness_test *tests, size_t count);

/* Why the test at hand could not be run; "" if it was. */
extern char harness_skipped[256];

/* Whether the kernel has the event; if not, the test is skipped with the reason. */
bool harness_offers(const struct harness *harness, const char *name);

/*
 * Adds the type that reads the classic record of type's tracepoint, under the name twin_*. False where type does not
 * stand for one.
 */
bool harness_add_twin(struct event_catalog *catalog, const struct event_type *type);

/* Ends the process with a message where the machinery itself fails. */
void harness_run(const struct harness *harness, const struct plan *plan, struct outcome *outcome);
void outcome_fini(struct outcome *outcome);

/* The same for callers: says what failed, and the messages of diag (or NULL). */
__attribute__((noreturn)) void harness_give_up(const char *what, int error, const struct asterism_diag *diag);

/* How many descriptors this process has open. */
size_t harness_descriptors(void);

/* The n-th (from 0) record of the type called name, or NULL. */
const struct event_header *record_get(const struct outcome *outcome, const char *name, size_t n);
size_t record_count(const struct outcome *outcome, const char *name);

/* The value of a field. An unknown one ends the process. */
uint64_t field_number(const struct outcome *outcome, const struct event_header *record, const char *name);
const char *field_text(const struct outcome *outcome, const struct event_header *record, const char *name);

/* The header of an event that the child raised by itself; that no event is missing. */
void harness_check_header(const struct outcome *outcome, const struct event_header *record);
void harness_check_order(const struct outcome *outcome);

/* A system call, with five arguments, for plants that must do exactly this one. */
long plant_call(long number, const long *args);

/* CHECK counts failures, tells where, and goes on. */
extern int check_failures;
void check_failed(const char *file, int line, const char *text);

#define CHECK(condition)         ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
#define CHECK_EQUAL(got, wanted) check_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(wanted))
#define CHECK_TEXT(got, wanted)  check_text(__FILE__, __LINE__, #got, (got), (wanted))
void check_equal(const char *file, int line, const char *text, uint64_t got, uint64_t wanted);
void check_text(const char *file, int line, const char *text, const char *got, const char *wanted);

#endif
