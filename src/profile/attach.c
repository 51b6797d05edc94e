// SPDX-License-Identifier: BSD-2-Clause
/* Decides which simulated function a sampled one is. */

#include "profile/attach.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a function may lie apart from it, with others between them. */
enum { NEAR_RANGES = 64 };

/* How glibc ends names of variants that it chooses from for the processor at hand. */
static const char *const variants[] = { "_sse2", "_sse3", "_ssse3",   "_sse4", "_avx",  "_evex",
					"_erms", "_fma",  "_generic", "_rtm",  "_ifunc" };

/* What is cut off with all behind it: versions and stubs, parts that the compiler has moved. */
static const char *const suffixes[] = { "@", ".cold", ".part.", ".constprop.", ".isra.", ".localalias", ".lto_priv." };

/* What callgrind calls "(below main)". */
static const char *const below_main[] = { "__libc_start_main", "__libc_start_call_main", "generic_start_main", "_start",
					  "__libc_start_main_impl" };

void profile_canonical(const char *name, char canonical[PROFILE_CANONICAL_BYTES])
{
	size_t length = strnlen(name, PROFILE_CANONICAL_BYTES - 1);
	bool is_variant = false;

	memcpy(canonical, name, length);
	canonical[length] = 0;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		char *found = strstr(canonical + (*canonical != 0), suffixes[i]);

		if (found)
			*found = 0;
	}
	for (size_t i = 0; canonical[0] == '_' && canonical[1] == '_' && i < sizeof variants / sizeof *variants; i++) {
		char *found = strstr(canonical + 2, variants[i]);

		if (found && found > canonical + 2) {
			*found = 0;
			is_variant = true;
		}
	}
	if (is_variant)
		memmove(canonical, canonical + 2, strlen(canonical + 2) + 1);
	for (size_t i = 0; i < sizeof below_main / sizeof *below_main; i++) {
		if (strcmp(canonical, below_main[i]) == 0)
			strcpy(canonical, "(below main)");
	}
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_same_object(const char *a, const char *b)
{
	return strcmp(base_of(a), base_of(b)) == 0;
}

struct choice {
	uint32_t best;
	double cost;
	bool is_object;
};

/* Of several functions that have the name: one in the same object, and the costliest. */
static void consider(struct choice *choice, const struct profile *simulated, uint32_t function, const char *object)
{
	bool is_object = is_same_object(object, profile_get_text(simulated, simulated->functions[function].object));
	double cost = *profile_self(simulated, function);

	/* What stands in brackets is no file: the kernel's memcpy is not that of a library. */
	if (*object == '[' && !is_object)
		return;
	if (choice->best != HASH_NONE &&
	    (choice->is_object > is_object || (choice->is_object == is_object && choice->cost >= cost)))
		return;
	*choice = (struct choice){ .best = function, .cost = cost, .is_object = is_object };
}

static uint32_t find_exact(const struct profile *simulated, const char *name, const char *object)
{
	struct choice choice = { .best = HASH_NONE };
	uint32_t function;

	for (size_t step = 0; (function = profile_find_name(simulated, name, &step)) != HASH_NONE;)
		consider(&choice, simulated, function, object);
	return choice.best;
}

static uint32_t find_canonical(const struct profile *simulated, const struct hash_table *table, const char *name,
			       const char *object)
{
	char wanted[PROFILE_CANONICAL_BYTES], other[PROFILE_CANONICAL_BYTES];
	struct choice choice = { .best = HASH_NONE };
	uint32_t function;

	profile_canonical(name, wanted);
	for (size_t step = 0; (function = hash_table_next(table, hash_bytes(simulated->seed, wanted, strlen(wanted)),
							  &step)) != HASH_NONE;) {
		profile_canonical(profile_name(simulated, function), other);
		if (strcmp(wanted, other) == 0)
			consider(&choice, simulated, function, object);
	}
	return choice.best;
}

/* Functions whose addresses are known, by object and first address. */
struct range {
	const char *object; /* without folders */
	uint64_t low, high;
	uint32_t function;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;
	int order = strcmp(left->object, right->object);

	if (order)
		return order;
	return left->low < right->low ? -1 : left->low > right->low;
}

static struct range *make_ranges(const struct profile *simulated, size_t *count)
{
	struct range *ranges = alloc_zero(simulated->function_count + 1, sizeof *ranges);

	*count = 0;
	for (uint32_t i = 0; ranges && i < simulated->function_count; i++) {
		const struct profile_function *function = &simulated->functions[i];

		if (function->low <= function->high)
			ranges[(*count)++] = (struct range){ base_of(profile_get_text(simulated, function->object)),
							     function->low, function->high, i };
	}
	if (ranges)
		qsort(ranges, *count, sizeof *ranges, compare_ranges);
	return ranges;
}

/* A function without a name is an address in its object: it belongs to what begins last before it and goes beyond. */
static uint32_t find_address(const struct range *ranges, size_t count, const char *name, const char *object)
{
	struct range wanted = { .object = base_of(object) };
	size_t low = 0, high = count;
	char *end;

	if (name[0] != '0' || name[1] != 'x' || !*object)
		return HASH_NONE;
	wanted.low = strtoull(name, &end, 16);
	if (*end)
		return HASH_NONE;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_ranges(&ranges[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned tries = 0; low-- > 0 && tries < NEAR_RANGES; tries++) {
		if (strcmp(ranges[low].object, wanted.object) != 0)
			break;
		if (ranges[low].high >= wanted.low)
			return ranges[low].function;
	}
	return HASH_NONE;
}

int profile_attach(const struct profile *sampled, const struct profile *simulated, uint32_t *to)
{
	struct hash_table table = { 0 };
	size_t count;
	struct range *ranges = make_ranges(simulated, &count);

	if (!ranges || hash_table_reserve(&table, NULL, simulated->function_count + 1)) {
		alloc_free(ranges);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < simulated->function_count; i++) {
		char name[PROFILE_CANONICAL_BYTES];

		profile_canonical(profile_name(simulated, i), name);
		hash_table_add(&table, hash_bytes(simulated->seed, name, strlen(name)), i);
	}
	for (uint32_t i = 0; i < sampled->function_count; i++) {
		const char *name = profile_name(sampled, i);
		const char *object = profile_get_text(sampled, sampled->functions[i].object);

		to[i] = find_exact(simulated, name, object);
		if (to[i] == HASH_NONE)
			to[i] = find_address(ranges, count, name, object);
		if (to[i] == HASH_NONE)
			to[i] = find_canonical(simulated, &table, name, object);
	}
	alloc_free(ranges);
	hash_table_fini(&table);
	return 0;
}
