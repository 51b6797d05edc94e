/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_PATH_H
#define EBPF_PATH_PATH_H

/*
 * Catalog paths (event/path.h) as the kernel side has them: path/parse.c makes them from text, without knowing any
 * kernel; path/resolve.c binds them to the running kernel's types, which leaves no SOURCE_CHOICE, SOURCE_SYSCALL_ARG,
 * SOURCE_USDT_ARG and SOURCE_USER_*ARG, RESULT, CALLER; path/value.c generates the code.
 */

#include "base/alloc.h"
#include "ebpf/kernel/btf-path.h"

struct source_node {
	enum source_op op;
	struct source_node *left, *right;
	int64_t value;
	uint32_t bytes; /* CTX, CTXS, CTXSTR; USER_WORD: so many instead of 8; USTR: at most; 0: as usual */

	const char *name; /* ACCESS: the argument, or "current"; CAST: the struct */
	struct event_path_step *hops;
	uint32_t hop_count;

	/* Set by resolving. */
	bool is_current;
	bool is_signed;    /* USER_WORD of fewer than 8 bytes */
	uint32_t argument; /* from 0, the leading `void *` not counted */
	bool is_registers; /* the argument is a struct pt_regs, of a system call */
	bool by_helper;    /* the verifier does not let the argument be loaded as it is */
	struct btf_access access;
	uint32_t *offsets; /* of strings that are put together: of what is walked (path/walk.c) */
};

/* path compare constant */
struct source_condition {
	struct source_node *path;
	enum source_op compare; /* SOURCE_EQ .. SOURCE_GE */
	int64_t value;
};

struct source_conditions {
	struct source_condition *items;
	uint32_t count;
};

struct source_paths {
	struct source_node **items;
	uint32_t count;
};

/*
 * Parse a path, the condition of a WHEN, and the list of a SCOPE into arena. Return 0; -EINVAL with one clause in
 * reason; -ENOMEM. NULL conditions and lists are empty.
 */
int path_parse_path(const char *text, struct arena *arena, struct source_node **parsed, char *reason, size_t size);
int path_parse_when(const char *text, struct arena *arena, struct source_conditions *parsed, char *reason, size_t size);
int path_parse_scope(const char *text, struct arena *arena, struct source_paths *parsed, char *reason, size_t size);

/* True for paths that give a string; only for parsed, and rather for resolved, ones. */
bool path_is_string(const struct source_node *node);

/* What an operation on integers gives, SOURCE_AND .. SOURCE_GE, SOURCE_BE16 .. SOURCE_BE64 (right is not looked at). */
uint64_t path_calculate(enum source_op op, uint64_t left, uint64_t right);

/* True when both resolved paths give the same value at the same event. */
bool path_same(const struct source_node *a, const struct source_node *b);
bool path_same_condition(const struct source_condition *a, const struct source_condition *b);

#endif
