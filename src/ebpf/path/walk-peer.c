// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the other side of a socket as text: 127.0.0.1:80, [::1]:80, /run/socket, @abstract. What is not connected, and
 * what is no socket, has none. r7 is the sock, or a number on its way into digits.
 */

#include "ebpf/path/walk-priv.h"

#include <sys/socket.h>
#include <sys/stat.h>

enum { SUN_PATH = 2 };

/* ":80"; goes to none where nobody is at the other side. r7 is the sock and stays so. */
static void prepend_port(const struct walking *walking, int16_t sock, uint32_t none)
{
	struct ebpf_asm *as = walking->as;

	walk_fetch(walking, R7, walking->offsets[SOURCE_WALK_PORT], 2);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, 0, none);
	ebpf_emit(as, insn_big_endian(R0, 16));
	ebpf_mov(as, R7, R0);
	walk_prepend_number(walking, 10);
	walk_prepend_byte(walking, ':');
	ebpf_load(as, BPF_DW, R7, R10, sock);
}

/* r7 is the sock. Both halves of the address at a member are fetched. */
static void fetch_ip6(const struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t at = walking->offsets[SOURCE_WALK_IP6];

	walk_fetch(walking, R7, at, WALK_WORD);
	ebpf_emit(as, insn_big_endian(R0, 64));
	ebpf_store(as, BPF_DW, R10, walking->high, R0);
	walk_fetch(walking, R7, at + WALK_WORD, WALK_WORD);
	ebpf_emit(as, insn_big_endian(R0, 64));
	ebpf_store(as, BPF_DW, R10, walking->low, R0);
}

/* r7 is the sock. A name without a file begins with a NUL, for which people write '@', and ends where its length says.
 */
static void prepend_unix(const struct walking *walking, uint32_t done)
{
	struct ebpf_asm *as = walking->as;
	uint32_t is_file = ebpf_label(as);
	int32_t name = (int32_t)walking->offsets[SOURCE_WALK_UNIX_NAME] + SUN_PATH;

	walk_fetch_member(walking, R7, R7, SOURCE_WALK_UNIX_PEER);
	ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, done);
	walk_fetch_member(walking, R7, R7, SOURCE_WALK_UNIX_ADDRESS);
	ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, done);
	walk_fetch(walking, R7, walking->offsets[SOURCE_WALK_UNIX_LENGTH], 4);
	ebpf_mov(as, R8, R0);
	ebpf_alu_imm(as, BPF_ADD, R7, name);
	walk_fetch(walking, R7, 0, 1);
	ebpf_jump_if_imm(as, BPF_JNE, R0, 0, is_file);
	ebpf_mov(as, R2, R8);
	ebpf_alu_imm(as, BPF_SUB, R2, SUN_PATH + 1);
	ebpf_address(as, R3, R7, 1);
	walk_prepend(walking);
	walk_prepend_byte(walking, '@');
	ebpf_jump(as, done);
	ebpf_bind(as, is_file);
	ebpf_mov(as, R3, R7);
	walk_prepend_text(walking);
}

void walk_write_peer(struct walking *walking)
{
	struct ebpf_asm *as = walking->as;
	uint32_t done = ebpf_label(as), ip6 = ebpf_label(as), local = ebpf_label(as), ip = ebpf_label(as);
	int16_t sock = ebpf_stack_take(as, WALK_WORD);

	ebpf_mov(as, R7, R1);
	walk_fetch_member(walking, R8, R7, SOURCE_WALK_INODE);
	walk_fetch(walking, R8, walking->offsets[SOURCE_WALK_MODE], 2);
	ebpf_alu_imm(as, BPF_AND, R0, S_IFMT);
	ebpf_jump_if_imm(as, BPF_JNE, R0, S_IFSOCK, done);
	walk_fetch_member(walking, R7, R7, SOURCE_WALK_SOCKET);
	walk_fetch_member(walking, R7, R7, SOURCE_WALK_SOCK);
	ebpf_store(as, BPF_DW, R10, sock, R7);
	ebpf_jump_if_imm(as, BPF_JEQ, R7, 0, done);
	walk_fetch(walking, R7, walking->offsets[SOURCE_WALK_FAMILY], 2);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, AF_INET6, ip6);
	ebpf_jump_if_imm(as, BPF_JEQ, R0, AF_UNIX, local);
	ebpf_jump_if_imm(as, BPF_JNE, R0, AF_INET, done);
	prepend_port(walking, sock, done);
	walk_fetch(walking, R7, walking->offsets[SOURCE_WALK_IP4], 4);
	ebpf_emit(as, insn_big_endian(R0, 32));
	walk_store_ip4(walking);
	ebpf_jump(as, ip);
	ebpf_bind(as, ip6);
	prepend_port(walking, sock, done);
	fetch_ip6(walking);
	ebpf_bind(as, ip);
	walk_prepend_ip(walking, true);
	ebpf_jump(as, done);
	ebpf_bind(as, local);
	prepend_unix(walking, done);
	ebpf_bind(as, done);
	walk_return_start(walking);
}
