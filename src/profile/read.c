// SPDX-License-Identifier: BSD-2-Clause
/* Recognises the format of a file. */

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
			return diag_error(diag, NULL, -EFBIG, "%s is larger than 1 GiB, the limit for profiles", file);
		}
	}
	if (got < 0) {
		alloc_free(bytes);
		return diag_error(diag, NULL, -errno, "cannot read %s: %s", file, strerror(errno));
	}
	bytes[count] = 0;
	*text = bytes;
	*length = count;
	return 0;
}

static bool begins_with_word(const struct diag_source *source, const char *word)
{
	size_t length = strlen(word);

	return source->length >= length && memcmp(source->text, word, length) == 0;
}

/* Callgrind's format begins with its name or with a line of its head. */
static bool is_callgrind(const struct diag_source *source)
{
	static const char *const heads[] = {
		"# callgrind format", "version:", "creator:", "cmd:", "part:", "event:", "events:",
		"positions:",         "pid:",     "desc:"
	};

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		if (begins_with_word(source, heads[i]))
			return true;
	}
	return false;
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' && !strchr("\t\n\r\033", c);
}

/* A message of protobuf, whose first field is a message: no text begins so. What was packed may begin in other ways. */
static bool is_pprof(const struct diag_source *source, bool was_packed)
{
	size_t length = source->length < 64 ? source->length : 64;

	for (size_t i = 0; was_packed && i < length; i++) {
		if (!source->text[i] || is_control(source->text[i]))
			return true;
	}
	return length > 2 && (*source->text == 0x0a || *source->text == 0x12) &&
	       (source->text[2] == 0x08 || source->text[2] == 0x10);
}

static bool is_own_profile(const struct diag_source *source)
{
	return begins_with_word(source, "# asterism profile");
}

bool profile_is_known(const struct diag_source *source)
{
	return is_own_profile(source) || is_callgrind(source) || profile_is_perf(source) || profile_is_gmon(source) ||
	       profile_is_packed(source) || is_pprof(source, false);
}

static int read_kind(struct reading *reading, bool was_packed)
{
	const struct diag_source *source = reading->source;

	reading->at = reading->end = source->text;
	if (is_own_profile(source) || is_callgrind(source))
		return profile_read_callgrind(reading, is_own_profile(source));
	if (profile_is_perf(source))
		return profile_read_perf(reading);
	if (profile_is_gmon(source))
		return read_wrong(reading, "asterism profile import gmon.out PROGRAM",
				  "gmon.out has no names of functions: they are in its program");
	if (is_pprof(source, was_packed))
		return profile_read_pprof(reading);
	return profile_read_csv(reading);
}

static int read_profile_source(const struct diag_source *source, bool without_places, struct asterism_diag *diag,
			       struct profile **profile)
{
	struct reading reading = {
		.source = source, .diag = diag, .profile = profile_new(), .without_places = without_places
	};
	struct diag_source unpacked = { 0 };
	bool is_packed = profile_is_packed(source);
	int result = 0;

	if (!reading.profile)
		return diag_no_memory(diag);
	reading.at = reading.end = source->text;
	if (is_packed) {
		result = profile_unpack(&reading, &unpacked);
		reading.source = &unpacked;
	}
	if (!result)
		result = read_kind(&reading, is_packed);
	alloc_free((char *)unpacked.text);
	if (result)
		profile_free(reading.profile);
	else
		*profile = reading.profile;
	return result;
}

int profile_read(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile)
{
	return read_profile_source(source, false, diag, profile);
}

int profile_read_functions(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile)
{
	return read_profile_source(source, true, diag, profile);
}
