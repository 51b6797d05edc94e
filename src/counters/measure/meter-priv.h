/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_MEASURE_METER_PRIV_H
#define COUNTERS_MEASURE_METER_PRIV_H

/* What a source comes to now, of the fake file and of files. -errno with a reason. */

#include "counters/measure/meter.h"

int meter_fake_value(const struct meter_fake *fake, const char *source, unsigned reading,
		     char reason[METER_REASON_BYTES], struct meter_reading *value);
int meter_file_value(const struct counter_source *source, char reason[METER_REASON_BYTES], double *value);

#endif
