// SPDX-License-Identifier: BSD-2-Clause
/* Counts calls of 32-bit code. The program is attached at once: a kernel may refuse that, too. */

#include "ebpf/source/calls-32bit.h"

#include "ebpf/kernel/attach.h"
#include "ebpf/kernel/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

static const char dispatcher[] = "ia32_sys_call";

static int load_call_programs(const struct calls_32bit *calls, uint32_t function,
			      const struct calls_32bit_options *options)
{
	struct ebpf_load_options load = {
		.name = "calls_32bit",
		.type = BPF_PROG_TYPE_TRACING,
		.attach_type = BPF_TRACE_FENTRY,
		.attach_btf_id = function,
		.features = options->features,
	};
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return -ENOMEM;
	uint32_t out = ebpf_label(as);

	ebpf_note(as, "a call of 32-bit code: in scope?");
	ebpf_call(as, BPF_FUNC_get_current_pid_tgid);
	ebpf_mov(as, R8, R0);
	ebpf_alu_imm(as, BPF_RSH, R8, 32);
	scope_emit_test(options->scope, as, R8, out);
	ebpf_load_value(as, R1, calls->count.fd, 0);
	ebpf_mov_imm(as, R2, 1);
	ebpf_atomic_add(as, R1, 0, R2);
	ebpf_bind(as, out);
	ebpf_return(as, 0);
	int fd = ebpf_load_program(as, &load, NULL);

	ebpf_asm_free(as);
	return fd;
}

static int start_call_programs(struct calls_32bit *calls, uint32_t function, const struct calls_32bit_options *options)
{
	int result = ebpf_array_init(&calls->count, "calls_32bit", sizeof(uint64_t), 1, PROT_READ);

	if (result)
		return result;
	calls->program = load_call_programs(calls, function, options);
	return calls->program < 0 ? calls->program : calls_32bit_switch(calls, true, NULL);
}

void calls_32bit_init(struct calls_32bit *calls, struct source_plan *plan, const struct calls_32bit_options *options)
{
	struct source_unit *unit = plan->units, *end = unit + plan->unit_count;

	while (unit < end && !unit->counts_others)
		unit++;
	uint32_t function = unit < end ? btf_kernel_find(options->btf, BTF_KIND_FUNC, dispatcher) : 0;

	if (!function)
		return;
	if (options->features && start_call_programs(calls, function, options))
		calls_32bit_fini(calls);
	else
		unit->counts_others = false;
}

void calls_32bit_fini(struct calls_32bit *calls)
{
	ebpf_array_fini(&calls->count);
	if (calls->link >= 0)
		close(calls->link);
	if (calls->program >= 0)
		close(calls->program);
	*calls = (struct calls_32bit){ .program = -1, .link = -1 };
}

void calls_32bit_begin(struct calls_32bit *calls)
{
	calls->before += calls_32bit_count(calls);
}

uint64_t calls_32bit_count(const struct calls_32bit *calls)
{
	const uint64_t *count = calls->count.memory;

	return count ? __atomic_load_n(count, __ATOMIC_RELAXED) - calls->before : 0;
}

int calls_32bit_switch(struct calls_32bit *calls, bool on, struct asterism_diag *diag)
{
	if (!calls->count.memory || on == (calls->link >= 0))
		return 0;
	if (on) {
		calls->link = attach_raw(calls->program, dispatcher, diag);
		return calls->link < 0 ? calls->link : 0;
	}
	close(calls->link);
	calls->link = -1;
	return 0;
}
