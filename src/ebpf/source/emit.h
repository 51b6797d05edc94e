/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_EMIT_H
#define EBPF_SOURCE_EMIT_H

/*
 * Code for a whole unit: scope test, conditions, extraction, and for every entry the caller's body.
 *
 * A body finds the frame that matcher.h describes: r6 points to the record, in which type and the needed fields are
 * filled. Records of all entries of a unit lie at the same place, one after the other in time, so a body must be done
 * with its record when it ends.
 *
 * What memory of the user cannot give: a string is unread (event/type.h), or the body is not run and the caller's code
 * for an unread event is instead, where it is a number or where there is no room to await the call. A packed body finds
 * the label for that in its style.
 *
 * Where a want is packed, r6 points to memory for the entry's strings instead: its extent and 8 bytes more. Its body
 * leaves in r1 the time that it has read, or 0.
 */

#include "ebpf/path/value.h"
#include "ebpf/source/await.h"
#include "ebpf/source/calls.h"
#include "ebpf/source/chain.h"
#include "ebpf/source/counter.h"
#include "ebpf/source/prefetch.h"
#include "ebpf/source/scope.h"

/* style is how the entry's paths are evaluated where the body begins; scope is what the program has asked. */
typedef void source_body_fn(void *context, struct ebpf_asm *as, const struct source_entry *entry,
			    const struct source_style *style, const struct scope *scope);

enum {
	/* What of main's stack is left to records: all but the body's, its callbacks' and our own few words. */
	SOURCE_OWN_STACK_BYTES = 32,
	SOURCE_RECORD_STACK_BYTES = 512 - EBPF_MATCHER_STACK_BYTES - EBPF_CALL_STACK_BYTES - SOURCE_OWN_STACK_BYTES,
};

/* Before the first body of a program. */
typedef void source_begin_fn(void *context, struct ebpf_asm *as, const struct source_unit *unit,
			     const struct source_style *style, const struct scope *scope);

struct source_emit_options {
	const struct scope *scope;
	struct source_style style;
	const struct source_node *tid, *tgid; /* of the current task; NULL: asked for by a helper */
	source_begin_fn *begin;
	source_body_fn *body, *unread;
	void *context;
	const struct source_await *await; /* of a unit that awaits */
	struct source_calls calls;        /* by which calls are judged before anything else */
	struct chain_place place;         /* of the program */
	bool late;                        /* the program is where awaited calls are given back */
	bool prefetches;                  /* source/prefetch.h: instead of everything but the scope test */
	/* Per CPU struct source_counters, then source_scratch_bytes for the record; behind all of them what number
	 * asks. */
	struct source_memory memory;
};

/* Bytes that the unit's records need per CPU outside of the stack; 0: they fit there. A multiple of 8. Where a string's
 * place depends on the length of others, that is never on the stack. */
uint32_t source_scratch_bytes(const struct source_unit *unit);

/* How much of its stack the program may take for what it keeps: functions called by rules have the rest. */
uint32_t source_stack_bytes(const struct source_unit *unit);

/* Whether some entries are packed and others are not. */
bool source_is_mixed(const struct source_unit *unit);

/* Whether some body reads the clock itself: where ts is 0, or because it is packed and others may use its ts. */
bool source_has_late_ts(const struct source_unit *unit);

void source_emit_unit(struct ebpf_asm *as, const struct source_unit *unit, const struct source_emit_options *options);

#endif
