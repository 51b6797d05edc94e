// SPDX-License-Identifier: BSD-2-Clause
/* Memory runs out at every single allocation while sources are made: an error with a sentence, no crash, no descriptor
 * left. */

#include "base/alloc.h"
#include "source-harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int ignore(void *context, const struct event_header *record)
{
	(void)context;
	(void)record;
	return 0;
}

static int make(const struct harness *harness, struct asterism_diag *diag)
{
	static const char *const names[] = { "sys_enter_openat", "sys_exit_openat", "sys_enter", "sched_switch" };
	struct source_want wants[4];
	struct source_set_options options = {
		.wants = wants,
		.count = 4,
		.scope = EBPF_SCOPE_TREE,
		.features = &harness->features,
		.ship.on_event = ignore,
	};
	struct btf_kernel *btf;
	struct source_set *set;

	for (uint32_t i = 0; i < 4; i++)
		wants[i] = (struct source_want){ .type = event_catalog_find(harness->catalog, names[i]), .index = i };
	int result = btf_kernel_open(diag, &btf);

	if (result)
		return result;
	options.btf = btf;
	result = source_set_new(&options, diag, &set);
	if (!result) {
		result = source_set_attach(set, diag);
		source_set_free(set);
	}
	btf_kernel_close(btf);
	return result;
}

int main(int argc, char **argv)
{
	struct harness harness;
	unsigned long n = 1;
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/linux.events");

	if (result)
		return result;
	CHECK_EQUAL(make(&harness, NULL), 0);
	for (result = -ENOMEM; result && check_failures == 0; n++) {
		struct asterism_diag *diag = asterism_diag_new();
		size_t before = harness_descriptors();

		alloc_fail_at(n);
		result = make(&harness, diag);
		alloc_fail_at(0);
		CHECK_EQUAL(harness_descriptors(), before);
		CHECK(result == 0 || result == -ENOMEM);
		CHECK_EQUAL(asterism_diag_count(diag, ASTERISM_ERROR) > 0, result != 0);
		if (check_failures)
			printf("# allocation %lu: %s\n", n, strerror(-result));
		asterism_diag_free(diag);
	}
	printf("%s - %lu allocations fail one after the other\n", check_failures ? "not ok" : "ok", n - 2);
	harness_fini(&harness);
	return check_failures ? 1 : 0;
}
