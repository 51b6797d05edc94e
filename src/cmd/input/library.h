/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_INPUT_LIBRARY_H
#define CMD_INPUT_LIBRARY_H

/*
 * The rules that asterism ships: the folders of the library (docs/rule-tests.md), which commands take as @name in place
 * of a file.
 */

#include "session/load/rules.h"

#include <stdbool.h>
#include <stddef.h>

struct library_entry {
	char *name;
	struct session_rules_file rule; /* its path is the entry's own */
	bool is_built_in;
	char *readme; /* the whole text; empty where there is none */
	char *line;   /* its first sentence */
	char *kind;   /* the heading in lists; "other" where it names none */
	char *needs;  /* NULL: nothing */
	char *price;  /* times the processor time of a server, such as "1.02x"; NULL: it was not measured */
	char *beyond; /* why it is not in @default; NULL: it is, unless it needs something or is a template */
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

/* Files, the shipped ones among them by their path or text. The library has read nothing if none of them is shipped. */
struct library_files {
	struct session_rules_file *files;
	size_t count, capacity;
	struct library library;
};

/*
 * Resolves every @name; @all is every entry that finds something as it is, without being allowed to act; @default
 * those of them that are silent where all is well. Other files
 * stay as they are. Returns as library_read; library_files_fini either way.
 */
int library_resolve(const char *const *files, size_t count, struct library_files *resolved);
void library_files_fini(struct library_files *resolved);

/* Adds what stands for a file, borrowed. Returns STATUS_FINE, or STATUS_USAGE after saying why. */
int library_add(struct library_files *resolved, const struct session_rules_file *file);

/* The text of a file or of what stands for one, as session_input_read gives it. */
int library_text(const struct session_rules_file *file, size_t limit, struct asterism_diag *diag, char **text,
		 size_t *length);

/* Writes all that the built-in entry of this name consists of, its tests too, to a folder of that name in folder.
 * Returns 0 or -errno. */
int library_unpack(const char *name, const char *folder);

#endif
