// SPDX-License-Identifier: BSD-2-Clause
/* Decides which format a file has, and what is said of files that are not as the program declares them. */

#include "desl/provide-priv.h"

#include "base/alloc.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_BYTES = 64 };

int desl_provide_wrong(const struct desl_providing *providing, const char *at, const char *hint, const char *format,
		       ...)
{
	const struct diag_source *source = providing->source;
	const char *line = at;
	struct diag_location location = {
		.source = source,
		.offset = (uint64_t)(at - source->text),
		.line = providing->line,
		.length = 1,
	};
	char text[512];
	va_list args;

	while (line > source->text && line[-1] != '\n')
		line--;
	location.column = (uint32_t)(at - line) + 1;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	diag_add(providing->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

int desl_provide_unknown(const struct desl_providing *providing, const struct desl_field *field,
			 const char *const *names, size_t count)
{
	const char *nearest = diag_nearest(field->name.text, names, count);
	char hint[512];
	size_t length;

	if (nearest) {
		snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
	} else {
		length = (size_t)snprintf(hint, sizeof hint, "it has");
		for (size_t i = 0; i < count && length < sizeof hint - 1; i++)
			length +=
				(size_t)snprintf(hint + length, sizeof hint - length, "%s %s", i ? "," : "", names[i]);
	}
	diag_add(providing->diag, ASTERISM_ERROR, &field->name.location, hint, "%s has no field '%s'",
		 providing->source->file, field->name.text);
	return -EINVAL;
}

int desl_provide_failed(const struct desl_providing *providing, int result)
{
	if (result == -E2BIG)
		return diag_error(providing->diag, NULL, -EINVAL, "%s has more than %u records",
				  providing->source->file, DESL_ROWS_MAX);
	return result;
}

/* Digits alone are most numbers. */
static bool read_digits(const char *bytes, size_t length, double *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		if (length > 15 || bytes[i] < '0' || bytes[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(bytes[i] - '0');
	}
	*number = (double)value;
	return length > 0;
}

int desl_provide_cell(struct desl_providing *providing, unsigned column, const char *bytes, size_t length,
		      union desl_cell *cell)
{
	enum desl_kind kind = providing->type->fields[column].kind;
	char copy[NUMBER_BYTES], *end;
	uint32_t number = 0;
	int result = 0;

	if (kind != DESL_NUMBER) {
		if (length)
			result = desl_text_add(&providing->program->texts, bytes, length, kind == DESL_LINE, &number);
		cell->text = number;
		return result == -E2BIG ? -ENOMEM : result;
	}
	cell->number = NAN;
	if (!length || read_digits(bytes, length, &cell->number))
		return 0;
	if (length >= sizeof copy)
		return -EINVAL;
	memcpy(copy, bytes, length);
	copy[length] = 0;
	cell->number = strtod(copy, &end);
	return *end || !isfinite(cell->number) ? -EINVAL : 0;
}

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
