// SPDX-License-Identifier: BSD-2-Clause
/* Reads a value in a file of /proc or /sys. */

#include "base/alloc.h"
#include "base/proc.h"
#include "counters/measure/meter-priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 18, WORDS_MAX = 256, VALUE_BYTES = 32 };

/* Cuts the line into words; what is after a colon is one, too. */
static size_t split_words(char *line, char *words[WORDS_MAX])
{
	size_t count = 0;
	char *rest;

	for (char *word = strtok_r(line, " \t:", &rest); word && count < WORDS_MAX;
	     word = strtok_r(NULL, " \t:", &rest))
		words[count++] = word;
	return count;
}

static bool to_number(const char *word, double *number)
{
	char *end;

	*number = isdigit((unsigned char)*word) ? strtod(word, &end) : 0;
	return isdigit((unsigned char)*word) && !*end;
}

/* The sum of the columns; false: one is missing. */
static bool add_columns(uint64_t columns, char *const *words, size_t count, double *sum)
{
	double all = 0, number;

	for (unsigned column = 1; column < 64; column++) {
		if (!(columns >> column & 1))
			continue;
		if (column > count || !to_number(words[column - 1], &number))
			return false;
		all += number;
	}
	*sum += all;
	return true;
}

/* Whether name is a part of the disk before it: sda1 of sda, nvme0n1p1 of nvme0n1. */
static bool is_part(const char *disk, const char *name)
{
	size_t length = strlen(disk);

	if (!length || strncmp(disk, name, length) != 0)
		return false;
	name += length;
	if (isdigit((unsigned char)disk[length - 1]) && *name++ != 'p')
		return false;
	return *name && strspn(name, "0123456789") == strlen(name);
}

struct search {
	const struct counter_source *source;
	char disk[64];          /* of /proc/diskstats, the last whole one */
	char *names[WORDS_MAX]; /* the table's head */
	size_t name_count;
	double value;
	bool is_found;
};

static void look_at_table(struct search *search, char **words, size_t count)
{
	double number;

	if (strcmp(words[0], search->source->table) != 0)
		return;
	for (size_t i = 1; search->name_count && i < count && i < search->name_count; i++) {
		if (strcmp(search->names[i], search->source->field) != 0 || !to_number(words[i], &number))
			continue;
		search->value = number;
		search->is_found = true;
	}
	memcpy(search->names, words, count * sizeof *words);
	search->name_count = count;
}

static void look_at_words(struct search *search, char **words, size_t count)
{
	const struct counter_source *source = search->source;

	switch (source->rows) {
	case COUNTER_FIELD:
		if (!search->is_found && strcmp(words[0], source->field) == 0)
			search->is_found = add_columns(source->columns, words, count, &search->value);
		break;
	case COUNTER_TABLE:
		look_at_table(search, words, count);
		break;
	case COUNTER_DISKS:
		if (count < 3 || is_part(search->disk, words[2]))
			break;
		snprintf(search->disk, sizeof search->disk, "%s", words[2]);
		search->is_found |= add_columns(source->columns, words, count, &search->value);
		break;
	case COUNTER_VALUE:
		break;
	case COUNTER_INTERFACES:
		if (strcmp(words[0], "lo") != 0)
			search->is_found |= add_columns(source->columns, words, count, &search->value);
		break;
	}
}

/* The file is one number, of which gauges may be negative. */
static int to_value(const struct counter_source *source, char *text, size_t length, char reason[METER_REASON_BYTES],
		    double *value)
{
	const char *digits = text + (*text == '-');

	if (length && text[length - 1] == '\n')
		text[--length] = 0;
	if (strlen(text) != length || length > VALUE_BYTES || strspn(digits, "0123456789.") != strlen(digits) ||
	    !to_number(digits, value)) {
		snprintf(reason, METER_REASON_BYTES, "%.90s is not one number", source->path);
		return -EINVAL;
	}
	*value *= *text == '-' ? -source->times : source->times;
	return 0;
}

static int search_text(struct search *search, char *text, char reason[METER_REASON_BYTES], double *value)
{
	const struct counter_source *source = search->source;
	char *words[WORDS_MAX], *rest;
	ssize_t length = proc_read(source->path, text, FILE_BYTES);

	if (length < 0) {
		snprintf(reason, METER_REASON_BYTES, "%s: %s", source->path, strerror((int)-length));
		return (int)length;
	}
	if (source->rows == COUNTER_VALUE)
		return to_value(source, text, (size_t)length, reason, value);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t count = split_words(line, words);

		if (count)
			look_at_words(search, words, count);
	}
	if (!search->is_found) {
		snprintf(reason, METER_REASON_BYTES, "%s has no such value", source->path);
		return -ENOENT;
	}
	*value = search->value * source->times;
	return 0;
}

int meter_file_value(const struct counter_source *source, char reason[METER_REASON_BYTES], double *value)
{
	struct search search = { .source = source };
	char *text = alloc_zero(FILE_BYTES, 1);
	int result = -ENOMEM;

	if (text)
		result = search_text(&search, text, reason, value);
	else
		snprintf(reason, METER_REASON_BYTES, "out of memory");
	alloc_free(text);
	return result;
}
