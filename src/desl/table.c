// SPDX-License-Identifier: BSD-2-Clause
/* Keeps records, and one copy of equal texts. */

#include "desl/table-priv.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

int desl_table_init(struct desl_table *table, unsigned columns)
{
	*table = (struct desl_table){ .columns = columns };
	table->cells = alloc_zero(columns + 1, sizeof *table->cells);
	return table->cells ? 0 : -ENOMEM;
}

void desl_table_fini(struct desl_table *table)
{
	for (unsigned i = 0; table->cells && i < table->columns; i++)
		alloc_free(table->cells[i]);
	alloc_free(table->cells);
	*table = (struct desl_table){ 0 };
}

int desl_table_grow(struct desl_table *table)
{
	size_t wanted = table->capacity ? 2 * table->capacity : 64;

	if (table->rows < table->capacity)
		return 0;
	if (table->rows >= DESL_ROWS_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < table->columns; i++) {
		union desl_cell *grown = alloc_resize(table->cells[i], wanted, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		table->cells[i] = grown;
	}
	table->capacity = wanted;
	return 0;
}

int desl_texts_init(struct desl_texts *texts)
{
	uint32_t none;

	*texts = (struct desl_texts){ .arena = arena_new(), .seed = hash_seed(texts) };
	return texts->arena ? desl_text_add(texts, "", 0, false, &none) : -ENOMEM;
}

void desl_texts_fini(struct desl_texts *texts)
{
	hash_table_fini(&texts->numbers);
	alloc_free(texts->texts);
	arena_free(texts->arena);
	*texts = (struct desl_texts){ 0 };
}

static unsigned hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* Whether the bytes are a whole number of 64 bits. */
static bool read_address_bytes(const char *bytes, size_t length, uint64_t *address)
{
	unsigned base = length > 2 && bytes[0] == '0' && (bytes[1] | 0x20) == 'x' ? 16 : 10;
	uint64_t value = 0;
	size_t i = base == 16 ? 2 : 0;

	if (i == length)
		return false;
	for (; i < length; i++) {
		unsigned digit = hex_digit(bytes[i]);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*address = value;
	return true;
}

int desl_text_add(struct desl_texts *texts, const char *bytes, size_t length, bool is_line, uint32_t *number)
{
	uint64_t address = 0, hash;
	bool is_address = is_line && read_address_bytes(bytes, length, &address);
	struct desl_text *text;

	hash = is_address ? hash_bytes(texts->seed, &address, sizeof address) : hash_bytes(texts->seed, bytes, length);
	for (size_t step = 0; (*number = hash_table_next(&texts->numbers, hash, &step)) != HASH_NONE;) {
		text = &texts->texts[*number];
		if (text->is_address != is_address)
			continue;
		if (is_address ? text->address == address
			       : text->length == length && memcmp(text->bytes, bytes, length) == 0)
			return 0;
	}
	if (texts->count >= UINT32_MAX - 1 || length >= UINT32_MAX)
		return -E2BIG;
	if (alloc_grow(&texts->texts, &texts->capacity, texts->count, sizeof *texts->texts) ||
	    hash_table_reserve(&texts->numbers, NULL, texts->count + 1))
		return -ENOMEM;
	text = &texts->texts[texts->count];
	*text = (struct desl_text){ arena_text(texts->arena, bytes, length), (uint32_t)length, is_address, address };
	if (!text->bytes)
		return -ENOMEM;
	*number = (uint32_t)texts->count++;
	hash_table_add(&texts->numbers, hash, *number);
	return 0;
}
