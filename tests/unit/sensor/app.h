/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_SENSOR_APP_H
#define TESTS_SENSOR_APP_H

#include "sensor/client/sensor.h"

#define APP_STEP(F)                                             \
	F(u64, thread, "", "of the application's own counting") \
	F(u64, number, "", "from 0 in each thread") F(u64, check, "", "of both") F(text16, word, "", "odd or even")

/* What a torn event does not have. */
#define APP_CHECK(thread, number) (((thread)*0x9e3779b97f4a7c15u) ^ ((number)*0xc2b2ae3d27d4eb4fu))

/* What the application has begun and committed, per thread, in a file that $SENSOR_TALLY names: it outlives a kill. */
enum { APP_TALLIES = 64 };

struct app_tally {
	unsigned long begun[APP_TALLIES], committed[APP_TALLIES];
};

#endif
