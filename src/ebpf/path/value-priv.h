/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_VALUE_PRIV_H
#define EBPF_PATH_VALUE_PRIV_H

/* What the code for numbers and that for strings share. */

#include "ebpf/path/value.h"

/* What the verifier knows about a pointer. */
enum source_knowledge {
	SOURCE_UNKNOWN,
	SOURCE_ARGUMENT, /* what the tracepoint's prototype promises */
	SOURCE_KNOWN,    /* its type, and that loads through it cannot fail */
};

enum { PATH_LENGTH_BYTES = 72 }; /* what a string's length takes of the stack, beside its address */

/* To the verifier r0 is a number afterwards, and no pointer any more. */
void path_make_number(struct ebpf_asm *as);

/* r0 = 1 if r0 op r1 (SOURCE_EQ to SOURCE_GE), both signed, else 0. Overwrites r1-r4. */
void path_compare(struct ebpf_asm *as, enum source_op op);

void path_add_offset(struct ebpf_asm *as, uint8_t reg, uint32_t offset);

/* Makes the verifier know that r0 points to what spot says. Returns whether it now does, so that plain loads work. */
bool path_make_plain(struct ebpf_asm *as, const struct source_style *style, const struct btf_spot *spot,
		     enum source_knowledge knowledge);

/* r0 = the last pointer of the access; goes to null where there is none. */
enum source_knowledge path_load_pointers(struct ebpf_asm *as, const struct source_style *style,
					 const struct source_node *node, uint32_t null);

/* What was begun so ends: binds null, where r0 becomes 0. */
void path_end_pointers(struct ebpf_asm *as, const struct source_node *node, uint32_t null);

/* Goes on at good if the address that path gives is 0: nothing is there to be read. Overwrites r0-r5. */
void path_forgive_null(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		       uint32_t good);

/* r0 = the bytes of the string at path->left without its NUL; an unread one of the user as in path_emit_value. */
void path_emit_length(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path);

/* The string at path goes to the record as field. r0 = its bytes with the NUL, 0 or less where it could not be read. */
void path_emit_string(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      const struct event_field *field);

#endif
