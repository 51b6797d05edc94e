/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_KERNEL_LIVE_RULES_H
#define TESTS_KERNEL_LIVE_RULES_H

/* Rules out of a text, and a child behind a gate that they observe from its first step to its end. */

#include "ebpf/ebpf.h"
#include "gate.h"
#include "session/load/rules.h"

/* As session_rules_read. */
int live_rules_read(const char *text, struct asterism_diag *diag, struct session_rules **rules);

/* Opens and closes the gate, and polls until the child has ended and what it did must have been told. Returns 0 or
 * -errno. */
int live_rules_watch(struct ebpf *ebpf, pid_t child, struct gate *gate, int *status);

/* Messages, as remarks of a test. */
void live_rules_remark(const struct asterism_diag *diag);

#endif
