// SPDX-License-Identifier: BSD-2-Clause
/* Keeps names once. */

#include "report/names.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

void report_names_fini(struct report_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		alloc_free(names->texts[i]);
	alloc_free(names->texts);
	hash_table_fini(&names->table);
	*names = (struct report_names){ 0 };
}

int report_names_add(struct report_names *names, const char *text, uint32_t *number)
{
	if (names->count + 1 == REPORT_NAMES_MAX)
		text = *text ? "(others)" : text;

	uint64_t hash = hash_text(text);
	size_t step = 0;
	uint32_t at;

	*number = 0;
	if (!*text)
		return 0;
	while ((at = hash_table_next(&names->table, hash, &step)) != HASH_NONE) {
		if (strcmp(names->texts[at], text) == 0) {
			*number = at + 1;
			return 0;
		}
	}
	if (names->count >= REPORT_NAMES_MAX)
		return 0;
	if (alloc_grow(&names->texts, &names->capacity, names->count, sizeof *names->texts) ||
	    hash_table_reserve(&names->table, NULL, names->count + 1))
		return -ENOMEM;
	names->texts[names->count] = alloc_text(text);
	if (!names->texts[names->count])
		return -ENOMEM;
	hash_table_add(&names->table, hash, (uint32_t)names->count);
	*number = (uint32_t)++names->count;
	return 0;
}
