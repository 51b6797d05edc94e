// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the order of conditions costs, on a load where the one that is written first is dear and the last one is nearly
 * always false: records in memory through the engine and, for root, through the generated code in the kernel, with the
 * conditions as written, the cheapest first, and by measures. Rounds take turns; prints medians in ns per event.
 *
 * Usage: order-bench [ROUNDS]
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "ebpf/batch.h"
#include "engine/engine.h"
#include "event/catalog.h"
#include "lang/parse.h"
#include "program/order/order.h"
#include "program/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = BATCH_RECORDS_MAX, PASSES = 16, ROUNDS_MAX = 101, WAYS = 3, LOADS = 2 };

/* The second one's numbers are nearly always as asked, so that costs alone do not tell which condition refuses most. */
static const struct load {
	const char *name, *rules;
	struct program_measure measures[3];
} loads[LOADS] = {
	{ "a pattern first, a rare number last",
	  "EVENT opened { path: string, mode: i64, size: u64 }\n"
	  "RULE r PATTERN { [opened:a] } WHERE { a.path LIKE \"*/cache/*.tmp\", a.mode == 7 }",
	  { { "r", "start", "opened:a", "match", "a.path LIKE \"*/cache/*.tmp\"", false, 1000, 500 },
	    { "r", "start", "opened:a", "match", "a.mode == 7", false, 1000, 1 } } },
	{ "three numbers nearly always so, a rare name last",
	  "EVENT opened { path: string, mode: i64, size: u64 }\n"
	  "RULE r PATTERN { [opened:a] } WHERE { a.mode + 1 < 1000, a.size * 3 < 10000, a.path LIKE \"/etc/*\" }",
	  { { "r", "start", "opened:a", "match", "a.mode + 1 < 1000", false, 1000, 1000 },
	    { "r", "start", "opened:a", "match", "a.size * 3 < 10000", false, 1000, 999 },
	    { "r", "start", "opened:a", "match", "a.path LIKE \"/etc/*\"", false, 1000, 1 } } },
};
static const char *const ways[WAYS] = { "as written", "cheapest first", "as measured" };

static uint64_t matches;

static int on_match(void *context, const struct program_match *match)
{
	(void)context;
	(void)match;
	matches++;
	return 0;
}

static void fail(const struct asterism_diag *diag)
{
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	fprintf(stderr, "order-bench: %s\n", message ? message->text : "out of memory");
	exit(1);
}

/* The rules of load, ordered by measures; the order is as written where as_written. */
static struct program *compile(const char *rules, bool as_written, const struct program_measures *measures)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct lang_input input = { .file = "bench", .text = rules, .length = strlen(rules) };
	struct lang_program *unit;
	struct program *program, *ordered;
	void *bytes;
	size_t length;

	if (lang_read(&input, 1, catalog, diag, &unit) ||
	    automaton_compile(lang_program_unit(unit), catalog, diag, &bytes, &length) ||
	    program_load(bytes, length, "bench", diag, &program))
		fail(diag);
	alloc_free(bytes);
	bytes = NULL;
	if (!as_written && (program_order(program, measures, &bytes, &length) ||
			    (bytes && program_load(bytes, length, "bench", diag, &ordered))))
		fail(diag);
	if (bytes) {
		program_free(program);
		program = ordered;
		alloc_free(bytes);
	}
	lang_program_free(unit);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return program;
}

static void fill(const struct program *program, struct event_header *record, uint32_t i)
{
	const struct program_type *type = program->types;
	const struct program_field *fields = program_fields(program, type);
	char *at = (char *)record;
	uint64_t numbers[2] = { i % 1000 == 0 ? 7 : i % 5, i % 3000 };

	memset(record, 0, type->record_bytes);
	record->ts = 1000 + i;
	record->tid = 1000 + i % 64;
	record->pid = 1000;
	snprintf(at + fields[0].offset, fields[0].bytes - 1,
		 i % 1000 == 0 ? "/etc/service/%u" : "/home/user/project/build/cache/objects/%u.tmp", i);
	memcpy(at + fields[1].offset, &numbers[0], 8);
	memcpy(at + fields[2].offset, &numbers[1], 8);
}

static double round_of_engine(const struct program *program, char *records)
{
	const struct engine_options options = { .on_match = on_match };
	size_t stride = program->types[0].record_bytes;
	struct timespec from, to;
	struct engine *engine;

	if (engine_new(program, &options, NULL, &engine))
		fail(NULL);
	matches = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < EVENTS; i++)
			engine_feed(engine, (struct event_header *)(records + i * stride));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	engine_free(engine);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / EVENTS / PASSES;
}

/* The quickest of some runs, as a run takes as long as what interrupts it, too. */
static double round_in_kernel(struct batch *batch)
{
	uint64_t least = UINT64_MAX, took;

	for (int i = 0; i < PASSES; i++) {
		if (batch_run(batch, EVENTS, &took))
			fail(NULL);
		least = took < least ? took : least;
	}
	return (double)least / EVENTS;
}

static int by_value(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return x < y ? -1 : x > y;
}

static void print(const char *where, double samples[WAYS][ROUNDS_MAX], int rounds)
{
	for (int way = 0; way < WAYS; way++) {
		qsort(samples[way], (size_t)rounds, sizeof *samples[way], by_value);
		printf("  %-10s %-15s %7.1f ns (%.1f to %.1f)  %.2f of as written\n", where, ways[way],
		       samples[way][rounds / 2], samples[way][0], samples[way][rounds - 1],
		       samples[way][rounds / 2] / samples[0][rounds / 2]);
	}
	fflush(stdout);
}

static void engine_rounds(struct program *const *programs, int rounds)
{
	static double samples[WAYS][ROUNDS_MAX];
	size_t stride = programs[0]->types[0].record_bytes;
	char *records = calloc(EVENTS, stride);

	if (!records)
		fail(NULL);
	for (uint32_t i = 0; i < EVENTS; i++)
		fill(programs[0], (struct event_header *)(records + i * stride), i);
	for (int i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			samples[way][i] = round_of_engine(programs[way], records);
	print("engine", samples, rounds);
	free(records);
}

static void kernel_rounds(struct program *const *programs, int rounds)
{
	static double samples[WAYS][ROUNDS_MAX];
	struct asterism_diag *diag = asterism_diag_new();
	struct ebpf_features features;
	const struct ebpf_matcher_options options = { .features = &features, .ring_bytes = 1 << 20 };
	struct ebpf_matcher *matchers[WAYS];
	struct batch *batches[WAYS];

	if (ebpf_features_probe(&features)) {
		puts("  kernel     not measured: that takes root");
		asterism_diag_free(diag);
		return;
	}
	for (int way = 0; way < WAYS; way++) {
		if (ebpf_matcher_new(programs[way], &options, diag, &matchers[way]) ||
		    batch_new(matchers[way], programs[way]->types[0].record_bytes, diag, &batches[way]))
			fail(diag);
		for (uint32_t i = 0; i < EVENTS; i++)
			fill(programs[way], batch_record(batches[way], i), i);
	}
	for (int i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			samples[way][i] = round_in_kernel(batches[way]);
	print("kernel", samples, rounds);
	for (int way = 0; way < WAYS; way++) {
		batch_free(batches[way]);
		ebpf_matcher_free(matchers[way]);
	}
	asterism_diag_free(diag);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 11;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: order-bench [ROUNDS]\n");
		return 2;
	}
	for (size_t i = 0; i < LOADS; i++) {
		struct program_measures *measures = program_measures_new();
		struct program *programs[WAYS];

		for (size_t j = 0; j < 3 && measures && loads[i].measures[j].rule; j++)
			if (program_measures_add(measures, &loads[i].measures[j]))
				fail(NULL);
		for (int way = 0; way < WAYS; way++)
			programs[way] = compile(loads[i].rules, way == 0, way == 2 ? measures : NULL);
		printf("%s\n", loads[i].name);
		engine_rounds(programs, rounds);
		kernel_rounds(programs, rounds);
		for (int way = 0; way < WAYS; way++)
			program_free(programs[way]);
		program_measures_free(measures);
	}
	return 0;
}
