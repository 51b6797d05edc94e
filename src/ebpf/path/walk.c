// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembles strings that the kernel keeps in pieces. Paths go from the last name to the first, so their text grows
 * towards the beginning of the memory.
 *
 * Registers of the functions: r6 the memory, r9 where the text begins in it; of files also r7 the dentry and r8 the
 * mount, of cgroups r7 the node. They return where the text begins, or -1.
 */

#include "ebpf/path/walk-priv.h"

/* r2, r3 = length and address of the dentry's name; the length is what a name can be. */
static void load_name(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t mark = ebpf_stack_mark(as);
	int16_t length = ebpf_stack_take(as, WALK_WORD);

	walk_fetch(walking, R7, walking->offsets[SOURCE_WALK_D_LENGTH], WALK_WORD / 2);
	ebpf_store(as, BPF_DW, R10, length, R0);
	walk_fetch_member(walking, R3, R7, SOURCE_WALK_D_NAME);
	ebpf_load(as, BPF_DW, R2, R10, length);
	ebpf_stack_release(as, mark);
}

/* The end of a path: at top it is "/" where no name has come before, at done as it is. */
static void end_path(const struct walking *walking, uint32_t top, uint32_t done)
{
	struct ebpf_asm *as = walking->as;

	ebpf_bind(as, top);
	ebpf_jump_if_imm(as, BPF_JNE, R9, WALK_LAST, done);
	walk_prepend_byte(walking, '/');
	ebpf_bind(as, done);
	walk_return_start(walking);
}

/*
 * r1 is a struct path. A mount's root is the place that it is mounted on; a file without a place has its name alone,
 * and none where the kernel calls it "/", as it does all that it makes up a dentry for.
 */
static void write_file(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t again = ebpf_label(as), top = ebpf_label(as), inside = ebpf_label(as), done = ebpf_label(as);
	uint32_t placeless = ebpf_label(as);
	int16_t parent = ebpf_stack_take(as, WALK_WORD);

	ebpf_mov(as, R8, R1);
	walk_fetch_member(walking, R7, R8, SOURCE_WALK_DENTRY);
	walk_fetch_member(walking, R8, R8, SOURCE_WALK_MNT);
	ebpf_alu_imm(as, BPF_SUB, R8, (int32_t)walking->offsets[SOURCE_WALK_VFSMOUNT]);
	ebpf_bind(as, again);
	walk_begin_step(walking);
	walk_fetch_member(walking, R0, R7, SOURCE_WALK_D_PARENT);
	ebpf_store(as, BPF_DW, R10, parent, R0);
	walk_fetch(walking, R8, walking->offsets[SOURCE_WALK_VFSMOUNT] + walking->offsets[SOURCE_WALK_MNT_ROOT],
		   WALK_WORD);
	ebpf_jump_if(as, BPF_JNE, R0, R7, inside);
	walk_fetch_member(walking, R0, R8, SOURCE_WALK_MNT_PARENT);
	ebpf_jump_if(as, BPF_JEQ, R0, R8, top);
	ebpf_store(as, BPF_DW, R10, parent, R0);
	walk_fetch_member(walking, R7, R8, SOURCE_WALK_MNT_MOUNTPOINT);
	ebpf_load(as, BPF_DW, R8, R10, parent);
	ebpf_jump(as, again);
	ebpf_bind(as, inside);
	load_name(walking);
	walk_prepend(walking);
	ebpf_load(as, BPF_DW, R1, R10, parent);
	ebpf_jump_if(as, BPF_JEQ, R1, R7, placeless);
	ebpf_mov(as, R7, R1);
	walk_prepend_byte(walking, '/');
	ebpf_jump(as, again);
	ebpf_bind(as, placeless);
	ebpf_mov(as, R1, R6);
	ebpf_alu(as, BPF_ADD, R1, R9);
	ebpf_load(as, BPF_B, R0, R1, 0);
	ebpf_jump_if_imm(as, BPF_JNE, R0, '/', done);
	ebpf_mov_imm(as, R9, WALK_LAST);
	ebpf_jump(as, done);
	end_path(walking, top, done);
}

/* r1 is a struct kernfs_node. */
static void write_cgroup(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t again = ebpf_label(as), top = ebpf_label(as), done = ebpf_label(as);
	int16_t parent = ebpf_stack_take(as, WALK_WORD);

	ebpf_mov(as, R7, R1);
	ebpf_bind(as, again);
	walk_begin_step(walking);
	walk_fetch_member(walking, R8, R7, SOURCE_WALK_KN_PARENT);
	ebpf_store(as, BPF_DW, R10, parent, R8);
	ebpf_jump_if_imm(as, BPF_JEQ, R8, 0, top);
	walk_fetch_member(walking, R3, R7, SOURCE_WALK_KN_NAME);
	walk_prepend_text(walking);
	walk_prepend_byte(walking, '/');
	ebpf_load(as, BPF_DW, R7, R10, parent);
	ebpf_jump(as, again);
	end_path(walking, top, done);
}

/* Every NUL among the words of the memory becomes a blank: of a zero byte alone the seventh bit stays 0 in the sum. */
static void join_with_blanks(struct ebpf_asm *as)
{
	uint32_t again = ebpf_label(as), end = ebpf_label(as);

	ebpf_mov_imm(as, R7, 0);
	ebpf_mov_imm(as, R3, UINT64_C(0x7f7f7f7f7f7f7f7f));
	ebpf_bind(as, again);
	ebpf_jump_if_imm(as, BPF_JGE, R7, SOURCE_WALK_TEXT_BYTES, end);
	ebpf_mov(as, R4, R6);
	ebpf_alu(as, BPF_ADD, R4, R7);
	ebpf_load(as, BPF_DW, R1, R4, 0);
	ebpf_mov(as, R2, R1);
	ebpf_alu(as, BPF_AND, R2, R3);
	ebpf_alu(as, BPF_ADD, R2, R3);
	ebpf_alu(as, BPF_OR, R2, R1);
	ebpf_alu(as, BPF_OR, R2, R3);
	ebpf_alu_imm(as, BPF_XOR, R2, -1);
	ebpf_alu_imm(as, BPF_RSH, R2, 2);
	ebpf_alu(as, BPF_OR, R1, R2);
	ebpf_store(as, BPF_DW, R4, 0, R1);
	ebpf_alu_imm(as, BPF_ADD, R7, WALK_WORD);
	ebpf_jump(as, again);
	ebpf_bind(as, end);
}

/* r8, a length of what is in the memory, becomes that without the NULs at its end; not where more may follow them. */
static void drop_padding(struct ebpf_asm *as)
{
	uint32_t again = ebpf_label(as), end = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JEQ, R8, WALK_LAST, end);
	ebpf_bind(as, again);
	ebpf_jump_if_imm(as, BPF_JLT, R8, 1, end); /* old verifiers learn nothing of != 0 */
	ebpf_mov(as, R4, R6);
	ebpf_alu(as, BPF_ADD, R4, R8);
	ebpf_load(as, BPF_B, R1, R4, -1);
	ebpf_jump_if_imm(as, BPF_JNE, R1, 0, end);
	ebpf_alu_imm(as, BPF_SUB, R8, 1);
	ebpf_jump(as, again);
	ebpf_bind(as, end);
}

/*
 * r1 is a struct mm_struct. What is longer than a field is cut, as any string is. A program that puts a title over its
 * arguments fills what it leaves of them with NULs.
 */
static void write_args(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t fits = ebpf_label(as), none = ebpf_label(as);

	ebpf_mov(as, R8, R1);
	walk_fetch_member(walking, R7, R8, SOURCE_WALK_ARG_START);
	walk_fetch_member(walking, R8, R8, SOURCE_WALK_ARG_END);
	ebpf_jump_if(as, BPF_JLE, R8, R7, none);
	ebpf_alu(as, BPF_SUB, R8, R7);
	ebpf_alu_imm(as, BPF_SUB, R8, 1);
	ebpf_jump_if_imm(as, BPF_JLE, R8, WALK_LAST, fits);
	ebpf_mov_imm(as, R8, WALK_LAST);
	ebpf_bind(as, fits);
	ebpf_alu_imm(as, BPF_AND, R8, WALK_LAST);
	ebpf_mov(as, R1, R6);
	ebpf_mov(as, R2, R8);
	ebpf_mov(as, R3, R7);
	ebpf_call(as, BPF_FUNC_probe_read_user);
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, walking->fail);
	drop_padding(as);
	walk_forget(walking, R8); /* or the rest is followed once for each length */
	ebpf_alu_imm(as, BPF_AND, R8, WALK_LAST);
	join_with_blanks(as);
	ebpf_alu(as, BPF_ADD, R6, R8);
	ebpf_store_imm(as, BPF_B, R6, 0, 0);
	ebpf_mov_imm(as, R9, 0);
	walk_return_start(walking);
	ebpf_bind(as, none);
	ebpf_mov_imm(as, R0, WALK_LAST); /* where there is a NUL */
	ebpf_exit(as);
}

static const struct walk {
	enum source_op op;
	const char *name;
	void (*write)(struct walking *walking);
} walks[] = {
	{ SOURCE_FILE_PATH, "walk_file", write_file },
	{ SOURCE_CGROUP_PATH, "walk_cgroup", write_cgroup },
	{ SOURCE_CONTAINER_NAME, "walk_container", walk_write_container },
	{ SOURCE_SOCKET_PEER, "socket_peer", walk_write_peer },
	{ SOURCE_IP_TEXT, "write_ip", walk_write_ip },
	{ SOURCE_USER_SOCKADDR, "read_sockaddr", walk_write_sockaddr },
	{ SOURCE_USER_ARGS, "read_args", write_args },
};

static const struct walk *find_op_walk(enum source_op op)
{
	for (size_t i = 0; i < sizeof walks / sizeof *walks - 1; i++)
		if (walks[i].op == op)
			return &walks[i];
	return &walks[sizeof walks / sizeof *walks - 1];
}

static uint32_t walk_function_of(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path)
{
	const struct walk *walk = find_op_walk(path->op);
	struct walking walking = { .as = as, .style = style, .offsets = path->offsets };
	uint32_t function;

	if (ebpf_asm_find(as, walk->name, &function))
		return function;
	function = ebpf_asm_global(as, walk->name, path->right ? 2 : 1);
	ebpf_asm_enter(as, function);
	ebpf_note(as, "%s", walk->name);
	walking.fail = ebpf_label(as);
	walking.word = ebpf_stack_take(as, WALK_WORD);
	walking.count = ebpf_stack_take(as, WALK_WORD);
	walking.high = ebpf_stack_take(as, WALK_WORD);
	walking.low = ebpf_stack_take(as, WALK_WORD);
	ebpf_mov(as, R7, R1);
	if (path->right)
		ebpf_mov(as, R8, R2);
	path_emit_memory(as, &style->walk, R6, walking.fail);
	ebpf_mov(as, R1, R7);
	if (path->right)
		ebpf_mov(as, R2, R8);
	ebpf_store_imm(as, BPF_DW, R10, walking.count, 0);
	ebpf_store_imm(as, BPF_B, R6, WALK_LAST, 0);
	ebpf_mov_imm(as, R9, WALK_LAST);
	walk_forget(&walking, R9);
	walk->write(&walking);
	ebpf_asm_leave(as);
	return function;
}

void walk_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
	       const struct event_field *field)
{
	uint32_t mark = ebpf_stack_mark(as);
	int16_t start = ebpf_stack_take(as, WALK_WORD);

	if (style->past) { /* the program that was asked about is gone */
		ebpf_jump(as, style->unread);
		ebpf_mov_imm(as, R0, 0);
		ebpf_stack_release(as, mark);
		return;
	}
	ebpf_call_function(as, walk_function_of(as, style, path));
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, style->unread);
	ebpf_store(as, BPF_DW, R10, start, R0);
	path_emit_memory(as, &style->walk, R3, style->unread);
	ebpf_load(as, BPF_DW, R0, R10, start);
	ebpf_alu_imm(as, BPF_AND, R0, WALK_LAST);
	ebpf_alu(as, BPF_ADD, R3, R0);
	ebpf_address(as, R1, SOURCE_REG_RECORD, (int32_t)field->offset);
	ebpf_mov_imm(as, R2, field->bytes);
	ebpf_call(as, BPF_FUNC_probe_read_kernel_str);
	ebpf_stack_release(as, mark);
}
