// SPDX-License-Identifier: BSD-2-Clause
/* Compiles a LIKE pattern to an automaton. */

#include "ebpf/lower/pattern.h"

bool ebpf_pattern_fits(const char *text)
{
	uint32_t bytes = 0;

	for (; *text; text++)
		bytes += *text != '*';
	return bytes <= EBPF_PATTERN_BYTES_MAX;
}

void ebpf_pattern_build(const char *text, struct ebpf_pattern *pattern)
{
	uint64_t state = 1;

	*pattern = (struct ebpf_pattern){ .start = state };
	for (; *text; text++) {
		if (*text == '*') {
			pattern->stay |= state;
		} else {
			state <<= 1;
			pattern->step[(unsigned char)*text] |= state;
		}
	}
	pattern->end = state << 1;
	pattern->step[0] = pattern->end;
	pattern->stay |= pattern->end;
}
