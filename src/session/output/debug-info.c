// SPDX-License-Identifier: BSD-2-Clause
/* Finds debugging information and reads it. */

#include "session/output/debug-info.h"

#include "base/alloc.h"
#include "base/elf-check.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_FOLDER "/usr/lib/debug" /* as libdwfl has it */

struct debug_info {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias; /* of the addresses that dwfl has */
};

/* Who called sudo could do without us what our reading does. */
static bool is_sudo_user(uid_t owner)
{
	const char *text = getuid() == 0 ? getenv("SUDO_UID") : NULL;
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);

	return !errno && !*end && number == owner;
}

/* Nobody but root, us and who called sudo can change it. */
static bool is_ours(const struct stat *about)
{
	if (about->st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return about->st_uid == 0 || about->st_uid == getuid() || is_sudo_user(about->st_uid);
}

bool debug_info_is_trusted(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && is_ours(&about);
}

bool debug_info_is_sound(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 && about.st_size <= DEBUG_INFO_BYTES_MAX && elf_check(fd) == 0;
}

/* Whether what is called so in the folder, if there is anything, is of this type and ours. */
static bool has_only(int folder, const char *name, mode_t type)
{
	struct stat about;

	if (fstatat(folder, name, &about, 0))
		return errno == ENOENT || errno == ENOTDIR;
	return (about.st_mode & S_IFMT) == type && is_ours(&about);
}

/* The folder that path lies in, if dwfl may open what is called link in it and in its .debug; else -1. */
static int folder_of(const char *path, const char *link)
{
	const char *slash = strrchr(path, '/');
	char *name = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL, *below = NULL;
	int folder = name ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(name);
	if (folder < 0)
		return -1;
	if (asprintf(&below, ".debug/%s", link) < 0 || !has_only(folder, ".", S_IFDIR) ||
	    !has_only(folder, ".debug", S_IFDIR) || !has_only(folder, link, S_IFREG) ||
	    !has_only(folder, below, S_IFREG)) {
		close(folder);
		folder = -1;
	}
	free(below);
	return folder;
}

/* Whether link leads out of the folders that it is looked for in. */
static bool leads_out(const char *link)
{
	return strstr(link, "..") || (strchr(link, '/') && strncmp(link, SYSTEM_FOLDER "/", sizeof SYSTEM_FOLDER) != 0);
}

struct search {
	Dwfl_Module *module;
	void **context;
	const char *name;
	Dwarf_Addr base;
	const char *link;
	GElf_Word checksum;
	char **found;
};

/*
 * As for a file called `before` and what is behind it. dwfl opens what it finds before anybody could judge it: a FIFO
 * would hold us up, a device do what it does. So it is given names that lead to judged folders only.
 */
static int search_as(const struct search *search, const char *before, const char *behind)
{
	char *name = NULL;
	int fd;

	if (asprintf(&name, "%s%s", before, behind) < 0)
		return -1;
	fd = dwfl_standard_find_debuginfo(search->module, search->context, search->name, search->base, name,
					  search->link, search->checksum, search->found);
	free(name);
	return fd;
}

/* Below the system's folder, then beside the file. */
static int find_by_link(const struct search *search, const char *path)
{
	char before[64], nowhere[NAME_MAX + 3];
	int fd = leads_out(search->link) ? -1 : search_as(search, SYSTEM_FOLDER, path);
	int folder = fd < 0 && !strchr(search->link, '/') ? folder_of(path, search->link) : -1;

	if (folder < 0)
		return fd;
	snprintf(before, sizeof before, "/proc/self/fd/%d", folder);
	snprintf(nowhere, sizeof nowhere, "/%0*d", NAME_MAX + 1, 0); /* no file: dwfl would also go where it leads */
	fd = search_as(search, before, nowhere);
	close(folder);
	return fd;
}

/* As dwfl does it, but nothing is fetched, and not every file will do. libdwfl prescribes the parameters. */
int debug_info_find_file(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base, const char *file,
			 const char *link, GElf_Word checksum, char **found)
{
	const struct search search = { module, context, name, base, link, checksum, found };
	const char *servers = getenv("DEBUGINFOD_URLS");
	int fd = dwfl_build_id_find_debuginfo(module, context, name, base, file, link, checksum, found);

	if (fd < 0 && file && link && (!servers || !*servers))
		fd = find_by_link(&search, file);
	if (fd >= 0 && !(debug_info_is_trusted(fd) && debug_info_is_sound(fd))) {
		close(fd);
		free(*found);
		*found = NULL;
		return -1;
	}
	return fd;
}

/* In the usual folders: .debug beside the file, /usr/lib/debug. */
static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = debug_info_find_file,
	.section_address = dwfl_offline_section_address,
};

struct debug_info *debug_info_open(int fd, const char *path)
{
	struct debug_info *info =
		debug_info_is_trusted(fd) && debug_info_is_sound(fd) ? alloc_zero(1, sizeof *info) : NULL;
	int own = info ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (own < 0)
		goto fail;
	info->dwfl = dwfl_begin(&callbacks);
	if (!info->dwfl)
		goto fail;
	dwfl_report_begin(info->dwfl);
	info->module = dwfl_report_offline(info->dwfl, path, path, own);
	if (!info->module)
		goto fail;
	own = -1; /* dwfl's */
	if (dwfl_report_end(info->dwfl, NULL, NULL) || !dwfl_module_getelf(info->module, &info->bias))
		goto fail;
	return info;
fail:
	if (own >= 0)
		close(own);
	debug_info_free(info);
	return NULL;
}

void debug_info_free(struct debug_info *info)
{
	if (info && info->dwfl)
		dwfl_end(info->dwfl);
	alloc_free(info);
}

bool debug_info_find(struct debug_info *info, uint64_t address, struct debug_place *found)
{
	GElf_Addr at = address + info->bias;
	GElf_Off distance = 0;
	GElf_Sym symbol;
	Dwfl_Line *line;

	*found = (struct debug_place){ .function = dwfl_module_addrinfo(info->module, at, &distance, &symbol, NULL,
									NULL, NULL) };
	found->distance = distance;
	line = dwfl_module_getsrc(info->module, at);
	found->file = line ? dwfl_lineinfo(line, NULL, &found->line, NULL, NULL, NULL) : NULL;
	found->path = found->file;
	found->folder = line ? dwfl_line_comp_dir(line) : NULL;
	if (found->file && strrchr(found->file, '/'))
		found->file = strrchr(found->file, '/') + 1;
	return found->function || found->file;
}

const char *debug_info_find_variable(struct debug_info *info, uint64_t address, uint64_t *distance)
{
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(info->module, address + info->bias, distance, &symbol, NULL, NULL, NULL);

	return name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && *distance < symbol.st_size ? name : NULL;
}
