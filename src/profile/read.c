// SPDX-License-Identifier: BSD-2-Clause
/* Decides which format a file has. */

#include "profile/read-priv.h"
#include "profile/read.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

int profile_read_text(int fd, const char *file, struct asterism_diag *diag, char **text, size_t *length)
{
	size_t capacity = 0, count = 0;
	char *bytes = NULL;
	ssize_t got;

	for (;;) {
		if (count + READ_BYTES >= capacity) {
			char *grown = alloc_resize(bytes, capacity ? capacity * 2 : 4 * READ_BYTES, 1);

			if (!grown) {
				alloc_free(bytes);
				return diag_no_memory(diag);
			}
			capacity = capacity ? capacity * 2 : 4 * READ_BYTES;
			bytes = grown;
		}
		got = read(fd, bytes + count, READ_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		count += (size_t)got;
		if (count > PROFILE_BYTES_MAX) {
			alloc_free(bytes);
			return diag_error(diag, NULL, -EFBIG, "%s is larger than 1 GiB: no profile is", file);
		}
	}
	if (got < 0) {
		alloc_free(bytes);
		return diag_error(diag, NULL, -errno, "%s cannot be read: %s", file, strerror(errno));
	}
	bytes[count] = 0;
	*text = bytes;
	*length = count;
	return 0;
}

static bool begins(const struct diag_source *source, const char *word)
{
	size_t length = strlen(word);

	return source->length >= length && memcmp(source->text, word, length) == 0;
}

/* Callgrind's format begins with its name or with a line of its head. */
static bool is_callgrind(const struct diag_source *source)
{
	static const char *const heads[] = { "# callgrind format", "version:", "creator:", "cmd:", "part:", "events:",
					     "positions:",         "pid:",     "desc:" };

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		if (begins(source, heads[i]))
			return true;
	}
	return false;
}

int profile_read(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile)
{
	struct reading reading = { .source = source, .diag = diag, .profile = profile_new() };
	bool is_own = begins(source, "# asterism profile");
	int result;

	if (!reading.profile)
		return diag_no_memory(diag);
	reading.at = reading.end = source->text;
	if (is_own || is_callgrind(source))
		result = profile_read_callgrind(&reading, is_own);
	else if (profile_is_perf(source))
		result = profile_read_perf(&reading);
	else
		result = profile_read_csv(&reading);
	if (result)
		profile_free(reading.profile);
	else
		*profile = reading.profile;
	return result;
}
