// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies part of a stack: the registers that user code had when it entered the kernel, and pages from its stack pointer
 * upwards, up to one that cannot be read. What lies below the pointer belongs to the stack, too, where the
 * architecture's functions may use it without moving the pointer.
 */

#include "ebpf/memory/stack-copy.h"

#include "ebpf/kernel/feature.h"
#include "ebpf/memory/emit.h"

#include <string.h>

#define IMAGE(member) offsetof(struct stack_image, member)

/* Of struct pt_regs; bytes 0: not known here. */
static const struct {
	uint32_t bytes, stack_pointer;
	int32_t red_zone; /* bytes below the stack pointer that are in use */
} registers = {
#if defined(__x86_64__)
	168,
	152,
	128,
#elif defined(__aarch64__)
	272,
	248,
	0,
#else
	0,
	0,
	0,
#endif
};

_Static_assert(sizeof registers.bytes &&PROGRAM_REGISTERS_MAX * 8 >= 272, "they have room");

struct memory_ring stack_copy_ring(void)
{
	struct memory_ring ring = { .entry_bytes = sizeof(struct stack_copy) };
	uint32_t fit = (STACK_COPIES_BYTES_MAX - STACK_RING_HEAD_BYTES) / ring.entry_bytes;

	if (!registers.bytes || !ebpf_has_user_registers())
		return ring;
	for (ring.entries = 1; ring.entries * 2 <= fit;)
		ring.entries *= 2;
	return ring;
}

bool stack_image_is_known(void)
{
	return registers.bytes != 0;
}

/* For bpf_find_vma: notes in the context that the memory is of no file. */
static uint32_t function_note_plain(struct ebpf_asm *as, uint32_t file_offset)
{
	uint32_t function = ebpf_asm_function(as, "note_plain");

	ebpf_asm_enter(as, function);
	uint32_t end = ebpf_label(as);

	ebpf_load(as, BPF_DW, R0, R2, (int32_t)file_offset);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, end);
	ebpf_store_imm(as, BPF_DW, R3, 0, 1);
	ebpf_bind(as, end);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

/* What it takes to read the owner's memory. */
struct reading {
	const struct stack_owner *owner; /* NULL: it is the current thread's */
	uint32_t note_plain;
	int16_t is_plain; /* on the stack */
};

static struct reading reading_of(struct ebpf_asm *as, const struct stack_owner *owner)
{
	struct reading reading = { .owner = owner };

	if (owner) {
		reading.note_plain = function_note_plain(as, owner->file_offset);
		reading.is_plain = ebpf_stack_take(as, 8);
	}
	return reading;
}

/* Leaves for no where page i from r9 on is of a file. */
static void check_page(struct ebpf_asm *as, const struct reading *reading, int32_t i, uint32_t no)
{
	ebpf_store_imm(as, BPF_DW, R10, reading->is_plain, 0);
	ebpf_mov(as, R1, reading->owner->task);
	ebpf_address(as, R2, R9, i * STACK_PAGE_BYTES);
	ebpf_load_function(as, R3, reading->note_plain);
	ebpf_address(as, R4, R10, reading->is_plain);
	ebpf_mov_imm(as, R5, 0);
	ebpf_call(as, BPF_FUNC_find_vma);
	ebpf_load(as, BPF_DW, R0, R10, reading->is_plain);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, no);
}

/* r0 = 0: page i from r9 on was copied to r8 + to. */
static void copy_page(struct ebpf_asm *as, const struct reading *reading, int32_t i, int32_t to)
{
	ebpf_address(as, R1, R8, to);
	ebpf_mov_imm(as, R2, STACK_PAGE_BYTES);
	ebpf_address(as, R3, R9, i * STACK_PAGE_BYTES);
	if (!reading->owner) {
		ebpf_call(as, BPF_FUNC_probe_read_user);
		return;
	}
	ebpf_mov(as, R4, reading->owner->task);
	ebpf_mov_imm(as, R5, 0);
	ebpf_call(as, BPF_FUNC_copy_from_user_task);
}

/* r7 = the pages, from the one of r9, that could be read into the image at r8 + to. */
static void copy_pages(struct ebpf_asm *as, const struct reading *reading, int32_t to)
{
	uint32_t done = ebpf_label(as);

	ebpf_mov_imm(as, R7, 0);
	for (int32_t i = 0; i < STACK_COPY_PAGES; i++) {
		uint32_t unread = ebpf_label(as);

		/* The first one may be below the stack pointer, and never have been touched. */
		if (reading->owner)
			check_page(as, reading, i, i ? done : unread);
		copy_page(as, reading, i, to + (int32_t)IMAGE(bytes) + i * STACK_PAGE_BYTES);
		ebpf_jump_if_imm(as, BPF_JNE, R0, 0, i ? done : unread);
		ebpf_alu_imm(as, BPF_OR, R7, 1 << i);
		ebpf_bind(as, unread);
	}
	ebpf_bind(as, done);
}

void stack_image_emit(struct ebpf_asm *as, int32_t to, const struct stack_owner *owner)
{
	const struct reading reading = reading_of(as, owner);

	if (owner) {
		ebpf_mov(as, R1, owner->task);
	} else {
		ebpf_call(as, BPF_FUNC_get_current_task_btf);
		ebpf_mov(as, R1, R0);
	}
	ebpf_call(as, BPF_FUNC_task_pt_regs);
	ebpf_mov(as, R3, R0);
	ebpf_address(as, R1, R8, to + (int32_t)IMAGE(registers));
	ebpf_mov_imm(as, R2, registers.bytes);
	ebpf_call(as, BPF_FUNC_probe_read_kernel);
	ebpf_load(as, BPF_DW, R9, R8, to + (int32_t)(IMAGE(registers) + registers.stack_pointer));
	ebpf_alu_imm(as, BPF_SUB, R9, registers.red_zone);
	ebpf_alu_imm(as, BPF_AND, R9, -STACK_PAGE_BYTES);
	ebpf_store(as, BPF_DW, R8, to + (int32_t)IMAGE(start), R9);
	copy_pages(as, &reading, to);
	ebpf_store(as, BPF_DW, R8, to + (int32_t)IMAGE(pages), R7);
}

struct program_stack_copy stack_image_describe(const struct stack_image *image)
{
	return (struct program_stack_copy){
		.registers = image->registers,
		.start = image->start,
		.bytes = image->bytes,
		.pages = image->pages,
		.page_bytes = STACK_PAGE_BYTES,
		.page_count = STACK_COPY_PAGES,
	};
}

uint32_t stack_copy_function(struct emit *emit)
{
	struct ebpf_asm *as = emit->as;
	uint32_t function;

	if (ebpf_asm_find(as, "stack_copy", &function))
		return function;
	function = emit_function_of_numbers(emit, "stack_copy", 0);
	ebpf_asm_enter(as, function);
	uint32_t no = ebpf_label(as);

	ebpf_note(as, "copy the stack of the current thread");
	memory_ring_claim(emit, &emit->context->memory->copies, no);
	stack_image_emit(as, (int32_t)offsetof(struct stack_copy, image), NULL);
	memory_ring_publish(emit);
	ebpf_mov(as, R0, R6);
	ebpf_exit(as);
	ebpf_bind(as, no);
	ebpf_return(as, 0);
	ebpf_asm_leave(as);
	return function;
}

bool stack_copy_read(const struct memory *memory, uint64_t number, uint64_t ids, struct memory_stack *stack)
{
	const struct stack_copy *entry = stack_ring_find(memory, &memory->copies, number, ids);

	if (!entry)
		return false;
	memcpy(&stack->room, entry, sizeof stack->room);
	stack->copy = stack_image_describe(&stack->room.image);
	return stack_ring_holds(entry, number);
}
