/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_ATTACHMENT_H
#define EBPF_ATTACHMENT_H

/*
 * Where a live session of a plan's rules would attach its programs on this machine, and why: what decides it for a
 * session is asked here, too (source/set.h), and tries what a session tries, but loads no program of a rule. Without
 * the privileges to do so, the kernel is taken to have what it would be asked for; BTF and its version are still read.
 */

#include "base/text.h"
#include "ebpf/plan/plan.h"
#include "event/catalog.h"

struct ebpf_attachment;

/* Whose rules, and where they run: each per rule of the plan's program. */
struct ebpf_attachment_options {
	struct event_catalog *catalog;
	const bool *shipped; /* in user space, over events that the kernel ships */
};

/* What would keep a session from beginning is told as well. The plan must outlive it. Returns 0, -ENOMEM. */
int ebpf_attachment_new(const struct plan *plan, const struct ebpf_attachment_options *options,
			struct ebpf_attachment **made);
void ebpf_attachment_free(struct ebpf_attachment *attachment);

/* The programs that serve the rule, as lines for people; nothing of one that no program serves. */
void ebpf_attachment_text(const struct ebpf_attachment *attachment, uint32_t rule, struct text_buffer *out);

/* The same as one member of a JSON object, with the comma before it. */
void ebpf_attachment_json(const struct ebpf_attachment *attachment, uint32_t rule, struct text_buffer *out);

#endif
