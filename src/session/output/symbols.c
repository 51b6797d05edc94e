// SPDX-License-Identifier: BSD-2-Clause
/* Names an address in a file: by its full table of symbols, or, where that was stripped, by the one for linking. */

#include "session/output/symbols.h"

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OVERLAPS_MAX = 16 };

struct symbol {
	uint64_t start, size;
	size_t name; /* in names */
	bool is_local;
	uint8_t underscores; /* that its name begins with */
};

struct symbols {
	struct elf_segments segments;
	struct symbol *items;
	size_t count, capacity;
	struct text_buffer names;
	enum elf_part part;
};

static uint8_t underscores(const char *name, size_t length)
{
	size_t count = 0;

	while (count < length && name[count] == '_')
		count++;
	return (uint8_t)count;
}

/* 1: there are enough of them. */
static int add_function_symbol(void *context, const struct elf_function *function)
{
	struct symbols *symbols = context;

	if (symbols->count == SYMBOLS_COUNT_MAX)
		return 1;
	if (symbols->part == ELF_DATA && !function->size) /* nothing can be said to be in it */
		return 0;
	if (alloc_grow(&symbols->items, &symbols->capacity, symbols->count, sizeof *symbols->items))
		return -ENOMEM;
	size_t length = strnlen(function->name, SYMBOLS_NAME_MAX);

	symbols->items[symbols->count] = (struct symbol){ .start = function->address,
							  .size = function->size,
							  .name = symbols->names.length,
							  .is_local = function->is_local,
							  .underscores = underscores(function->name, length) };
	text_append_bytes(&symbols->names, function->name, length);
	text_append_bytes(&symbols->names, "", 1);
	if (symbols->names.failure)
		return symbols->names.failure == -E2BIG ? 1 : symbols->names.failure;
	symbols->count++;
	return 0;
}

/* By address; of several names of one place the one to be shown last: what others may call, and not by the back door.
 */
static int compare_symbols(const void *left, const void *right, void *context)
{
	const struct symbol *a = left, *b = right;
	const struct symbols *symbols = context;
	const char *name_a = symbols->names.bytes + a->name, *name_b = symbols->names.bytes + b->name;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? -1 : 1;
	if (a->underscores != b->underscores)
		return a->underscores > b->underscores ? -1 : 1;
	return strcmp(name_b, name_a);
}

static int read_tables(struct symbols *symbols, const struct elf_code *code)
{
	int result = elf_code_each(code, ELF_FULL, SYMBOLS_TABLES_BYTES_MAX, add_function_symbol, symbols);

	symbols->segments = *elf_code_segments(code);
	if (!result && !symbols->count)
		result = elf_code_each(code, ELF_LINKING, SYMBOLS_TABLES_BYTES_MAX, add_function_symbol, symbols);
	return result < 0 ? result : 0;
}

int symbols_read(int fd, enum elf_part part, struct symbols **made)
{
	struct symbols *symbols = alloc_zero(1, sizeof *symbols);
	struct elf_code *code = NULL;
	int result = symbols ? elf_code_open(fd, part, &code) : -ENOMEM;

	if (!result)
		symbols->part = part;
	if (!result)
		result = read_tables(symbols, code);
	elf_code_free(code);
	if (result) {
		symbols_free(symbols);
		return result;
	}
	if (symbols->count)
		qsort_r(symbols->items, symbols->count, sizeof *symbols->items, compare_symbols, symbols);
	*made = symbols;
	return 0;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	text_fini(&symbols->names);
	alloc_free(symbols->items);
	alloc_free(symbols);
}

size_t symbols_bytes(const struct symbols *symbols)
{
	return sizeof *symbols + symbols->capacity * sizeof *symbols->items + symbols->names.capacity;
}

bool symbols_address(const struct symbols *symbols, uint64_t offset, uint64_t *address)
{
	return elf_address(&symbols->segments, offset, address);
}

uint64_t symbols_start(const struct symbols *symbols)
{
	uint64_t start = symbols->segments.count ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < symbols->segments.count; i++) {
		if (symbols->segments.items[i].address < start)
			start = symbols->segments.items[i].address;
	}
	return start;
}

/* What is mapped begins at a page: byte offset may lie before the segment, in the first page that it is in. */
bool symbols_address_behind(const struct symbols *symbols, uint64_t offset, uint64_t distance, uint64_t *address)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < symbols->segments.count; i++) {
		uint64_t start = symbols->segments.items[i].offset, begin = start & ~(page_bytes - 1);
		uint64_t place = offset - start + distance; /* in the segment */

		if (offset >= begin && offset - begin < symbols->segments.items[i].bytes + (start - begin) &&
		    place < symbols->segments.items[i].loaded_bytes) {
			*address = symbols->segments.items[i].address + place;
			return true;
		}
	}
	return false;
}

const char *symbols_find(const struct symbols *symbols, uint64_t offset, uint64_t *distance)
{
	uint64_t address;

	return elf_address(&symbols->segments, offset, &address) ? symbols_at(symbols, address, distance) : NULL;
}

const char *symbols_at(const struct symbols *symbols, uint64_t address, uint64_t *distance)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Before it there may be a larger one that holds it. One written in assembler may not say how large it is. */
	for (size_t back = 1; back <= OVERLAPS_MAX && back <= low; back++) {
		const struct symbol *symbol = &symbols->items[low - back];

		if (address - symbol->start < symbol->size || (back == 1 && !symbol->size)) {
			*distance = address - symbol->start;
			return symbols->names.bytes + symbol->name;
		}
	}
	return NULL;
}
