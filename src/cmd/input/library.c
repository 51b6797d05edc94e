// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the entries of the library: an entry is a directory NAME with NAME.rule in it. What its README says about it is
 * read here, and nowhere else. Where there is no folder of such folders, those that are built in are the library.
 */

#include "cmd/input/library.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/embedded.h"
#include "cli/print.h"
#include "cmd/options/status.h"
#include "session/load/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { README_BYTES_MAX = 1 << 18 };

#define INSTALLED ASTERISM_DATA_DIR "/rules"

extern const struct embedded_file library_embedded[];

static void free_entry(struct library_entry *entry)
{
	alloc_free(entry->name);
	alloc_free((void *)entry->rule.path);
	alloc_free((void *)entry->rule.text);
	alloc_free(entry->readme);
	alloc_free(entry->line);
	alloc_free(entry->kind);
	alloc_free(entry->needs);
	alloc_free(entry->beyond);
	alloc_free(entry->price);
}

void library_fini(struct library *library)
{
	for (size_t i = 0; i < library->count; i++)
		free_entry(&library->entries[i]);
	alloc_free(library->entries);
	*library = (struct library){ 0 };
}

static char *copy_library_text(const char *text, size_t length)
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
			return copy_library_text(text, strcspn(text, "\r\n"));
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
static char *first_sentence(const char *text)
{
	char *line;

	while (*text == '#' || *text == '\n' || *text == '\r' || *text == ' ')
		text = next_line(text);
	line = copy_library_text(text, sentence_length(text));
	for (char *at = line; at && *at; at++) {
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	}
	return line;
}

/* Takes the text, which may be NULL for lack of memory. */
static int set_readme(struct library_entry *entry, char *text)
{
	entry->readme = text;
	if (!text)
		return -ENOMEM;
	entry->line = first_sentence(text);
	entry->kind = read_marker(text, "Kind", "other");
	entry->needs = read_marker(text, "Needs", NULL);
	entry->beyond = read_marker(text, "Not in @default", NULL);
	entry->price = read_marker(text, "Price", NULL);
	return entry->line && entry->kind ? 0 : -ENOMEM;
}

/* An entry without README is one all the same. */
static char *read_readme(const char *folder, const char *name)
{
	struct asterism_diag *diag = asterism_diag_new();
	char path[PATH_MAX], *text;
	size_t length;

	if (snprintf(path, sizeof path, "%s/%s/README.md", folder, name) >= (int)sizeof path ||
	    session_input_read(path, README_BYTES_MAX, diag, &text, &length))
		text = alloc_text("");
	asterism_diag_free(diag);
	return text;
}

/* A new entry of this name; NULL: no memory. */
static struct library_entry *new_entry(struct library *library, const char *name, const char *path)
{
	struct library_entry *entry;

	if (alloc_grow(&library->entries, &library->capacity, library->count, sizeof *library->entries))
		return NULL;
	entry = &library->entries[library->count++];
	*entry = (struct library_entry){ .name = alloc_text(name), .rule.path = alloc_text(path) };
	return entry->name && entry->rule.path ? entry : NULL;
}

static int add_entry(struct library *library, const char *folder, const char *name)
{
	struct library_entry *entry;
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s/%s.rule", folder, name, name) >= (int)sizeof path || access(path, R_OK))
		return 0;
	entry = new_entry(library, name, path);
	return entry ? set_readme(entry, read_readme(folder, name)) : -ENOMEM;
}

/* How many characters of the built-in file's name are that of the entry whose rule it is; 0: it is none's. */
static size_t entry_length(const char *file)
{
	size_t length = strcspn(file, "/");
	const char *rest = file[length] ? file + length + 1 : "";

	return strncmp(rest, file, length) == 0 && strcmp(rest + length, ".rule") == 0 ? length : 0;
}

static int add_built_in(struct library *library, const struct embedded_file *rule, size_t length)
{
	const struct embedded_file *readme;
	struct library_entry *entry;
	char name[NAME_MAX], path[PATH_MAX];

	snprintf(name, sizeof name, "%.*s", (int)length, rule->name);
	snprintf(path, sizeof path, EMBEDDED_FOLDER "/%s", rule->name);
	entry = new_entry(library, name, path);
	if (!entry)
		return -ENOMEM;
	entry->is_built_in = true;
	entry->rule.text = embedded_text(rule, NULL);
	entry->rule.length = rule->length;
	snprintf(path, sizeof path, "%s/README.md", name);
	readme = embedded_find(library_embedded, path);
	return entry->rule.text ? set_readme(entry, readme ? embedded_text(readme, NULL) : alloc_text("")) : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	const struct library_entry *first = a, *second = b;

	return strcmp(first->name, second->name);
}

/* Gives the status of what was read. */
static int finish_library(struct library *library, int result)
{
	if (result) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	if (library->count)
		qsort(library->entries, library->count, sizeof *library->entries, by_name);
	return STATUS_FINE;
}

static int read_folder(struct library *library, const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *row;
	int result = 0;

	if (!directory) {
		cli_error("cannot read the shipped rules in %s: %m", folder);
		return STATUS_USAGE;
	}
	while (!result && (row = readdir(directory))) {
		if (row->d_name[0] != '.')
			result = add_entry(library, folder, row->d_name);
	}
	closedir(directory);
	return finish_library(library, result);
}

static int read_built_in(struct library *library)
{
	int result = 0;

	for (const struct embedded_file *file = library_embedded; file->name && !result; file++) {
		size_t length = entry_length(file->name);

		if (length)
			result = add_built_in(library, file, length);
	}
	return finish_library(library, result);
}

int library_read(struct library *library)
{
	const char *folder = getenv("ASTERISM_RULES");

	*library = (struct library){ 0 };
	if (folder && *folder)
		return read_folder(library, folder);
	return access(INSTALLED, F_OK) ? read_built_in(library) : read_folder(library, INSTALLED);
}

static const struct library_entry *find_library_rule(const struct library *library, const char *name)
{
	for (size_t i = 0; i < library->count; i++)
		if (strcmp(library->entries[i].name, name) == 0)
			return &library->entries[i];
	return NULL;
}

const struct library_entry *library_get(const struct library *library, const char *name)
{
	const struct library_entry *entry = find_library_rule(library, name);
	const char **names, *nearest = NULL;

	if (entry)
		return entry;
	names = alloc_zero(library->count + 1, sizeof *names);
	for (size_t i = 0; names && i < library->count; i++)
		names[i] = library->entries[i].name;
	if (names)
		nearest = diag_nearest(name, names, library->count);
	alloc_free(names);
	cli_error("there is no shipped rule '@%s'", name);
	if (nearest)
		cli_hint("did you mean @%s?", nearest);
	else
		cli_hint("'asterism rules' lists them; a file whose name begins with @ is written ./@...");
	return NULL;
}

int library_add(struct library_files *resolved, const struct session_rules_file *file)
{
	/* What is shipped may be meant twice, as by @all and by its name. */
	for (size_t i = 0; i < resolved->count; i++) {
		if (resolved->files[i].path == file->path)
			return STATUS_FINE;
	}
	if (alloc_grow(&resolved->files, &resolved->capacity, resolved->count, sizeof *resolved->files)) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	resolved->files[resolved->count++] = *file;
	return STATUS_FINE;
}

/* Kinds of entries that are of no use together with others. */
static bool stands_alone(const struct library_entry *entry)
{
	return entry->needs || strcmp(entry->kind, "template") == 0 || strcmp(entry->kind, "overview") == 0;
}

static int add_all_shipped(struct library_files *resolved, bool is_default)
{
	int status = STATUS_FINE;

	for (size_t i = 0; i < resolved->library.count && !status; i++) {
		const struct library_entry *entry = &resolved->library.entries[i];

		if (!stands_alone(entry) && !(is_default && entry->beyond))
			status = library_add(resolved, &entry->rule);
	}
	return status;
}

static int add_shipped_files(struct library_files *resolved, const char *name)
{
	const struct library_entry *entry;
	int status = resolved->library.entries ? STATUS_FINE : library_read(&resolved->library);

	if (status)
		return status;
	if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
		return add_all_shipped(resolved, strcmp(name, "default") == 0);
	entry = library_get(&resolved->library, name);
	return entry ? library_add(resolved, &entry->rule) : STATUS_USAGE;
}

/* Whether the file is not there and is called as a shipped rule, which is said then. */
static bool lacks_its_sign(struct library_files *resolved, const char *file)
{
	if (strpbrk(file, "/.") || !access(file, F_OK) ||
	    (!resolved->library.entries && library_read(&resolved->library)) ||
	    !find_library_rule(&resolved->library, file))
		return false;
	cli_error("there is no file '%s'", file);
	cli_hint("did you mean the shipped rule @%s?", file);
	return true;
}

int library_resolve(const char *const *files, size_t count, struct library_files *resolved)
{
	int status = STATUS_FINE;

	*resolved = (struct library_files){ 0 };
	for (size_t i = 0; i < count && !status; i++) {
		if (library_is_name(files[i]))
			status = add_shipped_files(resolved, files[i] + 1);
		else if (lacks_its_sign(resolved, files[i]))
			status = STATUS_USAGE;
		else
			status = library_add(resolved, &(struct session_rules_file){ .path = files[i] });
	}
	if (!status && resolved->count == 0) {
		cli_error("the library has no rules that can be used as they are");
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

int library_text(const struct session_rules_file *file, size_t limit, struct asterism_diag *diag, char **text,
		 size_t *length)
{
	if (!file->text)
		return session_input_read(file->path, limit, diag, text, length);
	*text = copy_library_text(file->text, file->length);
	*length = file->length;
	return *text ? 0 : diag_no_memory(diag);
}

static int write_file(const char *path, const struct embedded_file *file)
{
	char *text = embedded_text(file, NULL);
	FILE *stream = text ? fopen(path, "wex") : NULL;
	int result = stream && fwrite(text, 1, file->length, stream) == file->length ? 0 : -EIO;

	alloc_free(text);
	if (!text)
		return -ENOMEM;
	if (!stream || fclose(stream))
		return errno ? -errno : -EIO;
	if (!result && file->is_program && chmod(path, 0700))
		result = -errno;
	return result;
}

/* Makes the folders that path goes through below its first start characters. */
static int make_folders(char *path, size_t start)
{
	for (char *slash = strchr(path + start, '/'); slash; slash = strchr(slash + 1, '/')) {
		int made;

		*slash = 0;
		made = mkdir(path, 0700);
		*slash = '/';
		if (made && errno != EEXIST)
			return -errno;
	}
	return 0;
}

int library_unpack(const char *name, const char *folder)
{
	size_t length = strlen(name);
	char path[PATH_MAX];
	int result = 0;

	for (const struct embedded_file *file = library_embedded; file->name && !result; file++) {
		if (strncmp(file->name, name, length) != 0 || file->name[length] != '/')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, file->name);
		result = make_folders(path, strlen(folder) + 1);
		if (!result)
			result = write_file(path, file);
	}
	return result;
}
