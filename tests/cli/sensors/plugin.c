// SPDX-License-Identifier: BSD-2-Clause
/* A library with a sensor of its own, to be loaded and unloaded; or to be there before the program (-DPRELOADED). */

#include "asterism/sensor.h"

#define STEP(F) F(u64, number, "", "") F(text16, word, "", "")
#ifdef PRELOADED
ASTERISM_SENSOR(step, "a step", STEP)
__attribute__((constructor(2000))) static void at_start(void)
{
	ASTERISM_SENSE(step, 7, "preloaded");
}
#else
ASTERISM_SENSOR(plugin_step, "a step of a plug-in", STEP)
#define step_SENSE() ASTERISM_SENSE(plugin_step, 1, "plugin")

void plugin_run(void);
void plugin_run(void)
{
	step_SENSE();
	step_SENSE();
}
#endif
