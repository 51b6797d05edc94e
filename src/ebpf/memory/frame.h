/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_FRAME_H
#define EBPF_MEMORY_FRAME_H

/* What the code of all rules at one event shares, and their callbacks with it. */

#include "ebpf/asm/asm.h"

#include <stddef.h>

/*
 * On main's stack, 8 bytes per member; pointers are the kernel's. Written by the functions below only, for the reason
 * told in memory/frame.c.
 */
struct matcher_frame {
	uint64_t zero; /* 0, which the verifier does not know */
	uint64_t record;
	uint64_t next;    /* the run to step next */
	uint64_t current; /* the run being stepped */
	uint64_t bucket;  /* address of the locked one */
	uint64_t moved;   /* the first of the runs to link again, by their next; 0: none */
	uint64_t last;    /* the last of them (SKIPTILLANY); a machine: places ever taken before a copy's */
	uint64_t opened;  /* the run that this event opened, if it is still to be linked; 0: none */
	union {
		uint64_t matched; /* AFTER MATCH DROP: what becomes of the runs of the event's key */
		uint64_t found;   /* a machine: there is an instance of the key */
	};
	uint64_t ordinal; /* of the run being made */
	uint64_t copied;  /* the number of the copy being made; a machine: plus 1, and 0: there is none */
	uint64_t scratch; /* address of slots computed before it is known whether they are kept */
	uint64_t late;    /* the late part of the header is there */
	uint64_t now;     /* up to when time passes */
	uint64_t epoch;   /* of losses when the event arrived (SKIPTILLANY) */
	union {
		uint64_t moves; /* of the rule, when the event was looked at first */
		uint64_t lock;  /* a machine whose buckets share locks: address of the one that has the bucket's */
	};
	uint64_t shared, oldest; /* POOL ... PER KEY: how many runs the key has; the number of the first, 0: none */
	uint64_t cut;            /* 1: the rule asks how a string of the event ends, which may have been cut */
	/* Only where rules raise events: */
	uint64_t raised; /* whether any were */
	uint64_t queue;  /* address of this CPU's raised events; 0: none was raised by the rule at work */
	uint64_t node;   /* address of the raised event being dealt with */
};

/* In matched: nothing (0); they end, since one of them matched; they depend on one that found no place. */
enum { MATCHER_DROPS = 1, MATCHER_MARKS };

/* A member of the frame, from r9. */
#define FRAME(member) offsetof(struct matcher_frame, member)

struct memory;

/* r9 is a new frame. Overwrites r0. */
void memory_frame_begin(const struct memory *memory, struct ebpf_asm *as);
/* The number at member (its offset) is that in src; overwrites r0, or r1 where src is r0. It is a constant: r0. */
void memory_frame_put(struct ebpf_asm *as, size_t member, uint8_t src);
void memory_frame_set(struct ebpf_asm *as, size_t member, int32_t number);
/* The pointer at member is that in src; there is none. */
void memory_frame_point(struct ebpf_asm *as, size_t member, uint8_t src);
void memory_frame_forget(struct ebpf_asm *as, size_t member);
/*
 * What a rule was about is forgotten: within a loop the verifier goes on once for each address that is left behind,
 * whether it is looked at again or not. Overwrites r7, r8.
 */
void memory_frame_leave_rule(struct ebpf_asm *as);

#endif
