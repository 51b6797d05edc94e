// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds what kind of events types have by what catalogs say of them, without any kernel, and what the paths of entries
 * read: memory of the user's, structures that are walked.
 */

#include "ebpf/source/plan.h"

#include "ebpf/path/value.h"
#include "ebpf/path/walk.h"

#include <errno.h>
#include <string.h>

enum { REASON_BYTES = 256 };

/* Whether the path of the text may give an unread string; -ENOMEM. What is no path is somebody else's concern. */
static int text_may_fail(const char *text, struct arena *arena)
{
	struct source_node *path;
	char reason[REASON_BYTES];
	int result = text ? path_parse_path(text, arena, &path, reason, sizeof reason) : -EINVAL;

	if (result)
		return result == -ENOMEM ? result : 0;
	return path_may_fail(path);
}

int source_may_be_unread(const struct event_type *type, uint32_t count, bool *may)
{
	struct arena *arena = arena_new();
	int result = arena ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < type->hook_count && result >= 0; i++) {
		for (uint32_t j = 0; j < count && result >= 0; j++) {
			result = text_may_fail(type->hooks[i].paths[j], arena);
			may[j] = may[j] || result > 0;
		}
	}
	arena_free(arena);
	return result < 0 ? result : 0;
}

const char *source_implied_when(const char *tracepoint)
{
#if defined(__x86_64__)
	static const char text[] = "(current->thread_info.status & 2) == 0"; /* TS_COMPAT */
#elif defined(__aarch64__)
	static const char text[] = "(current->thread_info.flags & 0x400000) == 0"; /* TIF_32BIT */
#else
	static const char text[] = "(0) == 0";
#endif

	return strncmp(tracepoint, "raw_syscalls:", strlen("raw_syscalls:")) == 0 ? text : NULL;
}

bool source_is_of_calls(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->hook_count; i++)
		if (source_implied_when(type->hooks[i].tracepoint))
			return true;
	return false;
}

bool source_is_of_locks(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->hook_count; i++)
		if (!strncmp(type->hooks[i].tracepoint, "lock:", strlen("lock:")))
			return true;
	return false;
}

bool source_may_interrupt(const struct event_type *type)
{
	/* Raised by a task on its own behalf, never while a program holds the CPU. Everything else may be. */
	static const char *const calm[] = {
		"raw_syscalls:sys_enter",   "raw_syscalls:sys_exit",    "sched:sched_switch",
		"sched:sched_process_fork", "sched:sched_process_exec", "sched:sched_process_exit",
		"task:task_newtask",        "task:task_rename",         "exceptions:page_fault_user",
	};

	for (uint32_t i = 0; i < type->hook_count; i++) {
		bool found = attach_is_probe(type->hooks[i].tracepoint); /* met in user mode */

		for (size_t j = 0; j < sizeof calm / sizeof *calm && !found; j++)
			found = strcmp(type->hooks[i].tracepoint, calm[j]) == 0;
		if (!found)
			return true;
	}
	return false;
}

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
