/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_RECORD_CHECK_H
#define FUZZ_RECORD_CHECK_H

#include "event/source.h"

/* Aborts unless the record keeps every promise of event/type.h, whatever bytes it was made of. */
void record_check(const struct event *event);

#endif
