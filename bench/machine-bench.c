// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: machine-bench chain|RULE-FILE [ROUNDS]
 * Machines in memory: the check of the kernel's locks - RULE-FILE is @kernel-locks - beside one written in C over the
 * same events, which must warn as often; or events that raise events, so many deep. Prints ns per event.
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "event/catalog.h"
#include "lang/parse.h"
#include "peers/lock-check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 1 << 20, CPUS = 4, LOCKS = 2000, ROUNDS_MAX = 101, TEXT_BYTES = 1 << 16, CHAIN_MAX = 3 };

enum kind { ACQUIRE, RELEASE, INIT, SCHEDULE, KINDS };

static const char *const names[KINDS] = { "lockdep_lock_acquire", "lockdep_lock_release", "lockdep_init_map",
					  "sched_schedule" };

/* The fields of ACQUIRE. */
enum { RETADDR, SUBCLASS, LOCK, TRYLOCK, READ, HARDIRQS_OFF, HARDIRQ_CONTEXT, FIELDS };

struct record {
	struct event_header header;
	uint64_t fields[FIELDS];
};

static uint64_t warnings, seed = 1;

static int on_match(void *context, const struct program_match *match)
{
	const struct program *program = context;

	warnings += !(program->rules[match->rule].flags & PROGRAM_RULE_SILENT);
	return 0;
}

static void on_warning(const char *what, uint64_t lock, uint64_t here, uint64_t there)
{
	(void)what;
	(void)lock;
	(void)here;
	(void)there;
	warnings++;
}

static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % limit);
}

static struct program *compile(const char *file, const char *text)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct lang_input input = { .file = file, .text = text, .length = strlen(text) };
	struct lang_program *unit;
	struct program *program;
	void *bytes;
	size_t length;

	if (lang_read(&input, 1, catalog, diag, &unit) ||
	    automaton_compile(lang_program_unit(unit), catalog, diag, &bytes, &length) ||
	    program_load(bytes, length, file, diag, &program)) {
		const struct asterism_message *message = asterism_diag_get(diag, 0);

		fprintf(stderr, "machine-bench: %s\n", message ? message->text : "out of memory");
		exit(1);
	}
	alloc_free(bytes);
	lang_program_free(unit);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return program;
}

/* What a processor holds while the events are made up. */
struct processor {
	uint32_t tid, depth, held[3];
};

static uint64_t address(uint32_t lock)
{
	return 0xffff888000000000 + lock * 192ull;
}

static void acquire(struct record *record, struct processor *on, uint32_t lock)
{
	/* Every 50th lock is one of interrupts; a few of its takings forget to turn them off. */
	bool is_irq = lock % 50 == 0, forgets = is_irq && below(2000) == 0;

	record->fields[RETADDR] = 0xffffffff81000000 + lock * 64 + on->depth * 8;
	record->fields[LOCK] = address(lock);
	record->fields[SUBCLASS] = below(100) == 0;
	record->fields[READ] = below(20) == 0;
	record->fields[HARDIRQS_OFF] = is_irq && !forgets;
	record->fields[HARDIRQ_CONTEXT] = is_irq && !forgets && below(2);
	if (!record->fields[READ])
		on->held[on->depth++] = lock;
}

static void make(struct record *record, enum kind *kind, struct processor *on)
{
	if (on->depth < 3 && below(on->depth + 1) == 0) {
		/* Locks nest in the order of their numbers, each with few others; seldom it is the other way round. */
		uint32_t lock = on->depth ? on->held[on->depth - 1] + 1 + below(3) : below(LOCKS - 10);

		*kind = ACQUIRE;
		acquire(record, on, below(5000) || !on->depth || lock < 2 ? lock : lock - 2);
	} else if (on->depth) {
		*kind = below(20000) ? RELEASE : INIT;
		record->fields[*kind == RELEASE ? 1 : 0] = address(on->held[--on->depth]);
	}
}

static void fill(const struct program *program, struct record *records, uint8_t *kinds)
{
	struct processor processors[CPUS] = { 0 };

	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t cpu = below(CPUS);
		struct processor *on = &processors[cpu];
		enum kind kind = SCHEDULE;

		memset(&records[i], 0, sizeof records[i]);
		if (below(20) && (on->depth || below(4)))
			make(&records[i], &kind, on);
		if (kind == SCHEDULE) {
			if (on->depth && below(200)) /* who holds a lock is seldom scheduled out */
				kind = RELEASE, records[i].fields[1] = address(on->held[--on->depth]);
			else
				records[i].fields[0] = 100 + on->tid, on->tid = below(1000), on->depth = 0;
		}
		kinds[i] = (uint8_t)kind;
		records[i].header.ts = 1000 + 100 * i;
		records[i].header.cpu = cpu;
		records[i].header.pid = records[i].header.tid = 100 + on->tid;
		records[i].header.type = program_type_find(program, names[kind]);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* others may use the machine, too */
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A time is worth nothing where the work was not done. */
static void report_losses(const struct engine *engine, const struct program *program)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		struct program_rule_stats stats;

		engine_stats(engine, i, &stats);
		if (stats.lost)
			fprintf(stderr, "machine-bench: %s lost %llu\n", program_text(program, program->rules[i].name),
				(unsigned long long)stats.lost);
	}
}

/* Seconds that the events take the engine. */
static double feed(const struct program *program, const struct record *records)
{
	struct engine_options options = { .on_match = on_match, .context = (void *)program };
	struct engine *engine;

	if (engine_new(program, &options, NULL, &engine))
		exit(1);
	warnings = 0;
	double start = now();
	for (size_t i = 0; i < EVENTS; i++)
		engine_feed(engine, &records[i].header);
	double taken = now() - start;
	report_losses(engine, program);
	engine_free(engine);
	return taken;
}

static void check_event(struct lock_check *check, const struct record *record, enum kind kind)
{
	const uint64_t *fields = record->fields;

	switch (kind) {
	case ACQUIRE:
		lock_check_acquire(check, &(struct lock_taking){ .lock = fields[LOCK],
								 .place = fields[RETADDR],
								 .cpu = record->header.cpu,
								 .tid = record->header.tid,
								 .is_read = fields[READ] != 0,
								 .is_nested = fields[SUBCLASS] || fields[TRYLOCK],
								 .interrupts_off = fields[HARDIRQS_OFF] != 0,
								 .in_interrupt = fields[HARDIRQ_CONTEXT] != 0 });
		break;
	case RELEASE:
		lock_check_release(check, record->header.cpu, fields[1]);
		break;
	case INIT:
		lock_check_init(check, fields[0]);
		break;
	default:
		lock_check_schedule(check, record->header.cpu, (uint32_t)fields[0]);
	}
}

static double check_by_hand(const struct record *records, const uint8_t *kinds)
{
	struct lock_check *check = calloc(1, sizeof *check);

	if (!check)
		exit(1);
	check->on_warning = on_warning;
	warnings = 0;
	double start = now();
	for (size_t i = 0; i < EVENTS; i++)
		check_event(check, &records[i], kinds[i]);
	double taken = now() - start;
	free(check);
	return taken;
}

static void report(const char *name, double seconds)
{
	printf("%-28s %8.2f ns/event  %llu warnings\n", name, seconds / EVENTS * 1e9, (unsigned long long)warnings);
}

static void locks(const char *path, struct record *records, int rounds)
{
	static char text[TEXT_BYTES];
	static uint8_t kinds[EVENTS];
	FILE *file = fopen(path, "r");
	struct program *program;

	if (!file || fread(text, 1, sizeof text - 1, file) == 0) {
		fprintf(stderr, "machine-bench: cannot read %s\n", path);
		exit(1);
	}
	fclose(file);
	program = compile(path, text);
	fill(program, records, kinds);
	for (int i = 0; i < rounds; i++) {
		report("locks, written in C", check_by_hand(records, kinds));
		report("locks, machines", feed(program, records));
	}
	program_free(program);
}

/* depth machines, each raising what the next takes, and one that takes the last. */
static struct program *chain(uint32_t depth)
{
	char text[2048];
	int used = snprintf(text, sizeof text, "EVENT e0 { n: u64 }\n");

	for (uint32_t i = 0; i < depth; i++)
		used += snprintf(
			text + used, sizeof text - (size_t)used,
			"EVENT e%u { n: u64 }\nMACHINE m%u KEY { tid } STATE s { ON e%u:e { EMIT e%u(n = e.n) } }\n",
			i + 1, i, i, i + 1);
	snprintf(text + used, sizeof text - (size_t)used,
		 "MACHINE last KEY { tid } STATE s { ON e%u:e WHERE e.n == 1 { WARN \"{e.n}\" } }\n", depth);
	return compile("chain", text);
}

static void chains(struct record *records, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		for (uint32_t depth = 0; depth <= CHAIN_MAX; depth++) {
			struct program *program = chain(depth);
			char name[40];

			for (uint32_t k = 0; k < EVENTS; k++) {
				memset(&records[k], 0, sizeof records[k]);
				records[k].header.ts = 1000 + k;
				records[k].header.tid = 100 + k % 64;
				records[k].header.type = program_type_find(program, "e0");
				records[k].fields[0] = k;
			}
			double taken = feed(program, records);
			snprintf(name, sizeof name, "chain, %u deep", depth);
			report(name, taken);
			program_free(program);
		}
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	struct record *records = calloc(EVENTS, sizeof *records);

	if (!records || argc < 2 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: machine-bench chain|RULE-FILE [ROUNDS]\n");
		return 2;
	}
	if (strcmp(argv[1], "chain") == 0)
		chains(records, rounds);
	else
		locks(argv[1], records, rounds);
	free(records);
	return 0;
}
