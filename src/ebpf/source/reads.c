// SPDX-License-Identifier: BSD-2-Clause
/* What the paths of an entry read: memory of the user's, structures that are walked. */

#include "ebpf/path/value.h"
#include "ebpf/path/walk.h"
#include "ebpf/source/plan.h"

bool source_asks_user(const struct source_entry *entry)
{
	for (uint32_t i = 0; i < entry->when.count; i++)
		if (path_reads_user(entry->when.items[i].path))
			return true;
	return false;
}

bool source_entry_reads_user(const struct source_entry *entry)
{
	for (uint32_t i = 0; i < entry->want->type->field_count; i++)
		if (path_reads_user(entry->paths[i]))
			return true;
	return source_asks_user(entry);
}

bool source_walks(const struct source_unit *unit)
{
	for (size_t i = 0; i < unit->entry_count; i++) {
		const struct source_entry *entry = &unit->entries[i];

		for (uint32_t j = 0; j < entry->want->type->field_count; j++)
			if (entry->paths[j] && walk_is(entry->paths[j]->op))
				return true;
	}
	return false;
}
