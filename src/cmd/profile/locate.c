// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the lines of a profile's addresses. The profile may be old, and its objects others by now: only the build that
 * was sampled is asked.
 */

#include "cmd/profile/annotate-priv.h"

#include "base/alloc.h"
#include "base/elf-code.h"
#include "cli/print.h"
#include "session/output/debug-info.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wanted {
	uint32_t object, spot;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return left->spot < right->spot ? -1 : left->spot > right->spot;
}

/* Its debugging information; NULL: why says why there is none. */
static struct debug_info *open_build(const struct profile *profile, uint32_t object, const char **why)
{
	const char *name = profile_get_text(profile, object), *build = profile_get_build_id(profile, object);
	int fd = *name == '/' && build ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct debug_info *info = NULL;
	char digits[ELF_BUILD_ID_BYTES];

	*why = NULL;
	if (!build)
		*why = "the profile has no build ID for it";
	else if (fd < 0)
		*why = "it cannot be opened";
	else if (!debug_info_is_trusted(fd))
		*why = "users other than root and you can write to it, or it is not a regular file";
	else if (!elf_build_id(fd, digits) || strcmp(digits, build) != 0)
		*why = "its build ID differs from the one in the profile";
	if (!*why)
		info = debug_info_open(fd, name);
	if (!*why && !info)
		*why = "its headers are invalid";
	if (fd >= 0)
		close(fd);
	return info;
}

/* Two kinds of spots may be one line then. */
static int set_line(struct profile *profile, uint32_t number, const struct debug_place *place)
{
	struct profile_spot *spot = &profile->spots[number];
	char path[PATH_MAX];
	int length, result;

	if (*place->path == '/' || !place->folder)
		length = snprintf(path, sizeof path, "%s", place->path);
	else
		length = snprintf(path, sizeof path, "%s/%s", place->folder, place->path);
	if (length < 0 || (size_t)length >= sizeof path || place->line <= 0)
		return 0;
	result = profile_text(profile, path, (size_t)length, &spot->file);
	if (!result)
		spot->line = (uint32_t)place->line;
	return result;
}

/* Of one object. */
static int locate(struct profile *profile, const struct wanted *wanted, size_t count, const char *otherwise)
{
	const char *name = profile_get_text(profile, wanted->object), *why;
	struct debug_info *info;
	size_t found = 0;
	int result = 0;

	/* What the kernel maps has no file, and no lines. */
	if (*name != '/')
		return 0;
	info = open_build(profile, wanted->object, &why);
	for (size_t i = 0; info && !result && i < count; i++) {
		struct debug_place place;

		if (!debug_info_find(info, profile->spots[wanted[i].spot].address, &place) || !place.path)
			continue;
		found++;
		result = set_line(profile, wanted[i].spot, &place);
	}
	debug_info_free(info);
	if (why)
		cli_note("%s: lines are not looked up, as %s: %s", name, why, otherwise);
	else if (!found)
		cli_note("%s has no debugging information of lines: %s", name, otherwise);
	return result == -E2BIG ? -ENOMEM : result;
}

int annotate_locate(struct profile *profile, const bool *is_wanted, const char *otherwise)
{
	struct wanted *wanted = alloc_zero(profile->spot_count + 1, sizeof *wanted);
	size_t count = 0, end;
	int result = wanted ? 0 : -ENOMEM;

	for (uint32_t i = 0; wanted && i < profile->spot_count; i++) {
		const struct profile_spot *spot = &profile->spots[i];

		if (is_wanted[spot->function] && !spot->line && spot->address != PROFILE_NO_ADDRESS)
			wanted[count++] = (struct wanted){ spot->object, i };
	}
	if (wanted)
		qsort(wanted, count, sizeof *wanted, compare_wanted);
	for (size_t start = 0; !result && start < count; start = end) {
		for (end = start + 1; end < count && wanted[end].object == wanted[start].object; end++)
			;
		result = locate(profile, wanted + start, end - start, otherwise);
	}
	alloc_free(wanted);
	return result;
}
