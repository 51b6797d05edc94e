// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes records out of a kernel ring buffer. Its layout is part of the kernel's interface: a page with the position of
 * the reader, which is ours to write; a page with that of the writers; then the bytes, mapped twice in a row, so that
 * no record is ever in two pieces. Positions count bytes and never go back. A record is a header of 8 bytes, its length
 * with two flags in the first 4, and its bytes, the whole rounded up to 8.
 *
 * The loads of a position or header acquire what the kernel has released with it; the store of ours releases the
 * record's room to the kernel.
 */

#include "ebpf/kernel/consumer.h"

#include "base/alloc.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct consumer {
	int map;
	consumer_fn *report;
	void *context;
	size_t page, capacity;
	unsigned long *read_to;          /* a page of its own, writable */
	const unsigned long *written_to; /* at the head of the other mapping */
	const uint8_t *bytes;
};

static size_t reading_bytes(const struct consumer *consumer)
{
	return consumer->page + 2 * consumer->capacity;
}

static int map_pages(struct consumer *consumer)
{
	void *at = mmap(NULL, consumer->page, PROT_READ | PROT_WRITE, MAP_SHARED, consumer->map, 0);

	if (at == MAP_FAILED)
		return -errno;
	consumer->read_to = at;
	at = mmap(NULL, reading_bytes(consumer), PROT_READ, MAP_SHARED, consumer->map, (off_t)consumer->page);
	if (at == MAP_FAILED)
		return -errno;
	consumer->written_to = at;
	consumer->bytes = (const uint8_t *)at + consumer->page;
	return 0;
}

int consumer_new(int map, size_t capacity, consumer_fn *report, void *context, struct consumer **made)
{
	struct consumer *consumer = alloc_zero(1, sizeof *consumer);
	int result;

	if (!consumer)
		return -ENOMEM;
	consumer->map = map;
	consumer->report = report;
	consumer->context = context;
	consumer->page = (size_t)sysconf(_SC_PAGESIZE);
	consumer->capacity = capacity;
	result = map_pages(consumer);
	if (result)
		consumer_free(consumer);
	else
		*made = consumer;
	return result;
}

void consumer_free(struct consumer *consumer)
{
	if (!consumer)
		return;
	if (consumer->read_to)
		munmap(consumer->read_to, consumer->page);
	if (consumer->written_to)
		munmap((void *)consumer->written_to, reading_bytes(consumer));
	alloc_free(consumer);
}

int consumer_fd(const struct consumer *consumer)
{
	return consumer->map;
}

/* The record at position, or NULL where its writer has not finished. Stores its header. */
static const uint8_t *record_at(const struct consumer *consumer, unsigned long position, uint32_t *header)
{
	const uint8_t *at = consumer->bytes + (position & (consumer->capacity - 1));

	*header = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
	return *header & BPF_RINGBUF_BUSY_BIT ? NULL : at + BPF_RINGBUF_HDR_SZ;
}

int consumer_read(struct consumer *consumer)
{
	unsigned long at = __atomic_load_n(consumer->read_to, __ATOMIC_RELAXED); /* only this side writes it */
	unsigned long end = __atomic_load_n(consumer->written_to, __ATOMIC_ACQUIRE);
	int count = 0, result = 0;

	while (result >= 0 && at < end) {
		uint32_t header;
		const uint8_t *record = record_at(consumer, at, &header);
		uint32_t bytes = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (!record)
			break;
		if (!(header & BPF_RINGBUF_DISCARD_BIT)) {
			result = consumer->report(consumer->context, (void *)record, bytes);
			count++;
		}
		at += (bytes + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		__atomic_store_n(consumer->read_to, at, __ATOMIC_RELEASE);
	}
	return result < 0 ? result : count;
}
