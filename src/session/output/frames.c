// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names the addresses of a stack by what is read about the process: what is mapped where, and the symbols of those
 * files. The process goes on meanwhile, may end, and may make its files say anything.
 */

#include "session/output/frames-priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "session/output/allowance.h"
#include "session/output/symbol-reader.h"
#include "session/output/unwind-registers.h"
#include "session/output/unwinder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct frames {
	struct frames_file files[FRAMES_FILES_MAX];
	uint32_t file_count;
	uint64_t calls;
	size_t bytes;                 /* of all symbols */
	struct symbol_reader *reader; /* NULL: there is none yet */
	struct allowance waiting;     /* for it */
	struct {
		struct frames_identity identity;
		enum elf_part part;
	} late;                    /* what the reader was not waited for */
	struct mappings mappings;  /* of the process being looked at */
	struct map_log *log;       /* NULL: there is none */
	struct unwinder *unwinder; /* NULL: no stack was copied yet */
	struct unwound unwound;
	/* Of the thread that completed the match, then of others. */
	struct named {
		struct text_buffer end;
		struct text_buffer texts[PROGRAM_FRAMES_MAX]; /* empty: not named yet */
		const char *reported[PROGRAM_FRAMES_MAX];
	} named[1 + FRAMES_THREADS_MAX];
};

struct frames *frames_new(bool live)
{
	struct frames *frames = alloc_zero(1, sizeof *frames);

	if (frames)
		frames->waiting = allowance_of(FRAMES_PATIENCE_NS);
	if (frames && live)
		frames->log = map_log_open();
	return frames;
}

void frames_follow(struct frames *frames, pid_t pid)
{
	if (frames->log)
		map_log_follow(frames->log, pid);
}

static void forget_names(struct named *named)
{
	for (uint32_t i = 0; i < PROGRAM_FRAMES_MAX; i++)
		text_fini(&named->texts[i]);
	text_fini(&named->end);
}

static void forget_file(struct frames *frames, uint32_t index)
{
	struct frames_file *file = &frames->files[index];

	for (int part = 0; part < FRAMES_PARTS; part++) {
		if (file->symbols[part])
			frames->bytes -= symbols_bytes(file->symbols[part]);
		symbols_free(file->symbols[part]);
	}
	debug_info_free(file->debug);
	*file = frames->files[--frames->file_count];
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	while (frames->file_count)
		forget_file(frames, 0);
	for (uint32_t i = 0; i <= FRAMES_THREADS_MAX; i++)
		forget_names(&frames->named[i]);
	symbol_reader_free(frames->reader);
	mappings_fini(&frames->mappings);
	unwinder_free(frames->unwinder);
	map_log_free(frames->log);
	alloc_free(frames);
}

struct map_log *frames_log(struct frames *frames)
{
	return frames->log;
}

void frames_begin(struct frames *frames)
{
	frames->calls++;
}

static uint32_t least_used(const struct frames *frames)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < frames->file_count; i++)
		if (frames->files[i].used < frames->files[least].used)
			least = i;
	return least;
}

static bool is_same_identity(const struct frames_identity *a, const struct frames_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The one of the list that is this file; where it is new, one that nothing is known of yet. */
static struct frames_file *listed(struct frames *frames, const struct frames_identity *identity)
{
	for (uint32_t i = 0; i < frames->file_count; i++)
		if (is_same_identity(&frames->files[i].identity, identity))
			return &frames->files[i];
	if (frames->file_count == FRAMES_FILES_MAX)
		forget_file(frames, least_used(frames));
	frames->files[frames->file_count] = (struct frames_file){ .identity = *identity };
	return &frames->files[frames->file_count++];
}

/* Keeps the symbols of a part, for which others may have to be forgotten. */
static struct frames_file *keep_file_symbols(struct frames *frames, const struct frames_identity *identity,
					     enum elf_part part, struct symbols *symbols)
{
	struct frames_file *file = listed(frames, identity);
	size_t bytes = symbols ? symbols_bytes(symbols) : 0;

	file->used = UINT64_MAX;
	while (frames->file_count > 1 && frames->bytes + bytes > FRAMES_BYTES_MAX)
		forget_file(frames, least_used(frames));
	file = listed(frames, identity);
	file->used = frames->calls;
	file->symbols[part] = symbols;
	file->is_read[part] = true;
	frames->bytes += bytes;
	return file;
}

/* What was read after all. */
static void keep_late(struct frames *frames)
{
	struct symbols *symbols;

	if (frames->reader && symbol_reader_take(frames->reader, &symbols))
		keep_file_symbols(frames, &frames->late.identity, frames->late.part, symbols);
}

/* Reads the symbols of a part, unless that takes too long. Returns the file: it may have been moved. */
static struct frames_file *read_part(struct frames *frames, struct frames_file *file, int fd, enum elf_part part)
{
	const struct frames_identity identity = file->identity;
	uint64_t now_ns = clock_now_ns();
	struct symbols *symbols = NULL;
	int result;

	if (!frames->reader && symbol_reader_new(&frames->reader))
		return file;
	result = symbol_reader_read(frames->reader, fd, part, allowance_left(&frames->waiting, now_ns), &symbols);
	allowance_spend(&frames->waiting, clock_now_ns() - now_ns);
	if (result == -EAGAIN)
		return file;
	if (result != -ETIMEDOUT)
		return keep_file_symbols(frames, &identity, part, symbols);
	frames->late.identity = identity;
	frames->late.part = part;
	return file;
}

const struct frames_file *frames_file_of(struct frames *frames, const struct mappings *mappings,
					 const struct mapping *mapping, enum elf_part part)
{
	struct stat about;
	int fd = mappings_open(mappings, mapping, &about);

	if (fd < 0)
		return NULL;
	keep_late(frames);
	const struct frames_identity identity = { about.st_dev, about.st_ino, about.st_size, about.st_mtim };
	struct frames_file *file = listed(frames, &identity);

	if (!file->is_read[part])
		file = read_part(frames, file, fd, part);
	if (file->symbols[part] && !file->is_debug_sought) {
		file->is_debug_sought = true;
		file->debug = debug_info_open(fd, mappings_name(mappings, mapping));
	}
	file->used = frames->calls;
	close(fd);
	return file;
}

struct debug_place frames_place_of(const struct frames_file *file, uint64_t offset)
{
	struct debug_place place = { 0 };
	uint64_t address, distance = 0;
	const char *own = symbols_find(file->symbols[ELF_CODE], offset, &distance);

	if (file->debug && symbols_address(file->symbols[ELF_CODE], offset, &address))
		debug_info_find(file->debug, address, &place);
	if (own) {
		place.function = own;
		place.distance = distance;
	}
	return place;
}

/* back: 1 where address is where the frame will return to, which may lie behind the function that it is in. */
static void name_frame(struct frames *frames, struct text_buffer *text, uint64_t address, uint64_t back)
{
	const struct mapping *mapping = mappings_find(&frames->mappings, address);
	const char *path = mapping ? mappings_name(&frames->mappings, mapping) : "";

	if (!*path) {
		text_printf(text, "0x%" PRIx64, address);
		return;
	}
	uint64_t offset = address - mapping->start + mapping->offset;
	const struct frames_file *file =
		*path == '/' ? frames_file_of(frames, &frames->mappings, mapping, ELF_CODE) : NULL;
	struct debug_place place = { 0 };

	if (file && file->symbols[ELF_CODE] && offset >= back)
		place = frames_place_of(file, offset - back);
	if (place.function)
		text_printf(text, "%s+0x%" PRIx64 " (%s)", place.function, place.distance + back, path);
	else
		text_printf(text, "0x%" PRIx64 " (%s)", offset, path);
	if (place.file)
		text_printf(text, " %s:%d", place.file, place.line);
}

/* Births are counted while the machine sleeps, too. */
bool frames_is_there(const struct program_match *match)
{
	struct timespec boot;
	uint64_t ticks, birth, now = clock_now_ns(), hz = (uint64_t)sysconf(_SC_CLK_TCK);

	if (proc_birth((pid_t)match->pid, &ticks) || clock_gettime(CLOCK_BOOTTIME, &boot))
		return false;
	uint64_t slept = (uint64_t)boot.tv_sec * 1000000000 + (uint64_t)boot.tv_nsec - now;

	birth = ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
	return birth <= match->ts + slept;
}

/* How many of what frame pointers led to, from the innermost on, are places in code: a register may hold anything. */
static uint32_t count_in_code(const struct frames *frames, const struct program_match *match)
{
	uint32_t count = 0;

	while (count < match->stack_count) {
		const struct mapping *mapping = mappings_find(&frames->mappings, match->stack[count]);

		if (!mapping || !mapping->is_code)
			break;
		count++;
	}
	return count;
}

/*
 * Unwinds the stack of match. False: frame pointers say more than that, or there is nothing to unwind; why is in
 * unwound then.
 */
static bool unwind(struct frames *frames, const struct program_match *match)
{
	struct unwound *unwound = &frames->unwound;

	if (!match->stack_copy) {
		snprintf(unwound->why, sizeof unwound->why, "the copy of the stack was not kept");
		return false;
	}
	if (!frames->unwinder)
		frames->unwinder = unwinder_new();
	if (!frames->unwinder) {
		snprintf(unwound->why, sizeof unwound->why, "out of memory");
		return false;
	}
	unwinder_walk(frames->unwinder, match, &frames->mappings, unwound);
	return unwound->count && (!*unwound->why || unwound->count >= count_in_code(frames, match));
}

static const char *const before_why[] = {
	[PROGRAM_BY_UNWINDING] = "",
	[PROGRAM_BY_FRAME_POINTERS] = "by frame pointers: ",
	[PROGRAM_BY_REGISTERS] = "callers are unknown: ",
};

/* What is said of the end of the stack, if anything. */
static const char *stack_end_text(const struct unwound *unwound, enum program_stack_by by, struct text_buffer *text)
{
	if (by == PROGRAM_BY_UNWINDING && !*unwound->why)
		return NULL;
	text_printf(text, "%s%s", before_why[by], unwound->why);
	return text->failure ? NULL : text->bytes;
}

/* Code is where the thread was: the process lives, and has not begun another program. */
static bool is_met(const struct frames *frames, const struct program_match *match)
{
	const struct mapping *mapping = mappings_find(&frames->mappings, match->stack[0]);

	return mapping && mapping->is_code;
}

/* What the process has mapped, or had when the match met it; nothing where that is not known. */
static int read_mappings(struct frames *frames, const struct program_match *match, bool foreign)
{
	int result = 0;

	frames->mappings.count = 0;
	if (foreign)
		return 0;
	if (frames_is_there(match))
		result = mappings_read(&frames->mappings, match->pid);
	if (result || is_met(frames, match))
		return result;
	frames->mappings.count = 0;
	return frames->log ? map_log_read(frames->log, match->pid, match->ts, &frames->mappings) : 0;
}

/* index: of named. */
static int name_stack(struct frames *frames, uint32_t index, const struct program_match *match, bool foreign,
		      struct program_stack *stack)
{
	struct named *named = &frames->named[index];
	struct unwound *unwound = &frames->unwound;
	const uint64_t *addresses = match->stack;

	forget_names(named);
	frames_begin(frames);
	*unwound = (struct unwound){ .why = "its process is in another namespace" };
	if (read_mappings(frames, match, foreign))
		return -ENOMEM;
	if (!foreign)
		snprintf(unwound->why, sizeof unwound->why, "its process has ended, or runs another program");
	*stack = (struct program_stack){ named->reported, match->stack_count };
	stack->by = index ? PROGRAM_BY_REGISTERS : PROGRAM_BY_FRAME_POINTERS;
	if (frames->mappings.count && unwind(frames, match)) {
		addresses = unwound->addresses;
		stack->by = PROGRAM_BY_UNWINDING;
		stack->frame_count = unwound->count;
	}
	stack->end = stack_end_text(unwound, stack->by, &named->end);
	for (uint32_t i = 0; i < stack->frame_count; i++) {
		bool is_exact = stack->by == PROGRAM_BY_UNWINDING ? unwound->exact >> i & 1 : i == 0;

		name_frame(frames, &named->texts[i], addresses[i], !is_exact);
		if (named->texts[i].failure)
			return -ENOMEM;
		named->reported[i] = named->texts[i].bytes;
	}
	return 0;
}

int frames_name(struct frames *frames, struct program_match *match, bool foreign)
{
	return name_stack(frames, 0, match, foreign, &match->named_stack);
}

int frames_name_thread(struct frames *frames, const struct program_stack_copy *copy, uint64_t taken_ns, uint32_t index,
		       struct program_thread *thread)
{
	uint64_t place = unwind_registers_place(copy->registers);
	const struct program_match match = {
		.ts = taken_ns,
		.pid = thread->pid,
		.tid = thread->tid,
		.comm = thread->comm,
		.stack = &place,
		.stack_count = 1,
		.stack_copy = copy,
	};

	return name_stack(frames, 1 + index, &match, false, &thread->stack);
}
