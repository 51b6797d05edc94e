// SPDX-License-Identifier: BSD-2-Clause
/* The operations of io_uring that do what a system call does, by opcodes and numbers of x86-64. */

#include "ebpf/source/io-uring.h"

#include "ebpf/source/calls.h"

#include <errno.h>
#include <string.h>

enum { CALLS_MAX = 6, COUNT_BYTES = IO_URING_OPCODES * sizeof(uint64_t) };

/* What is not here (NOP, TIMEOUT, POLL_ADD, buffers, messages between rings) is no detour round a call. */
static const struct {
	uint8_t opcodes[4], calls_count;
	uint16_t calls[CALLS_MAX];
} detours[] = {
	{ { 1, 4, 22, 49 }, 5, { 0, 17, 19, 295, 327 } }, /* READV ... read, pread64, readv, preadv, preadv2 */
	{ { 60 }, 5, { 0, 17, 19, 295, 327 } },           /* READV_FIXED */
	{ { 2, 5, 23, 61 }, 5, { 1, 18, 20, 296, 328 } }, /* WRITEV ... write, pwrite64, writev, pwritev, pwritev2 */
	{ { 3 }, 2, { 74, 75 } },                         /* fsync, fdatasync */
	{ { 8 }, 1, { 277 } },                            /* sync_file_range */
	{ { 9, 26, 47, 48 }, 3, { 44, 46, 307 } },        /* SENDMSG ... sendto, sendmsg, sendmmsg */
	{ { 10, 27, 58 }, 3, { 45, 47, 299 } },           /* RECVMSG ... recvfrom, recvmsg, recvmmsg */
	{ { 13 }, 2, { 43, 288 } },                       /* accept, accept4 */
	{ { 16 }, 1, { 42 } },                            /* connect */
	{ { 17 }, 1, { 285 } },                           /* fallocate */
	{ { 18, 28 }, 4, { 2, 85, 257, 437 } },           /* OPENAT, OPENAT2: open, creat, openat, openat2 */
	{ { 19 }, 1, { 3 } },                             /* close */
	{ { 21 }, 5, { 4, 5, 6, 262, 332 } },             /* stat, fstat, lstat, newfstatat, statx */
	{ { 24 }, 1, { 221 } },                           /* fadvise64 */
	{ { 25 }, 1, { 28 } },                            /* madvise */
	{ { 29 }, 1, { 233 } },                           /* epoll_ctl */
	{ { 30 }, 1, { 275 } },                           /* splice */
	{ { 33 }, 1, { 276 } },                           /* tee */
	{ { 34 }, 1, { 48 } },                            /* shutdown */
	{ { 35 }, 3, { 82, 264, 316 } },                  /* rename, renameat, renameat2 */
	{ { 36 }, 3, { 84, 87, 263 } },                   /* rmdir, unlink, unlinkat */
	{ { 37 }, 2, { 83, 258 } },                       /* mkdir, mkdirat */
	{ { 38 }, 2, { 88, 266 } },                       /* symlink, symlinkat */
	{ { 39 }, 2, { 86, 265 } },                       /* link, linkat */
	{ { 41, 42 }, 3, { 188, 189, 190 } },             /* setxattr, lsetxattr, fsetxattr */
	{ { 43, 44 }, 3, { 191, 192, 193 } },             /* getxattr, lgetxattr, fgetxattr */
	{ { 45 }, 1, { 41 } },                            /* socket */
	{ { 46 }, 3, { 16, 54, 55 } },                    /* URING_CMD: ioctl, setsockopt, getsockopt */
	{ { 50 }, 2, { 61, 247 } },                       /* wait4, waitid */
	{ { 51, 52, 53 }, 4, { 202, 449, 454, 455 } },    /* futex, futex_waitv, futex_wake, futex_wait */
	{ { 55 }, 1, { 77 } },                            /* ftruncate */
	{ { 56 }, 1, { 49 } },                            /* bind */
	{ { 57 }, 1, { 50 } },                            /* listen */
	{ { 59 }, 3, { 232, 281, 441 } },                 /* epoll_wait, epoll_pwait, epoll_pwait2 */
	{ { 62 }, 2, { 22, 293 } },                       /* pipe, pipe2 */
};

static const char *const opcode_paths[] = { "req->opcode ? opcode" };
static const char *const other_paths[] = { "63" };
static const struct event_field opcode_field = {
	.name = "opcode", .value = EVENT_U64, .offset = sizeof(struct event_header), .bytes = 8
};
static const struct event_hook hooks[] = {
	{ .tracepoint = "io_uring:io_uring_submit_req", .paths = opcode_paths },
	{ .tracepoint = "io_uring:io_uring_submit_sqe", .paths = opcode_paths }, /* before Linux 6.4 */
	/* io_uring_setup, io_uring_enter: a kernel thread may do the rest. */
	{ .tracepoint = "raw_syscalls:sys_enter", .when = "id >= 425 AND id <= 426", .paths = other_paths },
};
static const struct event_type types[] = {
	{ .name = "operation of io_uring",
	  .fields = &opcode_field,
	  .field_count = 1,
	  .own_count = 1,
	  .record_bytes = sizeof(struct event_header) + 8,
	  .hooks = hooks,
	  .hook_count = 2 },
	{ .name = "call of io_uring",
	  .fields = &opcode_field,
	  .field_count = 1,
	  .own_count = 1,
	  .record_bytes = sizeof(struct event_header) + 8,
	  .hooks = &hooks[2],
	  .hook_count = 1 },
};

static int find_io_uring_type(const struct btf_kernel *btf, const struct event_type **type)
{
	char reason[256];
	int result = -ENOENT;

	for (uint32_t i = 0; i < types[0].hook_count && result && result != -ENOMEM; i++)
		result = source_judge(btf, &types[0], i, reason, sizeof reason);
	*type = &types[result != 0];
	return result == -ENOMEM ? result : 0;
}

int io_uring_plan(struct io_uring *ring, const struct btf_kernel *btf, struct asterism_diag *diag)
{
	const struct event_type *type;

	if (find_io_uring_type(btf, &type))
		return diag_no_memory(diag);
	ring->needs.body[0] = true;
	ring->want = (struct source_want){ .type = type, .group = SOURCE_GROUP_OWN, .needs = &ring->needs };
	return 0;
}

int io_uring_init(struct io_uring *ring, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&ring->counts, "io_uring", COUNT_BYTES, 1, PROT_READ);

	return result ? diag_error(diag, NULL, result, "cannot allocate memory for a program: %s", strerror(-result))
		      : 0;
}

void io_uring_fini(struct io_uring *ring)
{
	ebpf_array_fini(&ring->counts);
}

void io_uring_emit(const struct io_uring *ring, struct ebpf_asm *as)
{
	uint32_t known = ebpf_label(as);

	ebpf_load(as, BPF_DW, R3, SOURCE_REG_RECORD, (int16_t)opcode_field.offset);
	ebpf_jump_if_imm(as, BPF_JLE, R3, IO_URING_OTHER, known);
	ebpf_mov_imm(as, R3, IO_URING_OTHER);
	ebpf_bind(as, known);
	ebpf_alu_imm(as, BPF_LSH, R3, 3);
	ebpf_load_value(as, R1, ring->counts.fd, 0);
	ebpf_alu(as, BPF_ADD, R1, R3);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
}

uint64_t io_uring_count(const struct io_uring *ring, uint64_t opcodes)
{
	const uint64_t *counts = ring->counts.memory;
	uint64_t count = 0;

	for (uint32_t i = 0; counts && i < IO_URING_OPCODES; i++)
		if (opcodes >> i & 1)
			count += __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
	return count;
}

static bool request_may_be(const struct source_conditions *when, uint16_t call)
{
	for (uint32_t i = 0; i < when->count; i++) {
		const struct source_condition *condition = &when->items[i];

		if (source_is_call(condition->path) &&
		    !path_calculate(condition->compare, call, (uint64_t)condition->value))
			return false;
	}
	return true;
}

static uint64_t opcodes_of(const struct source_conditions *when)
{
	uint64_t opcodes = 0;

	for (size_t i = 0; i < sizeof detours / sizeof *detours; i++) {
		for (uint8_t j = 0; j < detours[i].calls_count; j++)
			for (size_t k = 0; k < sizeof detours[i].opcodes && request_may_be(when, detours[i].calls[j]);
			     k++)
				opcodes |= UINT64_C(1) << detours[i].opcodes[k];
	}
	opcodes &= ~UINT64_C(1); /* unused places of the table */
	return opcodes ? opcodes | UINT64_C(1) << IO_URING_OTHER : 0;
}

int io_uring_opcodes(const struct event_type *type, uint64_t *opcodes)
{
	struct arena *arena = arena_new();
	int result = arena ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < type->hook_count && !result; i++) {
		struct source_conditions when = { 0 };
		char reason[256];

		if (!source_implied_when(type->hooks[i].tracepoint))
			continue;
		result = path_parse_when(type->hooks[i].when, arena, &when, reason, sizeof reason);
		if (!result)
			*opcodes |= opcodes_of(&when);
		else if (result != -ENOMEM)
			result = 0; /* no kernel raises it */
	}
	arena_free(arena);
	return result;
}
