/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_PATH_PRIV_H
#define EVENT_PATH_PRIV_H

/* Whether a path is well-formed, and its tree (event/path.h) where the scan makes trees. */

#include "event/scan-priv.h"

/* What a path yields, as far as its text tells. */
enum event_path_kind {
	EVENT_PATH_ANY, /* what lies in the kernel's types decides */
	EVENT_PATH_NUMBER,
	EVENT_PATH_STRING,
};

/*
 * Takes a path. Stores the piece of text it takes and what it yields. Returns 0, -EINVAL (reported), or -ENOMEM, as do
 * all here.
 */
int event_path_scan(struct event_scan *scan, struct event_span *span, enum event_path_kind *kind);
/* The same with its tree. */
int event_path_scan_tree(struct event_scan *scan, struct event_path **made);

/* Takes a condition, of which there may be EVENT_PATH_CONDITIONS_MAX. */
int event_path_scan_condition(struct event_scan *scan, struct event_path_condition *condition);

/* Take what follows WHEN and SCOPE. */
int event_path_scan_when(struct event_scan *scan, struct event_span *span);
int event_path_scan_scope(struct event_scan *scan, struct event_span *span);

#endif
