// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adds an element to a measure, whose rows other threads read meanwhile. A row is written by one thread between two
 * steps of its sequence number, which is odd meanwhile: (1) odd, release fence, words; (2) words, even by
 * store-release. A reader takes the number by load-acquire (pairs with 2), the words, an acquire fence, the number
 * again (pairs with 1).
 */

#include "monitor/measure.h"

#include "base/alloc.h"
#include "base/log-linear.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum { WORDS = sizeof(struct measure_sum) / sizeof(uint64_t), ATTEMPTS = 1000 };

_Static_assert(sizeof(struct measure_sum) == 16 * sizeof(uint64_t), "a sum consists of words only");

struct measure_row {
	_Atomic uint64_t sequence;
	_Atomic uint64_t words[WORDS];
};

struct measure {
	_Atomic uint32_t owners;
	struct measure_shape shape;
	struct monitor_keys keys;
	struct measure_row *rows;
	struct measure_sum *sums; /* the evaluator's own */
	_Atomic uint64_t *counts; /* of the buckets, row by row */
	uint32_t bucket_count;
	_Atomic uint64_t other, lost;
	union monitor_value value; /* prepared */
	bool has_value;
};

static bool is_sound(const struct measure_shape *shape)
{
	if (shape->value.word == MONITOR_TEXT || !shape->keys_most || shape->keys_most > MEASURE_KEYS_MAX)
		return false;
	return shape->buckets != MEASURE_LINEAR ||
	       (shape->low < shape->high && shape->bucket_count && shape->bucket_count <= MEASURE_BUCKETS_MAX);
}

static uint32_t buckets_of(const struct measure_shape *shape)
{
	if (shape->buckets == MEASURE_LOG)
		return LOG_LINEAR_BUCKETS;
	return shape->buckets == MEASURE_LINEAR ? shape->bucket_count : 0;
}

int measure_new(const struct measure_shape *shape, struct measure **made)
{
	struct measure *measure;

	if (!is_sound(shape))
		return -EINVAL;
	measure = alloc_zero(1, sizeof *measure);
	if (!measure)
		return -ENOMEM;
	atomic_init(&measure->owners, 1);
	measure->shape = *shape;
	measure->bucket_count = buckets_of(shape);
	int result = monitor_keys_init(&measure->keys, &shape->key, shape->keys_most);
	size_t rows = measure->keys.most;

	measure->rows = alloc_zero(rows, sizeof *measure->rows);
	measure->sums = alloc_zero(rows, sizeof *measure->sums);
	measure->counts = alloc_zero(rows * measure->bucket_count + 1, sizeof *measure->counts);
	if (result || !measure->rows || !measure->sums || !measure->counts) {
		measure_free(measure);
		return -ENOMEM;
	}
	*made = measure;
	return 0;
}

struct measure *measure_share(struct measure *measure)
{
	atomic_fetch_add(&measure->owners, 1);
	return measure;
}

void measure_free(struct measure *measure)
{
	if (!measure || atomic_fetch_sub(&measure->owners, 1) != 1)
		return;
	monitor_keys_fini(&measure->keys);
	alloc_free(measure->rows);
	alloc_free(measure->sums);
	alloc_free(measure->counts);
	alloc_free(measure);
}

static void increment_count(_Atomic uint64_t *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* A time of an element in the order of time. */
static uint64_t add_element_time(struct measure_sum *sum, uint64_t at_ns)
{
	uint64_t before_ns = sum->interval_ns, interval_ns = at_ns - sum->last_ns;

	sum->interval_ns = interval_ns;
	sum->last_ns = at_ns;
	if (sum->count - sum->late == 2) {
		sum->interval_least_ns = sum->interval_most_ns = interval_ns;
		return interval_ns;
	}
	uint64_t difference_ns = interval_ns > before_ns ? interval_ns - before_ns : before_ns - interval_ns;

	if (interval_ns < sum->interval_least_ns)
		sum->interval_least_ns = interval_ns;
	if (interval_ns > sum->interval_most_ns)
		sum->interval_most_ns = interval_ns;
	if (difference_ns > sum->jitter_most_ns)
		sum->jitter_most_ns = difference_ns;
	sum->jitter16_ns += difference_ns - ((sum->jitter16_ns + 8) >> 4);
	return interval_ns;
}

static bool is_less(enum monitor_word word, union monitor_value a, union monitor_value b)
{
	if (word == MONITOR_REAL)
		return a.real < b.real;
	return word == MONITOR_SIGNED ? a.i64 < b.i64 : a.u64 < b.u64;
}

static void add_to_sum(struct measure_sum *sum, enum monitor_word word, union monitor_value value)
{
	uint64_t before = sum->sum.u64;

	if (!sum->values || is_less(word, value, sum->least))
		sum->least = value;
	if (!sum->values || is_less(word, sum->most, value))
		sum->most = value;
	sum->values++;
	if (word == MONITOR_REAL) {
		sum->sum.real += value.real;
		return;
	}
	sum->sum.u64 += value.u64;
	sum->sum_high += (sum->sum.u64 < before) + (word == MONITOR_SIGNED && value.i64 < 0 ? UINT64_MAX : 0);
}

enum { BELOW = -1, ABOVE = -2 };

static int64_t linear_bucket(const struct measure_shape *shape, enum monitor_word word, union monitor_value value)
{
	unsigned __int128 from_low;

	if (word == MONITOR_REAL) {
		double part = (value.real - (double)shape->low) / ((double)shape->high - (double)shape->low);

		if (!(part >= 0))
			return BELOW;
		return part >= 1 ? ABOVE : (int64_t)(part * shape->bucket_count);
	}
	__int128 number = word == MONITOR_SIGNED ? value.i64 : (__int128)value.u64;

	if (number < shape->low)
		return BELOW;
	if (number >= shape->high)
		return ABOVE;
	from_low = (unsigned __int128)(number - shape->low);
	return (int64_t)(from_low * shape->bucket_count / (unsigned __int128)((__int128)shape->high - shape->low));
}

static int64_t log_bucket(enum monitor_word word, union monitor_value value)
{
	if (word == MONITOR_REAL) {
		if (!(value.real >= 0))
			return BELOW;
		return value.real >= 0x1p64 ? ABOVE : (int64_t)log_linear_bucket((uint64_t)value.real);
	}
	return word == MONITOR_SIGNED && value.i64 < 0 ? BELOW : (int64_t)log_linear_bucket(value.u64);
}

static void count_bucket(struct measure *measure, uint32_t row, enum monitor_word word, union monitor_value value)
{
	int64_t bucket;

	if (!measure->bucket_count)
		return;
	bucket = measure->shape.buckets == MEASURE_LOG ? log_bucket(word, value)
						       : linear_bucket(&measure->shape, word, value);
	if (bucket >= 0)
		increment_count(&measure->counts[(size_t)row * measure->bucket_count + (size_t)bucket]);
	else if (bucket == BELOW)
		measure->sums[row].below++;
	else
		measure->sums[row].above++;
}

static void publish_measure(struct measure *measure, uint32_t index)
{
	struct measure_row *row = &measure->rows[index];
	uint64_t words[WORDS], sequence = atomic_load_explicit(&row->sequence, memory_order_relaxed);

	memcpy(words, &measure->sums[index], sizeof words);
	atomic_store_explicit(&row->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < WORDS; i++)
		atomic_store_explicit(&row->words[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&row->sequence, sequence + 2, memory_order_release);
}

static bool prepare_measure(void *context, const struct monitor_element *element)
{
	struct measure *measure = context;

	measure->has_value = measure->shape.value.word != MONITOR_NONE &&
			     monitor_field_read(&measure->shape.value, element, &measure->value);
	return monitor_keys_read(&measure->keys, element);
}

static void commit_measure(void *context, bool ok, const struct monitor_element *element)
{
	struct measure *measure = context;
	uint32_t row = ok ? monitor_keys_row(&measure->keys) : MONITOR_NO_ROW;
	enum monitor_word word = measure->shape.value.word;

	if (row == MONITOR_NO_ROW) {
		increment_count(&measure->other);
		return;
	}
	struct measure_sum *sum = &measure->sums[row];

	sum->count++;
	if (sum->count - sum->late == 1) {
		sum->first_ns = sum->last_ns = element->at_ns;
	} else if (element->is_late || element->at_ns < sum->last_ns) {
		sum->late++;
	} else {
		uint64_t interval_ns = add_element_time(sum, element->at_ns);

		if (word == MONITOR_NONE) {
			measure->value.u64 = interval_ns;
			measure->has_value = true;
		}
	}
	if (measure->has_value) {
		add_to_sum(sum, word, measure->value);
		count_bucket(measure, row, word, measure->value);
	}
	publish_measure(measure, row);
}

static void lose_measure_events(void *context, uint64_t lost)
{
	struct measure *measure = context;
	uint64_t before = atomic_load_explicit(&measure->lost, memory_order_relaxed);

	atomic_store_explicit(&measure->lost, before + lost, memory_order_relaxed);
}

static void *twin_measure(const void *context)
{
	const struct measure *measure = context;
	struct measure *made;

	return measure_new(&measure->shape, &made) ? NULL : made;
}

static void release_measure(void *context)
{
	measure_free(context);
}

const struct monitor_evaluation_kind measure_kind = {
	.name = "measure",
	.prepare = prepare_measure,
	.commit = commit_measure,
	.lose = lose_measure_events,
	.twin = twin_measure,
	.release = release_measure,
};

const struct measure_shape *measure_shape(const struct measure *measure)
{
	return &measure->shape;
}

const struct monitor_keys *measure_keys(const struct measure *measure)
{
	return &measure->keys;
}

uint32_t measure_bucket_count(const struct measure *measure)
{
	return measure->bucket_count;
}

uint64_t measure_other(const struct measure *measure)
{
	return atomic_load_explicit(&measure->other, memory_order_relaxed);
}

uint64_t measure_lost(const struct measure *measure)
{
	return atomic_load_explicit(&measure->lost, memory_order_relaxed);
}

static bool read_words(const struct measure_row *row, uint64_t words[WORDS])
{
	uint64_t sequence = atomic_load_explicit(&row->sequence, memory_order_acquire);

	for (size_t i = 0; i < WORDS; i++)
		words[i] = atomic_load_explicit(&row->words[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return sequence % 2 == 0 && atomic_load_explicit(&row->sequence, memory_order_relaxed) == sequence;
}

bool measure_read(const struct measure *measure, uint32_t row, struct measure_sum *sum, uint64_t *counts)
{
	uint64_t words[WORDS];
	bool is_whole = false;

	for (int i = 0; i < ATTEMPTS && !is_whole; i++) {
		is_whole = read_words(&measure->rows[row], words);
		if (!is_whole)
			sched_yield();
	}
	memcpy(sum, words, sizeof *sum);
	for (uint32_t i = 0; counts && i < measure->bucket_count; i++)
		counts[i] = atomic_load_explicit(&measure->counts[(size_t)row * measure->bucket_count + i],
						 memory_order_relaxed);
	return is_whole;
}

double measure_mean(const struct measure *measure, const struct measure_sum *sum)
{
	enum monitor_word word = measure->shape.value.word;

	if (!sum->values)
		return 0;
	if (word == MONITOR_REAL)
		return sum->sum.real / (double)sum->values;
	unsigned __int128 total = (unsigned __int128)sum->sum_high << 64 | sum->sum.u64;

	return (word == MONITOR_SIGNED ? (double)(__int128)total : (double)total) / (double)sum->values;
}

double measure_interval_mean_ns(const struct measure_sum *sum)
{
	uint64_t times = sum->count - sum->late;

	return times > 1 ? (double)(sum->last_ns - sum->first_ns) / (double)(times - 1) : 0;
}

double measure_linear_low(const struct measure_shape *shape, uint32_t bucket)
{
	return (double)shape->low + ((double)shape->high - (double)shape->low) * bucket / shape->bucket_count;
}
