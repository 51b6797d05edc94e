/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_BATCH_H
#define EBPF_BATCH_H

/*
 * Many events in one test run, for measuring what the generated code itself costs: the records lie in a map, one
 * program goes through them all. No time passes but by the events themselves, and matches stay in the ring.
 */

#include "ebpf/matcher/matcher.h"

struct batch;

enum { BATCH_RECORDS_MAX = 65536 };

/* stride: bytes from one record to the next. Returns 0, or an error with a sentence. */
int batch_new(struct ebpf_matcher *matcher, uint32_t stride, struct asterism_diag *diag, struct batch **made);
void batch_free(struct batch *batch);

/* The record number index, to be filled in. */
struct event_header *batch_record(struct batch *batch, uint32_t index);

/* Runs the first count records. Stores the ns it took. Returns 0 or -errno. */
int batch_run(struct batch *batch, uint32_t count, uint64_t *took_ns);

#endif
