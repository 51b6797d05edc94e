/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_CONSUMER_H
#define EBPF_KERNEL_CONSUMER_H

/*
 * The reading end of a kernel ring buffer (BPF_MAP_TYPE_RINGBUF). As libbpf's, but it is silent: libbpf tells of errors
 * on standard error unless the whole process is told otherwise, which is not for a library to do.
 */

#include <stddef.h>

struct consumer;

/* Told of one record, valid for the length of the call. A negative result ends the reading behind this record. */
typedef int consumer_fn(void *context, void *data, size_t bytes);

/* Maps the ring of capacity bytes (a power of two) behind map, which is borrowed. Returns 0, -ENOMEM or -errno. */
int consumer_new(int map, size_t capacity, consumer_fn *report, void *context, struct consumer **made);
void consumer_free(struct consumer *consumer);

/* Hands out the records that are complete by now, in order; what comes meanwhile waits. Returns how many, or what tell
 * returned. */
int consumer_read(struct consumer *consumer);

/* Polls readable when there are records. */
int consumer_fd(const struct consumer *consumer);

#endif
