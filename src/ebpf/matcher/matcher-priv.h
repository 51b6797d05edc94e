/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MATCHER_MATCHER_PRIV_H
#define EBPF_MATCHER_MATCHER_PRIV_H

/* Inside the matcher: the parts of its code, and what has come of it in the kernel. */

#include "ebpf/codegen/derived.h"
#include "ebpf/matcher/matcher.h"
#include "ebpf/memory/emit.h"
#include "ebpf/memory/layout.h"
#include "ebpf/plan/plan.h"

/* The parts that the code for a type is divided into. */
struct matcher_type {
	struct plan_part *parts;
	size_t part_count, part_capacity;
};

/* Matches taken from the ring and not yet handed out: items are offsets in bytes. */
struct matcher_inbox {
	struct consumer *ring;
	uint8_t *bytes;
	size_t used, capacity;
	uint32_t *items;
	size_t count, item_capacity, next;
	struct program_match_event *events; /* of the match being handed out */
	struct memory_stack *stack;         /* ... and its stack; NULL: nobody asks for any */
};

struct matcher_due {
	uint32_t rule, run;
	uint64_t deadline, made;
	uint32_t ordinal;
	bool only_ends;
};

/* Of a rule: when it must be looked at for runs whose time is up. */
struct matcher_watch {
	uint64_t look_again;  /* until then no run can be overdue */
	uint64_t swept_epoch; /* of losses, when what they spoiled was last looked for */
	uint64_t quiet_looks; /* so many in a row found no run */
};

struct matcher_sweep {
	int fd;                        /* of the program; -1: no rule has WITHIN, or it is not ready yet */
	struct ebpf_loading *loading;  /* until ready */
	uint64_t seq;                  /* of the last event that was fed */
	bool again;                    /* what was raised at deadlines may be due, and what comes after that */
	struct matcher_watch *watches; /* per rule of the program */
	struct matcher_due *due;
	size_t due_count, due_capacity;
	uint64_t known_timer;    /* the first one, at the last look */
	bool dozes;              /* programs wake this process for what is due before its next look */
	uint64_t least_timer_ns; /* no timer that is set from now on is due before that; UINT64_MAX: there are none */
};

struct ebpf_matcher {
	const struct program *program;
	struct ebpf_matcher_options options;
	struct plan *plan;
	struct memory memory;
	struct emit_context code;    /* what all code is generated from */
	struct emit_derived derived; /* of the program under way */
	struct matcher_type *types;
	struct matcher_inbox inbox;
	struct matcher_sweep sweep;
};

/* inbox */
int matcher_inbox_open(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_inbox_close(struct ebpf_matcher *matcher);
/* Hands out all matches in the ring. Returns 0, what on_match returned, -errno. */
int matcher_inbox_drain(struct ebpf_matcher *matcher);

/* sweep */
int matcher_sweep_open(struct ebpf_matcher *matcher, struct asterism_diag *diag);
void matcher_sweep_close(struct ebpf_matcher *matcher);
/* Lets time pass up to now, exclusive of deadlines at now itself. Returns as matcher_inbox_drain. */
int matcher_sweep_to(struct ebpf_matcher *matcher, uint64_t now);
/* What is made from now on comes behind all that was made before, where events are fed. */
void matcher_begin_number(struct ebpf_matcher *matcher);
uint64_t matcher_sweep_next(const struct ebpf_matcher *matcher);

#endif
