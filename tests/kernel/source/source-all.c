// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every event type of the catalogs: does it resolve against the running kernel, and does the verifier accept the
 * program that ships its whole record? Types that this kernel lacks are listed with the reason, which is no failure;
 * ALLOWED_MISSING bounds how many that may be, so that a resolver gone blind is noticed. Where not "every" one is asked
 * for, types whose programs are alike have one of them stand for all when they are loaded alone.
 *
 * usage: source-all CATALOG... [every]
 */

#include "alike.h"
#include "base/alloc.h"
#include "ebpf/source/set.h"
#include "event/catalog.h"
#include "live-rules.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ALLOWED_MISSING = 20, SKIPPED = 77 };

static int ignore(void *context, const struct event_header *record)
{
	(void)context;
	(void)record;
	return 0;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct alike alike;
static bool every;
static size_t loaded;
static bool cautious; /* the form of programs that is used where the verifier refuses the usual one */

static int load(const struct source_want *wants, size_t count, const struct btf_kernel *btf,
		const struct ebpf_features *features, struct source_set **set)
{
	struct source_set_options options = {
		.wants = wants,
		.count = count,
		.scope = EBPF_SCOPE_TREE,
		.cautious = cautious,
		.btf = btf,
		.features = features,
		.ship.on_event = ignore,
	};
	struct asterism_diag *diag = asterism_diag_new();
	int result = source_set_new(&options, diag, set);

	if (result)
		live_rules_remark(diag);
	asterism_diag_free(diag);
	return result;
}

/* Whether its program is to be loaded: only to be resolved otherwise. */
static bool is_to_load(const struct event_type *type)
{
	return !alike_before(&alike, type) || every;
}

static int check_type(const struct event_type *type, const struct btf_kernel *btf, const struct ebpf_features *features,
		      int *missing)
{
	struct source_want want = { .type = type };
	struct source_set *set;
	char reason[256];
	int available = 0;

	for (uint32_t i = 0; i < type->hook_count; i++) {
		int result = source_available(btf, type, i, reason, sizeof reason);

		if (result <= 0)
			printf("# %s, source %u of %u: %s\n", type->name, i + 1, type->hook_count, reason);
		available += result > 0;
	}
	if (!available) {
		(*missing)++;
		return 0;
	}
	if (!is_to_load(type))
		return 0;
	loaded++;
	int result = load(&want, 1, btf, features, &set);

	if (result) {
		printf("not ok - %s does not load: %d\n", type->name, result);
		return 1;
	}
	source_set_free(set);
	return 0;
}

static int check_together(struct event_catalog *catalog, size_t count, const struct btf_kernel *btf,
			  const struct ebpf_features *features)
{
	struct source_want *wants = alloc_zero(count, sizeof *wants);
	struct source_set *set;
	char reason[256];
	size_t wanted = 0;

	for (size_t i = 0; i < count; i++) {
		const struct event_type *type = event_catalog_get(catalog, i);
		bool available = false;

		for (uint32_t j = 0; j < type->hook_count; j++)
			available = available || source_available(btf, type, j, reason, sizeof reason) > 0;
		if (available)
			wants[wanted++] = (struct source_want){ .type = type, .index = (uint32_t)i, .counted = true };
	}
	double start = now_ms();
	int result = load(wants, wanted, btf, features, &set);

	if (result)
		printf("not ok - all types together: %d\n", result);
	else
		printf("# %zu types together: %zu programs in %.0f ms\n", wanted, source_set_programs(set),
		       now_ms() - start);
	if (!result)
		source_set_free(set);
	alloc_free(wants);
	return result ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct ebpf_features features;
	struct btf_kernel *btf;
	int failed = 0, missing = 0;
	size_t count = 0;

	if (geteuid() != 0) {
		printf("skipped: loading programs needs root\n");
		return SKIPPED;
	}
	every = argc > 2 && strcmp(argv[argc - 1], "every") == 0;
	for (int i = 1; i < argc - every; i++) {
		int result = event_catalog_read(catalog, NULL, argv[i], diag);

		if (result) {
			printf("not ok - %s: %s\n", argv[i], strerror(-result));
			live_rules_remark(diag);
			return 1;
		}
	}
	if (ebpf_features_probe(&features) || btf_kernel_open(diag, &btf)) {
		live_rules_remark(diag);
		return 1;
	}
	for (const struct event_type *type; (type = event_catalog_get(catalog, count)); count++)
		failed += check_type(type, btf, &features, &missing);
	printf("# %zu types, %d missing on this kernel, %zu loaded alone\n", count, missing, loaded);
	if (loaded < 90 || missing > ALLOWED_MISSING) {
		printf("not ok - more than %d of %zu types are missing\n", ALLOWED_MISSING, count);
		failed++;
	}
	failed += check_together(catalog, count, btf, &features);
	cautious = true;
	failed += check_together(catalog, count, btf, &features);
	btf_kernel_close(btf);
	event_catalog_free(catalog);
	alike_fini(&alike);
	asterism_diag_free(diag);
	printf("%s\n", failed ? "failed" : "ok");
	return failed ? 1 : 0;
}
