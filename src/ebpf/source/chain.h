/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_CHAIN_H
#define EBPF_SOURCE_CHAIN_H

/*
 * Programs of one tracepoint as a chain: the kernel calls the first one, and each ends with a tail call of the next.
 * What the kernel does for a program before it runs costs a system call some 70 ns, a tail call 5. Only where one event
 * cannot come while another is dealt with on the same CPU, as the kernel guards the first program alone: at
 * raw_syscalls.
 */

#include "base/diag.h"
#include "ebpf/asm/asm.h"
#include "ebpf/kernel/feature.h"
#include "ebpf/source/plan.h"

enum { CHAIN_PROGRAMS_MAX = 32 }; /* in a row: the kernel allows 33 tail calls */

struct chain {
	const char *tracepoint;
	int map; /* who comes behind the program of a number; -1: there is no chain */
	uint32_t taken;
	size_t planned; /* how many programs meet there; 0: there is no chain */
};

enum { CHAINS = 2 };

struct chains {
	struct chain of[CHAINS];
};

/* A program's place in a chain. */
struct chain_place {
	struct chain *chain; /* NULL: it is in none */
	uint32_t number;
};

void chains_init(struct chains *chains);
void chains_fini(struct chains *chains);

/*
 * Makes a chain wherever several programs of the plan meet at a tracepoint; late is the one at which what is awaited is
 * given back by further programs. A kernel that does not take tail calls there has no chains. features NULL: it is not
 * asked, and they are planned only.
 */
void chains_plan(struct chains *chains, const struct source_plan *plan, const char *late,
		 const struct ebpf_features *features);

/* How many programs of the plan are in the chain at the tracepoint; 0: there is none. */
size_t chains_length(const struct chains *chains, const char *tracepoint);

/* A new place in the chain at the tracepoint; one without a chain where there is none, or no room. */
struct chain_place chains_join(struct chains *chains, const char *tracepoint);

/* Begins a program: its context, in r1, is kept at slot, which is taken from the stack. Returns slot. */
int16_t chain_emit_begin(struct ebpf_asm *as, const struct chain_place *place);

/* Goes on with the next program, if there is one. All registers are lost. */
void chain_emit_next(struct ebpf_asm *as, const struct chain_place *place, int16_t slot);

/* Has program run behind the one of the place. Returns 0 or -errno with a sentence. */
int chain_set_next(const struct chain_place *place, int program, struct asterism_diag *diag);

#endif
