// SPDX-License-Identifier: BSD-2-Clause
/* Notes the builds of a profile's objects, so that two runs can be compared. */

#include "profile/profile.h"

#include "base/alloc.h"
#include "base/elf-code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_profile_key(const struct profile *profile, uint32_t object, char key[PROFILE_KEY_BYTES])
{
	const char *name = profile_get_text(profile, object);

	for (const char *at = name; *at; at++) {
		if ((unsigned char)*at < ' ')
			return false;
	}
	return *name && (size_t)snprintf(key, PROFILE_KEY_BYTES, PROFILE_BUILD_ID "%s", name) < PROFILE_KEY_BYTES;
}

int profile_set_build_id(struct profile *profile, uint32_t object, const char *digits)
{
	char key[PROFILE_KEY_BYTES];

	return make_profile_key(profile, object, key) ? profile_set_info(profile, key, digits) : 0;
}

const char *profile_get_build_id(const struct profile *profile, uint32_t object)
{
	char key[PROFILE_KEY_BYTES];

	return make_profile_key(profile, object, key) ? profile_get_info(profile, key) : NULL;
}

static int read_build_id(struct profile *profile, uint32_t object)
{
	const char *name = profile_get_text(profile, object);
	int fd = *name == '/' ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1, result = 0;
	char digits[ELF_BUILD_ID_BYTES];
	struct stat about;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && elf_build_id(fd, digits))
		result = profile_set_build_id(profile, object, digits);
	if (fd >= 0)
		close(fd);
	return result;
}

int profile_read_build_ids(struct profile *profile)
{
	size_t texts = profile->texts.count;
	bool *is_read = alloc_zero(texts, sizeof *is_read);
	int result = is_read ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < profile->function_count; i++) {
		uint32_t object = profile->functions[i].object;

		if (is_read[object])
			continue;
		is_read[object] = true;
		result = read_build_id(profile, object);
	}
	alloc_free(is_read);
	return result;
}
