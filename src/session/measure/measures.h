/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MEASURE_MEASURES_H
#define SESSION_MEASURE_MEASURES_H

/*
 * Measures and heartbeats as users ask for them, by the names of events and fields: which evaluations that means, and
 * how they are fed with the records of a source. What they have come to is written by session/measure/report.h.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"
#include "monitor/heartbeat.h"
#include "monitor/measure.h"

enum { MEASURES_MAX = 64 };

/*
 * The texts: of a measure "EVENT[.FIELD][,linear=LO..HI/N | ,log][,by=FIELD][,keys=N]", of a heartbeat
 * "EVENT=TIME[,by=FIELD][,keys=N]".
 */
struct measures_asked {
	const char *const *measures, *const *heartbeats;
	size_t measure_count, heartbeat_count;
};

struct measures_item {
	char *event, *field, *by;              /* names; field and by may be NULL */
	const struct event_type *type;         /* NULL: nobody has said yet what the event is */
	bool is_known;                         /* there is an event of that name, whether it came or not */
	const struct event_field *value, *key; /* of the type, or NULL */
	union {
		struct measure_shape measure;
		struct heartbeat_shape heartbeat;
	} shape;
	const struct monitor_evaluation_kind *kind; /* measure_kind, heartbeat_kind */
	union {
		struct measure *measure;
		struct heartbeat *heartbeat;
		void *context;
	};
};

struct measures;

/* Whether text is right; else -EINVAL and a message. */
int measures_check(bool is_heartbeat, const char *text, struct asterism_diag *diag);

/* Copies the texts. Returns 0; -EINVAL, -ENOMEM with a message. */
int measures_new(const struct measures_asked *asked, struct asterism_diag *diag, struct measures **made);
void measures_free(struct measures *measures);

size_t measures_count(const struct measures *measures);
const struct measures_item *measures_get(const struct measures *measures, size_t index);

/*
 * Makes those of the items that ask for an event called as type is; those that there are stay. Returns 0; -EINVAL: the
 * type has no such field, or it is none to measure; -ENOMEM; with a message.
 */
int measures_bind(struct measures *measures, const struct event_type *type, struct asterism_diag *diag);

/* A further owner's context of an item that is bound; kind->release gives it back. */
void *measures_share(const struct measures_item *item);

/* Who reads a source for it asks these, of types and their fields. */
bool measures_wants(struct measures *measures, const struct event_type *type);
bool measures_wants_field(const struct measures *measures, const struct event_type *type, uint32_t field);

/* An event of the source, of whatever type: binds and evaluates. Returns as measures_bind. */
int measures_take(struct measures *measures, const struct event_source *source, const struct event *event,
		  struct asterism_diag *diag);

/* Events of the catalog's names are known, whether they come or not. */
void measures_know(struct measures *measures, struct event_catalog *catalog);

/* No more events. lost: of the whole source. Warns of those whose event never came. Returns 0; -EINVAL: a measure's is
 * not known at all, so its name is wrong. */
int measures_end(struct measures *measures, uint64_t lost, struct asterism_diag *diag);

#endif
