// SPDX-License-Identifier: BSD-2-Clause
/* Recognises the format of a file, and reports why one cannot be read. */

#include "desl/input/input.h"

#include "desl/input/input-priv.h"

#include "base/alloc.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "gmon.out:PROGRAM" has two files, unless one is called so. */
static int split_file_name(struct desl_providing *providing, const char *file, char **path)
{
	const char *colon = strrchr(file, ':');

	*path = alloc_text(file);
	if (!*path)
		return -ENOMEM;
	if (!colon || colon == file || !colon[1] || access(file, F_OK) == 0)
		return 0;
	(*path)[colon - file] = 0;
	providing->named_by = colon + 1;
	return 0;
}

/* Programs and the files that they name lie side by side: a relative path goes from where the caller is. */
static int open_provided_file(const struct desl_providing *providing, const char *file)
{
	int fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC), error = errno;
	char hint[512];

	if (fd >= 0)
		return fd;
	snprintf(hint, sizeof hint, "name it on the command line: %s=FILE", providing->type->name.text);
	diag_add(providing->diag, ASTERISM_ERROR, &providing->type->name.location, hint,
		 "cannot read %s, which has the records of '%s': %s", file, providing->type->name.text,
		 strerror(error));
	return -error;
}

static bool is_folder(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISDIR(status.st_mode);
}

static int read_records(struct desl_providing *providing)
{
	const struct diag_source *source = providing->source;
	size_t first = strspn(source->text, " \t\r\n");

	if (providing->named_by && !profile_is_gmon(source)) {
		diag_error(providing->diag, NULL, -EINVAL, "%s is not what a program built with -pg writes",
			   source->file);
		diag_hint(providing->diag, "other files need no program behind ':'");
		return -EINVAL;
	}
	if (profile_is_known(source))
		return desl_provide_profile(providing);
	if (source->text[first] == '{')
		return desl_provide_jsonl(providing);
	return desl_provide_csv(providing);
}

static int read_desl_file(struct desl_providing *providing, struct diag_source *source)
{
	int fd = open_provided_file(providing, source->file), result;
	char *text = NULL;

	if (fd < 0)
		return fd;
	if (is_folder(fd)) {
		close(fd);
		return desl_provide_trace(providing);
	}
	result = profile_read_text(fd, source->file, providing->diag, &text, &source->length);
	close(fd);
	source->text = text;
	if (!result)
		result = read_records(providing);
	alloc_free(text);
	return result;
}

int desl_provide(struct desl_program *program, struct desl_type *type, const char *file, struct asterism_diag *diag)
{
	struct diag_source source = { 0 };
	struct desl_providing providing = { .program = program, .type = type, .diag = diag, .source = &source };
	char *path = NULL;
	int result = split_file_name(&providing, file, &path);

	source.file = path;
	if (!result)
		result = desl_table_init(&type->table, type->field_count);
	if (!result)
		result = read_desl_file(&providing, &source);
	alloc_free(path);
	return result;
}
