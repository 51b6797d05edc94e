// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names addresses. Symbols are read when a file is met first: its process is most likely there then,
 * and so is the file, in whatever view of the file system it has. Who is asked for a file is the one who runs it, so
 * what is opened is read only where it is the very file that was mapped.
 */

#include "profile/sample/places.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/sample/rings.h"
#include "session/output/debug-info.h"
#include "session/output/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES_MAX = 1 << 16, OBJECTS_MAX = 1 << 12, MAPPED_MAX = 1 << 14 };

struct mapped {
	uint64_t start, end, offset;
	uint32_t object;
};

struct process {
	uint32_t pid;
	struct mapped *items;
	size_t count, capacity;
};

struct object {
	uint32_t name; /* a text of the profile */
	uint64_t inode;
	bool was_read, was_asked;
	struct symbols *symbols;  /* NULL: none could be read */
	struct debug_info *debug; /* asked where symbols know nothing; NULL: there is none */
};

/* A place in an object that was met before. */
struct known {
	uint32_t object, spot;
	uint64_t offset;
};

struct places {
	struct profile *profile;
	uint64_t seed; /* of its hashes */
	struct process *processes;
	size_t process_count, process_capacity;
	struct object *objects;
	size_t object_count, object_capacity;
	struct known *known;
	size_t known_count, known_capacity;
	struct hash_table by_pid, by_name, by_place;
};

struct places *places_new(struct profile *profile)
{
	struct places *places = alloc_zero(1, sizeof *places);

	if (places) {
		places->profile = profile;
		places->seed = hash_seed(places);
	}
	return places;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->process_count; i++)
		alloc_free(places->processes[i].items);
	for (size_t i = 0; i < places->object_count; i++) {
		symbols_free(places->objects[i].symbols);
		debug_info_free(places->objects[i].debug);
	}
	hash_table_fini(&places->by_pid);
	hash_table_fini(&places->by_name);
	hash_table_fini(&places->by_place);
	alloc_free(places->processes);
	alloc_free(places->objects);
	alloc_free(places->known);
	alloc_free(places);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return hash_bytes(hash, &number, sizeof number);
}

static struct process *find_process(struct places *places, uint32_t pid)
{
	uint64_t hash = hash_number(places->seed, pid);
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&places->by_pid, hash, &step)) != HASH_NONE;) {
		if (places->processes[number].pid == pid)
			return &places->processes[number];
	}
	return NULL;
}

/* The process, made where it is new. *process is NULL where there are too many. */
static int get_process(struct places *places, uint32_t pid, struct process **process)
{
	*process = find_process(places, pid);
	if (*process || places->process_count == PROCESSES_MAX)
		return 0;
	if (alloc_grow(&places->processes, &places->process_capacity, places->process_count,
		       sizeof *places->processes) ||
	    hash_table_reserve(&places->by_pid, NULL, places->process_count + 1))
		return -ENOMEM;
	hash_table_add(&places->by_pid, hash_number(places->seed, pid), (uint32_t)places->process_count);
	*process = &places->processes[places->process_count++];
	**process = (struct process){ .pid = pid };
	return 0;
}

/* The file of that name and number. HASH_NONE: there are too many. */
static int get_object(struct places *places, const char *name, uint64_t inode, uint32_t *object)
{
	uint64_t hash = hash_number(hash_bytes(places->seed, name, strlen(name)), inode);
	int result;

	for (size_t step = 0; (*object = hash_table_next(&places->by_name, hash, &step)) != HASH_NONE;) {
		const struct object *item = &places->objects[*object];

		if (item->inode == inode && strcmp(profile_get_text(places->profile, item->name), name) == 0)
			return 0;
	}
	if (places->object_count == OBJECTS_MAX)
		return 0;
	if (alloc_grow(&places->objects, &places->object_capacity, places->object_count, sizeof *places->objects) ||
	    hash_table_reserve(&places->by_name, NULL, places->object_count + 1))
		return -ENOMEM;
	struct object *made = &places->objects[places->object_count];

	*made = (struct object){ .inode = inode };
	result = profile_text(places->profile, name, strlen(name), &made->name);
	if (result)
		return result;
	*object = (uint32_t)places->object_count++;
	hash_table_add(&places->by_name, hash, *object);
	return 0;
}

static int put_process_mapping(struct process *process, struct mapped item)
{
	if (process->count == MAPPED_MAX)
		return 0;
	if (alloc_grow(&process->items, &process->capacity, process->count, sizeof *process->items))
		return -ENOMEM;
	process->items[process->count++] = item;
	return 0;
}

/* Where the new one lies nothing else is left. */
static int put_over(struct process *process, struct mapped new)
{
	int result = 0;

	for (size_t i = process->count; i-- > 0 && !result;) {
		struct mapped *old = &process->items[i], tail = *old;

		if (old->end <= new.start || old->start >= new.end)
			continue;
		tail.start = new.end;
		tail.offset += new.end - old->start;
		if (old->start < new.start)
			old->end = new.start;
		else
			*old = process->items[--process->count];
		if (tail.start < tail.end)
			result = put_process_mapping(process, tail);
	}
	return result ? result : put_process_mapping(process, new);
}

static int take_mapped(struct places *places, const struct sample_record *record)
{
	struct mapped new = { record->address, record->address + record->length, record->offset, HASH_NONE };
	struct process *process;
	int result = get_process(places, record->pid, &process);

	if (result || !process || new.end < new.start)
		return result;
	/* "//anon", "[heap]" and "[vdso]" are no files, and the last has functions. */
	if (record->name[0] == '/' ? record->inode != 0 : strcmp(record->name, "[vdso]") == 0)
		result = get_object(places, record->name, record->inode, &new.object);
	return result ? result : put_over(process, new);
}

/* A child has what its parent had, unless it was a process of that number before. */
static int take_forked(struct places *places, const struct sample_record *record)
{
	struct process *child, *parent;
	int result = get_process(places, record->pid, &child);

	if (result || !child)
		return result;
	parent = find_process(places, record->parent);
	child->count = 0;
	for (size_t i = 0; parent && i < parent->count && !result; i++)
		result = put_process_mapping(child, parent->items[i]);
	return result;
}

int places_take(struct places *places, const struct sample_record *record)
{
	struct process *process;

	if (record->kind == RECORD_MAPPED)
		return take_mapped(places, record);
	/* Threads have what their process has. */
	if (record->kind == RECORD_FORKED && record->pid == record->parent)
		return 0;
	if (record->kind == RECORD_FORKED)
		return take_forked(places, record);
	process = record->kind == RECORD_BEGAN ? find_process(places, record->pid) : NULL;
	if (process)
		process->count = 0;
	return 0;
}

/* Where path leads, if it is the file. */
static int open_object_file(const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;

	if (fd >= 0 && (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_ino != inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* path: PATH_MAX bytes, what it is called. */
static int open_object(const struct places *places, const struct object *object, uint32_t pid, char *path)
{
	const char *name = profile_get_text(places->profile, object->name);
	int fd = -1;

	if ((size_t)snprintf(path, PATH_MAX, "/proc/%u/root%s", pid, name) < PATH_MAX)
		fd = open_object_file(path, object->inode);
	if (fd < 0 && (size_t)snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
		fd = open_object_file(path, object->inode);
	return fd;
}

static int read_symbols(const struct places *places, struct object *object, uint32_t pid)
{
	char path[PATH_MAX], digits[ELF_BUILD_ID_BYTES];
	int fd = open_object(places, object, pid, path), result = 0;

	object->was_read = true;
	if (fd < 0)
		return 0;
	if (symbols_read(fd, ELF_CODE, &object->symbols))
		object->symbols = NULL;
	if (elf_build_id(fd, digits))
		result = profile_set_build_id(places->profile, object->name, digits);
	close(fd);
	return result;
}

/* Debugging information is looked for later, beside path, and the process may have ended by then. */
static void name_for_good(const char *name, int fd, char *path)
{
	struct stat about, named;

	if (fd >= 0 && fstat(fd, &about) == 0 && stat(name, &named) == 0 && about.st_dev == named.st_dev &&
	    about.st_ino == named.st_ino)
		snprintf(path, PATH_MAX, "%s", name);
}

/*
 * A stripped library may have its symbols elsewhere. Valgrind looks there, too, and it chooses other variants of
 * functions than the processor: only by their names are those of both runs the same.
 */
static const char *ask_debug_info(const struct places *places, struct object *object, uint32_t pid, uint64_t address)
{
	struct debug_place place;

	if (!object->was_asked) {
		char path[PATH_MAX];
		int fd = open_object(places, object, pid, path);

		object->was_asked = true;
		name_for_good(profile_get_text(places->profile, object->name), fd, path);
		object->debug = fd < 0 ? NULL : debug_info_open(fd, path);
		if (fd >= 0)
			close(fd);
	}
	return object->debug && debug_info_find(object->debug, address, &place) ? place.function : NULL;
}

static int name_place(struct places *places, struct object *object, uint32_t pid, uint64_t offset, uint32_t *spot)
{
	struct profile_spot wanted = { .object = object->name };
	uint64_t distance;
	const char *name = object->symbols ? symbols_find(object->symbols, offset, &distance) : NULL;
	char number[32];
	uint32_t text;
	int result;

	if (!object->symbols || !symbols_address(object->symbols, offset, &wanted.address))
		wanted.address = offset;
	if (!name) {
		snprintf(number, sizeof number, "0x%llx", (unsigned long long)wanted.address);
		name = object->inode ? ask_debug_info(places, object, pid, wanted.address)
				     : profile_get_text(places->profile, object->name);
		name = name ? name : number;
	}
	result = profile_text(places->profile, name, strlen(name), &text);
	if (!result)
		result = profile_function(places->profile, text, object->name, &wanted.function);
	return result ? result : profile_spot(places->profile, &wanted, spot);
}

static int find_spot(struct places *places, uint32_t object, uint32_t pid, uint64_t offset, uint32_t *spot)
{
	uint64_t hash = hash_number(hash_number(places->seed, object), offset);
	uint32_t number;
	int result;

	for (size_t step = 0; (number = hash_table_next(&places->by_place, hash, &step)) != HASH_NONE;) {
		const struct known *known = &places->known[number];

		if (known->object == object && known->offset == offset) {
			*spot = known->spot;
			return 0;
		}
	}
	result = name_place(places, &places->objects[object], pid, offset, spot);
	if (result)
		return result;
	if (alloc_grow(&places->known, &places->known_capacity, places->known_count, sizeof *places->known) ||
	    hash_table_reserve(&places->by_place, NULL, places->known_count + 1))
		return -ENOMEM;
	hash_table_add(&places->by_place, hash, (uint32_t)places->known_count);
	places->known[places->known_count++] = (struct known){ object, *spot, offset };
	return 0;
}

int places_find(struct places *places, uint32_t pid, uint64_t address, uint32_t *spot)
{
	const struct process *process = find_process(places, pid);

	*spot = HASH_NONE;
	for (size_t i = process ? process->count : 0; i-- > 0;) {
		const struct mapped *item = &process->items[i];

		if (address < item->start || address >= item->end || item->object == HASH_NONE)
			continue;
		struct object *object = &places->objects[item->object];
		int result = object->inode && !object->was_read ? read_symbols(places, object, pid) : 0;

		return result ? result
			      : find_spot(places, item->object, pid, address - item->start + item->offset, spot);
	}
	return 0;
}
