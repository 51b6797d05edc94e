/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_COUNTERS_FAKE_H
#define CMD_COUNTERS_FAKE_H

/* What ASTERISM_COUNTERS names in place of this machine's sources. */

#include "counters/measure/meter.h"

/* NULL: this machine's. A status. */
int counters_fake(struct meter_fake **fake);

#endif
