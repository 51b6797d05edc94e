/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_PLACES_PRIV_H
#define ENGINE_PLACES_PRIV_H

/* What one run does to others' places: places.c. */

#include "engine/engine-priv.h"

/* A run that comes to its state ends that of its key there, as replaced if that counts. It is not linked. */
void engine_places_enter(struct engine_rule *rule, const struct engine_run *run, bool counts);
/* Whether an opened run's key has a place for it: given is a run that has left one, for the caller to give back. */
bool engine_places_share(struct engine_rule *rule, const struct engine_run *run, struct engine_run **given);
/* The oldest runs give way until there are no more than there are places. opened: the ordinal of one opened now. */
void engine_places_free(struct engine_rule *rule, uint64_t opened);
void engine_ages_add(struct engine_rule *rule, struct engine_run *run);
void engine_ages_remove(struct engine_rule *rule, struct engine_run *run);
/* A machine's instance took a transition at an event, or was copied: all others have been idle for longer. */
void engine_ages_renew(struct engine_rule *rule, struct engine_run *run);

#endif
