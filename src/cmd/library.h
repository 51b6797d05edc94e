/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_LIBRARY_H
#define CMD_LIBRARY_H

/*
 * The rules that asterism ships: the folders of the library (docs/rule-tests.md), which commands take as @name in place
 * of a file.
 */

#include <stdbool.h>
#include <stddef.h>

struct library_entry {
	char *name;
	char *path;   /* of the rule file */
	char *readme; /* the whole text; empty where there is none */
	char *line;   /* its first sentence */
	char *kind;   /* the heading in lists; "other" where it names none */
	char *needs;  /* NULL: nothing */
};

struct library {
	struct library_entry *entries; /* by name */
	size_t count, capacity;
};

/* Reads what the library holds. Returns STATUS_FINE, or the status to end with after saying why. library_fini either
 * way. */
int library_read(struct library *library);
void library_fini(struct library *library);

/* The entry called name, or NULL after saying so. */
const struct library_entry *library_get(const struct library *library, const char *name);

static inline bool library_is_name(const char *file)
{
	return file[0] == '@';
}

/* Files, the shipped ones among them by their path. The library has read nothing if none of them is shipped. */
struct library_files {
	const char **files;
	size_t count, capacity;
	struct library library;
};

/*
 * Resolves every @name; @all is every entry that finds something as it is, without being allowed to act. Other files
 * stay as they are. Returns as library_read; library_files_fini either way.
 */
int library_resolve(const char *const *files, size_t count, struct library_files *resolved);
void library_files_fini(struct library_files *resolved);

#endif
