// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lays out the sums of AGGREGATE: keys in chains by their hash, numbered as they come; a row of sums for each number;
 * and for histograms a sparse table of buckets, in which a place belongs to one bucket of one aggregate of one key.
 * What is found once and then only read - keys, places - all CPUs share; what changes with every match each lane has
 * its own of.
 */

#include "ebpf/memory/layout-priv.h"

#include "base/hash.h"

#include <errno.h>
#include <sys/random.h>

/* As many lanes as there are CPUs, or fewer where their tables would be larger than every kernel takes. */
static uint32_t lanes_of(const struct memory *memory, const struct plan_sums *sums)
{
	uint64_t rows = (sums->keys + 1ull) * sums->row_words * 8 * sums->halves;
	uint64_t buckets = sums->bucket_bits ? 8ull * sums->halves << sums->bucket_bits : 0;
	uint64_t largest = rows > buckets ? rows : buckets;
	uint32_t lanes = 1;

	while (lanes < memory->cpu_count && largest * lanes * 2 <= PLAN_SUMS_BYTES_MAX)
		lanes *= 2;
	return lanes;
}

int memory_lay_out_sums(struct memory *memory, const struct plan_rule *rule)
{
	const struct plan_sums *sums = &rule->sums;
	struct memory_sums *at = &memory->rules[rule->index].sums;
	uint64_t entry = sizeof(struct matcher_sums_key) + sums->key_bytes;
	int error;

	if (!sums->here)
		return 0;
	if (!memory->sums_seed && getrandom(&memory->sums_seed, sizeof memory->sums_seed, GRND_NONBLOCK) < 0)
		memory->sums_seed = HASH_START;
	at->lanes = lanes_of(memory, sums);
	while (1u << at->hash_bits < sums->keys)
		at->hash_bits++;
	error = memory_place(memory, sizeof(struct matcher_sums) * sums->halves, &at->heads);
	if (!error)
		error = memory_place(memory, (uint64_t)sums->indexes * sizeof(uint32_t) << at->hash_bits, &at->chains);
	if (!error)
		error = memory_place(memory, (sums->keys + 1) * entry * sums->indexes, &at->keys);
	if (!error)
		error = memory_place(memory, (sums->keys + 1ull) * sums->row_words * 8 * sums->halves * at->lanes,
				     &at->rows);
	if (error || !sums->bucket_bits)
		return error;
	error = memory_place(memory, (uint64_t)sums->indexes * 8 << sums->bucket_bits, &at->names);
	return error ? error
		     : memory_place(memory, (uint64_t)sums->halves * at->lanes * 8 << sums->bucket_bits, &at->buckets);
}
