/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_SENSORS_H
#define CMD_TEXT_SENSORS_H

/* What somebody who asked for sensors has to know of these at the end, as messages. */

#include "session/session.h"

/* out_of_scope: processes with sensors that were not observed. */
void sensors_report_unannounced(const struct recording_unannounced *unannounced, uint64_t out_of_scope);
void sensors_report_unknown(uint64_t processes);
void sensors_report_unfinished(uint64_t unfinished);

/* What to do where rings of applications were overwritten. */
void sensors_advise_rings(void);

#endif
