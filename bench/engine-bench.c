// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast the engine is on records in memory. Prints medians and the spread of several rounds per workload; nothing
 * here decides whether a build is good.
 *
 * Usage: engine-bench [ROUNDS]
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "event/catalog.h"
#include "lang/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 1 << 20, THREADS = 64, ROUNDS_MAX = 101 };

/* One layout for all types: the largest has seven fields. */
struct record {
	struct event_header header;
	uint64_t fields[7];
};

static const char types[] =
	"EVENT sys_enter { id: i64, arg0: u64, arg1: u64, arg2: u64, arg3: u64, arg4: u64, arg5: u64 }\n"
	"EVENT sys_exit { id: i64, ret: i64 }\n"
	"EVENT fault { address: addr }\n"
	"EVENT A { x: i64 }\nEVENT B { x: i64 }\n"
	"EVENT opened { fd: i32 }\nEVENT closed { fd: i32 }\nEVENT used { fd: i32 }\nEVENT ended { }\n";

struct bench {
	const char *name, *rules;
	/* Fills the records. Returns how many of the first ones are not timed. */
	size_t (*fill)(const struct program *program, struct record *records, size_t size);
	size_t size; /* handed to fill */
};

static uint64_t matches;

static int on_match(void *context, const struct program_match *match)
{
	(void)context;
	(void)match;
	matches++;
	return 0;
}

static uint64_t seed = 1;

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % limit);
}

static void fail(const struct asterism_diag *diag)
{
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	fprintf(stderr, "engine-bench: %s\n", message ? message->text : "out of memory");
	exit(1);
}

static struct program *compile(const char *rules)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct lang_input input = { .file = "bench", .text = rules, .length = strlen(rules) };
	struct lang_program *unit;
	struct program *program;
	void *bytes;
	size_t length;

	if (event_catalog_parse(catalog, "types", types, strlen(types), diag) ||
	    lang_read(&input, 1, catalog, diag, &unit) ||
	    automaton_compile(lang_program_unit(unit), catalog, diag, &bytes, &length) ||
	    program_load(bytes, length, "bench", diag, &program))
		fail(diag);
	alloc_free(bytes);
	lang_program_free(unit);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return program;
}

static void set(struct record *record, const struct program *program, const char *type, uint64_t ts)
{
	memset(record, 0, sizeof *record);
	record->header.ts = ts;
	record->header.type = program_type_find(program, type);
}

/* Threads that enter and leave system calls in turn, one in a thousand slowly. */
static size_t fill_syscalls(const struct program *program, struct record *records, size_t size)
{
	bool inside[THREADS] = { false };
	uint64_t ts = 1000;

	(void)size;
	for (size_t i = 0; i < EVENTS; i++) {
		uint32_t thread = below(THREADS);

		ts += below(1000) ? 500 : 3000000;
		set(&records[i], program, inside[thread] ? "sys_exit" : "sys_enter", ts);
		records[i].header.pid = 100 + thread / 4;
		records[i].header.tid = 100 + thread;
		records[i].fields[0] = below(330);
		inside[thread] = !inside[thread];
	}
	return 0;
}

/* size runs wait, each under its own key; then runs complete and are opened again at random keys. */
static size_t fill_open_runs(const struct program *program, struct record *records, size_t size)
{
	for (size_t i = 0; i < EVENTS; i++) {
		bool opens = i < size || (i - size) % 2;

		set(&records[i], program, opens ? "A" : "B", i);
		if (i < size)
			records[i].fields[0] = i;
		else
			records[i].fields[0] = opens ? records[i - 1].fields[0] : below((uint32_t)size);
	}
	return size;
}

/* The same, but only ten keys are ever busy, however many wait. */
static size_t fill_quiet_runs(const struct program *program, struct record *records, size_t size)
{
	fill_open_runs(program, records, size);
	for (size_t i = size; i < EVENTS; i++)
		records[i].fields[0] %= 10;
	return size;
}

/* size descriptors are closed; then one at a time is used, used again, opened and closed. */
static size_t fill_descriptors(const struct program *program, struct record *records, size_t size)
{
	static const char *const phases[] = { "used", "used", "opened", "closed" };
	uint32_t descriptor = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		size_t phase = (i - size) % 4;

		if (i < size)
			descriptor = (uint32_t)i;
		else if (phase == 0)
			descriptor = below((uint32_t)size);
		set(&records[i], program, i < size ? "closed" : phases[phase], 1000 + 100 * i);
		records[i].header.pid = records[i].header.tid = 100 + descriptor / 64;
		records[i].fields[0] = descriptor % 64;
	}
	return size;
}

/* The same, but only ten of them are ever busy. */
static size_t fill_quiet_descriptors(const struct program *program, struct record *records, size_t size)
{
	fill_descriptors(program, records, size);
	for (size_t i = size; i < EVENTS; i++) {
		records[i].header.pid = records[i].header.tid = 100;
		records[i].fields[0] %= size < 10 ? size : 10;
	}
	return size;
}

/* Each event opens a run and counts in as many as are open. */
static size_t fill_faults(const struct program *program, struct record *records, size_t size)
{
	for (size_t i = 0; i < EVENTS; i++) {
		set(&records[i], program, "fault", i * 1000000000 / size);
		records[i].header.pid = 7;
	}
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* others may use the machine, too */
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Seconds that the records from ahead to count take. */
static double round_of(const struct program *program, const struct record *records, size_t ahead, size_t count)
{
	struct engine_options options = { .on_match = on_match };
	struct engine *engine;

	if (engine_new(program, &options, NULL, &engine))
		fail(NULL);
	for (size_t i = 0; i < ahead; i++)
		engine_feed(engine, &records[i].header);
	matches = 0;
	double start = now();
	for (size_t i = ahead; i < count; i++)
		engine_feed(engine, &records[i].header);
	double taken = now() - start;
	engine_free(engine);
	return taken;
}

static void run(const struct bench *bench, struct record *records, int rounds, size_t events)
{
	struct program *program = compile(bench->rules);
	size_t ahead = bench->fill(program, records, bench->size);
	double seconds[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		seconds[i] = round_of(program, records, ahead, events);
	qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
	double count = (double)(events - ahead), median = seconds[rounds / 2];
	printf("%-34s %8.2f M events/s  %7.1f ns/event  (%.1f to %.1f)  %llu matches\n", bench->name,
	       count / median / 1e6, median / count * 1e9, seconds[0] / count * 1e9, seconds[rounds - 1] / count * 1e9,
	       (unsigned long long)matches);
	fflush(stdout);
	program_free(program);
}

/* count rules on one type, each for a system call of its own. */
static const char *many_rules(int count)
{
	static char text[1 << 15];
	size_t used = 0;

	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
					 "RULE r%d PATTERN { [sys_enter:a, sys_exit:b] } WHERE { a.id == %d, [tid] }\n",
					 i, i);
	return text;
}

#define OPEN "RULE t PATTERN { [A:a, B:b] } WHERE { [x] } POOL 200000"
#define PAIR "RULE longsyscalls PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 2ms } "

/* What is told of is used twice; `patience` uses are let pass. */
#define DESCRIPTORS(patience)                                                                                      \
	"MACHINE closed_descriptor KEY { pid, fd } POOL 200000 VAR uses: u32; STATE Open { ON closed -> Closed } " \
	"STATE Closed { ENTRY { uses = 0 } ON opened -> END "                                                      \
	"ON used WHERE uses < " patience                                                                           \
	" { uses = uses + 1; WARN \"use {uses} of descriptor {fd}, closed before\" } "                             \
	"AFTER 1h -> END } ON ended BY { pid, * } -> END"

static const struct bench benches[] = {
	{ "one event, all match", "RULE t PATTERN { [sys_enter:a] } RETURN { a.id, a.ts }", fill_syscalls, 0 },
	{ "one event, guard", "RULE t PATTERN { [sys_enter:a] } WHERE { a.id == 257 } RETURN { a.id }", fill_syscalls,
	  0 },
	{ "pair, one join", PAIR "RETURN { a.id, b.ts - a.ts AS took }", fill_syscalls, 0 },
	{ "pair, two joins and a guard",
	  "RULE t PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [pid], [tid], b.ts - a.ts > 2ms, a.id < 300 } "
	  "RETURN { a.id, a.ts, b.ts }",
	  fill_syscalls, 0 },
	{ "pair, WITHIN", "RULE t PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 2ms } WITHIN 1s",
	  fill_syscalls, 0 },
	{ "pair, RETURN SEQUENCE", PAIR "RETURN SEQUENCE", fill_syscalls, 0 },
	{ "negation",
	  "RULE t PATTERN { [sys_enter:a, ~sys_exit, sys_enter:b] } WHERE { [tid], a.id < 300 } RETURN { a.id }",
	  fill_syscalls, 0 },
	{ "negation at a deadline",
	  "RULE t PATTERN { [sys_enter:a, ~sys_exit] } WHERE { [tid] } WITHIN 2ms RETURN { a.id }", fill_syscalls, 0 },
	{ "10 open runs", OPEN, fill_open_runs, 10 },
	{ "1,000 open runs", OPEN, fill_open_runs, 1000 },
	{ "100,000 open runs", OPEN, fill_open_runs, 100000 },
	{ "10 open runs, ten busy", OPEN, fill_quiet_runs, 10 },
	{ "100,000 open runs, ten busy", OPEN, fill_quiet_runs, 100000 },
	{ "machine, no event is for it", DESCRIPTORS("0"), fill_syscalls, 0 },
	{ "machine, 1 instance", DESCRIPTORS("0"), fill_descriptors, 1 },
	{ "machine, 75 instances", DESCRIPTORS("0"), fill_descriptors, 75 },
	{ "machine, 516 instances", DESCRIPTORS("0"), fill_descriptors, 516 },
	{ "machine, 5,241 instances", DESCRIPTORS("0"), fill_descriptors, 5241 },
	{ "machine, 100,000 instances", DESCRIPTORS("0"), fill_descriptors, 100000 },
	{ "machine, 75, ten busy", DESCRIPTORS("0"), fill_quiet_descriptors, 75 },
	{ "machine, 516, ten busy", DESCRIPTORS("0"), fill_quiet_descriptors, 516 },
	{ "machine, 5,241, ten busy", DESCRIPTORS("0"), fill_quiet_descriptors, 5241 },
	{ "machine, 100,000, ten busy", DESCRIPTORS("0"), fill_quiet_descriptors, 100000 },
	{ "machine, every use told", DESCRIPTORS("1000"), fill_quiet_descriptors, 10 },
};

static const struct bench counting = { "fault[>1000], 900 runs open",
				       "RULE t PATTERN { [fault[>1000]:a] } WHERE { [pid] } WITHIN 1s", fill_faults,
				       900 };

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct record *records = calloc(EVENTS, sizeof *records);

	if (!records || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: engine-bench [ROUNDS]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
		run(&benches[i], records, rounds, EVENTS);
	run(&counting, records, rounds, 20000);
	for (int rules = 1; rules <= 100; rules *= 10) {
		char name[40];

		snprintf(name, sizeof name, "%d rule%s, a constant each", rules, rules > 1 ? "s" : "");
		run(&(struct bench){ name, many_rules(rules), fill_syscalls, 0 }, records, rounds, EVENTS);
	}
	free(records);
	return 0;
}
