// SPDX-License-Identifier: BSD-2-Clause
/* Finds the simulated function that a sampled one is. */

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

static const char *file_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By what a function is looked for, the better first. */
enum { EXACT_IN_OBJECT, EXACT, CANONICAL_IN_OBJECT, CANONICAL, NAME_KINDS };

/* Of all functions that a look for their name may mean the costliest: many may have the same. */
struct names {
	const struct profile *simulated;
	struct hash_table table; /* of places in best */
	uint32_t *best;
	size_t count;
};

struct wanted {
	const char *name, *object; /* object: without folders */
	int kind;
	uint64_t hash;
};

static bool is_in_object(int kind)
{
	return kind == EXACT_IN_OBJECT || kind == CANONICAL_IN_OBJECT;
}

static struct wanted want(const struct names *names, int kind, const char *name, const char *canonical,
			  const char *object)
{
	struct wanted wanted = { .name = kind < CANONICAL_IN_OBJECT ? name : canonical,
				 .object = file_base(object),
				 .kind = kind };

	wanted.hash = hash_bytes(names->simulated->seed, wanted.name, strlen(wanted.name));
	wanted.hash = hash_bytes(wanted.hash, &wanted.kind, sizeof wanted.kind);
	if (is_in_object(kind))
		wanted.hash = hash_bytes(wanted.hash, wanted.object, strlen(wanted.object));
	return wanted;
}

static bool is_function_meant(const struct names *names, const struct wanted *wanted, uint32_t function)
{
	const char *name = profile_name(names->simulated, function);
	char canonical[PROFILE_CANONICAL_BYTES];

	if (is_in_object(wanted->kind) &&
	    strcmp(wanted->object,
		   file_base(profile_get_text(names->simulated, names->simulated->functions[function].object))) != 0)
		return false;
	if (wanted->kind < CANONICAL_IN_OBJECT)
		return strcmp(name, wanted->name) == 0;
	profile_canonical(name, canonical);
	return strcmp(canonical, wanted->name) == 0;
}

/* Kinds are apart by their hashes. NULL: there is none. */
static uint32_t *find_best(const struct names *names, const struct wanted *wanted)
{
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&names->table, wanted->hash, &step)) != HASH_NONE;) {
		if (is_function_meant(names, wanted, names->best[number]))
			return &names->best[number];
	}
	return NULL;
}

static void note_names(struct names *names, uint32_t function)
{
	const struct profile *simulated = names->simulated;
	const char *name = profile_name(simulated, function);
	char canonical[PROFILE_CANONICAL_BYTES];

	profile_canonical(name, canonical);
	for (int kind = 0; kind < NAME_KINDS; kind++) {
		struct wanted wanted = want(names, kind, name, canonical,
					    profile_get_text(simulated, simulated->functions[function].object));
		uint32_t *best = find_best(names, &wanted);

		if (best && *profile_self(simulated, function) > *profile_self(simulated, *best))
			*best = function;
		if (best)
			continue;
		hash_table_add(&names->table, wanted.hash, (uint32_t)names->count);
		names->best[names->count++] = function;
	}
}

static void names_fini(struct names *names)
{
	hash_table_fini(&names->table);
	alloc_free(names->best);
}

static int names_init(struct names *names, const struct profile *simulated)
{
	size_t most = NAME_KINDS * simulated->function_count + 1;

	*names = (struct names){ .simulated = simulated, .best = alloc_zero(most, sizeof *names->best) };
	if (!names->best || hash_table_reserve(&names->table, NULL, most))
		return -ENOMEM;
	for (uint32_t i = 0; i < simulated->function_count; i++)
		note_names(names, i);
	return 0;
}

/* First that of the same object. What stands in brackets is no file: the kernel's memcpy is not that of a library. */
static uint32_t find_attached_name(const struct names *names, int first, const char *name, const char *object)
{
	char canonical[PROFILE_CANONICAL_BYTES];

	profile_canonical(name, canonical);
	for (int kind = first; kind <= first + (*object != '['); kind++) {
		struct wanted wanted = want(names, kind, name, canonical, object);
		const uint32_t *best = find_best(names, &wanted);

		if (best)
			return *best;
	}
	return HASH_NONE;
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
			ranges[(*count)++] = (struct range){ file_base(profile_get_text(simulated, function->object)),
							     function->low, function->high, i };
	}
	if (ranges)
		qsort(ranges, *count, sizeof *ranges, compare_ranges);
	return ranges;
}

/* A function without a name is an address in its object: it belongs to what begins last before it and goes beyond. */
static uint32_t find_address(const struct range *ranges, size_t count, const char *name, const char *object)
{
	struct range wanted = { .object = file_base(object) };
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
	struct names names;
	size_t count;
	struct range *ranges = make_ranges(simulated, &count);
	int result = names_init(&names, simulated);

	if (!ranges)
		result = -ENOMEM;
	for (uint32_t i = 0; !result && i < sampled->function_count; i++) {
		const char *name = profile_name(sampled, i);
		const char *object = profile_get_text(sampled, sampled->functions[i].object);

		to[i] = find_attached_name(&names, EXACT_IN_OBJECT, name, object);
		if (to[i] == HASH_NONE)
			to[i] = find_address(ranges, count, name, object);
		if (to[i] == HASH_NONE)
			to[i] = find_attached_name(&names, CANONICAL_IN_OBJECT, name, object);
	}
	alloc_free(ranges);
	names_fini(&names);
	return result;
}
