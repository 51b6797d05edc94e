// SPDX-License-Identifier: BSD-2-Clause
/* Decides which reader a path gets. */

#include "trace/open.h"

#include "trace/ctf-read.h"
#include "trace/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int say(struct asterism_diag *diag, const char *path, const char *hint, const char *text)
{
	struct diag_source source = { .file = path };

	diag_add(diag, ASTERISM_ERROR, &(struct diag_place){ .source = &source }, hint, "%s", text);
	return -EINVAL;
}

static int open_lines(const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
		      struct trace_source **made)
{
	const char *name = is_standard_input(path) ? "<stdin>" : path;
	int fd = is_standard_input(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC), result;
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return say(diag, name, NULL, "there is no such file");
	if (fd < 0 && errno == EACCES)
		return say(diag, name, NULL, "this file may not be read (permission denied)");
	if (fd < 0)
		return say(diag, name, NULL, strerror(errno));
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

static bool has_metadata(const char *path)
{
	char full[4096];
	struct stat status;
	int length = snprintf(full, sizeof full, "%s/metadata", path);

	return length > 0 && (size_t)length < sizeof full && stat(full, &status) == 0;
}

static int open_folder(const char *path, struct event_catalog *catalog, const struct trace_open_options *options,
		       struct asterism_diag *diag, struct trace_source **made)
{
	if (trace_ctf_is_own(path))
		return trace_ctf_new(path, catalog, diag, made);
	if (options && options->foreign)
		return options->foreign(path, catalog, diag, made);
	if (has_metadata(path))
		return say(diag, path, NULL, "this is not a trace of asterism");
	return say(diag, path, "a trace is a directory with a file called metadata", "this directory holds no trace");
}

int trace_open(const char *path, struct event_catalog *catalog, const struct trace_open_options *options,
	       struct asterism_diag *diag, struct trace_source **made)
{
	struct stat status;

	if (!is_standard_input(path) && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return open_folder(path, catalog, options, diag, made);
	return open_lines(path, catalog, diag, made);
}
