/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_CTL_RECORD_H
#define CMD_CTL_RECORD_H

/* `asterism ctl record`: what requests about recordings need, and how their replies look. */

#include "cmd/ctl/asking.h"

int ctl_record_start(struct asking *asking, json_t *request);
int ctl_record_mask(struct asking *asking, json_t *request);
int ctl_record_name(struct asking *asking, json_t *request);

void ctl_print_record_started(const json_t *reply, const char *command);
void ctl_print_record_masked(const json_t *reply, const char *command);
void ctl_print_record_stopped(const json_t *reply, const char *command);
void ctl_print_record_flushed(const json_t *reply, const char *command);
void ctl_print_record_snapshot(const json_t *reply, const char *command);
void ctl_print_record_status(const json_t *reply, const char *command);

#endif
