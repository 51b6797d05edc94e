// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what is an entry of the library: a folder NAME with NAME.rule in it. What its README says about it is read
 * here, and nowhere else.
 */

#include "cmd/library.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cmd/catalogs.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "session/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { README_BYTES_MAX = 1 << 18 };

/* An entry that every version ships: by it the library is known. */
#define ANY_ENTRY "long-syscall/long-syscall.rule"

static void free_entry(struct library_entry *entry)
{
	alloc_free(entry->name);
	alloc_free(entry->path);
	alloc_free(entry->readme);
	alloc_free(entry->line);
	alloc_free(entry->kind);
	alloc_free(entry->needs);
}

void library_fini(struct library *library)
{
	for (size_t i = 0; i < library->count; i++)
		free_entry(&library->entries[i]);
	alloc_free(library->entries);
	*library = (struct library){ 0 };
}

static char *copy(const char *text, size_t length)
{
	char *made = alloc_zero(length + 1, 1);

	if (made)
		memcpy(made, text, length);
	return made;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* The value of the line "word: value" of text, or a copy of otherwise, which may be NULL. */
static char *read_marker(const char *text, const char *word, const char *otherwise)
{
	size_t length = strlen(word);

	for (; *text; text = next_line(text)) {
		if (strncmp(text, word, length) == 0 && text[length] == ':') {
			text += length + 1;
			text += strspn(text, " ");
			return copy(text, strcspn(text, "\r\n"));
		}
	}
	return otherwise ? alloc_text(otherwise) : NULL;
}

/* Where the first sentence of the paragraph at text ends, or what is said before its colon. */
static size_t sentence_length(const char *text)
{
	size_t length = 0;

	for (; text[length]; length++) {
		const char *at = text + length;

		if (strncmp(at, "\n\n", 2) == 0)
			break;
		if ((*at == '.' || *at == ':') && (at[1] == 0 || at[1] == '\n' || at[1] == ' '))
			break;
	}
	return length;
}

/* The first sentence of the first paragraph that is no heading, on one line, without its stop. */
static char *read_line(const char *text)
{
	char *line;

	while (*text == '#' || *text == '\n' || *text == '\r' || *text == ' ')
		text = next_line(text);
	line = copy(text, sentence_length(text));
	for (char *at = line; at && *at; at++) {
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	}
	return line;
}

/* An entry without README is one all the same. */
static int read_readme(const char *folder, struct library_entry *entry)
{
	struct asterism_diag *diag = asterism_diag_new();
	char path[PATH_MAX];
	size_t length;

	if (snprintf(path, sizeof path, "%s/%s/README.md", folder, entry->name) >= (int)sizeof path ||
	    session_input_read(path, README_BYTES_MAX, diag, &entry->readme, &length))
		entry->readme = alloc_text("");
	asterism_diag_free(diag);
	if (!entry->readme)
		return -ENOMEM;
	entry->line = read_line(entry->readme);
	entry->kind = read_marker(entry->readme, "Kind", "other");
	entry->needs = read_marker(entry->readme, "Needs", NULL);
	return entry->line && entry->kind ? 0 : -ENOMEM;
}

static int add_entry(struct library *library, const char *folder, const char *name)
{
	struct library_entry *entry;
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s/%s.rule", folder, name, name) >= (int)sizeof path || access(path, R_OK))
		return 0;
	if (alloc_grow(&library->entries, &library->capacity, library->count, sizeof *library->entries))
		return -ENOMEM;
	entry = &library->entries[library->count++];
	*entry = (struct library_entry){ .name = alloc_text(name), .path = alloc_text(path) };
	return entry->name && entry->path ? read_readme(folder, entry) : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	const struct library_entry *first = a, *second = b;

	return strcmp(first->name, second->name);
}

static int read_folder(struct library *library, const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *row;
	int result = 0;

	if (!directory) {
		print_error("the shipped rules in %s cannot be read: %m", folder);
		return STATUS_USAGE;
	}
	while (!result && (row = readdir(directory))) {
		if (row->d_name[0] != '.')
			result = add_entry(library, folder, row->d_name);
	}
	closedir(directory);
	if (result) {
		print_error("out of memory");
		return STATUS_USAGE;
	}
	if (library->count)
		qsort(library->entries, library->count, sizeof *library->entries, by_name);
	return STATUS_FINE;
}

int library_read(struct library *library)
{
	const char *folder = getenv("ASTERISM_RULES");
	char found[PATH_MAX], real[PATH_MAX];

	*library = (struct library){ 0 };
	if (folder && *folder)
		return read_folder(library, folder);
	if (cmd_find_data("rules", ANY_ENTRY, found) && realpath(found, real))
		return read_folder(library, real);
	print_error("the shipped rules were not found");
	print_hint("set ASTERISM_RULES to the folder that holds them, or install asterism");
	return STATUS_USAGE;
}

const struct library_entry *library_get(const struct library *library, const char *name)
{
	const char **names = alloc_zero(library->count + 1, sizeof *names), *nearest = NULL;

	for (size_t i = 0; i < library->count; i++) {
		if (strcmp(library->entries[i].name, name) == 0) {
			alloc_free(names);
			return &library->entries[i];
		}
		if (names)
			names[i] = library->entries[i].name;
	}
	if (names)
		nearest = diag_nearest(name, names, library->count);
	alloc_free(names);
	print_error("there is no shipped rule @%s", name);
	if (nearest)
		print_hint("did you mean @%s?", nearest);
	else
		print_hint("'asterism rules' lists them; a file whose name begins with @ is written ./@...");
	return NULL;
}

static int add_file(struct library_files *resolved, const char *file)
{
	/* What is shipped may be meant twice, as by @all and by its name. */
	for (size_t i = 0; i < resolved->count; i++) {
		if (resolved->files[i] == file)
			return STATUS_FINE;
	}
	if (alloc_grow(&resolved->files, &resolved->capacity, resolved->count, sizeof *resolved->files)) {
		print_error("out of memory");
		return STATUS_USAGE;
	}
	resolved->files[resolved->count++] = file;
	return STATUS_FINE;
}

static int add_all(struct library_files *resolved)
{
	int status = STATUS_FINE;

	for (size_t i = 0; i < resolved->library.count && !status; i++) {
		const struct library_entry *entry = &resolved->library.entries[i];

		if (!entry->needs && strcmp(entry->kind, "template") != 0)
			status = add_file(resolved, entry->path);
	}
	return status;
}

static int add_name(struct library_files *resolved, const char *name)
{
	const struct library_entry *entry;
	int status = resolved->library.entries ? STATUS_FINE : library_read(&resolved->library);

	if (status)
		return status;
	if (strcmp(name, "all") == 0)
		return add_all(resolved);
	entry = library_get(&resolved->library, name);
	return entry ? add_file(resolved, entry->path) : STATUS_USAGE;
}

int library_resolve(const char *const *files, size_t count, struct library_files *resolved)
{
	int status = STATUS_FINE;

	*resolved = (struct library_files){ 0 };
	for (size_t i = 0; i < count && !status; i++) {
		if (library_is_name(files[i]))
			status = add_name(resolved, files[i] + 1);
		else
			status = add_file(resolved, files[i]);
	}
	if (!status && resolved->count == 0) {
		print_error("the library holds no rules that are of use as they are");
		status = STATUS_USAGE;
	}
	return status;
}

void library_files_fini(struct library_files *resolved)
{
	library_fini(&resolved->library);
	alloc_free(resolved->files);
	resolved->files = NULL;
}
