// SPDX-License-Identifier: BSD-2-Clause
/* Unwinds a stack, and says why it ended where it did. */

#include "session/output/unwinder.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "session/output/debug-info.h"
#include "session/output/unwind-registers.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum module_state { UNOPENED, OPENED, UNREADABLE, UNTRUSTED };

/* A file, from its first mapping on; libdwfl calls that a module. */
struct module {
	uint64_t start, end;
	enum module_state state;
};

struct unwinder_process {
	uint32_t pid;
	uint64_t files; /* a hash of what is mapped where */
	Dwfl *dwfl;
	struct module *modules;
	size_t count, capacity;
	uint64_t used; /* when, in walks */
	bool is_attached;
};

/* Who called a function: where that is UNSAID, libdwfl follows frame pointers. */
enum caller { UNSAID, NOBODY, SOMEBODY };

struct unwinder {
	struct unwinder_process processes[UNWIND_PROCESSES_MAX];
	uint64_t walks;
	/* Of the walk under way: */
	const struct program_match *match;
	const struct mappings *mappings;
	struct unwinder_process *process;
	struct unwound *found;
	uint64_t missed; /* the address that was asked for last and is not in the copy */
	bool is_missed;
	uint64_t last;      /* what was read last from the copy */
	enum caller caller; /* of the last frame */
	uint32_t guessed;   /* the first frame, from 1, whose caller is UNSAID; 0: there is none */
};

/* -- files -- */

/* What libdwfl asks for when it first comes to a module. It prescribes the parameters. */
static int find_elf(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base, char **path, Elf **elf)
{
	struct unwinder *unwinder = *context;
	const struct mapping *mapping = mappings_find(unwinder->mappings, base);
	struct unwinder_process *process = unwinder->process;
	struct module *own = process->modules;
	struct stat about;
	int fd;

	(void)module;
	(void)name;
	(void)path;
	while (own < process->modules + process->count && own->start != base)
		own++;
	if (own == process->modules + process->count)
		return -1;
	fd = mapping ? mappings_open(unwinder->mappings, mapping, &about) : -1;
	own->state = fd < 0 ? UNREADABLE : debug_info_is_trusted(fd) ? OPENED : UNTRUSTED;
	*elf = own->state == OPENED && debug_info_is_sound(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (*elf)
		return fd;
	if (own->state == OPENED)
		own->state = UNREADABLE;
	if (fd >= 0)
		close(fd);
	return -1;
}

static const Dwfl_Callbacks unwinder_callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = debug_info_find_file,
	.section_address = dwfl_offline_section_address,
};

/* A file is mapped in pieces, one behind the other; what has no file may be between. */
static int add_module(struct unwinder_process *process, const struct mappings *mappings, size_t *at)
{
	const struct mapping *first = &mappings->items[*at];
	struct module module = { .start = first->start };
	bool is_code = false;

	for (; *at < mappings->count; ++*at) {
		const struct mapping *next = &mappings->items[*at];

		if (!next->inode)
			continue;
		if (next->inode != first->inode || (next != first && !next->offset))
			break;
		is_code |= next->is_code;
		module.end = next->end;
	}
	if (!is_code || mappings_name(mappings, first)[0] != '/' || process->count == UNWIND_FILES_MAX)
		return 0;
	if (alloc_grow(&process->modules, &process->capacity, process->count, sizeof *process->modules))
		return -ENOMEM;
	process->modules[process->count++] = module;
	return 0;
}

static int find_modules(struct unwinder_process *process, const struct mappings *mappings)
{
	int result = 0;

	for (size_t i = 0; i < mappings->count && !result;) {
		if (mappings->items[i].inode)
			result = add_module(process, mappings, &i);
		else
			i++;
	}
	return result;
}

static bool report_modules(struct unwinder *unwinder, struct unwinder_process *process)
{
	void **context;

	process->dwfl = dwfl_begin(&unwinder_callbacks);
	if (!process->dwfl)
		return false;
	dwfl_report_begin(process->dwfl);
	for (size_t i = 0; i < process->count; i++) {
		char name[32];

		snprintf(name, sizeof name, "%" PRIx64, process->modules[i].start);
		Dwfl_Module *module =
			dwfl_report_module(process->dwfl, name, process->modules[i].start, process->modules[i].end);

		if (!module || !dwfl_module_info(module, &context, NULL, NULL, NULL, NULL, NULL, NULL))
			return false;
		*context = unwinder;
	}
	return dwfl_report_end(process->dwfl, NULL, NULL) == 0;
}

/* -- processes -- */

static void forget_unwinder(struct unwinder_process *process)
{
	if (process->dwfl)
		dwfl_end(process->dwfl);
	alloc_free(process->modules);
	*process = (struct unwinder_process){ 0 };
}

/* Of what has a file: the heap grows all the time. */
static uint64_t mappings_hash(const struct mappings *mappings)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *item = &mappings->items[i];

		if (item->inode)
			hash = hash_bytes(hash, item, offsetof(struct mapping, name));
	}
	return hash;
}

/* What is known of the process, made anew where its files have changed; NULL: memory is short. */
static struct unwinder_process *unwound_process(struct unwinder *unwinder, const struct mappings *mappings)
{
	uint64_t files = mappings_hash(mappings);
	struct unwinder_process *least = unwinder->processes;

	unwinder->walks++;
	for (size_t i = 0; i < UNWIND_PROCESSES_MAX; i++) {
		struct unwinder_process *process = &unwinder->processes[i];

		if (process->dwfl && process->pid == mappings->pid && process->files == files) {
			process->used = unwinder->walks;
			return process;
		}
		if (process->used < least->used || (process->dwfl && process->pid == mappings->pid))
			least = process;
	}
	forget_unwinder(least);
	*least = (struct unwinder_process){ .pid = mappings->pid, .files = files, .used = unwinder->walks };
	if (find_modules(least, mappings) || !report_modules(unwinder, least)) {
		forget_unwinder(least);
		return NULL;
	}
	return least;
}

/* -- the walk -- */

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	(void)dwfl;
	(void)context;
	(void)thread;
	return 0;
}

/* There is one, whose id is the match's. */
static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = context;
	return true;
}

static bool has_page(const struct program_stack_copy *copy, uint64_t offset)
{
	uint64_t page = offset / copy->page_bytes;

	return page < copy->page_count && copy->pages >> page & 1;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	struct unwinder *unwinder = context;
	const struct program_stack_copy *copy = unwinder->match->stack_copy;
	uint64_t offset = address - copy->start, last = offset + sizeof *result - 1;

	(void)dwfl;
	if (last < offset || !has_page(copy, offset) || !has_page(copy, last)) {
		unwinder->missed = has_page(copy, offset) ? copy->start + last : address;
		unwinder->is_missed = true;
		return false;
	}
	memcpy(result, copy->bytes + offset, sizeof *result);
	unwinder->last = *result;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct unwinder *unwinder = context;

	return unwind_registers_set(thread, unwinder->match->stack_copy->registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* What the file says of who called the function at address. */
static enum caller caller_by(Dwarf_CFI *cfi, Dwarf_Addr address)
{
	Dwarf_Op memory[3], *ops = memory;
	Dwarf_Frame *rules = NULL;
	size_t count = 0;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &rules))
		return UNSAID;
	int number = dwarf_frame_info(rules, NULL, NULL, NULL);
	bool is_nobody = dwarf_frame_register(rules, number, memory, &ops, &count) == 0 && !count && ops == memory;

	free(rules);
	return is_nobody ? NOBODY : SOMEBODY;
}

static enum caller caller_of(Dwfl *dwfl, Dwarf_Addr address)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
	Dwarf_Addr bias = 0;

	if (!module)
		return UNSAID;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	enum caller caller = caller_by(cfi, address - bias);

	if (caller != UNSAID)
		return caller;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return caller_by(cfi, address - bias);
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct unwinder *unwinder = context;
	struct unwound *found = unwinder->found;
	bool is_exact = true;
	Dwarf_Addr address;

	if (found->count == PROGRAM_FRAMES_MAX)
		return DWARF_CB_ABORT;
	/* What it takes to find the caller is read by the next call. */
	unwinder->is_missed = false;
	if (!dwfl_frame_pc(frame, &address, &is_exact))
		return DWARF_CB_ABORT;
	if (is_exact)
		found->exact |= UINT64_C(1) << found->count;
	found->addresses[found->count++] = address;
	unwinder->caller = caller_of(unwinder->process->dwfl, address - !is_exact);
	if (!unwinder->guessed && unwinder->caller == UNSAID)
		unwinder->guessed = found->count;
	return DWARF_CB_OK;
}

/* -- what is said of the end -- */

static uint64_t stack_copy_end(const struct program_stack_copy *copy)
{
	return copy->start + (uint64_t)copy->page_count * copy->page_bytes;
}

/* What is missing is above the copy, which is whole, and of the same piece of memory. */
static bool is_cut(const struct unwinder *unwinder)
{
	const struct program_stack_copy *copy = unwinder->match->stack_copy;
	uint32_t last = copy->page_count - 1;
	const struct mapping *above = mappings_find(unwinder->mappings, unwinder->missed);

	return copy->pages >> last & 1 && unwinder->missed >= stack_copy_end(copy) && above &&
	       above == mappings_find(unwinder->mappings, stack_copy_end(copy) - 1);
}

static const struct module *module_of(const struct unwinder_process *process, uint64_t address)
{
	for (size_t i = 0; i < process->count; i++)
		if (address >= process->modules[i].start && address < process->modules[i].end)
			return &process->modules[i];
	return NULL;
}

/* Why nothing says who called the function at address. */
static void say_where(const struct unwinder *unwinder, uint64_t address, char *why)
{
	const struct module *module = module_of(unwinder->process, address);
	const struct mapping *mapping = mappings_find(unwinder->mappings, address);
	const char *name = mapping ? mappings_name(unwinder->mappings, mapping) : "";

	if (!module && *name == '/' && unwinder->process->count == UNWIND_FILES_MAX)
		snprintf(why, UNWIND_WHY_BYTES, "%s is not among the first %d files that its process has mapped", name,
			 UNWIND_FILES_MAX);
	else if (!module && *name)
		snprintf(why, UNWIND_WHY_BYTES, "%s is not a regular file", name);
	else if (!module || !mapping) /* the latter between two parts of a module */
		snprintf(why, UNWIND_WHY_BYTES, "no file is mapped at 0x%" PRIx64, address);
	else if (module->state == UNTRUSTED)
		snprintf(why, UNWIND_WHY_BYTES, "%s is writable by other users", name);
	else if (module->state == UNREADABLE)
		snprintf(why, UNWIND_WHY_BYTES, "cannot read %s", name);
	else
		snprintf(why, UNWIND_WHY_BYTES, "%s has no unwind information for 0x%" PRIx64, name,
			 address - mapping->start + mapping->offset);
}

static void say_end(const struct unwinder *unwinder, char *why)
{
	const struct program_stack_copy *copy = unwinder->match->stack_copy;
	const struct unwound *found = unwinder->found;
	/* A frame pointer that was but a guess leads anywhere. */
	bool is_missed = unwinder->is_missed && unwinder->guessed != found->count;

	if (found->count == PROGRAM_FRAMES_MAX)
		snprintf(why, UNWIND_WHY_BYTES, "stack cut at %d functions", PROGRAM_FRAMES_MAX);
	else if (is_missed && is_cut(unwinder))
		snprintf(why, UNWIND_WHY_BYTES, "stack cut at %u KiB",
			 (copy->page_count - 1) * copy->page_bytes / 1024);
	else if (is_missed)
		snprintf(why, UNWIND_WHY_BYTES, "stack ends where 0x%" PRIx64 " could not be read", unwinder->missed);
	else if (found->count)
		say_where(unwinder, found->addresses[found->count - 1], why);
	else if (unwinder->process->count == UNWIND_FILES_MAX)
		snprintf(why, UNWIND_WHY_BYTES, "cannot read any of the first %d files that its process has mapped",
			 UNWIND_FILES_MAX);
	else
		snprintf(why, UNWIND_WHY_BYTES, "cannot read any of the files that its process has mapped");
}

/* That some of it is less certain comes first. */
static void say_why(const struct unwinder *unwinder, bool is_whole)
{
	struct unwound *found = unwinder->found;
	char guess[UNWIND_WHY_BYTES], end[UNWIND_WHY_BYTES];

	if (!is_whole)
		say_end(unwinder, found->why);
	if (!unwinder->guessed || (!is_whole && unwinder->guessed == found->count))
		return;
	memcpy(end, found->why, sizeof end);
	say_where(unwinder, found->addresses[unwinder->guessed - 1], guess);
	snprintf(found->why, sizeof found->why, "partly by frame pointers: %.250s%s%.200s", guess, *end ? "; " : "",
		 end);
}

void unwinder_walk(struct unwinder *unwinder, const struct program_match *match, const struct mappings *mappings,
		   struct unwound *found)
{
	*found = (struct unwound){ 0 };
	if (!unwind_registers_are_known(match->stack_copy->registers)) {
		snprintf(found->why, sizeof found->why, "cannot unwind code of another architecture");
		return;
	}
	unwinder->match = match;
	unwinder->mappings = mappings;
	unwinder->found = found;
	unwinder->is_missed = false;
	unwinder->guessed = 0;
	unwinder->last = 1;
	unwinder->process = unwound_process(unwinder, mappings);
	if (!unwinder->process) {
		snprintf(found->why, sizeof found->why, "out of memory");
		return;
	}
	struct unwinder_process *process = unwinder->process;

	if (!process->is_attached)
		process->is_attached =
			dwfl_attach_state(process->dwfl, NULL, (pid_t)match->pid, &thread_callbacks, unwinder);
	/* A frame whose caller cannot be worked out is the last one to libdwfl, as if nobody had called. Nobody is 0,
	 * too. */
	bool is_whole = process->is_attached &&
			dwfl_getthread_frames(process->dwfl, (pid_t)match->tid, take_frame, unwinder) == 0 &&
			!unwinder->is_missed && (unwinder->caller != SOMEBODY || !unwinder->last);

	say_why(unwinder, is_whole);
}

struct unwinder *unwinder_new(void)
{
	return alloc_zero(1, sizeof(struct unwinder));
}

void unwinder_free(struct unwinder *unwinder)
{
	for (size_t i = 0; unwinder && i < UNWIND_PROCESSES_MAX; i++)
		forget_unwinder(&unwinder->processes[i]);
	alloc_free(unwinder);
}
