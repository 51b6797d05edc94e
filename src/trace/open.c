// SPDX-License-Identifier: BSD-2-Clause
/* Decides which reader a path gets. */

#include "trace/open.h"

#include "trace/babel/babel.h"
#include "trace/ctf/read.h"
#include "trace/jsonl/jsonl.h"

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

static int say(struct asterism_diag *diag, const char *path, const char *text)
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
		return say(diag, name, "there is no such file");
	if (fd < 0 && errno == EACCES)
		return say(diag, name, "this file may not be read (permission denied)");
	if (fd < 0)
		return say(diag, name, strerror(errno));
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

int trace_open(const char *path, struct event_catalog *catalog, struct asterism_diag *diag, struct event_source **made)
{
	struct stat status;

	if (is_standard_input(path) || stat(path, &status) || !S_ISDIR(status.st_mode))
		return open_lines(path, catalog, diag, made);
	return trace_ctf_is_own(path) ? trace_ctf_new(path, catalog, diag, made)
				      : trace_babel_new(path, catalog, diag, made);
}
