/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_ABOUT_H
#define EVENT_ABOUT_H

/*
 * Who an event is about beyond its header: the parent, the user, the program of the task that raises it. Any event that
 * a kernel raises has these fields, but only once somebody asks for one of them by name is there room for it in
 * records: it then stands behind the fields that the type was declared with, and its path behind theirs. So what nobody
 * asks for is not read and takes no room.
 *
 * The same way a field that means a descriptor has its file and its peer beside it (FIELD_path, FIELD_peer), and calls
 * that are given the address of a socket have what it says (sockaddr.c).
 *
 * The paths speak of the current task, whomever else the event is about. A type's own field of the same name comes
 * first. A new field is a row of the table in about.c.
 */

#include "event/catalog.h"

struct event_about {
	const char *name;
	enum event_value value;
	uint32_t bytes;      /* a string's capacity */
	const char *meaning; /* or NULL */
	const char *path;    /* docs/formats/catalog.md */
	const char *doc;
};

enum { EVENT_ABOUT_FIELDS = 9 };

extern const struct event_about event_abouts[EVENT_ABOUT_FIELDS];

/*
 * What events of the type called so say of the address that a call is given or gives; NULL: it has none. The first
 * EVENT_SOCKADDR_SHOWN are for rules to name, the others are halves of the IPv6 address, which conditions compare.
 */
enum { EVENT_SOCKADDR_FIELDS = 5, EVENT_SOCKADDR_SHOWN = 3 };

const struct event_about *event_sockaddr_fields(const char *type);

/* NULL: there is none of that name. */
const struct event_about *event_about_find(const char *name);

/* Whether events of type have, or would have if somebody asked, a field called name beyond those declared. */
bool event_about_may_ask(const struct event_type *type, const char *name);

/*
 * Sees to it that type can gain all of them without its fields moving, so that pointers to fields hold from here on.
 * -ENOMEM.
 */
int event_about_reserve(struct event_catalog *catalog, const struct event_type *type);

/*
 * The field called name of type, added if need be, in *field. Returns 0; -ENOENT: none is called so; -EOPNOTSUPP: no
 * kernel raises the type; -E2BIG: its record has no room left; -ENOMEM.
 */
int event_about_ask(struct event_catalog *catalog, const struct event_type *type, const char *name,
		    const struct event_field **field);

/*
 * Whether a record of that many bytes, of type's first count fields, is the beginning of one of type as it is now: so
 * it is for whoever has looked at type before others asked for more.
 */
bool event_about_extends(const struct event_type *type, uint32_t count, uint32_t record_bytes);

#endif
