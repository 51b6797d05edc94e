// SPDX-License-Identifier: BSD-2-Clause
/* Finds the reader for a path. */

#include "trace/open.h"

#include "trace/babel/babel.h"
#include "trace/ctf/read.h"
#include "trace/jsonl/jsonl.h"
#include "trace/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int say_open_error(struct asterism_diag *diag, const char *path, const char *text)
{
	struct diag_source source = { .file = path };

	return diag_error(diag, &(struct diag_location){ .source = &source }, -EINVAL, "%s", text);
}

static int open_lines(const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
		      struct event_source **made)
{
	const char *name = is_standard_input(path) ? "<stdin>" : path;
	int fd = is_standard_input(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC), result;
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return say_open_error(diag, name, "no such file");
	if (fd < 0 && errno == EACCES)
		return say_open_error(diag, name, "cannot read this file: permission denied");
	if (fd < 0)
		return say_open_error(diag, name, strerror(errno));
	result = trace_jsonl_new(fd, name, catalog, diag, made);
	if (result) {
		close(fd);
		return result;
	}
	trace_jsonl_own(*made);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		(*made)->bytes_total = (uint64_t)status.st_size;
	return 0;
}

/* A stream from elsewhere. Takes fd, which may be an error that was told. */
static int open_trace_stream(int fd, const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
			     struct event_source **made)
{
	int result = fd < 0 ? fd : trace_jsonl_new(fd, path, catalog, diag, made);

	if (!result) {
		trace_jsonl_own(*made);
		trace_jsonl_expect_end(*made);
	} else if (fd >= 0) {
		close(fd);
	}
	return result;
}

static int open_frames(const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
		       struct event_source **made)
{
	int fd = trace_serial(path + strlen(TRACE_SERIAL_PREFIX), diag);
	int result = open_trace_stream(fd, path, catalog, diag, made);

	if (!result && trace_jsonl_unframe(*made)) {
		event_source_free(*made);
		return diag_no_memory(diag);
	}
	return result;
}

static bool has_prefix(const char *path, const char *prefix)
{
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

bool trace_is_stream(const char *path)
{
	return has_prefix(path, TRACE_LISTEN_PREFIX) || has_prefix(path, TRACE_SERIAL_PREFIX);
}

int trace_open(const char *path, struct event_catalog *catalog, struct asterism_diag *diag, struct event_source **made)
{
	struct stat status;

	if (has_prefix(path, TRACE_LISTEN_PREFIX))
		return open_trace_stream(trace_listen(path + strlen(TRACE_LISTEN_PREFIX), diag), path, catalog, diag,
					 made);
	if (has_prefix(path, TRACE_SERIAL_PREFIX))
		return open_frames(path, catalog, diag, made);
	if (is_standard_input(path) || stat(path, &status) || !S_ISDIR(status.st_mode))
		return open_lines(path, catalog, diag, made);
	return trace_ctf_is_own(path) ? trace_ctf_new(path, catalog, diag, made)
				      : trace_babel_new(path, catalog, diag, made);
}
