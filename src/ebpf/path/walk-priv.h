/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_WALK_PRIV_H
#define EBPF_PATH_WALK_PRIV_H

/* What the functions that put strings together have in common. r6 is their memory, r9 where the text begins in it. */

#include "ebpf/path/walk.h"

enum { WALK_WORD = 8, WALK_LAST = SOURCE_WALK_TEXT_BYTES - 1, WALK_NAME = 2 * SOURCE_WALK_TEXT_BYTES };

/* What a function is written with. */
struct walking {
	struct ebpf_asm *as;
	const struct source_style *style;
	const uint32_t *offsets; /* of the members */
	int16_t word, count;     /* on the stack */
	int16_t high, low;       /* likewise: an IP address */
	uint32_t fail;
};

/* Once more round a loop over names; goes to fail if that was often enough. r1 is lost. */
void walk_begin_step(const struct walking *walking);

/* The bytes at reg + offset go to r0; what cannot be read is 0. To dst: the word that is a member. r1-r5 are lost. */
void walk_fetch(const struct walking *walking, uint8_t reg, uint32_t offset, uint32_t bytes);
void walk_fetch_member(const struct walking *walking, uint8_t dst, uint8_t reg, int member);

/*
 * The number in reg is one that the verifier does not know, kept for a moment where names are: ways that differ by what
 * it was are one from here on.
 */
void walk_forget(const struct walking *walking, uint8_t reg);

/* The r2 bytes at r3 go before the text; a byte; the byte in r0 where byte is negative. Goes to fail if there is no
 * room. */
void walk_prepend(const struct walking *walking);
void walk_prepend_byte(const struct walking *walking, int byte);
/* The NUL-terminated text at r3. */
void walk_prepend_text(const struct walking *walking);

/* The end of a function: where the text begins, or -1 from label fail. */
void walk_return_start(const struct walking *walking);

/* The number in r7, of at most five digits of base, goes before the text; r7 is lost. */
void walk_prepend_number(const struct walking *walking, int32_t base);

/* The IP address on the stack goes before the text, in brackets if it is of IPv6 and has a port; r7 is lost. */
void walk_prepend_ip(const struct walking *walking, bool has_port);

/* The IPv4 address in r0 goes to the stack; r1 is lost. */
void walk_store_ip4(const struct walking *walking);

/* The functions: r1 is a struct file; r1 and r2 are the halves of an IP address; r1 is an address of the user's, r2 the
 * bytes of the socket's address there. */
void walk_write_peer(struct walking *walking);
void walk_write_ip(struct walking *walking);
void walk_write_sockaddr(struct walking *walking);

/* r1 is a struct kernfs_node. */
void walk_write_container(struct walking *walking);

#endif
