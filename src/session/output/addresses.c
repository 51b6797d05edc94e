// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names single addresses of a process. What was read about the process for that is kept for a while: one that matches
 * often is not looked at each time.
 */

#include "session/output/addresses.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "session/output/allowance.h"
#include "session/output/frames-priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	PROCESSES = 8,
	NAMES = 32,
	KEPT_NS = 100 * 1000 * 1000,
	READING_NS_MAX = 500 * 1000 * 1000,
	NOTHING_BELOW = 4096,
};

struct process {
	uint32_t pid;               /* 0: nobody's */
	uint64_t until_ns, seen_ns; /* how long it holds; since when it is known */
	char comm[EVENT_COMM_BYTES];
	struct mappings mappings;
	struct {
		uint64_t address;
		struct text_buffer text; /* empty: it has no name */
	} names[NAMES];
};

struct addresses {
	struct frames *frames;
	struct process processes[PROCESSES];
	struct allowance reading; /* who looks at many processes has no time for their events */
};

struct addresses *addresses_new(struct frames *frames)
{
	struct addresses *addresses = alloc_zero(1, sizeof *addresses);

	if (!addresses)
		return NULL;
	addresses->frames = frames;
	addresses->reading = allowance_of(READING_NS_MAX);
	return addresses;
}

static void forget_frames(struct process *process)
{
	for (int i = 0; i < NAMES; i++) {
		text_fini(&process->names[i].text);
		process->names[i].address = 0;
	}
	process->mappings.count = 0;
	process->pid = 0;
}

void addresses_free(struct addresses *addresses)
{
	if (!addresses)
		return;
	for (int i = 0; i < PROCESSES; i++) {
		forget_frames(&addresses->processes[i]);
		mappings_fini(&addresses->processes[i].mappings);
	}
	alloc_free(addresses);
}

/*
 * Whether the process has begun no other program since the match, as far as can be told: that ends all threads but one,
 * and gives that one another name.
 */
static bool runs_the_same(const struct program_match *match)
{
	pid_t pid = (pid_t)match->pid, tid = (pid_t)match->tid;
	struct proc_stat stat;

	if (tid != pid && proc_process_of(tid) == pid)
		return true;
	return proc_stat(pid, 0, &stat) == 0 && strncmp(stat.name, match->comm, EVENT_COMM_BYTES - 1) == 0;
}

/* Nothing, where it is not known what the process had mapped when it matched. */
static int read_process(struct frames *frames, struct process *process, const struct program_match *match)
{
	int result = 0;

	if (frames_is_there(match) && runs_the_same(match))
		result = mappings_read(&process->mappings, match->pid);
	if (result || process->mappings.count || !frames_log(frames))
		return result;
	return map_log_read(frames_log(frames), match->pid, match->ts, &process->mappings);
}

/* What was not known of it then may be known of it later. */
static bool holds_at(const struct process *process, uint64_t ts)
{
	return process->mappings.count ? ts >= process->seen_ns : ts == process->seen_ns;
}

/* NULL: it is not looked at. */
static struct process *looked_at_process(struct addresses *addresses, const struct program_match *match)
{
	struct process *process = &addresses->processes[match->pid % PROCESSES];
	uint64_t now_ns = clock_now_ns();

	if (process->pid == match->pid && now_ns < process->until_ns && holds_at(process, match->ts) &&
	    strncmp(process->comm, match->comm, sizeof process->comm) == 0)
		return process;
	if (!allowance_left(&addresses->reading, now_ns))
		return NULL;
	forget_frames(process);
	if (read_process(addresses->frames, process, match))
		process->mappings.count = 0;
	allowance_spend(&addresses->reading, clock_now_ns() - now_ns);
	process->pid = match->pid;
	process->until_ns = now_ns + KEPT_NS;
	process->seen_ns = match->ts;
	snprintf(process->comm, sizeof process->comm, "%s", match->comm);
	return process;
}

static const char *last_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A line is that of the instruction before the address: of a place that will be returned to, the call. */
static void put_code(struct frames *frames, struct process *process, const struct mapping *mapping, uint64_t address,
		     struct text_buffer *text)
{
	const char *path = mappings_name(&process->mappings, mapping);
	uint64_t offset = address - mapping->start + mapping->offset;
	const struct frames_file *file = frames_file_of(frames, &process->mappings, mapping, ELF_CODE);
	struct debug_place place = { 0 }, before;

	if (file && file->symbols[ELF_CODE])
		place = frames_place_of(file, offset);
	if (place.function)
		text_printf(text, "%s+0x%" PRIx64 " (%s)", place.function, place.distance, last_of_path(path));
	else
		text_printf(text, "0x%" PRIx64 " (%s)", offset, last_of_path(path));
	if (!file || !file->symbols[ELF_CODE] || !offset)
		return;
	before = place.distance || !place.function ? frames_place_of(file, offset - 1) : place;
	if (before.file)
		text_printf(text, " %s:%d", before.file, before.line);
}

/* mapping: of a file; address: there, or in the memory behind it that is 0 at first. */
static void put_data(struct frames *frames, struct process *process, const struct mapping *mapping, uint64_t address,
		     struct text_buffer *text)
{
	const char *name = NULL, *path = mappings_name(&process->mappings, mapping);
	const struct frames_file *file = frames_file_of(frames, &process->mappings, mapping, ELF_DATA);
	uint64_t place, distance = 0;

	if (!file)
		return;
	if (!file->symbols[ELF_DATA]) { /* of shared memory; what has no file is all called the same */
		if (address < mapping->end && strcmp(path, "/dev/zero (deleted)") != 0)
			text_printf(text, "0x%" PRIx64 " (%s)", address - mapping->start + mapping->offset,
				    last_of_path(path));
		return;
	}
	if (!symbols_address_behind(file->symbols[ELF_DATA], mapping->offset, address - mapping->start, &place))
		return;
	name = symbols_at(file->symbols[ELF_DATA], place, &distance);
	if (!name && file->debug)
		name = debug_info_find_variable(file->debug, place, &distance);
	if (name)
		text_printf(text, "%s+0x%" PRIx64 " (%s)", name, distance, last_of_path(path));
	else
		text_printf(text, "0x%" PRIx64 " (%s)", place, last_of_path(path));
}

/* The file that lies before memory of no name, which it may have more of than is in the file; NULL: none does. */
static const struct mapping *file_before(const struct mappings *mappings, const struct mapping *mapping)
{
	const struct mapping *before = mapping == mappings->items ? NULL : mapping - 1;

	if (!before || before->end != mapping->start)
		return NULL;
	return before->inode && before->is_writable && mapping->is_writable ? before : NULL;
}

static void put_address_name(struct frames *frames, struct process *process, uint64_t address, struct text_buffer *text)
{
	const struct mapping *mapping = mappings_find(&process->mappings, address);
	const char *name = mapping ? mappings_name(&process->mappings, mapping) : NULL;

	if (!mapping)
		return;
	if (strcmp(name, "[heap]") == 0)
		text_printf(text, "[heap]+0x%" PRIx64, address - mapping->start);
	else if (strcmp(name, "[stack]") == 0) /* its end stays where it is */
		text_printf(text, "[stack]-0x%" PRIx64, mapping->end - address);
	else if (*name == '/' && mapping->is_code)
		put_code(frames, process, mapping, address, text);
	else if (!*name)
		mapping = file_before(&process->mappings, mapping);
	if (mapping && mapping->is_writable && !mapping->is_code && *mappings_name(&process->mappings, mapping) == '/')
		put_data(frames, process, mapping, address, text);
}

/* Looks what is at address, unless there is no time for that. */
static bool learn(struct addresses *addresses, struct process *process, uint64_t address)
{
	uint32_t index = (address >> 3) % NAMES;
	uint64_t now_ns = clock_now_ns();

	if (!allowance_left(&addresses->reading, now_ns))
		return false;
	process->names[index].address = address;
	text_fini(&process->names[index].text);
	frames_begin(addresses->frames);
	put_address_name(addresses->frames, process, address, &process->names[index].text);
	allowance_spend(&addresses->reading, clock_now_ns() - now_ns);
	return true;
}

const char *addresses_name(struct addresses *addresses, const struct program_match *match, uint64_t address)
{
	uint32_t index = (address >> 3) % NAMES;

	if (address < NOTHING_BELOW || address > INT64_MAX) /* no process has anything there */
		return NULL;
	struct process *process = looked_at_process(addresses, match);

	if (!process || !process->mappings.count)
		return NULL;
	if (process->names[index].address != address && !learn(addresses, process, address))
		return NULL;
	const struct text_buffer *text = &process->names[index].text;

	return text->failure || !text->length ? NULL : text->bytes;
}
