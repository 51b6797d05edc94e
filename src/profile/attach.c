// SPDX-License-Identifier: BSD-2-Clause
/* Decides which simulated function a sampled one is. */

#include "profile/attach.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

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
	for (size_t step = 0; (function = hash_table_next(table, hash_text(wanted), &step)) != HASH_NONE;) {
		profile_canonical(profile_name(simulated, function), other);
		if (strcmp(wanted, other) == 0)
			consider(&choice, simulated, function, object);
	}
	return choice.best;
}

int profile_attach(const struct profile *sampled, const struct profile *simulated, uint32_t *to)
{
	struct hash_table table = { 0 };

	if (hash_table_reserve(&table, NULL, simulated->function_count + 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < simulated->function_count; i++) {
		char name[PROFILE_CANONICAL_BYTES];

		profile_canonical(profile_name(simulated, i), name);
		hash_table_add(&table, hash_text(name), i);
	}
	for (uint32_t i = 0; i < sampled->function_count; i++) {
		const char *name = profile_name(sampled, i);
		const char *object = profile_get_text(sampled, sampled->functions[i].object);

		to[i] = find_exact(simulated, name, object);
		if (to[i] == HASH_NONE)
			to[i] = find_canonical(simulated, &table, name, object);
	}
	hash_table_fini(&table);
	return 0;
}
