// SPDX-License-Identifier: BSD-2-Clause
/* Finds out what the kernel has, by loading the smallest program or map that needs it: one row per feature. */

#include "ebpf/kernel/feature.h"

#include "ebpf/kernel/attach-probe.h"
#include "ebpf/kernel/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_INSNS_MAX = 5, SMALL_VALUE_BYTES = 4 << 20 };

#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}
#define ZERO(reg)                                                     \
	{                                                             \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg) \
	}

struct row {
	size_t offset; /* of the bool in struct ebpf_features */
	struct bpf_insn insns[PROBE_INSNS_MAX];
	unsigned int count;
};

static const struct row feature_rows[] = {
	{ offsetof(struct ebpf_features, long_jump), { ZERO(R0), { .code = BPF_JMP32 | BPF_JA }, EXIT }, 3 },
};

static bool has_program(const struct row *row)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "Dual BSD/GPL", row->insns, row->count, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A callback needs type information, so this one goes the long way. */
static int try_loop(const struct ebpf_features *features)
{
	struct ebpf_load_options options = { .name = "probe",
					     .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					     .features = features };
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return -ENOMEM;
	uint32_t callback = ebpf_asm_function(as, "callback");

	ebpf_mov_imm(as, R1, 1);
	ebpf_load_function(as, R2, callback);
	ebpf_mov_imm(as, R3, 0);
	ebpf_mov_imm(as, R4, 0);
	ebpf_call(as, BPF_FUNC_loop);
	ebpf_return(as, 0);
	ebpf_asm_enter(as, callback);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	int fd = ebpf_load_program(as, &options, NULL);

	ebpf_asm_free(as);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int ebpf_has_large_values(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 2 * SMALL_VALUE_BYTES, 1, &opts);

	if (fd < 0)
		return fd == -E2BIG ? 0 : fd;
	close(fd);
	return 1;
}

bool ebpf_has_user_registers(void)
{
	static const struct row row = {
		.insns = { { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_task_btf },
			   { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = R1, .src_reg = R0 },
			   { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_task_pt_regs },
			   ZERO(R0),
			   EXIT },
		.count = 5,
	};

	return has_program(&row);
}

/* A link to a folder is refused as a file is wanted: where there are no such links, for another reason. */
static bool has_probe_links(void)
{
	static const struct bpf_insn insns[] = { ZERO(R0), EXIT };
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = ATTACH_PROBE_LINK);
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "Dual BSD/GPL", insns, 2, &options);
	int link = program < 0 ? program
			       : attach_probe_link(program, &(struct attach_place){ .path = "/", .offset = 1 }, 0);

	if (link >= 0)
		close(link);
	if (program >= 0)
		close(program);
	return link == -EBADF;
}

/* No program can find out. */
bool ebpf_counts_misses(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 7));
}

#if defined(__x86_64__)
static void end_quietly(int signal)
{
	_exit(signal);
}

/* The child's exit raises no SIGCHLD, and a signal that is handled stands in no log. */
static bool runs_code_32bit(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
	int status;

	if (child == 0) {
		const struct sigaction quiet = { .sa_handler = end_quietly };
		sigset_t none;
		long number = 20; /* getpid */

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		sigaction(SIGSEGV, &quiet, NULL);
		__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "cc", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	if (child < 0)
		return true;
	while (waitpid(child, &status, __WALL) < 0)
		if (errno != EINTR)
			return true;
	return !WIFEXITED(status) || WEXITSTATUS(status) != SIGSEGV;
}
#endif

bool ebpf_runs_32bit(void)
{
#if defined(__x86_64__)
	return runs_code_32bit();
#else
	return true;
#endif
}

int ebpf_features_probe(struct ebpf_features *features)
{
	*features = (struct ebpf_features){ 0 };
	int error = try_loop(features);

	if (error)
		return error == -EINVAL || error == -E2BIG ? -EOPNOTSUPP : error;
	features->loop = true;
	for (size_t i = 0; i < sizeof feature_rows / sizeof feature_rows[0]; i++)
		*(bool *)((char *)features + feature_rows[i].offset) = has_program(&feature_rows[i]);
	features->probe_links = has_probe_links();
	features->counts_misses = ebpf_counts_misses();
	return 0;
}
