// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs the same events through the engine and through generated code in the kernel, and compares every match and every
 * counter. Arguments: rule files, each followed by its events as JSON lines, or -d and a folder of case folders that
 * hold rule.rule and events.jsonl; before them -v says what is compared.
 *
 * Where a rule returns more of a sequence than the kernel keeps, the flag is taken off, and the rest is compared.
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "ebpf/ebpf.h"
#include "engine/engine.h"
#include "lang/parse.h"
#include "trace/jsonl/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SKIPPED = 77, REASON_BYTES = 200 };

static bool verbose;

/* A match kept for comparing. */
struct kept {
	uint32_t rule, notice, cpu, pid, tid;
	bool tainted;
	uint64_t ts;
	char comm[EVENT_COMM_BYTES];
	uint8_t *slots;
	uint8_t *events; /* of RETURN SEQUENCE: elements and records */
	size_t event_bytes;
};

struct side {
	const struct program *program;
	struct kept *matches;
	size_t count, capacity;
	struct program_rule_stats *stats;
};

struct test {
	const char *rules, *events;
	struct asterism_diag *diag;
	struct event_catalog *catalog;
	struct lang_program *parsed;
	struct program *program;
	bool *excluded;
	uint32_t compared;
	struct side engine, kernel;
};

static int keep_events(const struct side *side, struct kept *kept, const struct program_match *match)
{
	for (uint32_t i = 0; i < match->event_count; i++) {
		const struct program_match_event *event = &match->events[i];
		uint32_t bytes = side->program->types[event->record->type].record_bytes;
		uint8_t *grown = alloc_resize(kept->events, kept->event_bytes + bytes + sizeof event->element, 1);

		if (!grown)
			return -ENOMEM;
		kept->events = grown;
		memcpy(grown + kept->event_bytes, &event->element, sizeof event->element);
		memcpy(grown + kept->event_bytes + sizeof event->element, event->record, bytes);
		kept->event_bytes += bytes + sizeof event->element;
	}
	return 0;
}

static int keep(void *context, const struct program_match *match)
{
	struct side *side = context;
	uint32_t bytes = side->program->rules[match->rule].slot_bytes;
	struct kept *kept;

	if (alloc_grow(&side->matches, &side->capacity, side->count, sizeof *side->matches))
		return -ENOMEM;
	kept = &side->matches[side->count++];
	*kept = (struct kept){ .rule = match->rule,
			       .notice = match->notice,
			       .cpu = match->cpu,
			       .pid = match->pid,
			       .tid = match->tid,
			       .tainted = match->tainted,
			       .ts = match->ts };
	snprintf(kept->comm, sizeof kept->comm, "%s", match->comm);
	kept->slots = alloc_zero(bytes, 1);
	if (!kept->slots)
		return -ENOMEM;
	memcpy(kept->slots, match->slots, bytes);
	return keep_events(side, kept, match);
}

static void side_fini(struct side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		alloc_free(side->matches[i].slots);
		alloc_free(side->matches[i].events);
	}
	alloc_free(side->matches);
	alloc_free(side->stats);
	*side = (struct side){ 0 };
}

static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	struct stat stat;
	char *text;

	if (!file || fstat(fileno(file), &stat)) {
		perror(path);
		exit(1);
	}
	text = alloc_zero((size_t)stat.st_size + 1, 1);
	*length = text ? fread(text, 1, (size_t)stat.st_size, file) : 0;
	fclose(file);
	return text;
}

static int show(const struct asterism_diag *diag, int result)
{
	const struct asterism_message *message;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++)
		fprintf(stderr, "%s\n", message->text);
	return result;
}

static int compile(struct test *test, char *text, size_t length)
{
	struct lang_input input = { .file = test->rules, .text = text, .length = length };
	void *image = NULL;
	size_t image_bytes;
	int result = lang_read(&input, 1, test->catalog, test->diag, &test->parsed);

	if (!result)
		result = automaton_compile(lang_program_unit(test->parsed), test->catalog, test->diag, &image,
					   &image_bytes);
	if (!result)
		result = program_load(image, image_bytes, test->rules, test->diag, &test->program);
	alloc_free(image);
	return result;
}

/* Rules that the kernel cannot run are left to the engine and not compared. */
static void exclude(struct test *test)
{
	char reason[REASON_BYTES];

	test->excluded = alloc_zero(test->program->rule_count, sizeof *test->excluded);
	for (uint32_t i = 0; i < test->program->rule_count; i++) {
		test->excluded[i] = !ebpf_can_run(test->program, i, reason, sizeof reason);
		test->compared += !test->excluded[i];
		if (verbose && test->excluded[i])
			printf("%s: rule %s not in the kernel: %s\n", test->rules,
			       program_text(test->program, test->program->rules[i].name), reason);
	}
}

struct executors {
	struct engine *engine;
	struct ebpf *kernel;
};

static int feed_all(struct test *test, const struct executors *executors)
{
	struct event_source *source = NULL;
	struct event event;
	int fd = open(test->events, O_RDONLY | O_CLOEXEC), result;

	result = fd < 0 ? -errno : trace_jsonl_new(fd, test->events, test->catalog, test->diag, &source);
	while (!result && (result = event_source_next(source, &event)) == 1) {
		event.record->type = program_type_find(test->program, event.type->name);
		result = engine_feed(executors->engine, event.record);
		if (!result)
			result = ebpf_feed(executors->kernel, event.record);
	}
	event_source_free(source);
	if (fd >= 0)
		close(fd);
	return result;
}

static int run(struct test *test)
{
	struct engine_options engine = { .on_match = keep, .context = &test->engine };
	struct ebpf_options kernel = {
		.test_run = true, .excluded = test->excluded, .on_match = keep, .context = &test->kernel
	};
	struct executors executors = { 0 };
	uint32_t rules = test->program->rule_count;
	int result;

	test->engine.program = test->kernel.program = test->program;
	test->engine.stats = alloc_zero(rules, sizeof *test->engine.stats);
	test->kernel.stats = alloc_zero(rules, sizeof *test->kernel.stats);
	result = engine_new(test->program, &engine, test->diag, &executors.engine);
	if (!result)
		result = ebpf_new(test->program, test->catalog, &kernel, test->diag, &executors.kernel);
	if (!result)
		result = feed_all(test, &executors);
	for (uint32_t i = 0; i < rules && !result; i++) {
		engine_stats(executors.engine, i, &test->engine.stats[i]);
		ebpf_stats(executors.kernel, i, &test->kernel.stats[i]);
	}
	ebpf_free(executors.kernel);
	engine_free(executors.engine);
	return result;
}

static void print_match(const char *who, const struct program *program, const struct kept *match)
{
	printf("    %s: %s at %llu, tid %u%s:", who, program_text(program, program->rules[match->rule].name),
	       (unsigned long long)match->ts, match->tid, match->tainted ? ", tainted" : "");
	for (uint32_t i = 0; i < program->rules[match->rule].slot_bytes; i += 8) {
		int64_t word;

		memcpy(&word, match->slots + i, sizeof word);
		printf(" %lld", (long long)word);
	}
	printf(", %zu bytes of events\n", match->event_bytes);
}

static bool same(const struct program *program, const struct kept *a, const struct kept *b)
{
	return a->rule == b->rule && a->notice == b->notice && a->ts == b->ts && a->cpu == b->cpu && a->pid == b->pid &&
	       a->tid == b->tid && a->tainted == b->tainted && !strcmp(a->comm, b->comm) &&
	       !memcmp(a->slots, b->slots, program->rules[a->rule].slot_bytes) && a->event_bytes == b->event_bytes &&
	       (!a->event_bytes || !memcmp(a->events, b->events, a->event_bytes));
}

/* The next match of rule from *at on, or NULL. */
static const struct kept *next_of(const struct side *side, uint32_t rule, size_t *at)
{
	while (*at < side->count && side->matches[*at].rule != rule)
		++*at;
	return *at < side->count ? &side->matches[(*at)++] : NULL;
}

static int compare_matches(const struct test *test, uint32_t rule)
{
	size_t at_engine = 0, at_kernel = 0;

	for (int number = 1;; number++) {
		const struct kept *a = next_of(&test->engine, rule, &at_engine);
		const struct kept *b = next_of(&test->kernel, rule, &at_kernel);

		if (!a && !b)
			return 0;
		if (a && b && same(test->program, a, b))
			continue;
		printf("%s: match %d differs\n", test->rules, number);
		if (a)
			print_match("engine", test->program, a);
		if (b)
			print_match("kernel", test->program, b);
		return 1;
	}
}

static int compare_stats(const struct test *test, uint32_t rule)
{
	const struct program_rule_stats *a = &test->engine.stats[rule], *b = &test->kernel.stats[rule];
	const struct {
		const char *name;
		uint64_t engine, kernel;
	} rows[] = {
		{ "matches", a->matches, b->matches },
		{ "runs_opened", a->runs_opened, b->runs_opened },
		{ "runs_live_max", a->runs_live_max, b->runs_live_max },
		{ "pool_exhausted", a->pool_exhausted, b->pool_exhausted },
		{ "lost", a->lost, b->lost },
		{ "divisions_by_zero", a->divisions_by_zero, b->divisions_by_zero },
	};
	int differ = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].engine != rows[i].kernel) {
			printf("%s: rule %s: %s is %llu in the engine, %llu in the kernel\n", test->rules,
			       program_text(test->program, test->program->rules[rule].name), rows[i].name,
			       (unsigned long long)rows[i].engine, (unsigned long long)rows[i].kernel);
			differ = 1;
		}
	return differ;
}

/* The order over all rules: the kernel's matches must be the engine's without those of excluded rules. */
static int compare_order(const struct test *test)
{
	size_t at = 0;

	for (size_t i = 0; i < test->engine.count; i++) {
		const struct kept *match = &test->engine.matches[i];

		if (test->excluded[match->rule])
			continue;
		if (at >= test->kernel.count || !same(test->program, match, &test->kernel.matches[at])) {
			printf("%s: matches come in another order, from number %zu on\n", test->rules, at + 1);
			return 1;
		}
		at++;
	}
	return 0;
}

static int compare(const struct test *test)
{
	int differ = 0;

	for (uint32_t rule = 0; rule < test->program->rule_count; rule++)
		if (!test->excluded[rule])
			differ |= compare_matches(test, rule) | compare_stats(test, rule);
	return differ ? differ : compare_order(test);
}

static int run_case(const char *rules, const char *events, uint32_t *compared)
{
	struct test test = { .rules = rules, .events = events };
	size_t length;
	char *text = read_file(rules, &length);
	int result;

	test.diag = asterism_diag_new();
	test.catalog = event_catalog_new();
	result = compile(&test, text, length);
	if (!result)
		exclude(&test);
	if (!result)
		result = run(&test);
	if (result) {
		fprintf(stderr, "%s: %s\n", rules, strerror(-result));
		show(test.diag, result);
	} else {
		result = compare(&test);
	}
	*compared += test.compared;
	side_fini(&test.engine);
	side_fini(&test.kernel);
	alloc_free(test.excluded);
	program_free(test.program);
	lang_program_free(test.parsed);
	event_catalog_free(test.catalog);
	asterism_diag_free(test.diag);
	alloc_free(text);
	return result;
}

struct total {
	uint32_t cases, compared, failed;
};

static void count_case(struct total *total, const char *rules, const char *events)
{
	total->cases++;
	total->failed += run_case(rules, events, &total->compared) != 0;
}

/* Cases without an expected match are those that the compiler refuses, or where nothing happens. */
static void run_folder(struct total *total, const char *folder)
{
	char pattern[PATH_MAX], events[PATH_MAX];
	struct stat expected;
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*/rule.rule", folder);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *rules = found.gl_pathv[i];
		int length = (int)(strrchr(rules, '/') - rules);

		snprintf(events, sizeof events, "%.*s/expected.jsonl", length, rules);
		if (stat(events, &expected) || !expected.st_size)
			continue;
		snprintf(events, sizeof events, "%.*s/events.jsonl", length, rules);
		count_case(total, rules, events);
	}
	globfree(&found);
}

int main(int argc, char **argv)
{
	struct total total = { 0 };
	int at = 1;

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (at < argc && !strcmp(argv[at], "-v")) {
		verbose = true;
		at++;
	}
	for (; at + 1 < argc; at += 2)
		if (!strcmp(argv[at], "-d"))
			run_folder(&total, argv[at + 1]);
		else
			count_case(&total, argv[at], argv[at + 1]);
	printf("%u cases, %u rules compared, %u cases differ\n", total.cases, total.compared, total.failed);
	return total.failed || !total.compared;
}
