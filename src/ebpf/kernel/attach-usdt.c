// SPDX-License-Identifier: BSD-2-Clause
/* Finds where in a file a USDT probe stands, by the file's notes: often in several places, each once. */

#include "ebpf/kernel/attach-format.h"
#include "ebpf/kernel/attach-probe-priv.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_BYTES_MAX = 16 << 20, PLACES_MAX = 256 };

struct usdt_search {
	const struct attach_wanted *wanted;
	const struct elf_segments *code, *data;
	uint32_t machine;
	const struct attach_reason *reason;
	struct attach_place *places;
	size_t count, capacity;
};

/* A place counts once: the kernel would raise the event as often as it is named. */
static int add_place(struct usdt_search *search, const struct attach_place *place)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->places[i].offset == place->offset)
			return 0;
	if (search->count == PLACES_MAX)
		return attach_refuse(search->reason, -E2BIG,
				     "this probe has too many locations:", search->wanted->name);
	if (alloc_grow(&search->places, &search->capacity, search->count, sizeof *search->places))
		return -ENOMEM;
	search->places[search->count++] = *place;
	return 0;
}

static int look_at_probe(void *context, const struct elf_probe *probe)
{
	struct usdt_search *search = context;
	const struct attach_wanted *wanted = search->wanted;
	struct attach_place place = {
		.path = wanted->path,
		.address = probe->address,
		.machine = search->machine,
	};

	if (strcmp(probe->provider, wanted->provider) != 0 || strcmp(probe->name, wanted->name) != 0)
		return 0;
	place.arguments = arena_text(wanted->arena, probe->arguments, strlen(probe->arguments));
	if (!place.arguments)
		return -ENOMEM;
	if (!elf_offset(search->code, probe->address, &place.offset))
		return attach_refuse(search->reason, -ESRCH,
				     "the file has no code where it claims this probe is:", probe->name);
	if (probe->semaphore && (!elf_offset(search->data, probe->semaphore, &place.semaphore) ||
				 place.semaphore > UINT32_MAX || place.semaphore % sizeof(uint16_t)))
		return attach_refuse(search->reason, -ESRCH, "the file has no room for the semaphore of", probe->name);
	if (probe->semaphore && !attach_has_semaphores())
		return attach_refuse(search->reason, -EOPNOTSUPP,
				     "this kernel (before 4.20) cannot raise the semaphore of", probe->name);
	return add_place(search, &place);
}

/* What the file has instead, as PROVIDER:PROBE. */
struct usdt_names {
	struct arena *arena;
	const char **rows;
	size_t count, capacity;
};

static int add_probe_name(void *context, const struct elf_probe *probe)
{
	struct usdt_names *names = context;

	if (alloc_grow(&names->rows, &names->capacity, names->count, sizeof *names->rows))
		return -ENOMEM;
	names->rows[names->count] = arena_format(names->arena, "%s:%s", probe->provider, probe->name);
	return names->rows[names->count++] ? 0 : -ENOMEM;
}

static int no_probe(const struct elf_code *code, const struct attach_wanted *wanted, const struct attach_reason *reason)
{
	struct usdt_names names = { .arena = wanted->arena };
	const char *name = arena_format(wanted->arena, "%s:%s", wanted->provider, wanted->name);
	int result = name ? elf_code_each_probe(code, NOTES_BYTES_MAX, add_probe_name, &names) : -ENOMEM;
	const char *nearest = result ? NULL : diag_nearest(name, names.rows, names.count);

	if (!result && !names.count)
		attach_refuse(reason, 0, "no USDT probes in", wanted->path);
	else if (!result)
		snprintf(reason->text, reason->size,
			 nearest ? "the file has no USDT probe %s; did you mean %s?" : "the file has no USDT probe %s",
			 name, nearest);
	alloc_free(names.rows);
	return result ? result : -ESRCH;
}

/* Registers are those of this kernel, which runs programs of 32 bits of x86 with the lower halves of the same. */
static bool is_of_this_processor(uint32_t machine)
{
#if defined(__x86_64__)
	return machine == EM_X86_64 || machine == EM_386;
#elif defined(__aarch64__)
	return machine == EM_AARCH64;
#else
	(void)machine;
	return false;
#endif
}

static int find_probes(int fd, struct usdt_search *search, const struct elf_code *code)
{
	struct elf_code *data = NULL;
	int result = elf_code_open(fd, ELF_DATA, &data);

	if (result)
		return result;
	search->data = elf_code_segments(data);
	result = elf_code_each_probe(code, NOTES_BYTES_MAX, look_at_probe, search);
	elf_code_free(data);
	return result;
}

int attach_usdt_find(int fd, const struct elf_code *code, const struct attach_wanted *wanted,
		     const struct attach_reason *reason)
{
	struct usdt_search search = {
		.wanted = wanted,
		.code = elf_code_segments(code),
		.machine = elf_code_machine(code),
		.reason = reason,
	};

	if (!is_of_this_processor(search.machine))
		return attach_refuse(reason, -ENOENT,
				     "asterism does not know the probe arguments of the architecture of", wanted->path);
	int result = find_probes(fd, &search, code);

	if (!result && !search.count)
		result = no_probe(code, wanted, reason);
	if (!result) {
		wanted->places->count = search.count;
		wanted->places->items = arena_zero(wanted->arena, search.count, sizeof *search.places);
		if (wanted->places->items)
			memcpy(wanted->places->items, search.places, search.count * sizeof *search.places);
		else
			result = -ENOMEM;
	}
	alloc_free(search.places);
	return result;
}
