// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many threads on all CPUs step, move, copy, drop and expire the runs of rules that share keys as much as possible.
 * Afterwards every chain, every stack of free places and every counter must add up.
 */

#include "automaton/compile.h"
#include "base/alloc.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/matcher/matcher-priv.h"
#include "ebpf/source/set.h"
#include "event/catalog.h"
#include "lang/parse.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77, THREADS = 6, SECONDS = 4, RING_BYTES = 1 << 20 };

static const char rules_text[] =
	"RULE one_list PATTERN { [sys_enter: a, sys_exit: b] } WHERE { a.id == 110, b.id == 110, b.ts - a.ts > 1s } "
	"POOL 50\n"
	"RULE shared_key PATTERN { [sys_enter: a, sys_exit: b] } WHERE { [id], a.arg0 == 1 } POOL 100\n"
	"RULE thread PATTERN { [sys_enter: a, sys_exit: b] } WHERE { [tid], b.ts - a.ts > 1s }\n"
	"RULE moves PATTERN { [sys_enter: a, sys_enter: b, sys_exit: c] } WHERE { b.arg0 == a.arg1, c.id == b.id,\n"
	"  c.ts - a.ts > 10s } POOL 200\n"
	"RULE any SKIPTILLANY PATTERN { [sys_enter: a, sys_enter: b, sys_exit: c] } WHERE { [id], a.arg0 == 2 }\n"
	"  WITHIN 200us POOL 70\n"
	"RULE drops PATTERN { [sys_enter: a, sys_exit: b] } WHERE { [id] } AFTER MATCH DROP POOL 40\n"
	"RULE array PATTERN { [sys_enter[>5]: a, sys_exit: b] } WHERE { [cpu], b.id == 39 } POOL 30\n"
	"RULE absent PATTERN { [sys_enter: a, ~sys_exit: b] } WHERE { a.id == 39, a.arg0 == 3, b.id == 1000 } WITHIN "
	"1ms\n"
	"RULE strict STRICTPARTITION PATTERN { [sys_enter: a, sys_exit: b, sys_enter: c] } WHERE { [tid], c.id == 39 } "
	"POOL 60\n"
	"RULE wakes PATTERN { [sched_waking: w, sched_switch: s] } WHERE { s.next_pid == w.target_tid } POOL 20\n";

static int failures;

#define CHECK(condition, ...)                         \
	do {                                          \
		if (!(condition)) {                   \
			failures++;                   \
			printf("FAIL: " __VA_ARGS__); \
			printf("\n");                 \
		}                                     \
	} while (0)

struct stress {
	struct asterism_diag *diag;
	struct event_catalog *catalog;
	struct lang_program *parsed;
	struct program *program;
	struct btf_kernel *btf;
	struct ebpf_features features;
	struct ebpf_matcher *matcher;
	struct source_set *sources;
	bool *from_interrupt;
	uint64_t reported;
};

static int die(const struct stress *stress, const char *what, int result)
{
	const struct asterism_message *message;

	fprintf(stderr, "%s: %s\n", what, strerror(-result));
	for (size_t i = 0; (message = asterism_diag_get(stress->diag, i)); i++)
		fprintf(stderr, "%s\n", message->text);
	exit(1);
}

static int count_match(void *context, const struct program_match *match)
{
	struct stress *stress = context;

	stress->reported++;
	CHECK(match->rule < stress->program->rule_count, "a match of rule %u", match->rule);
	return 0;
}

static void compile(struct stress *stress, const char *catalog)
{
	struct lang_input input = { .file = "stress", .text = rules_text, .length = sizeof rules_text - 1 };
	void *image = NULL;
	size_t bytes;
	int result;

	stress->diag = asterism_diag_new();
	stress->catalog = event_catalog_new();
	result = event_catalog_read(stress->catalog, NULL, catalog, stress->diag);
	if (!result)
		result = lang_read(&input, 1, stress->catalog, stress->diag, &stress->parsed);
	if (!result)
		result = automaton_compile(lang_program_unit(stress->parsed), stress->catalog, stress->diag, &image,
					   &bytes);
	if (!result)
		result = program_load(image, bytes, "stress", stress->diag, &stress->program);
	alloc_free(image);
	if (result)
		die(stress, "compiling", result);
}

static void codegen_begin(void *context, struct ebpf_asm *as, const struct source_unit *unit,
			  const struct source_style *style, const struct scope *scope)
{
	struct stress *stress = context;
	struct ebpf_matcher_part *parts = alloc_zero(unit->entry_count, sizeof *parts);
	size_t count = 0;

	(void)style;
	(void)scope;
	for (size_t i = 0; i < unit->entry_count; i++)
		if (unit->group != SOURCE_GROUP_OWN)
			parts[count++] = (struct ebpf_matcher_part){ unit->entries[i].want->index, unit->group };
	ebpf_matcher_begin(stress->matcher, as, parts, count);
	alloc_free(parts);
}

static void emit_body(void *context, struct ebpf_asm *as, const struct source_entry *entry,
		      const struct source_style *style, const struct scope *scope)
{
	(void)style;
	(void)scope;
	struct stress *stress = context;

	ebpf_matcher_emit(stress->matcher, as, entry->want->index, entry->want->group, 0);
}

static void make_matcher(struct stress *stress, bool lock_out)
{
	uint32_t types = stress->program->type_count;
	struct ebpf_matcher_options options = {
		.features = &stress->features,
		.live = true,
		.ring_bytes = RING_BYTES,
		.on_match = count_match,
		.context = stress,
	};

	stress->from_interrupt = alloc_zero(types, sizeof *stress->from_interrupt);
	for (uint32_t i = 0; i < types; i++)
		stress->from_interrupt[i] = source_may_interrupt(event_catalog_find(
			stress->catalog, program_text(stress->program, stress->program->types[i].name)));
	options.from_interrupt = stress->from_interrupt;
	if (lock_out) {
		options.irq_save = (int32_t)btf_kernel_find(stress->btf, BTF_KIND_FUNC, "bpf_local_irq_save");
		options.irq_restore = (int32_t)btf_kernel_find(stress->btf, BTF_KIND_FUNC, "bpf_local_irq_restore");
	}
	int result = ebpf_matcher_new(stress->program, &options, stress->diag, &stress->matcher);

	if (result)
		die(stress, "making the matcher", result);
}

static void attach(struct stress *stress, struct source_want *wants, struct ebpf_needs *needs)
{
	struct source_set_options options = {
		.wants = wants,
		.scope = EBPF_SCOPE_ALL,
		.btf = stress->btf,
		.features = &stress->features,
		.begin = codegen_begin,
		.body = emit_body,
		.body_context = stress,
	};

	for (uint32_t type = 0; type < stress->program->type_count; type++) {
		CHECK(ebpf_matcher_parts(stress->matcher, type) == 1, "type %u comes in parts", type);
		ebpf_matcher_needs(stress->matcher, type, 0, &needs[type]);
		wants[options.count++] = (struct source_want){
			.type = event_catalog_find(stress->catalog,
						   program_text(stress->program, stress->program->types[type].name)),
			.index = type,
			.counted = true,
			.needs = &needs[type],
		};
	}
	int result = source_set_new(&options, stress->diag, &stress->sources);

	if (!result)
		result = source_set_attach(stress->sources, stress->diag);
	if (result)
		die(stress, "attaching", result);
}

static void *hammer(void *nothing)
{
	unsigned long numbers[] = { SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid };

	(void)nothing;
	for (unsigned long i = 0;; i++) {
		syscall((long)numbers[i % 4], i % 5, i / 3 % 5);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static pid_t start_load(void)
{
	pid_t child = fork();
	pthread_t thread;

	if (child)
		return child;
	for (int i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, hammer, NULL);
	hammer(NULL);
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Marks a run as seen once; a second time, or one beyond the used ones, is a failure. */
static bool mark(uint8_t *seen, uint64_t used, uint32_t run, const char *where)
{
	if (run > used || seen[run]) {
		CHECK(false, "%s: run %u of %llu %s", where, run, (unsigned long long)used,
		      run > used ? "was never used" : "is in two places");
		return false;
	}
	seen[run] = 1;
	return true;
}

static const struct matcher_run *run_at(const struct stress *stress, const struct memory_rule *rule, uint32_t run)
{
	return (const struct matcher_run *)((uint8_t *)memory_at(&stress->matcher->memory, &rule->runs) +
					    (size_t)run * rule->stride);
}

static uint64_t check_chain(const struct stress *stress, const struct memory_rule *rule, uint32_t bucket, uint8_t *seen,
			    uint64_t used)
{
	const struct matcher_bucket *buckets = memory_at(&stress->matcher->memory, &rule->buckets);
	uint32_t before = 0, run = buckets[bucket].head;
	uint64_t count = 0;

	CHECK(buckets[bucket].lock == 0, "bucket %u is locked", bucket);
	while (run && mark(seen, used, run, "chain")) {
		const struct matcher_run *at = run_at(stress, rule, run);

		CHECK(at->bucket == bucket + 1, "a run in bucket %u says %u", bucket, at->bucket);
		CHECK(at->prev == before, "a chain does not lead back");
		before = run;
		run = at->next;
		count++;
	}
	CHECK(!count || buckets[bucket].tail == before, "the tail of bucket %u is not the last run", bucket);
	return count;
}

static void check_rule(const struct stress *stress, uint32_t index)
{
	const struct plan_rule *rule = &stress->matcher->plan->rules[index];
	const struct memory_rule *at = &stress->matcher->memory.rules[index];
	const struct matcher_control *control = memory_at(&stress->matcher->memory, &at->control);
	const struct matcher_cpu *cpus = memory_at(&stress->matcher->memory, &at->cpus);
	uint64_t linked = 0, free_places = 0, used = control->used;
	uint8_t *seen = alloc_zero(rule->rule->pool + 1, 1);

	CHECK(used <= rule->rule->pool, "more places used than there are");
	for (uint32_t bucket = 0; bucket < 1u << rule->bucket_bits; bucket++)
		linked += check_chain(stress, at, bucket, seen, used);
	for (uint32_t cpu = 0; cpu < stress->matcher->memory.cpu_count; cpu++) {
		for (uint32_t run = cpus[cpu].free; run && mark(seen, used, run, "free places"); free_places++)
			run = run_at(stress, at, run)->next;
		free_places += cpus[cpu].kept && mark(seen, used, cpus[cpu].kept, "kept places");
	}
	CHECK(linked + free_places == used, "rule %s: %llu linked, %llu free, %llu used",
	      program_text(stress->program, rule->rule->name), (unsigned long long)linked,
	      (unsigned long long)free_places, (unsigned long long)used);
	printf("%s: %llu linked, %llu free, %llu opened, %llu matches, %llu refused, %llu lost\n",
	       program_text(stress->program, rule->rule->name), (unsigned long long)linked,
	       (unsigned long long)free_places,
	       (unsigned long long)(cpus[0].opened + (stress->matcher->memory.cpu_count > 1 ? cpus[1].opened : 0)),
	       (unsigned long long)control->matches, (unsigned long long)control->refused,
	       (unsigned long long)control->lost);
	CHECK(cpus[0].opened > 0, "the rule never opened a run");
	alloc_free(seen);
}

static void run(struct stress *stress, bool lock_out)
{
	struct source_want *wants = alloc_zero(stress->program->type_count, sizeof *wants);
	struct ebpf_needs *needs = alloc_zero(stress->program->type_count, sizeof *needs);
	uint64_t end = now_ns() + (uint64_t)SECONDS * 1000000000, wait, counted = 0;
	pid_t load;

	stress->reported = 0;
	make_matcher(stress, lock_out);
	attach(stress, wants, needs);
	load = start_load();
	while (now_ns() < end) {
		int result = ebpf_matcher_poll(stress->matcher, now_ns() - 1000000, &wait);

		if (result)
			die(stress, "polling", result);
		usleep(500);
	}
	kill(load, SIGKILL);
	waitpid(load, NULL, 0);
	source_set_free(stress->sources);
	usleep(100000); /* whoever was still in a program is done */
	ebpf_matcher_poll(stress->matcher, 0, &wait);
	for (uint32_t i = 0; i < stress->program->rule_count; i++) {
		const struct matcher_control *control =
			memory_at(&stress->matcher->memory, &stress->matcher->memory.rules[i].control);

		check_rule(stress, i);
		counted += control->matches;
	}
	CHECK(counted == stress->reported, "%llu matches counted, %llu told", (unsigned long long)counted,
	      (unsigned long long)stress->reported);
	ebpf_matcher_free(stress->matcher);
	alloc_free(stress->from_interrupt);
	alloc_free(wants);
	alloc_free(needs);
}

int main(int argc, char **argv)
{
	struct stress stress = { 0 };

	if (geteuid() != 0 || argc < 2) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	compile(&stress, argv[1]);
	int result = btf_kernel_open(stress.diag, &stress.btf);

	if (!result)
		result = ebpf_features_probe(&stress.features);
	if (result) {
		printf("skipped: this kernel runs no rules\n");
		return SKIPPED;
	}
	run(&stress, true);
	printf("without the means to lock interrupts out:\n");
	run(&stress, false);
	btf_kernel_close(stress.btf);
	program_free(stress.program);
	lang_program_free(stress.parsed);
	event_catalog_free(stress.catalog);
	asterism_diag_free(stress.diag);
	printf("%d failures\n", failures);
	return failures != 0;
}
