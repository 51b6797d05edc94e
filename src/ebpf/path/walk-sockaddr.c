// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the address that a call is given as text: 127.0.0.1, 2001:db8::1, /run/socket, @abstract; nothing where it is
 * of another family; AF_UNSPEC stands for IPv4. It lies in memory of the user, r7 its address there and r8 its bytes.
 */

#include "ebpf/path/walk-priv.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { SOCKADDR_SUN_PATH = 2, SUN_PATH_BYTES = 108, IP4 = 4, IP6 = 8 };

_Static_assert(sizeof(struct sockaddr_un) == SOCKADDR_SUN_PATH + SUN_PATH_BYTES, "as long as a path can be");

/* r0 = the 8 bytes at offset of the address. */
static void fetch_user(const struct walking *walking, int32_t offset)
{
	struct ebpf_asm *as = walking->as;

	ebpf_address(as, R1, R10, walking->word);
	ebpf_mov_imm(as, R2, WALK_WORD);
	ebpf_mov(as, R3, R7);
	if (offset)
		ebpf_alu_imm(as, BPF_ADD, R3, offset);
	ebpf_call(as, BPF_FUNC_probe_read_user);
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, walking->fail);
	ebpf_load(as, BPF_DW, R0, R10, walking->word);
}

/* A path ends at its NUL or where the address ends; a name without a file begins with a NUL, for which '@' stands. */
static void write_unix(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t fits = ebpf_label(as), is_file = ebpf_label(as), none = ebpf_label(as);

	ebpf_jump_if_imm(as, BPF_JSLE, R8, SOCKADDR_SUN_PATH, none);
	ebpf_alu_imm(as, BPF_SUB, R8, SOCKADDR_SUN_PATH);
	ebpf_jump_if_imm(as, BPF_JLE, R8, SUN_PATH_BYTES, fits);
	ebpf_mov_imm(as, R8, SUN_PATH_BYTES);
	ebpf_bind(as, fits);
	ebpf_alu_imm(as, BPF_AND, R8, WALK_LAST);
	ebpf_mov(as, R1, R6);
	ebpf_mov(as, R2, R8);
	ebpf_address(as, R3, R7, SOCKADDR_SUN_PATH);
	ebpf_call(as, BPF_FUNC_probe_read_user);
	ebpf_jump_if_imm(as, BPF_JSLT, R0, 0, walking->fail);
	ebpf_load(as, BPF_B, R0, R6, 0);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, is_file);
	ebpf_store_imm(as, BPF_B, R6, 0, '@');
	ebpf_bind(as, is_file);
	ebpf_alu(as, BPF_ADD, R6, R8);
	ebpf_store_imm(as, BPF_B, R6, 0, 0);
	ebpf_mov_imm(as, R9, 0);
	ebpf_bind(as, none);
}

void walk_write_sockaddr(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t ip4 = ebpf_label(as), ip6 = ebpf_label(as), local = ebpf_label(as), ip = ebpf_label(as);
	uint32_t done = ebpf_label(as);

	ebpf_mov(as, R7, R1);
	ebpf_emit(as, insn_alu_imm(BPF_LSH, R2, 32)); /* lengths have 32 bits and a sign */
	ebpf_emit(as, insn_alu_imm(BPF_ARSH, R2, 32));
	ebpf_mov(as, R8, R2);
	fetch_user(walking, 0);
	ebpf_mov(as, R1, R0);
	ebpf_alu_imm(as, BPF_AND, R1, 0xffff);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, AF_INET6, ip6);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, AF_UNIX, local);
	ebpf_jump_if_imm(as, BPF_JEQ, R1, AF_UNSPEC, ip4);
	ebpf_jump_if_imm(as, BPF_JNE, R1, AF_INET, done);
	ebpf_bind(as, ip4);
	ebpf_alu_imm(as, BPF_RSH, R0, 8 * IP4);
	ebpf_emit(as, insn_big_endian(R0, 32));
	walk_store_ip4(walking);
	ebpf_jump(as, ip);
	ebpf_bind(as, ip6);
	fetch_user(walking, IP6);
	ebpf_emit(as, insn_big_endian(R0, 64));
	ebpf_store(as, BPF_DW, R10, walking->high, R0);
	fetch_user(walking, IP6 + WALK_WORD);
	ebpf_emit(as, insn_big_endian(R0, 64));
	ebpf_store(as, BPF_DW, R10, walking->low, R0);
	ebpf_bind(as, ip);
	walk_prepend_ip(walking, false);
	ebpf_jump(as, done);
	ebpf_bind(as, local);
	write_unix(walking);
	ebpf_bind(as, done);
	walk_return_start(walking);
}
