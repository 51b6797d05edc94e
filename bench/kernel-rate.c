// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: kernel-rate RULES [EVENTS]
 * What the generated code costs per event, without tracepoints and clocks: records made by repeating the types of the
 * rules in turn over some threads are run through it in the kernel. Prints ns per event, the median of many runs.
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "ebpf/batch.h"
#include "lang/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20, THREADS = 64, RUNS = 41 };

static int fail(const struct asterism_diag *diag)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++)
		fprintf(stderr, "%s\n", message->text);
	return 1;
}

static struct program *compile(const char *path, struct event_catalog *catalog, struct asterism_diag *diag)
{
	static char text[TEXT_BYTES];
	FILE *file = fopen(path, "r");
	struct lang_input input = { .file = path, .text = text };
	struct lang_program *parsed = NULL;
	struct program *program = NULL;
	void *image = NULL;
	size_t bytes;

	if (!file)
		return NULL;
	input.length = fread(text, 1, sizeof text, file);
	fclose(file);
	event_catalog_read(catalog, NULL, "linux.events", diag);
	if (!lang_read(&input, 1, catalog, diag, &parsed) &&
	    !automaton_compile(lang_program_unit(parsed), catalog, diag, &image, &bytes))
		program_load(image, bytes, path, diag, &program);
	alloc_free(image);
	lang_program_free(parsed);
	return program;
}

static void fill(struct batch *batch, const struct program *program, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct event_header *record = batch_record(batch, i);

		record->ts = 1000 + i;
		record->seq = i + 1;
		record->type = i % program->type_count;
		record->tid = 1000 + i / program->type_count % THREADS;
		record->pid = 1000;
	}
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct ebpf_features features;
	struct ebpf_matcher_options options = { .features = &features, .ring_bytes = 1 << 20 };
	struct ebpf_matcher *matcher;
	struct batch *batch;
	uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : BATCH_RECORDS_MAX, stride = 64;
	struct program *program = argc > 1 ? compile(argv[1], catalog, diag) : NULL;
	uint64_t took[RUNS];

	if (!program || ebpf_features_probe(&features) || ebpf_matcher_new(program, &options, diag, &matcher))
		return fail(diag);
	for (uint32_t i = 0; i < program->type_count; i++)
		stride = program->types[i].record_bytes > stride ? program->types[i].record_bytes : stride;
	if (batch_new(matcher, stride, diag, &batch))
		return fail(diag);
	fill(batch, program, count);
	for (int i = 0; i < RUNS; i++)
		if (batch_run(batch, count, &took[i]))
			return 1;
	qsort(took, RUNS, sizeof took[0], ascending);
	printf("%.1f ns per event (%.1f .. %.1f)\n", (double)took[RUNS / 2] / count, (double)took[0] / count,
	       (double)took[RUNS - 1] / count);
	for (uint32_t i = 0; i < program->rule_count; i++) {
		struct program_rule_stats stats;

		ebpf_matcher_stats(matcher, i, &stats);
		printf("%s: %llu matches, %llu runs, at most %llu at once, %llu lost\n",
		       program_text(program, program->rules[i].name), (unsigned long long)stats.matches,
		       (unsigned long long)stats.runs_opened, (unsigned long long)stats.runs_live_max,
		       (unsigned long long)stats.lost);
	}
	batch_free(batch);
	ebpf_matcher_free(matcher);
	program_free(program);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return 0;
}
