/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_LOAD_H
#define EBPF_KERNEL_LOAD_H

/* Hands finished code to the kernel, with names for its functions and texts for its lines. */

#include "base/diag.h"
#include "ebpf/asm/asm.h"
#include "ebpf/kernel/feature.h"

struct ebpf_load_options {
	const char *name; /* shown by bpftool; the kernel keeps 15 bytes */
	const char *file; /* shown as the file of the lines */
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	uint32_t attach_btf_id;
	const char *attach_module; /* whose type that is; NULL: the kernel's */
	bool may_wait;             /* for memory: what the kernel calls sleepable */
	const struct ebpf_features *features;
	uint32_t log_level; /* of the verifier's log, when the load fails; 0: its last lines all the same */
};

/*
 * Loads what as holds. Returns a descriptor, or the assembler's error (-E2BIG: the code is too large for one
 * program), -EPERM (no privilege), -EINVAL (refused: the diag holds the end of the verifier's log), -ENOMEM,
 * -EMFILE or -ENFILE.
 * Every error leaves a sentence in the diag but -E2BIG, which callers may answer by splitting.
 */
int ebpf_load_program(struct ebpf_asm *as, const struct ebpf_load_options *options, struct asterism_diag *diag);

/* A program that a thread of its own loads, while its owner does something else. */
struct ebpf_loading;

/*
 * Takes as over, which is freed. What options point to must last until the end. Without a thread the program is loaded
 * at once. Returns NULL without memory, with a sentence in the diag.
 */
struct ebpf_loading *ebpf_load_begin(struct ebpf_asm *as, const struct ebpf_load_options *options,
				     struct asterism_diag *diag);
/* Waits until it is loaded, and frees loading. Returns and says what ebpf_load_program does. */
int ebpf_load_end(struct ebpf_loading *loading, struct asterism_diag *diag);

#endif
