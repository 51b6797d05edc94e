/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_INSTALLED_H
#define EVENT_INSTALLED_H

/* Where the catalogs are that every program has, and what belongs to them. */

#include "base/embedded.h"

/* The folder that ASTERISM_CATALOGS names; NULL: none, or the program has raised privileges. */
const char *event_installed_own(void);

/*
 * The folders that are looked through, the first one that has a file decides: that of the ASTERISM_CATALOGS environment
 * variable, if it is set and the program has no raised privileges; the installed one. NULL past the end.
 */
const char *event_installed_folder(size_t index);

/* What is built in, for files that no folder has. */
extern const struct embedded_file event_embedded[];

/* The shipped catalogs that rules have to name, the index-th of them. NULL past the end. */
const char *event_installed_more(size_t index);

/* The one of them that declares an event type of this name; NULL: none does. Reads them all. */
const char *event_installed_with(const char *type);

#endif
