// SPDX-License-Identifier: BSD-2-Clause
/* Reports what came of sensors. */

#include "cmd/text/sensors.h"

#include "base/text.h"
#include "cli/print.h"

#include <inttypes.h>

void sensors_report_unannounced(const struct recording_unannounced *unannounced, uint64_t out_of_scope)
{
	char memory[1024];
	struct text_buffer names;

	if (!unannounced->count)
		return;
	text_init_fixed(&names, memory, sizeof memory);
	for (size_t i = 0; i < unannounced->count && i < RECORDING_UNANNOUNCED_NAMED; i++)
		text_printf(&names, "%s%s", i ? ", " : "", unannounced->names[i]);
	if (unannounced->count > RECORDING_UNANNOUNCED_NAMED)
		text_printf(&names, " and %zu others", unannounced->count - RECORDING_UNANNOUNCED_NAMED);
	cli_warning("no observed process has declared %s: no event of %s was seen", memory,
		    unannounced->count == 1 ? "it" : "them");
	if (out_of_scope)
		cli_hint("%" PRIu64 " with sensors are not observed; -a observes all", out_of_scope);
}

void sensors_report_unfinished(uint64_t unfinished)
{
	if (unfinished)
		cli_note("%" PRIu64 " event%s of sensors %s begun and never finished: %s ended", unfinished,
			 unfinished == 1 ? "" : "s", unfinished == 1 ? "was" : "were",
			 unfinished == 1 ? "its process" : "their processes");
}

void sensors_report_unknown(uint64_t processes)
{
	if (!processes)
		return;
	cli_warning(
		"%" PRIu64 " process%s with sensors ended before it was known whether to observe %s: events of %s may "
		"be missing",
		processes, processes == 1 ? "" : "es", processes == 1 ? "it" : "them", processes == 1 ? "it" : "them");
	cli_hint("with -a all processes are observed");
}

void sensors_advise_rings(void)
{
	cli_hint("start the application with larger rings: ASTERISM_SENSORS_RING=1M");
}
