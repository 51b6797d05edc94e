// SPDX-License-Identifier: BSD-2-Clause
/* Leaves out firings in the kernel where the counter of active programs on this CPU is not 0. */

#include "ebpf/source/watch.h"

#include "base/alloc.h"
#include "ebpf/kernel/array.h"
#include "ebpf/kernel/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char at_work[] = "bpf_prog_active"; /* of each CPU, an int */

struct watch {
	const char *name;
	struct ebpf_array count; /* a u64 */
	int program, link;
	bool is_blind;
};

static void emit_watch(struct ebpf_asm *as, uint32_t variable, int memory)
{
	uint32_t end = ebpf_label(as);

	ebpf_note(as, "is a firing left out for other programs");
	ebpf_load_variable(as, R1, variable);
	ebpf_call(as, BPF_FUNC_this_cpu_ptr);
	ebpf_load(as, BPF_W, R0, R0, 0);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, end);
	ebpf_load_value(as, R1, memory, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
}

static int load_watch_program(struct watch *watch, uint32_t variable, const struct ebpf_features *features,
			      struct asterism_diag *diag)
{
	const struct ebpf_load_options options = {
		.name = watch->name, .file = watch->name, .type = BPF_PROG_TYPE_RAW_TRACEPOINT, .features = features
	};
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return diag_no_memory(diag);
	emit_watch(as, variable, watch->count.fd);
	watch->program = ebpf_load_program(as, &options, NULL);
	ebpf_asm_free(as);
	return watch->program < 0 ? watch->program : 0;
}

static int make_watch_memory(struct watch *watch, struct asterism_diag *diag)
{
	int result = ebpf_array_init(&watch->count, "watch", sizeof(uint64_t), 1, PROT_READ);

	return result ? diag_error(diag, NULL, result, "cannot allocate memory for a program: %s", strerror(-result))
		      : 0;
}

int watch_new(const char *tracepoint, const struct btf_kernel *btf, const struct ebpf_features *features,
	      struct asterism_diag *diag, struct watch **made)
{
	uint32_t variable = btf_kernel_find(btf, BTF_KIND_VAR, at_work);
	struct watch *watch = variable ? alloc_zero(1, sizeof *watch) : NULL;

	*made = NULL;
	if (!watch)
		return variable ? diag_no_memory(diag) : 0;
	*watch = (struct watch){ .name = strchr(tracepoint, ':') + 1, .program = -1, .link = -1 };
	int result = make_watch_memory(watch, diag);

	if (!result)
		result = load_watch_program(watch, variable, features, diag);
	if (result)
		watch_free(watch);
	else
		*made = watch;
	return result == -EINVAL ? 0 : result; /* its symbols do not have the variable */
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	watch_detach(watch);
	ebpf_array_fini(&watch->count);
	if (watch->program >= 0)
		close(watch->program);
	alloc_free(watch);
}

int watch_attach(struct watch *watch, struct asterism_diag *diag)
{
	watch->link = bpf_raw_tracepoint_open(watch->name, watch->program);
	watch->is_blind = watch->link == -ENOENT;
	if (watch->link >= 0 || watch->is_blind)
		return 0;
	return diag_error(diag, NULL, watch->link, "cannot attach to the raw tracepoint %s: %s", watch->name,
			  strerror(-watch->link));
}

void watch_detach(struct watch *watch)
{
	if (watch && watch->link >= 0)
		close(watch->link);
	if (watch)
		watch->link = -1;
}

int64_t watch_misses(const struct watch *watch)
{
	const int64_t *count = watch->count.memory;

	return watch->is_blind ? -1 : __atomic_load_n(count, __ATOMIC_RELAXED);
}
