// SPDX-License-Identifier: BSD-2-Clause
/* Finds where in which file a probe stands, by the symbols of the file, and attaches programs there. */

#include "ebpf/kernel/attach-probe-priv.h"

#include "base/proc.h"
#include "ebpf/kernel/attach-format.h"
#include "ebpf/kernel/own-probe.h"

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char at_entry[] = "uprobe:", at_return[] = "uretprobe:", at_note[] = "usdt:";

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool attach_is_probe(const char *tracepoint)
{
	return has_prefix(tracepoint, at_entry) || has_prefix(tracepoint, at_return) || attach_is_usdt(tracepoint);
}

bool attach_is_usdt(const char *tracepoint)
{
	return has_prefix(tracepoint, at_note);
}

/* Where in which file the code lies that is mapped at address. */
static bool find_mapped(const void *address, struct arena *arena, struct attach_place *place)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = (uintptr_t)address;
	char line[PATH_MAX + 128];
	struct proc_mapping mapping;

	place->path = NULL;
	while (maps && !place->path && proc_mapping_next(maps, line, sizeof line, &mapping)) {
		if (at < mapping.start || at >= mapping.end || mapping.path[0] != '/')
			continue;
		place->path = arena_text(arena, mapping.path, strlen(mapping.path));
		place->offset = at - mapping.start + mapping.offset;
	}
	if (maps)
		fclose(maps);
	return place->path;
}

/* Our own C library: libraries lie beside it. NULL: it is linked in. */
static const char *own_libc(void)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)&strtol, &info) && info.dli_fname && info.dli_fname[0] == '/' ? info.dli_fname
												       : NULL;
}

/* Where a library of this name lies; it is not loaded, since that runs what is in it. NULL: nowhere, or no memory. */
static const char *find_library(const char *name, struct arena *arena)
{
	const char *libc = own_libc();
	const char *folders[] = {
		libc ? libc : "/", "/usr/local/lib/", "/usr/lib/", "/lib/", "/usr/lib64/", "/lib64/"
	};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char path[PATH_MAX];
		int folder = (int)(strrchr(folders[i], '/') + 1 - folders[i]);
		int length = snprintf(path, sizeof path, "%.*s%s", folder, folders[i], name);
		struct stat about;

		if (length < (int)sizeof path && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
		    access(path, R_OK) == 0)
			return arena_text(arena, path, (size_t)length);
	}
	return NULL;
}

struct search {
	const struct elf_code *code;
	const char *function;
	uint64_t *offset;
	bool is_found; /* if only what was replaced by another version; */
	bool is_old;   /* this is all there was so far */
};

/* 1: this is the function, and its code is in the file. An old version of it is kept, and the search goes on. */
static int look_at_probe_function(void *context, const struct elf_function *function)
{
	struct search *search = context;

	if (function->is_indirect || (function->is_old && search->is_found) ||
	    strcmp(function->name, search->function) != 0 ||
	    !elf_offset(elf_code_segments(search->code), function->address, search->offset))
		return 0;
	search->is_found = true;
	search->is_old = function->is_old;
	return !function->is_old;
}

/* Names of functions, those of the file itself. */
struct function_names {
	const char **rows;
	size_t count, capacity;
};

static int add_function_name(void *context, const struct elf_function *function)
{
	struct function_names *names = context;

	if (function->is_indirect)
		return 0;
	if (alloc_grow(&names->rows, &names->capacity, names->count, sizeof *names->rows))
		return -ENOMEM;
	names->rows[names->count++] = function->name;
	return 0;
}

static int no_function(const struct elf_code *code, const char *function, const struct attach_reason *reason)
{
	struct function_names names = { 0 };

	elf_code_each(code, ELF_LINKING, SIZE_MAX, add_function_name, &names);
	elf_code_each(code, ELF_FULL, SIZE_MAX, add_function_name, &names);
	const char *nearest = diag_nearest(function, names.rows, names.count);

	snprintf(reason->text, reason->size,
		 nearest ? "the file has no function %s; did you mean %s?" : "the file has no function %s", function,
		 nearest);
	alloc_free(names.rows);
	return -ESRCH;
}

/*
 * What others are linked with comes first, by today's version: among all symbols other functions may have the same
 * name.
 */
static int find_probed_function(const struct elf_code *code, const struct attach_wanted *wanted,
				const struct attach_reason *reason)
{
	struct search search = { code, wanted->name, &wanted->places->items->offset, false, false };

	elf_code_each(code, ELF_LINKING, SIZE_MAX, look_at_probe_function, &search);
	if (!search.is_found)
		elf_code_each(code, ELF_FULL, SIZE_MAX, look_at_probe_function, &search);
	wanted->places->items->is_old = search.is_old;
	if (search.is_found)
		return 0;
	return no_function(code, wanted->name, reason);
}

static int find_in_file(int fd, const struct attach_wanted *wanted, const struct attach_reason *reason)
{
	struct elf_code *code = NULL;
	int result = elf_code_open(fd, ELF_CODE, &code);

	if (result == -ENOEXEC)
		return attach_refuse(reason, -ENOENT, "not a program or library:", wanted->path);
	if (result)
		return result;
	result = wanted->provider ? attach_usdt_find(fd, code, wanted, reason)
				  : find_probed_function(code, wanted, reason);
	elf_code_free(code);
	return result;
}

/* The part of text up to its last colon, which ends it; *last is what stands behind. NULL: there are no two parts. */
static char *split_at_colon(char *text, const char **last)
{
	char *colon = text ? strrchr(text, ':') : NULL;

	if (!colon || colon == text || !colon[1])
		return NULL;
	*colon = '\0';
	*last = colon + 1;
	return text;
}

static int find_own(const char *function, const struct attach_wanted *wanted, const struct attach_reason *reason)
{
	struct attach_place *place = wanted->places->items;

	place->is_own = true;
	return own_probe_find(function) && find_mapped(own_probe_find(function), wanted->arena, place)
		       ? 0
		       : attach_refuse(reason, -ENOENT, "asterism has no function", function);
}

static int find_probe_places(const char *name, struct attach_wanted *wanted, const struct attach_reason *reason)
{
	wanted->path = strchr(name, '/') ? name : find_library(name, wanted->arena);
	wanted->places->items->path = wanted->path;
	int fd = wanted->path ? open(wanted->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat about;

	if (fd < 0)
		return attach_refuse(reason, -ENOENT,
				     strchr(name, '/') ? "file not found:"
						       : "library not found (name a program by its path):",
				     name);
	int result = fstat(fd, &about) == 0 && S_ISREG(about.st_mode)
			     ? find_in_file(fd, wanted, reason)
			     : attach_refuse(reason, -ENOENT, "not a regular file:", name);

	close(fd);
	return result;
}

int attach_probe_find(const char *tracepoint, struct arena *arena, struct attach_places *places,
		      const struct attach_reason *reason)
{
	const char *text = strchr(tracepoint, ':') + 1;
	struct attach_wanted wanted = { .arena = arena, .places = places };
	char *copy = arena_text(arena, text, strlen(text));

	*places = (struct attach_places){ arena_zero(arena, 1, sizeof *places->items), 1 };
	if (!copy || !places->items)
		return -ENOMEM;
	places->items->at_return = has_prefix(tracepoint, at_return);
	char *name = split_at_colon(copy, &wanted.name);

	if (attach_is_usdt(tracepoint))
		name = split_at_colon(name, &wanted.provider);
	if (!name)
		return attach_refuse(reason, -EINVAL,
				     "probes have the form uprobe:FILE:FUNCTION or usdt:FILE:PROVIDER:PROBE, unlike",
				     tracepoint);
	if (strcmp(name, "asterism") == 0 && !wanted.provider)
		return find_own(wanted.name, &wanted, reason);
	return find_probe_places(name, &wanted, reason);
}

/* The part of union bpf_attr that BPF_LINK_CREATE takes for BPF_TRACE_UPROBE_MULTI (Linux 6.6, uapi/linux/bpf.h). */
struct link_of_probes {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, probe_flags, pid, unused;
};

int attach_probe_link(int program_fd, const struct attach_place *place, uint64_t cookie)
{
	const struct link_of_probes link = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = ATTACH_PROBE_LINK,
		.path = (uintptr_t)place->path,
		.offsets = (uintptr_t)&place->offset,
		.semaphores = place->semaphore ? (uintptr_t)&place->semaphore : 0,
		.cookies = (uintptr_t)&cookie,
		.count = 1,
		.probe_flags = place->at_return, /* BPF_F_UPROBE_MULTI_RETURN */
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link);

	return fd < 0 ? -errno : fd;
}

static int open_probe(const struct attach_place *place)
{
	int type = attach_format("type", ""), bit = attach_format("format/retprobe", "config:");
	int counter = place->semaphore ? attach_format("format/ref_ctr_offset", "config:") : 0;

	if (type < 0 || bit < 0 || bit > 63 || counter < 0 || counter > 63)
		return -EOPNOTSUPP;
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof attr,
		.config = (place->at_return ? UINT64_C(1) << bit : 0) | place->semaphore << counter,
		.uprobe_path = (uintptr_t)place->path,
		.probe_offset = place->offset,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static const char *why_not(const struct attach_place *place, int error)
{
	if (error == -EPERM || error == -EACCES)
		return "this needs the capabilities CAP_BPF and CAP_PERFMON";
	if (error == -EINVAL && place->semaphore)
		return "the kernel refuses its semaphore: another tool probably has a plain uprobe there";
	return strerror(-error);
}

/* The link keeps the event of perf, and enables it. */
static int attach_event(int program_fd, const struct attach_place *place, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	int event = open_probe(place), link;

	if (event < 0)
		return event;
	link = bpf_link_create(program_fd, event, BPF_PERF_EVENT, &options);
	if (link >= 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		int error = -errno;

		close(link);
		link = error;
	}
	close(event);
	return link;
}

int attach_probe(int program_fd, const struct attach_probe *probe, struct asterism_diag *diag)
{
	int fd = probe->by_link ? attach_probe_link(program_fd, probe->place, probe->cookie)
				: attach_event(program_fd, probe->place, probe->cookie);

	if (fd >= 0 && probe->place->is_old)
		diag_add(diag, ASTERISM_NOTE, NULL,
			 "'readelf -W --dyn-syms FILE' shows what there is, with versions (@, today's: @@)",
			 "%s is there only in an old version, which programs that are linked today do not call",
			 probe->tracepoint);
	if (fd >= 0)
		return fd;
	return diag_error(diag, NULL, fd, "cannot attach a program to %s: %s", probe->tracepoint,
			  why_not(probe->place, fd));
}
