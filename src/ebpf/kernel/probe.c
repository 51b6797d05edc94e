// SPDX-License-Identifier: BSD-2-Clause
/* Finds out what the kernel can do, by trying the smallest thing that needs it. One more feature is one more row. */

#include "ebpf/kernel/probe.h"

#include "ebpf/asm/insn.h"
#include "ebpf/kernel/attach-format.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct bpf_insn exit_insn = { .code = BPF_JMP | BPF_EXIT };

/* 1 when fd is one (it is closed), 0 when the kernel refused, -EPERM. */
static int probe_answer(int fd)
{
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	return fd == -EPERM || fd == -ENOMEM ? fd : 0;
}

static int load_probe_program(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count,
			      struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(type, NULL, "Dual BSD/GPL", insns, count, opts);
}

static int has_btf(const struct btf_kernel *btf)
{
	return btf || access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

static int can_map_btf(const struct btf_kernel *btf)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapping;

	(void)btf;
	if (fd < 0)
		return 0;
	mapping = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (mapping != MAP_FAILED)
		munmap(mapping, page);
	return mapping != MAP_FAILED;
}

static int load_tracing(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = { insn_alu_imm(BPF_MOV, R0, 0), exit_insn };
	struct btf_tracepoint tracepoint;

	if (!btf || btf_kernel_tracepoint(btf, "sys_enter", &tracepoint))
		return -ENOENT;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP, .attach_btf_id = tracepoint.id);
	return load_probe_program(BPF_PROG_TYPE_TRACING, insns, 2, &opts);
}

static int has_tracing(const struct btf_kernel *btf)
{
	return probe_answer(load_tracing(btf));
}

static int has_ring(const struct btf_kernel *btf)
{
	(void)btf;
	return probe_answer(bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL));
}

static int has_cmpxchg(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = {
		insn_store_imm(BPF_DW, R10, -8, 0), insn_alu_imm(BPF_MOV, R0, 0),
		insn_alu_imm(BPF_MOV, R1, 1),       insn_atomic(BPF_DW, BPF_CMPXCHG, R10, -8, R1),
		insn_alu_imm(BPF_MOV, R0, 0),       exit_insn,
	};

	(void)btf;
	return probe_answer(
		load_probe_program(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, sizeof insns / sizeof *insns, NULL));
}

static int has_loop(const struct btf_kernel *btf)
{
	struct ebpf_features features;
	int error = ebpf_features_probe(&features);

	(void)btf;
	return error == -EOPNOTSUPP ? 0 : error ? error : features.loop;
}

static int has_long_jumps(const struct btf_kernel *btf)
{
	struct ebpf_features features;
	int error = ebpf_features_probe(&features);

	(void)btf;
	return error == -EOPNOTSUPP ? 0 : error ? error : features.long_jump;
}

static int has_large_values(const struct btf_kernel *btf)
{
	(void)btf;
	return ebpf_has_large_values();
}

static int has_user_registers(const struct btf_kernel *btf)
{
	(void)btf;
	return ebpf_has_user_registers();
}

/* Whether a program on a tracepoint may call functions of the kernel, given their names. */
static int has_functions(const struct btf_kernel *btf, const struct bpf_insn *insns, size_t count)
{
	struct btf_tracepoint tracepoint;

	if (!btf || btf_kernel_tracepoint(btf, "sys_enter", &tracepoint))
		return -ENOENT;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP, .attach_btf_id = tracepoint.id);
	return probe_answer(load_probe_program(BPF_PROG_TYPE_TRACING, insns, count, &opts));
}

static struct bpf_insn btf_call(const struct btf_kernel *btf, const char *function)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				  .src_reg = BPF_PSEUDO_KFUNC_CALL,
				  .imm = btf ? (int32_t)btf_kernel_find(btf, BTF_KIND_FUNC, function) : 0 };
}

static int has_irq_save(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = {
		insn_alu(BPF_MOV, R1, R10),          insn_alu_imm(BPF_ADD, R1, -8),
		btf_call(btf, "bpf_local_irq_save"), insn_alu(BPF_MOV, R1, R10),
		insn_alu_imm(BPF_ADD, R1, -8),       btf_call(btf, "bpf_local_irq_restore"),
		insn_alu_imm(BPF_MOV, R0, 0),        exit_insn,
	};

	return has_functions(btf, insns, sizeof insns / sizeof *insns);
}

static int has_cast(const struct btf_kernel *btf)
{
	const uint32_t task = btf ? btf_kernel_find(btf, BTF_KIND_STRUCT, "task_struct") : 0;
	const struct bpf_insn insns[] = {
		insn_load(BPF_DW, R1, R1, 0),
		insn_alu_imm(BPF_MOV, R2, (int32_t)task),
		btf_call(btf, "bpf_rdonly_cast"),
		insn_alu_imm(BPF_MOV, R0, 0),
		exit_insn,
	};

	return has_functions(btf, insns, sizeof insns / sizeof *insns);
}

/* The task of process 0, which there never is, and what would be sent to it. */
static int has_signals(const struct btf_kernel *btf)
{
	struct bpf_insn insns[] = {
		insn_alu_imm(BPF_MOV, R1, 0),
		btf_call(btf, "bpf_task_from_pid"),
		insn_jump_imm(BPF_JEQ, R0, 0),
		insn_alu(BPF_MOV, R6, R0),
		insn_alu(BPF_MOV, R1, R0),
		insn_alu_imm(BPF_MOV, R2, 0),
		insn_alu_imm(BPF_MOV, R3, 0),
		insn_alu_imm(BPF_MOV, R4, 0),
		btf_call(btf, "bpf_send_signal_task"),
		insn_alu(BPF_MOV, R1, R6),
		btf_call(btf, "bpf_task_release"),
		insn_alu_imm(BPF_MOV, R0, 0),
		exit_insn,
	};

	insns[2].off = 8; /* there is none */
	return has_functions(btf, insns, sizeof insns / sizeof *insns);
}

static int can_test_run(enum bpf_prog_type type, uint32_t flags)
{
	const struct bpf_insn insns[] = { insn_alu_imm(BPF_MOV, R0, 7), exit_insn };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = flags);
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = load_probe_program(type, insns, 2, &opts);

	if (fd < 0)
		return probe_answer(fd);
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

/* In this mode the kernel's memory cannot be read. */
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

static int has_user_probes(const struct btf_kernel *btf)
{
	(void)btf;
	return access("/sys/bus/event_source/devices/uprobe/type", R_OK) == 0;
}

static int has_probe_semaphores(const struct btf_kernel *btf)
{
	(void)btf;
	return attach_has_semaphores();
}

static int has_waiting_probes(const struct btf_kernel *btf)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	const struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, exit_insn };

	(void)btf;
	return probe_answer(load_probe_program(BPF_PROG_TYPE_KPROBE, insns, sizeof insns / sizeof *insns, &opts));
}

/* Those that may wait came with the helper that reads another process's memory. */
static int has_task_programs(const struct btf_kernel *btf)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = btf ? btf_kernel_find(btf, BTF_KIND_FUNC, "bpf_iter_task") : 0);
	const struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, exit_insn };

	if (!opts.attach_btf_id)
		return 0;
	return probe_answer(load_probe_program(BPF_PROG_TYPE_TRACING, insns, sizeof insns / sizeof *insns, &opts));
}

static int has_prepare_exec(const struct btf_kernel *btf)
{
	struct btf_tracepoint found;

	return btf && btf_kernel_tracepoint(btf, "sched_prepare_exec", &found) == 0;
}

static int has_dispatcher(const struct btf_kernel *btf)
{
	const struct bpf_insn insns[] = { insn_alu_imm(BPF_MOV, R0, 0), exit_insn };
	const uint32_t function = btf ? btf_kernel_find(btf, BTF_KIND_FUNC, "ia32_sys_call") : 0;

	if (!function)
		return 0;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY, .attach_btf_id = function);
	int has = probe_answer(load_probe_program(BPF_PROG_TYPE_TRACING, insns, sizeof insns / sizeof *insns, &opts));

	return has == -EPERM ? 0 : has; /* some machines refuse programs at functions, whoever asks */
}

/* As source/apart.h has it. */
static int has_calls_alone(const struct btf_kernel *btf)
{
	if (!ebpf_counts_misses())
		return 0;
	return ebpf_runs_32bit() ? has_dispatcher(btf) : 1;
}

static int has_held_calls(const struct btf_kernel *btf)
{
	const uint32_t action = SECCOMP_RET_USER_NOTIF;

	(void)btf;
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static int has_killable_wait(const struct btf_kernel *btf)
{
	/* Without a filter the call fails: by the address (EFAULT) where the flags are known, else by the flags. */
	const unsigned int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	(void)btf;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 && errno == EFAULT;
}

static int has_cgroups(const struct btf_kernel *btf)
{
	(void)btf;
	return access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0 ||
	       access("/sys/fs/cgroup/unified/cgroup.controllers", R_OK) == 0;
}

static const struct {
	struct probe probe;
	int (*ask)(const struct btf_kernel *btf);
} probe_rows[] = {
	{ { "privilege", "programs can be loaded: CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN", NULL, NULL },
	  has_privilege },
	{ { "no lockdown", "programs can read the kernel's memory", NULL, NULL }, is_open },
	{ { "type information", "the fields of events are found", NULL, "5.4" }, has_btf },
	{ { "typed tracepoints", "programs see events with their arguments", NULL, "5.5" }, has_tracing },
	{ { "ring buffer", "matches and events reach user space", NULL, "5.8" }, has_ring },
	{ { "compare and exchange", "pool slots are taken without locks", NULL, "5.12" }, has_cmpxchg },
	{ { "bpf_loop", "an event visits the runs of its key", NULL, "5.17" }, has_loop },
	{ { "mapped type information", "BTF is mapped instead of copied",
	    "a copy takes its 4 to 6 MB while a session starts", "6.16" },
	  can_map_btf },
	{ { "miss count", "events that a busy program missed are counted as lost",
	    "events that arrive while the program for their type runs on the same CPU are missed and not counted",
	    "5.12" },
	  has_miss_count },
	{ { "bpf_rdonly_cast", "fields behind pointers are read by plain loads",
	    "they are copied by a helper, some nanoseconds each", "6.2" },
	  has_cast },
	{ { "long jumps", "programs of any size that the verifier takes",
	    "rules whose programs grow beyond some 24,000 instructions, by EMIT above all, run in user space", "6.6" },
	  has_long_jumps },
	{ { "large map values", "the runs of a rule may take 256 MiB",
	    "the runs of a rule may take 4 MiB; a larger POOL is refused", NULL },
	  has_large_values },
	{ { "registers of user code", "stacks are unwound from a copy", "stacks come from frame pointers", "5.15" },
	  has_user_registers },
	{ { "programs along tasks", "CALL StackOf(): stacks of any waiting thread",
	    "StackOf fails, and each match says so; Stack works", "5.18" },
	  has_task_programs },
	{ { "signals to others", "Stop, Kill and signals reach any process at the match",
	    "the process that completes the match is reached at once, others as soon as asterism reads the match",
	    "6.13" },
	  has_signals },
	{ { "bpf_local_irq_save", "rules over events of interrupts wait for each other's locks",
	    "an event from an interrupt that meets a lock held on its own CPU is reported as lost", "6.14" },
	  has_irq_save },
	{ { "user probes", "types FROM uprobe and usdt; machines know what was open before they started",
	    "types FROM uprobe and usdt are refused; machines do not know what was open before they started", NULL },
	  has_user_probes },
	{ { "semaphores of USDT probes", "USDT probes that a program raises only while they are observed",
	    "types FROM usdt are refused if their probe has a semaphore", "4.20" },
	  has_probe_semaphores },
	{ { "programs that wait",
	    "string arguments of a probed function are read even if their page is not in memory yet",
	    "such strings stay unread, and are counted", "6.0" },
	  has_waiting_probes },
	{ { "sched_prepare_exec", "strings of an execve are read even if their page is not in memory yet",
	    "the program's name comes from the kernel; the other strings stay unread if it succeeds, and are counted",
	    "6.10" },
	  has_prepare_exec },
	{ { "ia32_sys_call", "calls of 32-bit code are counted where the kernel dispatches them",
	    "each call is checked, which costs some 20 ns", NULL },
	  has_dispatcher },
	{ { "calls alone", "programs about a few system calls are attached to these alone",
	    "every call of the machine enters the programs", "6.7" },
	  has_calls_alone },
	{ { "held system calls", "CALL Veto()", "rules with Veto are refused", "5.0" }, has_held_calls },
	{ { "calls held against signals", "a held call is judged once even if a signal arrives", "Veto is refused",
	    "5.19" },
	  has_killable_wait },
	{ { "cgroups", "Freeze, ShareCpu", "these actions fail, and are counted", NULL }, has_cgroups },
	{ { "test run, raw tracepoint", "asterism recognises its own process in any pid namespace",
	    "in a container, rules may see asterism's own events", "5.10" },
	  has_raw_test_run },
	{ { "test run, syscall", "replay --engine kernel", "replay uses only the engine in user space", "5.14" },
	  has_syscall_test_run },
};

enum { ROW_COUNT = sizeof probe_rows / sizeof *probe_rows };

const struct probe *probe_get(size_t index)
{
	return index < ROW_COUNT ? &probe_rows[index].probe : NULL;
}

int probe_ask(size_t index, const struct btf_kernel *btf)
{
	return index < ROW_COUNT ? probe_rows[index].ask(btf) : -EINVAL;
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
	if (error == -EMFILE || error == -ENFILE)
		return diag_error(diag, NULL, error, "cannot load BPF programs: %s", strerror(-error));
	return error ? diag_no_memory(diag) : 0;
}
