/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MEASURE_ASK_PRIV_H
#define SESSION_MEASURE_ASK_PRIV_H

#include "session/measure/measures.h"

/* What the text asks for. Returns 0; -EINVAL, -ENOMEM with a message. measure_unask either way. */
int measure_ask(bool is_heartbeat, const char *text, struct asterism_diag *diag, struct measures_item *item);
void measure_unask(struct measures_item *item);

#endif
