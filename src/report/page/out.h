/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PAGE_OUT_H
#define REPORT_PAGE_OUT_H

/* A stream that knows how much has been written, as what is left of a limit depends on that. */

#include <stdint.h>
#include <stdio.h>

struct page_out {
	FILE *to, *stream;
	uint64_t bytes;
	int failure; /* the first: -errno of writing */
};

/* Returns 0 or -ENOMEM. What is written to out->stream goes to to, which stays open. */
int page_out_open(struct page_out *out, FILE *to);

/* So many bytes up to now. */
uint64_t page_out_bytes(struct page_out *out);

/* Writes what is left. Returns 0 or -errno of the first write that failed. */
int page_out_close(struct page_out *out);

#endif
