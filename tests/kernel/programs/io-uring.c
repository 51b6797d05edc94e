// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens a file for writing and writes to it: by a ring of its own, without a library.
 *
 * usage: io-uring ring|thread|calls PATH TIMES    by a ring, by one that a kernel thread looks after, by system calls
 *        io-uring nothing TIMES                   so many operations that do nothing
 *        io-uring probe                           "ok", or the error that io_uring_setup ends with
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct io_uring_params params;
static struct io_uring_sqe *entries;
static char *submissions, *completions;
static int ring;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(size_t bytes, off_t what)
{
	void *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (there == MAP_FAILED)
		fail("mmap");
	return there;
}

static void make_ring(unsigned int flags)
{
	params = (struct io_uring_params){ .flags = flags, .sq_thread_idle = 100 };
	ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0)
		fail("io_uring_setup");
	submissions = map(params.sq_off.array + params.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	completions = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	entries = map(params.sq_entries * sizeof *entries, IORING_OFF_SQES);
}

static uint32_t *at(char *area, uint32_t offset)
{
	return (uint32_t *)(void *)(area + offset);
}

/* Submits one operation, waits for its end, and gives what it came to. */
static int operate(const struct io_uring_sqe *entry)
{
	uint32_t tail = *at(submissions, params.sq_off.tail), place = tail & *at(submissions, params.sq_off.ring_mask);
	uint32_t *head = at(completions, params.cq_off.head);
	unsigned int flags = IORING_ENTER_GETEVENTS;

	entries[place] = *entry;
	at(submissions, params.sq_off.array)[place] = place;
	__atomic_store_n(at(submissions, params.sq_off.tail), tail + 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(at(submissions, params.sq_off.flags), __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
		flags |= IORING_ENTER_SQ_WAKEUP;
	while (syscall(SYS_io_uring_enter, ring, 1, 1, flags, NULL, 0) < 0)
		if (errno != EINTR)
			fail("io_uring_enter");
	while (__atomic_load_n(at(completions, params.cq_off.tail), __ATOMIC_ACQUIRE) == *head)
		usleep(100);
	const struct io_uring_cqe *done = (void *)(completions + params.cq_off.cqes);
	int result = done[*head & *at(completions, params.cq_off.ring_mask)].res;

	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (result < 0) {
		errno = -result;
		fail("operation");
	}
	return result;
}

static void write_by_ring(const char *path)
{
	struct io_uring_sqe entry = { .opcode = IORING_OP_OPENAT,
				      .fd = AT_FDCWD,
				      .addr = (uintptr_t)path,
				      .len = 0600,
				      .open_flags = O_WRONLY | O_CREAT };
	int fd = operate(&entry);

	entry = (struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = fd, .addr = (uintptr_t) "x", .len = 1 };
	operate(&entry);
	close(fd);
}

static void write_by_calls(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1)
		fail(path);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "probe") == 0) {
		int fd = (int)syscall(SYS_io_uring_setup, 4, &params);

		puts(fd < 0 ? strerror(errno) : "ok");
		return 0;
	}
	if (argc == 3 && strcmp(how, "nothing") == 0) {
		make_ring(0);
		for (long i = atol(argv[2]); i > 0; i--)
			operate(&(struct io_uring_sqe){ .opcode = IORING_OP_NOP });
		return 0;
	}
	if (argc != 4)
		return 2;
	if (strcmp(how, "calls") != 0)
		make_ring(strcmp(how, "thread") == 0 ? IORING_SETUP_SQPOLL : 0);
	for (long i = atol(argv[3]); i > 0; i--)
		(strcmp(how, "calls") == 0 ? write_by_calls : write_by_ring)(argv[2]);
	return 0;
}
