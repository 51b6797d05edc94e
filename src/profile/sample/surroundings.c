// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notes those variables of the environment by which libraries, loaders and language runtimes choose what they do. A
 * terminal's and a session's others differ from run to run and would be told always.
 */

#include "profile/sample/surroundings.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 128, VALUE_MAX_BYTES = 512, PATH_BYTES = 4096, VARIABLES_MAX = 256 };

/* With a * at the end: all that begin so. */
static const char *const patterns[] = {
	"LANG",
	"LANGUAGE",
	"LC_*",
	"TZ",
	"POSIXLY_CORRECT",
	"LD_*",
	"MALLOC_*",
	"GLIBC_TUNABLES",
	"OMP_*",
	"GOMP_*",
	"KMP_*",
	"MKL_*",
	"OPENBLAS_*",
	"PYTHON*",
	"PERL*",
	"RUBYOPT",
	"NODE_OPTIONS",
	"JAVA_OPTS",
	"_JAVA_OPTIONS",
	"JAVA_TOOL_OPTIONS",
	"JDK_JAVA_OPTIONS",
	"GOGC",
	"GOMAXPROCS",
	"GOMEMLIMIT",
	"GODEBUG",
	"LUA_*",
	"TCMALLOC_*",
	"JEMALLOC_*",
};

static bool is_noted(const char *name, size_t length)
{
	bool is_found = false;

	for (size_t i = 0; i < length; i++) {
		char c = name[i];

		if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !is_found; i++) {
		size_t wanted = strlen(patterns[i]);

		if (patterns[i][wanted - 1] == '*')
			is_found = length >= wanted - 1 && memcmp(name, patterns[i], wanted - 1) == 0;
		else
			is_found = length == wanted && memcmp(name, patterns[i], wanted) == 0;
	}
	return is_found && length < NAME_MAX_BYTES;
}

/* In one line; of a long one its beginning and what tells it from others. */
static void write_value(const char *value, char text[VALUE_MAX_BYTES])
{
	size_t length = strlen(value), shown = length < VALUE_MAX_BYTES ? length : VALUE_MAX_BYTES / 2;

	for (size_t i = 0; i < shown; i++)
		text[i] = (unsigned char)value[i] < ' ' || value[i] == 0x7f ? '?' : value[i];
	text[shown] = 0;
	if (shown < length)
		snprintf(text + shown, VALUE_MAX_BYTES - shown, "... (%zu bytes, %016llx)", length,
			 (unsigned long long)hash_bytes(0, value, length));
}

/*
 * Of GLIBC_TUNABLES without glibc.cpu.*, which choose among variants of functions for processors: valgrind may need
 * others than the processor has, and names of variants are made one.
 */
static void write_tunables(const char *value, char text[VALUE_MAX_BYTES])
{
	char *rest = alloc_zero(strlen(value) + 2, 1);
	size_t length = 0;

	for (const char *at = value; rest && *at; at += *at == ':') {
		size_t item = strcspn(at, ":");

		if (item && strncmp(at, "glibc.cpu.", 10) != 0) {
			if (length)
				rest[length++] = ':';
			memcpy(rest + length, at, item);
			length += item;
		}
		at += item;
	}
	write_value(rest ? rest : value, text);
	alloc_free(rest);
}

static int note_variable(struct profile *profile, const char *variable, size_t length, unsigned *count)
{
	char key[sizeof PROFILE_VARIABLE + NAME_MAX_BYTES], value[VALUE_MAX_BYTES];

	snprintf(key, sizeof key, PROFILE_VARIABLE "%.*s", (int)length, variable);
	if (strcmp(key, PROFILE_VARIABLE "GLIBC_TUNABLES") == 0)
		write_tunables(variable + length + 1, value);
	else
		write_value(variable + length + 1, value);
	if (!*value)
		return 0;
	++*count;
	return profile_set_info(profile, key, value);
}

off_t profile_input_begin(void)
{
	struct stat about;

	return fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

/* "text, 9400000 bytes": the file's name without its folder, which another machine has elsewhere. */
static int note_input(struct profile *profile, off_t begin)
{
	char path[PATH_BYTES], name[VALUE_MAX_BYTES], text[VALUE_MAX_BYTES + 64];
	ssize_t length = readlink("/proc/self/fd/0", path, sizeof path - 1);
	const char *base;
	struct stat about;

	if (length <= 0 || fstat(STDIN_FILENO, &about))
		return 0;
	path[length] = 0;
	base = strrchr(path, '/');
	write_value(base ? base + 1 : path, name);
	if (strcmp(path, "/dev/null") == 0)
		return profile_set_info(profile, PROFILE_INPUT, "none");
	if (!S_ISREG(about.st_mode) || begin < 0)
		return 0;
	if (begin)
		snprintf(text, sizeof text, "%s, %lld bytes, from byte %lld", name, (long long)about.st_size,
			 (long long)begin);
	else
		snprintf(text, sizeof text, "%s, %lld bytes", name, (long long)about.st_size);
	return profile_set_info(profile, PROFILE_INPUT, text);
}

int profile_note_surroundings(struct profile *profile, off_t input_begin)
{
	unsigned count = 0;
	char number[16];
	int result = 0;

	for (char **at = environ; !result && at && *at && count < VARIABLES_MAX; at++) {
		size_t length = strcspn(*at, "=");

		if ((*at)[length] && is_noted(*at, length))
			result = note_variable(profile, *at, length, &count);
	}
	snprintf(number, sizeof number, "%u", count);
	if (!result)
		result = profile_set_info(profile, PROFILE_VARIABLES, number);
	return result ? result : note_input(profile, input_begin);
}
