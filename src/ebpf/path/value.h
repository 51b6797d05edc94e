/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_VALUE_H
#define EBPF_PATH_VALUE_H

/*
 * Code for resolved paths. While it runs, SOURCE_REG_CONTEXT holds the program's context and SOURCE_REG_RECORD the
 * record; r0-r5 are lost, r7 and r8 are left alone.
 */

#include "ebpf/asm/asm.h"
#include "ebpf/path/path.h"
#include "event/type.h"

enum { SOURCE_REG_RECORD = R6, SOURCE_REG_CONTEXT = R9 };

/* Memory of a program's own: an array map of one value, of stride bytes for each CPU, from which it is offset away. */
struct source_memory {
	int map;
	uint32_t stride;
	uint32_t cpu_count;
	uint32_t offset;
};

/* reg = this CPU's part; goes to none should there be none. r0 is lost. */
void path_emit_memory(struct ebpf_asm *as, const struct source_memory *memory, uint8_t reg, uint32_t none);

struct path_memo;

struct source_style {
	uint32_t cast; /* type id of the kernel's function bpf_rdonly_cast; 0: it has none (before 6.2) */
	bool task;     /* r7 holds the current task: it need not be asked for */
	const struct source_node *known; /* its value lies in the stack at known_slot; NULL: none */
	int16_t known_slot;
	struct path_memo *memo; /* what the paths have in common (path/memo.h); NULL: nothing */
	uint32_t stack;         /* what is kept of that may take main's stack up to here: functions have the rest */
	bool lean;              /* strings are not filled up behind their NUL */
	bool detached; /* the context is a copy of what the tracepoint gave: to the verifier its pointers are numbers */
	bool past;     /* execve has made another program of the current one; the context says who it was */
	bool leaves;   /* where memory of the user cannot be read, code goes to label unread; else it goes on with 0 */
	uint32_t unread;
	bool tells;                /* also where a string cannot be put together, which else marks itself */
	struct source_memory walk; /* where strings are put together (path/walk.h) */
	bool cautious; /* no loads through kernel pointers that the verifier would have to know, only copying helpers */
};

/*
 * Whether path looks into memory of the user, which may not be there; whether it may give an unread string, for that
 * reason or because it cannot be put together.
 */
bool path_reads_user(const struct source_node *path);
bool path_may_fail(const struct source_node *path);

/* r0 = the value of path, an integer of 64 bits. */
void path_emit_value(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path);

/* Goes to label unless the condition holds. */
void path_emit_condition(struct ebpf_asm *as, const struct source_style *style,
			 const struct source_condition *condition, uint32_t label);

/* r0 = the value of path as a field of this value type (no string) holds it, extended to 64 bits. */
void path_emit_number(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		      enum event_value value);

/* The string at path goes to the record as field; r0 = its bytes with the NUL, at least 1, at most field's. Is lean. */
void path_emit_text(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		    const struct event_field *field);

/*
 * Stores path in the record as field. path must be a string exactly where field is, or the constant 0. A string at a
 * user address that cannot be read becomes unread (event/type.h) unless the style leaves; where the address is 0 there
 * is no string, and it is empty.
 */
void path_emit_field(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
		     const struct event_field *field);

#endif
