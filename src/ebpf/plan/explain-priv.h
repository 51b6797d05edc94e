/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_EXPLAIN_PRIV_H
#define EBPF_PLAN_EXPLAIN_PRIV_H

/* Inside the explanation of a plan: what may be true of a rule and of an event, for JSON and in words. */

#include "ebpf/plan/explain.h"

#include <stddef.h>

struct plan_truth {
	const char *name;  /* of the member in JSON */
	const char *words; /* for people, where it is true; NULL: they are told otherwise */
	size_t offset;     /* of the bool */
};

extern const struct plan_truth plan_rule_truths[], plan_event_truths[]; /* up to one without a name */

static inline bool plan_is_true(const void *of, const struct plan_truth *truth)
{
	return *(const bool *)((const char *)of + truth->offset);
}

#endif
