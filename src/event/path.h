/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_PATH_H
#define EVENT_PATH_H

/*
 * Catalog paths as trees (notation: docs/formats/catalog.md): where in the kernel a field's value is found. One grammar
 * serves the reader of catalogs, which only asks whether a text is well-formed (event/path-priv.h), and all who use
 * paths: the kernel side binds trees to the running kernel's types, replays and recordings look at what they name.
 *
 * Trees know no kernel: what `a->b` is, and whether it is there, is for those who evaluate it. They do not know kinds
 * either: that no string is calculated with is seen to where the catalog is read.
 *
 * Shapes: nodes, names and lists lie in the arena. Numbers are 64 bits; of unary minus only the value is left.
 *
 * Errors: -EINVAL with one clause in reason, -ENOMEM. Catalogs are untrusted: nesting is bounded, a text of at most
 * some 4,000 bytes can only make as many nodes as it has bytes, numbers that do not fit are refused. It may touch: the
 * text and the arena.
 */

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum source_op {
	SOURCE_CONST,  /* value */
	SOURCE_ACCESS, /* steps from the argument called name, or from "current" */
	/* left and right; integers of 64 bits */
	SOURCE_AND,
	SOURCE_OR,
	SOURCE_SHL,
	SOURCE_SHR, /* zeros come in */
	SOURCE_ADD,
	SOURCE_SUB,
	SOURCE_MUL,
	SOURCE_EQ, /* comparisons are signed and give 1 or 0 */
	SOURCE_NE,
	SOURCE_LT,
	SOURCE_LE,
	SOURCE_GT,
	SOURCE_GE,
	SOURCE_CHOICE, /* left, or right where the kernel lacks left */
	/* of left */
	SOURCE_KSTR,
	SOURCE_USTR,
	SOURCE_BE16,
	SOURCE_BE32,
	SOURCE_BE64,
	SOURCE_USER_WORD,      /* the 8 bytes at a user address */
	SOURCE_KERNEL_WORD,    /* the 8 bytes at a kernel address */
	SOURCE_FILE_PATH,      /* of the struct path at left */
	SOURCE_CGROUP_PATH,    /* of the struct kernfs_node at left */
	SOURCE_CONTAINER_NAME, /* of the struct kernfs_node at left */
	SOURCE_USER_ARGS,      /* of the program with the struct mm_struct at left */
	SOURCE_SOCKET_PEER,    /* of the struct file at left */
	SOURCE_IP_TEXT,        /* of the address whose halves are left and right */
	SOURCE_USER_SOCKADDR,  /* of the user's struct sockaddr at left, of right bytes */
	SOURCE_LENGTH,         /* bytes of the string at left, at most SOURCE_LENGTH_MAX */
	SOURCE_CAST,           /* steps from the struct called name at address left */
	SOURCE_SYSCALL_ARG,    /* argument number value */
	/* of a classic tracepoint's record: at offset value */
	SOURCE_CTX,
	SOURCE_CTXS,
	SOURCE_CTXSTR,
	SOURCE_CTXLOC,
	/* of a probe in user code */
	SOURCE_USER_ARG,    /* argument number value of the function */
	SOURCE_USER_RESULT, /* of the function, where it returns */
	SOURCE_USER_CALLER, /* the address that it was called from, where it begins */
	SOURCE_USDT_ARG,    /* argument number value of the USDT probe */
	/* of so many bytes at the user's address left */
	SOURCE_USER_UINT,
	SOURCE_USER_INT,
	SOURCE_USER_CHARS, /* a string that ends there at the latest */
	/* in no catalog: */
	SOURCE_COOKIE, /* the number that the probe in user code was attached with */
};

/* `->member`, `.member` or `[index]` */
struct event_path_step {
	const char *member; /* NULL: element index */
	uint32_t index;
};

/* Of a string: what a field of EVENT_STRING_BYTES holds. */
enum { SOURCE_LENGTH_MAX = 255 };

enum { EVENT_PATH_STEPS_MAX = 64, EVENT_PATH_CONDITIONS_MAX = 31, EVENT_PATH_SCOPE_MAX = 8 };

struct event_path {
	enum source_op op;
	struct event_path *left, *right;
	int64_t value;
	uint32_t bytes;   /* CTX, CTXS, CTXSTR, USER_UINT, USER_INT, USER_CHARS */
	const char *name; /* ACCESS, CAST */
	struct event_path_step *steps;
	uint32_t step_count;
};

/* path compare constant */
struct event_path_condition {
	struct event_path *path;
	enum source_op compare; /* SOURCE_EQ .. SOURCE_GE */
	int64_t value;
};

/* What follows WHEN: all conditions hold. */
struct event_path_conditions {
	struct event_path_condition *items;
	uint32_t count;
};

/* What follows SCOPE. */
struct event_paths {
	struct event_path **items;
	uint32_t count;
};

/* Parse NUL-terminated texts. NULL conditions and lists are empty. */
int event_path_parse(const char *text, struct arena *arena, struct event_path **parsed, char *reason, size_t size);
int event_path_parse_when(const char *text, struct arena *arena, struct event_path_conditions *parsed, char *reason,
			  size_t size);
int event_path_parse_scope(const char *text, struct arena *arena, struct event_paths *parsed, char *reason,
			   size_t size);

/* Whether two paths say the same. */
bool event_path_same(const struct event_path *a, const struct event_path *b);

/* Whether the path has an op of value in it, however deep. */
bool event_path_has(const struct event_path *path, enum source_op op, int64_t value);

#endif
