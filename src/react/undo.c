// SPDX-License-Identifier: BSD-2-Clause
/* Remembers changes and undoes them. */

#include "react/undo.h"

#include "base/proc.h"
#include "react/priority.h"

#include <errno.h>
#include <linux/sched/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* kind is what publishes an entry: 0 until everything else of it is there. */
struct entry {
	uint32_t kind;
	int32_t id;
	uint64_t birth;
	union {
		struct sched_attr before;
		char path[UNDO_PATH_BYTES];
	};
};

struct undo {
	struct entry entries[UNDO_ENTRIES];
};

_Static_assert(sizeof(struct entry) == 16 + UNDO_PATH_BYTES, "an entry is shared between processes");

int undo_new(struct asterism_diag *diag, struct undo **made)
{
	void *memory = mmap(NULL, sizeof(struct undo), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return diag_no_memory(diag);
	*made = memory;
	return 0;
}

void undo_free(struct undo *undo)
{
	if (undo)
		munmap(undo, sizeof *undo);
}

static uint32_t kind_of_entry(const struct entry *entry)
{
	return __atomic_load_n(&entry->kind, __ATOMIC_ACQUIRE); /* pairs with publish_kind */
}

static void publish_kind(struct entry *entry, uint32_t kind)
{
	__atomic_store_n(&entry->kind, kind, __ATOMIC_RELEASE);
}

static bool is_alive(const struct entry *entry)
{
	uint64_t birth;

	if (entry->kind == UNDO_FROZEN)
		return access(entry->path, F_OK) == 0;
	return proc_birth(entry->id, &birth) == 0 && birth == entry->birth;
}

static bool is_about(const struct entry *entry, const struct undo_change *change)
{
	if (kind_of_entry(entry) != (uint32_t)change->kind)
		return false;
	return change->kind == UNDO_FROZEN ? strcmp(entry->path, change->path) == 0 : entry->id == change->id;
}

static struct entry *find_undo_entry(struct undo *undo, const struct undo_change *change)
{
	for (size_t i = 0; i < UNDO_ENTRIES; i++)
		if (is_about(&undo->entries[i], change))
			return &undo->entries[i];
	return NULL;
}

static struct entry *find_room(struct undo *undo)
{
	for (size_t i = 0; i < UNDO_ENTRIES; i++)
		if (!kind_of_entry(&undo->entries[i]))
			return &undo->entries[i];
	for (size_t i = 0; i < UNDO_ENTRIES; i++) {
		if (is_alive(&undo->entries[i]))
			continue;
		publish_kind(&undo->entries[i], 0);
		return &undo->entries[i];
	}
	return NULL;
}

int undo_add(struct undo *undo, const struct undo_change *change)
{
	struct entry *entry = find_undo_entry(undo, change);
	uint64_t birth = 0;

	if (change->kind != UNDO_FROZEN && proc_birth(change->id, &birth))
		return -ESRCH;
	if (change->kind == UNDO_FROZEN && strlen(change->path) >= UNDO_PATH_BYTES)
		return -ENAMETOOLONG;
	if (entry && entry->birth == birth)
		return 0;
	if (entry)
		publish_kind(entry, 0); /* of one that is dead */
	else
		entry = find_room(undo);
	if (!entry)
		return -ENOSPC;
	entry->id = change->id;
	entry->birth = birth;
	if (change->kind == UNDO_FROZEN)
		memcpy(entry->path, change->path, strlen(change->path) + 1);
	if (change->kind == UNDO_PRIORITY)
		entry->before = *change->before;
	publish_kind(entry, change->kind);
	return 1;
}

void undo_drop(struct undo *undo, const struct undo_change *change)
{
	struct entry *entry = find_undo_entry(undo, change);

	if (entry)
		publish_kind(entry, 0);
}

/* By a descriptor: between the look at its birth and the signal its number may become another's. */
static int let_go_on(const struct entry *entry)
{
	int fd = (int)syscall(SYS_pidfd_open, entry->id, 0), result = 0;

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (is_alive(entry) && syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0) && errno != ESRCH)
		result = -errno;
	close(fd);
	return result;
}

static int thaw(const struct entry *entry)
{
	const char *name = strrchr(entry->path, '/');
	int result = proc_write(entry->path, name && strcmp(name, "/freezer.state") == 0 ? "THAWED" : "0");

	return result == -ENOENT || result == -ENODEV ? 0 : result;
}

static int revert(const struct entry *entry)
{
	int result;

	switch ((enum undo_kind)entry->kind) {
	case UNDO_STOPPED:
		return let_go_on(entry);
	case UNDO_PRIORITY:
		result = is_alive(entry) ? priority_restore(entry->id, &entry->before) : 0;
		return result == -ESRCH ? 0 : result;
	case UNDO_FROZEN:
		return thaw(entry);
	}
	return 0;
}

int undo_one(struct undo *undo, const struct undo_change *change)
{
	struct entry *entry = find_undo_entry(undo, change);

	if (!entry)
		return -ENOENT;
	int result = revert(entry);

	publish_kind(entry, 0);
	return result;
}

size_t undo_all(struct undo *undo)
{
	size_t failed = 0;

	for (size_t i = 0; i < UNDO_ENTRIES; i++) {
		struct entry *entry = &undo->entries[i];

		if (!kind_of_entry(entry))
			continue;
		failed += revert(entry) != 0;
		publish_kind(entry, 0);
	}
	return failed;
}

bool undo_has(const struct undo *undo, const struct undo_change *change)
{
	for (size_t i = 0; i < UNDO_ENTRIES; i++)
		if (is_about(&undo->entries[i], change))
			return true;
	return false;
}

size_t undo_count(const struct undo *undo)
{
	size_t count = 0;

	for (size_t i = 0; i < UNDO_ENTRIES; i++)
		count += kind_of_entry(&undo->entries[i]) != 0;
	return count;
}
