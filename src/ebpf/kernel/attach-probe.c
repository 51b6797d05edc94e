// SPDX-License-Identifier: BSD-2-Clause
/* Decides where in which file a probe stands, by the symbols of the file, and how programs meet it. */

#include "ebpf/kernel/attach-probe.h"

#include "base/elf-code.h"
#include "base/proc.h"
#include "ebpf/kernel/own-probe.h"

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

static const char at_entry[] = "uprobe:", at_return[] = "uretprobe:";

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool attach_is_probe(const char *tracepoint)
{
	return begins(tracepoint, at_entry) || begins(tracepoint, at_return);
}

static int refuse(const struct attach_reason *reason, int error, const char *what, const char *name)
{
	snprintf(reason->text, reason->size, "%s %s", what, name);
	return error;
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

		if (length < (int)sizeof path && access(path, R_OK) == 0)
			return arena_text(arena, path, (size_t)length);
	}
	return NULL;
}

struct search {
	const struct elf_code *code;
	const char *function;
	uint64_t *offset;
};

/* 1: this is the function, and its code is in the file. */
static int look(void *context, const struct elf_function *function)
{
	const struct search *search = context;

	return !function->is_indirect && strcmp(function->name, search->function) == 0 &&
	       elf_offset(elf_code_segments(search->code), function->address, search->offset);
}

/* Names of functions, those of the file itself. */
struct names {
	const char **rows;
	size_t count, capacity;
};

static int add_name(void *context, const struct elf_function *function)
{
	struct names *names = context;

	if (function->is_indirect)
		return 0;
	if (alloc_grow(&names->rows, &names->capacity, names->count, sizeof *names->rows))
		return -ENOMEM;
	names->rows[names->count++] = function->name;
	return 0;
}

static int no_function(const struct elf_code *code, const char *function, const struct attach_reason *reason)
{
	struct names names = { 0 };

	elf_code_each(code, ELF_LINKING, SIZE_MAX, add_name, &names);
	elf_code_each(code, ELF_FULL, SIZE_MAX, add_name, &names);
	const char *nearest = diag_nearest(function, names.rows, names.count);

	snprintf(reason->text, reason->size,
		 nearest ? "the file has no function %s; is %s meant?" : "the file has no function %s", function,
		 nearest);
	alloc_free(names.rows);
	return -ESRCH;
}

/* What others are linked with comes first: among all symbols other functions may have the same name. */
static int find_in_file(int fd, const char *function, struct attach_place *place, const struct attach_reason *reason)
{
	struct elf_code *code = NULL;
	int result = elf_code_open(fd, ELF_CODE, &code);

	if (result == -ENOEXEC)
		return refuse(reason, -ENOENT, "this is no program and no library:", place->path);
	if (result)
		return result;
	struct search search = { code, function, &place->offset };

	if (!elf_code_each(code, ELF_LINKING, SIZE_MAX, look, &search) &&
	    !elf_code_each(code, ELF_FULL, SIZE_MAX, look, &search))
		result = no_function(code, function, reason);
	elf_code_free(code);
	return result;
}

int attach_probe_find(const char *tracepoint, struct arena *arena, struct attach_place *place,
		      const struct attach_reason *reason)
{
	const char *file = strchr(tracepoint, ':') + 1, *function = strrchr(tracepoint, ':') + 1;

	if (function <= file || function - 1 == file || !*function)
		return refuse(reason, -EINVAL, "a probe is written uprobe:FILE:FUNCTION, not", tracepoint);
	char *name = arena_text(arena, file, (size_t)(function - 1 - file));

	if (!name)
		return -ENOMEM;
	place->at_return = begins(tracepoint, at_return);
	place->is_own = strcmp(name, "asterism") == 0;
	if (place->is_own)
		return own_probe_find(function) && find_mapped(own_probe_find(function), arena, place)
			       ? 0
			       : refuse(reason, -ENOENT, "asterism has no function", function);
	place->path = strchr(name, '/') ? name : find_library(name, arena);
	int fd = place->path ? open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat about;

	if (fd < 0)
		return refuse(reason, -ENOENT, "there is no file", name);
	int result = fstat(fd, &about) == 0 && S_ISREG(about.st_mode)
			     ? find_in_file(fd, function, place, reason)
			     : refuse(reason, -ENOENT, "this is no regular file:", name);

	close(fd);
	return result;
}

/* A number in a file of the kernel's, after prefix; or -errno. */
static int read_number(const char *path, const char *prefix)
{
	char text[64], *end;
	ssize_t got = proc_read(path, text, sizeof text);

	if (got < 0)
		return (int)got;
	if (!begins(text, prefix))
		return -EINVAL;
	long number = strtol(text + strlen(prefix), &end, 10);

	return end == text + strlen(prefix) || number < 0 || number > INT32_MAX ? -EINVAL : (int)number;
}

static int open_probe(const struct attach_place *place)
{
	static const char folder[] = "/sys/bus/event_source/devices/uprobe/";
	char path[128];

	snprintf(path, sizeof path, "%stype", folder);
	int type = read_number(path, "");

	snprintf(path, sizeof path, "%sformat/retprobe", folder);
	int bit = read_number(path, "config:");

	if (type < 0 || bit < 0 || bit > 63)
		return -EOPNOTSUPP;
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof attr,
		.config = place->at_return ? UINT64_C(1) << bit : 0,
		.uprobe_path = (uintptr_t)place->path,
		.probe_offset = place->offset,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int attach_probe(int program_fd, const struct attach_place *place, const char *tracepoint, struct asterism_diag *diag)
{
	int error = 0, fd = open_probe(place);

	if (fd >= 0 && (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)) {
		error = -errno;
		close(fd);
	} else if (fd < 0) {
		error = fd;
	}
	if (!error)
		return fd;
	return diag_error(diag, NULL, error, "no program can be attached to %s: %s", tracepoint,
			  error == -EPERM || error == -EACCES ? "this needs the capabilities CAP_BPF and CAP_PERFMON"
							      : strerror(-error));
}
