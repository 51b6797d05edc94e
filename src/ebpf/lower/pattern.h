/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_LOWER_PATTERN_H
#define EBPF_LOWER_PATTERN_H

/*
 * LIKE patterns with something behind a `*`, as automata whose states are the bits of a word: shift-and, Baeza-Yates
 * and Gonnet, "A new approach to text searching", CACM 35 (1992), with gaps as Wu and Manber have them there. Generated
 * code takes one step for each byte, without a branch, so the verifier follows one path through all of it.
 */

#include <stdbool.h>
#include <stdint.h>

enum { EBPF_PATTERN_BYTES_MAX = 62 }; /* that are no stars; two more states: before them all, and behind the NUL */

/* State i: the first i bytes of the pattern have been met. Shared with generated code. */
struct ebpf_pattern {
	uint64_t step[256]; /* by byte: the states that it leads to, if the text was in the one before */
	uint64_t stay;      /* those in which any byte is passed over: at a star, and at the end */
	uint64_t start, end;
};

/* Whether it is no longer than an automaton can be. */
bool ebpf_pattern_fits(const char *text);
/* text: one that fits. */
void ebpf_pattern_build(const char *text, struct ebpf_pattern *pattern);

#endif
