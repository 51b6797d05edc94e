// SPDX-License-Identifier: BSD-2-Clause
/* Lays out the records of a unit's entries, and what they share. */

#include "ebpf/source/emit.h"

enum { PACKED_TAIL_BYTES = 8 };

bool source_is_mixed(const struct source_unit *unit)
{
	size_t packed = 0;

	for (size_t i = 0; i < unit->entry_count; i++)
		packed += unit->entries[i].want->packed;
	return packed > 0 && packed < unit->entry_count;
}

/* Whether what rules do is in functions of its own: they raise events, or a type is raised in several ways. */
static bool calls_rules(const struct source_unit *unit)
{
	for (size_t i = 0; i < unit->entry_count; i++) {
		const struct source_want *want = unit->entries[i].want;

		if (want->needs && want->needs->raises)
			return true;
		for (size_t j = 0; j < i; j++)
			if (want->needs && !want->packed && unit->entries[j].want == want)
				return true;
	}
	return false;
}

uint32_t source_scratch_bytes(const struct source_unit *unit)
{
	uint32_t bytes = 0, before = source_is_mixed(unit) ? sizeof(struct event_header) : 0;
	uint32_t most = SOURCE_RECORD_STACK_BYTES - (calls_rules(unit) ? EBPF_RAISED_STACK_BYTES : 0);
	bool moves = unit->awaits; /* it needs some more of the stack */

	for (size_t i = 0; i < unit->entry_count; i++) {
		const struct source_entry *entry = &unit->entries[i];
		uint32_t extent = entry->extent;

		if (entry->want->packed && extent) {
			extent += before + PACKED_TAIL_BYTES;
			moves = true;
		}
		if (extent > bytes)
			bytes = extent;
	}
	return !moves && bytes <= most ? 0 : (bytes + 7) / 8 * 8;
}

uint32_t source_stack_bytes(const struct source_unit *unit)
{
	return calls_rules(unit) ? SOURCE_RECORD_STACK_BYTES + SOURCE_OWN_STACK_BYTES - EBPF_RAISED_STACK_BYTES
				 : EBPF_STACK_MAX - EBPF_CALL_STACK_BYTES;
}

bool source_has_late_ts(const struct source_unit *unit)
{
	if (source_is_mixed(unit))
		return true;
	for (size_t i = 0; i < unit->entry_count; i++)
		if (unit->entries[i].want->needs && unit->entries[i].want->needs->late_ts)
			return true;
	return false;
}
