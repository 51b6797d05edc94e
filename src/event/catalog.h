/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_CATALOG_H
#define EVENT_CATALOG_H

/*
 * The set of event types in force: what the catalogs hold, what rule files declare, and, on request, tracepoints of
 * this machine that no catalog mentions. Types live as long as the set and never move. Not thread-safe.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "event/type.h"

#include <stdbool.h>
#include <sys/types.h>

struct event_catalog;

struct event_catalog *event_catalog_new(void);
void event_catalog_free(struct event_catalog *catalog);

/*
 * Reads a catalog text (grammar: docs/formats/catalog.md). A type already present under the same name with the same
 * fields is fine, with others an error. Returns 0 or -EINVAL, -ENOMEM; messages carry file:line:column.
 */
int event_catalog_parse(struct event_catalog *catalog, const char *file, const char *text, size_t length,
			struct asterism_diag *diag);

/* Which files a catalog may be made of, besides the installed ones. */
enum event_catalog_files {
	EVENT_FILES_ALL,
	EVENT_FILES_OWN, /* regular ones of the owner, which no other user can write */
	EVENT_FILES_NONE,
};

struct event_catalog_access {
	enum event_catalog_files files;
	uid_t owner;
	bool is_foreign; /* what names them came from somebody else: no message tells of what a file holds */
};

/* From here on, until then all are read and told of. What access rules out is as if it were not there (-ENOENT). */
void event_catalog_restrict(struct event_catalog *catalog, const struct event_catalog_access *access);
const struct event_catalog_access *event_catalog_access(const struct event_catalog *catalog);

/*
 * Reads the catalog called name: as a path relative to folder (NULL: none) first, then from the folders of installed
 * catalogs (event/installed.h), then what is built in.
 * Reading one twice is fine. Returns 0, -ENOENT, -EINVAL, -ENOMEM. Adds no message for -ENOENT.
 */
int event_catalog_read(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag);

struct event_type_spec;

/*
 * Catalogs that are no files: read gets all names that begin with prefix, and the folder of who names them (NULL:
 * none). It is asked only where files may be read at all, and keeps to which (event_catalog_access). Returns as
 * event_catalog_read. What it declares are sensors, unless a kernel raises it; so is what a file has whose name, behind
 * the prefix, ends in .events. Behind the other prefix the same are events of a kernel's, at the hook (its texts in the
 * catalog's arena) that hook gives each: 0, -E2BIG, -ENOMEM.
 */
struct event_catalog_supplier {
	const char *prefix, *hooked_prefix;
	int (*hook)(struct arena *arena, const struct event_type_spec *spec, struct event_hook *hook);
	int (*read)(struct event_catalog *catalog, const char *folder, const char *name, struct asterism_diag *diag);
};

/* The same, with `prefix_` before the names of the types. name must be of the supplier's. */
int event_catalog_read_as(struct event_catalog *catalog, const char *folder, const char *name, const char *prefix,
			  struct asterism_diag *diag);
bool event_catalog_is_supplied(const struct event_catalog *catalog, const char *name);

/* From here on, for a supplier: what it declares means those of this program alone; NULL: of any. Borrowed. */
void event_catalog_set_program(struct event_catalog *catalog, const char *program);

/* supplier is borrowed. */
void event_catalog_set_supplier(struct event_catalog *catalog, const struct event_catalog_supplier *supplier);

/* One field of a type being declared. bytes 0: the default capacity of a string. */
struct event_field_spec {
	const char *name;
	enum event_value value;
	uint32_t bytes;
	const char *unit, *doc;
	const struct meaning *meaning;
};

struct event_type_spec {
	const char *name;
	const struct event_field_spec *fields;
	uint32_t field_count;
	enum event_origin origin;
	const char *doc;
	const struct event_hook *hooks;
	uint32_t hook_count;
	const char *sensor, *called;        /* as in event_type */
	const struct event_absent *absents; /* not copied: they outlive the catalog, or lie in its arena */
	uint32_t absent_count;
};

/*
 * Adds a type, lays out its record, copies all texts. Stores the type in *added. A type that is already
 * there with the same fields is stored as it is. Returns 0, -EEXIST (a type of this name is there with other fields),
 * -EINVAL (two fields of one name), -E2BIG (too many fields or bytes), -ENOMEM. Adds no message.
 */
int event_catalog_add(struct event_catalog *catalog, const struct event_type_spec *spec,
		      const struct event_type **added);

/*
 * The type called name, or NULL. A name that no catalog has is looked up among this machine's tracepoints (as
 * "name" or "system:name" or "system__name") through tracefs and added; this needs privilege and is silent without.
 * The type is then called "name", or "system__name" where "name" is taken by another type.
 */
const struct event_type *event_catalog_find(struct event_catalog *catalog, const char *name);

/* Types in the order they were added; NULL past the end. */
const struct event_type *event_catalog_get(const struct event_catalog *catalog, size_t index);

/* The name nearest to wanted among the types, or NULL. */
const char *event_catalog_nearest(const struct event_catalog *catalog, const char *wanted);

/*
 * Adds every tracepoint of this machine that has no type of its name. Returns how many were added, or -errno.
 */
int event_catalog_add_tracefs(struct event_catalog *catalog);

#endif
