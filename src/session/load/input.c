// SPDX-License-Identifier: BSD-2-Clause
/* Reads input files, and reports those that cannot be read. */

#include "session/load/input.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };

static const char is_a_directory[] = "this is a directory, not a file";

const char *session_input_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "<stdin>" : file;
}

/* A word of a rule where a file is wanted: the shell has taken the rule apart. */
static const char *hint_for(const char *file, bool is_directory)
{
	static const char *const words[] = { "WHERE", "RETURN", "WITHIN", "DO", "AGGREGATE", "BY", "SEVERITY" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(file, words[i]) == 0)
			return "after -r, put the whole rule into single quotes";
	}
	return is_directory ? "name a file in this directory" : NULL;
}

static int say_input_error(struct asterism_diag *diag, const char *file, const char *text)
{
	struct diag_source source = { .file = session_input_name(file) };

	diag_add(diag, ASTERISM_ERROR, &(struct diag_location){ .source = &source },
		 hint_for(file, text == is_a_directory), "%s", text);
	return -EINVAL;
}

static int say_too_large(struct asterism_diag *diag, const char *file, size_t limit)
{
	char text[64];

	snprintf(text, sizeof text, "this file is too large: the limit is %zu %s",
		 limit >> 20 ? limit >> 20 : limit >> 10, limit >> 20 ? "MiB" : "KiB");
	return say_input_error(diag, file, text);
}

static const char *error_text(int error)
{
	switch (error) {
	case ENOENT:
		return "no such file";
	case EISDIR:
		return is_a_directory;
	case EACCES:
		return "cannot read this file: permission denied";
	default:
		return strerror(error);
	}
}

int session_input_open(const char *file, struct asterism_diag *diag)
{
	struct stat status;
	int fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return say_input_error(diag, file, error_text(errno));
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return say_input_error(diag, file, error_text(EISDIR));
	}
	return fd;
}

/* Whether the first thing in the file that is no space is a brace, with which no rule begins. */
static bool begins_as_json(const char *file)
{
	char bytes[256];
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes), at = 0;

	if (fd >= 0)
		close(fd);
	while (at < got && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < got && bytes[at] == '{';
}

bool session_input_is_trace(const char *file)
{
	const char *ending = strrchr(file, '.');
	struct stat status;

	if (ending && strcmp(ending, ".jsonl") == 0)
		return true;
	if (stat(file, &status))
		return false;
	return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && begins_as_json(file));
}

/* Reads to the end or past limit. */
static int read_whole_input(int fd, size_t limit, char **text, size_t *length)
{
	size_t capacity = 0;

	*text = NULL;
	*length = 0;
	while (*length <= limit) {
		if (*length + CHUNK_BYTES + 1 > capacity) {
			size_t wanted = capacity * 2 + CHUNK_BYTES + 1;
			char *larger = alloc_resize(*text, wanted, 1);

			if (!larger)
				return -ENOMEM;
			*text = larger;
			capacity = wanted;
		}
		ssize_t got = read(fd, *text + *length, CHUNK_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		*length += (size_t)got;
	}
	(*text)[*length] = 0;
	return 0;
}

int session_input_read(const char *file, size_t limit, struct asterism_diag *diag, char **text, size_t *length)
{
	char *read_text;
	size_t read_length;
	int fd = session_input_open(file, diag), result;

	if (fd < 0)
		return fd;
	result = read_whole_input(fd, limit, &read_text, &read_length);
	close(fd);
	if (result == -ENOMEM)
		diag_no_memory(diag);
	else if (result < 0)
		result = say_input_error(diag, file, error_text(-result));
	else if (read_length > limit)
		result = say_too_large(diag, file, limit);
	if (result < 0) {
		alloc_free(read_text);
		return result;
	}
	*text = read_text;
	*length = read_length;
	return 0;
}
