/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PLAN_EXPLAIN_H
#define EBPF_PLAN_EXPLAIN_H

/*
 * A rule's part of a plan: as text for people, as one JSON object on one line for programs. Both append to a text;
 * whether that went well, text_take tells. Of a rule that does not run in the kernel there is nothing but that, and the
 * order of its conditions. measures: what it was chosen by, NULL: by costs alone. attached: what is known of where its
 * programs are attached, in the form that is written; may be empty.
 */

#include "base/text.h"
#include "ebpf/plan/plan.h"
#include "program/order/order.h"

void plan_explain_text(const struct plan *plan, uint32_t rule, const struct program_measures *measures,
		       const char *attached, struct text_buffer *out);
void plan_explain_json(const struct plan *plan, uint32_t rule, const struct program_measures *measures,
		       const char *attached, struct text_buffer *out);

#endif
