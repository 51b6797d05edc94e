/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_NEEDS_H
#define EBPF_SOURCE_NEEDS_H

#include "event/type.h"

/* What code that steps rules takes of main's stack, of its callbacks', and more where rules raise events. */
enum { EBPF_MATCHER_STACK_BYTES = 128, EBPF_CALL_STACK_BYTES = 192, EBPF_RAISED_STACK_BYTES = 64 };

/* What an event type's record must hold for the rules that run here. */
struct ebpf_needs {
	bool header[EVENT_HEADER_FIELDS]; /* as event_header_fields: ts cpu pid tid comm */
	bool late_ts;                     /* not in header, but must be 0 or the time of this firing */
	bool body[EVENT_FIELDS_MAX];      /* by index of the body field */
	bool raises;                      /* rules may raise events in turn, which takes stack */
};

#endif
