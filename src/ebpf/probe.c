// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what the kernel can do by trying the smallest thing that needs it. One more feature is one more row.
 */

#include "ebpf/probe.h"

#include "ebpf/insn.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct bpf_insn exit_insn = { .code = BPF_JMP | BPF_EXIT };

/* 1 when fd is one (it is closed), 0 when the kernel refused, -EPERM. */
static int answer(int fd)
{
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	return fd == -EPERM || fd == -ENOMEM ? fd : 0;
}

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count, struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(type, NULL, "Dual BSD/GPL", insns, count, opts);
}

static int has_btf(const struct btf_kernel *btf)
{
	return btf || access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

static int load_tracing(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = { insn_alu_imm(BPF_MOV, R0, 0), exit_insn };
	struct btf_tracepoint tracepoint;

	if (!btf || btf_kernel_tracepoint(btf, "sys_enter", &tracepoint))
		return -ENOENT;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP, .attach_btf_id = tracepoint.id);
	return load(BPF_PROG_TYPE_TRACING, insns, 2, &opts);
}

static int has_tracing(const struct btf_kernel *btf)
{
	return answer(load_tracing(btf));
}

static int has_ring(const struct btf_kernel *btf)
{
	(void)btf;
	return answer(bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL));
}

static int has_cmpxchg(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = {
		insn_store_imm(BPF_DW, R10, -8, 0), insn_alu_imm(BPF_MOV, R0, 0),
		insn_alu_imm(BPF_MOV, R1, 1),       insn_atomic(BPF_DW, BPF_CMPXCHG, R10, -8, R1),
		insn_alu_imm(BPF_MOV, R0, 0),       exit_insn,
	};

	(void)btf;
	return answer(load(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, sizeof insns / sizeof *insns, NULL));
}

/* The callback of bpf_loop needs type information to load, so only whether the helper exists is asked. */
static int has_loop(const struct btf_kernel *btf)
{
	return btf ? btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_loop") != 0 : -ENOENT;
}

static int has_irq_save(const struct btf_kernel *btf)
{
	return btf ? btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_local_irq_save") != 0 : -ENOENT;
}

static int has_cast(const struct btf_kernel *btf)
{
	return btf ? btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_rdonly_cast") != 0 : -ENOENT;
}

static int can_test_run(enum bpf_prog_type type, uint32_t flags)
{
	const struct bpf_insn insns[] = { insn_alu_imm(BPF_MOV, R0, 7), exit_insn };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = flags);
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = load(type, insns, 2, &opts);

	if (fd < 0)
		return answer(fd);
	int result = bpf_prog_test_run_opts(fd, &run) == 0 && run.retval == 7;

	close(fd);
	return result;
}

static int has_raw_test_run(const struct btf_kernel *btf)
{
	(void)btf;
	return can_test_run(BPF_PROG_TYPE_RAW_TRACEPOINT, 0);
}

static int has_syscall_test_run(const struct btf_kernel *btf)
{
	(void)btf;
	return can_test_run(BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE);
}

static int has_miss_count(const struct btf_kernel *btf)
{
	struct bpf_prog_info info = { 0 };
	uint32_t length = sizeof info;
	int fd = load_tracing(btf);

	if (fd < 0)
		return fd == -EPERM ? fd : 0;
	int result = bpf_obj_get_info_by_fd(fd, &info, &length);

	close(fd);
	return result == 0 && length >= offsetof(struct bpf_prog_info, recursion_misses) + 8;
}

/* Effective capabilities as bits; all of them where that cannot be told. */
static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data) < 0)
		return UINT64_MAX;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static bool is_privileged(void)
{
	uint64_t held = capabilities();
	uint64_t both = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON;

	return held & UINT64_C(1) << CAP_SYS_ADMIN || (held & both) == both;
}

static int has_privilege(const struct btf_kernel *btf)
{
	(void)btf;
	return is_privileged();
}

/* In this mode the kernel lets nobody read its memory. */
static bool is_locked_down(void)
{
	char text[128];
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof text - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return strstr(text, "[confidentiality]") != NULL;
}

static int is_open(const struct btf_kernel *btf)
{
	(void)btf;
	return !is_locked_down();
}

static const struct {
	struct probe probe;
	int (*ask)(const struct btf_kernel *btf);
} rows[] = {
	{ { "privilege", "CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN: to load programs", true }, has_privilege },
	{ { "no lockdown", "the kernel lets programs read its memory", true }, is_open },
	{ { "type information", "BTF of the kernel: to find the fields of events", true }, has_btf },
	{ { "typed tracepoints", "programs on raw tracepoints with typed arguments", true }, has_tracing },
	{ { "bpf_loop", "loops over runs", true }, has_loop },
	{ { "compare and exchange", "atomic instructions: pools without locks", true }, has_cmpxchg },
	{ { "ring buffer", "matches and events on their way to user space", true }, has_ring },
	{ { "bpf_local_irq_save", "rules over events of interrupts in step with others", false }, has_irq_save },
	{ { "bpf_rdonly_cast", "loads through untyped pointers without a helper call", false }, has_cast },
	{ { "miss count", "events missed by a busy program are noticed", false }, has_miss_count },
	{ { "test run, raw tracepoint", "own process id outside the initial pid namespace", false }, has_raw_test_run },
	{ { "test run, syscall", "replay --engine kernel", false }, has_syscall_test_run },
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

const struct probe *probe_get(size_t index)
{
	return index < ROW_COUNT ? &rows[index].probe : NULL;
}

int probe_ask(size_t index, const struct btf_kernel *btf)
{
	return index < ROW_COUNT ? rows[index].ask(btf) : -EINVAL;
}

int probe_permission(struct asterism_diag *diag)
{
	if (!is_privileged())
		return diag_error(diag, NULL, -EPERM,
				  "observing the kernel needs the capabilities CAP_BPF and CAP_PERFMON (or root)");
	if (is_locked_down())
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "this kernel is locked down (confidentiality) and lets no program read its memory");
	return 0;
}

int probe_features(struct ebpf_features *features, struct asterism_diag *diag)
{
	int error = probe_permission(diag);

	if (error)
		return error;
	error = ebpf_features_probe(features);
	if (error == -EPERM)
		return diag_error(diag, NULL, -EPERM,
				  "loading BPF programs is not permitted (CAP_BPF and CAP_PERFMON)");
	if (error == -EOPNOTSUPP)
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "this kernel's BPF is too old (bpf_loop, Linux 5.17, is missing)");
	return error ? diag_no_memory(diag) : 0;
}
