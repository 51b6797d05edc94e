// SPDX-License-Identifier: BSD-2-Clause
/* Decides which format a file has, and what is said where it cannot be read. */

#include "desl/input/input.h"

#include "desl/input/input-priv.h"

#include "base/alloc.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool begins(const struct diag_source *source, const char *word)
{
	size_t length = strlen(word);

	return source->length >= length && memcmp(source->text, word, length) == 0;
}

static bool is_profile(const struct diag_source *source)
{
	static const char *const heads[] = { "# callgrind format",
					     "# asterism profile",
					     "version:",
					     "creator:",
					     "cmd:",
					     "part:",
					     "events:",
					     "positions:",
					     "pid:",
					     "desc:" };

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		if (begins(source, heads[i]))
			return true;
	}
	return false;
}

/* Programs and the files that they name lie side by side: a relative path goes from where the caller is. */
static int open_file(const struct desl_providing *providing, const char *file)
{
	struct stat status;
	int fd = strcmp(file, "-") == 0 ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);
	char hint[512];

	if (fd < 0) {
		int error = errno;

		snprintf(hint, sizeof hint, "name it on the command line: %s=FILE", providing->type->name.text);
		diag_add(providing->diag, ASTERISM_ERROR, &providing->type->name.location, hint,
			 "%s, with the records of '%s', cannot be read: %s", file, providing->type->name.text,
			 strerror(error));
		return -error;
	}
	if (!fstat(fd, &status) && S_ISDIR(status.st_mode)) {
		close(fd);
		snprintf(hint, sizeof hint, "asterism dump -f json %s > events.jsonl, then %s=events.jsonl", file,
			 providing->type->name.text);
		diag_add(providing->diag, ASTERISM_ERROR, &providing->type->name.location, hint,
			 "%s is a folder: of a recording JSON lines are read", file);
		return -EISDIR;
	}
	return fd;
}

static int read_records(struct desl_providing *providing)
{
	const struct diag_source *source = providing->source;
	size_t first = strspn(source->text, " \t\r\n");

	if (is_profile(source))
		return desl_provide_profile(providing);
	if (source->text[first] == '{')
		return desl_provide_jsonl(providing);
	return desl_provide_csv(providing);
}

int desl_provide(struct desl_program *program, struct desl_type *type, const char *file, struct asterism_diag *diag)
{
	struct diag_source source = { .file = file };
	struct desl_providing providing = { program, type, diag, &source, 0 };
	int fd = open_file(&providing, file), result;
	char *text = NULL;

	if (fd < 0)
		return fd;
	result = profile_read_text(fd, file, diag, &text, &source.length);
	close(fd);
	source.text = text;
	if (!result)
		result = desl_table_init(&type->table, type->field_count);
	if (!result)
		result = read_records(&providing);
	alloc_free(text);
	return result;
}
