/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_FORMULA_H
#define PROFILE_FORMULA_H

/*
 * Event types that are sums of others, as callgrind's lines "event: Sum = 2 Ir + Dr : long name" have them. Such a line
 * is kept as one thing more that is said of the run, "event Sum": "= 2 Ir + Dr : long name", and costs are computed
 * where they are asked for.
 */

#include "base/diag.h"
#include "profile/profile.h"

#define PROFILE_EVENT "event " /* begins a key of infos, before the event type */

/* Keeps what a line says behind "event:". 0, -ENOMEM, or -EINVAL where it is no such line. */
int profile_describe_event(struct profile *profile, const char *text, size_t length);

/* The formula of an event type, of that length: "2 Ir + Dr". NULL: it has none. */
const char *profile_event_formula(const struct profile *profile, const char *name, size_t *length);

/* The event type's long name, or NULL. */
const char *profile_event_title(const struct profile *profile, const char *name);

/* Whether the key is such a one; of an event type that is a sum. */
bool profile_is_formula(const char *key, const char *value);

/* Whether text is a formula itself: "NAME = FORMULA". */
bool profile_has_formula(const struct profile *profile, const char *text);

/*
 * Gives the profile costs in what is called so by a line of its file, or as text says itself. The deviations of a sum
 * are at most the sum of deviations: they are that. Returns the event, or -EINVAL, -ENOMEM after a message.
 */
int profile_derive_event(struct profile *profile, const char *text, struct asterism_diag *diag);

/* Leaves costs of the one event, and no formulas, which need others. */
void profile_keep_event(struct profile *profile, unsigned event);

/* Copies what from says of event types to profile. 0 or -ENOMEM. */
int profile_copy_descriptions(const struct profile *from, struct profile *profile);

#endif
