/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_CATALOG_PRIV_H
#define EVENT_CATALOG_PRIV_H

#include "base/alloc.h"
#include "base/hash-table.h"
#include "event/catalog.h"

struct event_catalog {
	struct arena *arena; /* every type and text */
	struct event_type **types;
	size_t type_count, type_capacity;
	struct hash_table by_name; /* indices of types */
	const char **files;        /* paths of the catalogs read so far */
	size_t file_count, file_capacity;
	struct event_catalog_access access;
	const struct event_catalog_supplier *supplier; /* or NULL */
	bool of_sensors;                               /* what is read now are sensors, */
	bool is_hooked;                                /* which call the kernel; */
	const char *prefix;                            /* whose names get this; NULL: none */
	const char *program;                           /* whose they alone are; NULL: anybody's */
	const char *tracefs;                           /* where it is mounted; NULL: not looked for yet, or nowhere */
	unsigned reading;                              /* how deep includes are nested right now */
};

/*
 * event_catalog_add for a spec whose texts and sources lie in the catalog's arena already and whose fields have
 * different names. The array of fields itself is only read.
 */
int event_catalog_insert(struct event_catalog *catalog, const struct event_type_spec *spec,
			 const struct event_type **added);

/* event_catalog_parse of a text that names other catalogs relative to folder, which the arena holds; NULL: installed
 * ones only. */
int event_catalog_parse_in(struct event_catalog *catalog, const struct diag_source *source, const char *folder,
			   struct asterism_diag *diag);

/* The type that the catalog already has under this name, or NULL; never asks the kernel. */
const struct event_type *event_catalog_known(const struct event_catalog *catalog, const char *name);

#endif
