// SPDX-License-Identifier: BSD-2-Clause
/* A hash table of keys. The hash is seeded: who raises elements cannot choose keys that all meet in one place. */

#include "monitor/keys.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

bool monitor_field_read(const struct monitor_field *field, const struct monitor_element *element,
			union monitor_value *value)
{
	const char *at = (const char *)element->data + field->offset;
	uint32_t half;

	if (element->bytes < field->bytes || field->offset > element->bytes - field->bytes)
		return false;
	if (field->bytes == sizeof half) {
		memcpy(&half, at, sizeof half);
		value->u64 = field->word == MONITOR_SIGNED ? (uint64_t)(int64_t)(int32_t)half : half;
		return true;
	}
	memcpy(value, at, sizeof *value);
	return true;
}

/* At least twice as many places as keys. */
static uint32_t places_for(uint32_t most)
{
	uint32_t places = 2;

	while (places < 2 * most)
		places *= 2;
	return places;
}

int monitor_keys_init(struct monitor_keys *keys, const struct monitor_field *field, uint32_t most)
{
	uint32_t places;

	*keys = (struct monitor_keys){ .field = *field, .most = most, .bytes = sizeof(uint64_t) };
	if (field->word == MONITOR_NONE) {
		keys->most = 1;
		atomic_store_explicit(&keys->count, 1, memory_order_relaxed);
	}
	if (field->word == MONITOR_TEXT)
		keys->bytes = (field->bytes + 7) / 8 * 8;
	places = places_for(keys->most);
	keys->mask = places - 1;
	keys->seed = hash_seed(keys);
	keys->places = alloc_zero(places, sizeof *keys->places);
	keys->rows = alloc_zero(keys->most, keys->bytes);
	keys->wanted = alloc_zero(1, keys->bytes);
	return keys->places && keys->rows && keys->wanted ? 0 : -ENOMEM;
}

void monitor_keys_fini(struct monitor_keys *keys)
{
	alloc_free(keys->places);
	alloc_free(keys->rows);
	alloc_free(keys->wanted);
}

bool monitor_keys_read(struct monitor_keys *keys, const struct monitor_element *element)
{
	const struct monitor_field *field = &keys->field;

	if (field->word == MONITOR_NONE)
		return true;
	if (field->word != MONITOR_TEXT) {
		union monitor_value value;

		if (!monitor_field_read(field, element, &value))
			return false;
		memcpy(keys->wanted, &value, sizeof value);
		return true;
	}
	if (element->bytes < field->bytes || field->offset > element->bytes - field->bytes)
		return false;
	const char *text = (const char *)element->data + field->offset;
	size_t length = strnlen(text, field->bytes - 1);

	memcpy(keys->wanted, text, length);
	memset(keys->wanted + length, 0, keys->bytes - length);
	return true;
}

static uint64_t mix(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)word * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash(const struct monitor_keys *keys)
{
	uint64_t sum = keys->seed;

	for (uint32_t i = 0; i < keys->bytes; i += sizeof sum) {
		uint64_t word;

		memcpy(&word, keys->wanted + i, sizeof word);
		sum = mix(sum ^ word) + keys->seed;
	}
	return sum;
}

uint32_t monitor_keys_row(struct monitor_keys *keys)
{
	uint32_t count = atomic_load_explicit(&keys->count, memory_order_relaxed);
	uint32_t place;

	if (keys->field.word == MONITOR_NONE)
		return 0;
	for (place = (uint32_t)hash(keys) & keys->mask; keys->places[place]; place = (place + 1) & keys->mask) {
		uint32_t row = keys->places[place] - 1;

		if (memcmp(keys->rows + (size_t)row * keys->bytes, keys->wanted, keys->bytes) == 0)
			return row;
	}
	if (count == keys->most)
		return MONITOR_NO_ROW;
	memcpy(keys->rows + (size_t)count * keys->bytes, keys->wanted, keys->bytes);
	keys->places[place] = count + 1;
	atomic_store_explicit(&keys->count, count + 1, memory_order_release);
	return count;
}

const void *monitor_keys_get(const struct monitor_keys *keys, uint32_t row)
{
	return keys->rows + (size_t)row * keys->bytes;
}
