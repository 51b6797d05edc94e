/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_PATH_WALK_H
#define EBPF_PATH_WALK_H

/*
 * Strings that the kernel keeps in pieces: paths of files, from name to name across mounts, paths of cgroups, the
 * arguments of a program; and addresses as people write them. Code for one is a function of its own, which the verifier
 * looks at once per program; it puts the pieces together in memory of the program's own. All is bounded: what takes
 * more than SOURCE_WALK_STEPS names or does not fit a field of 256 bytes is unread, never a part of it.
 */

#include "ebpf/path/value.h"

enum {
	SOURCE_WALK_STEPS = 48,
	SOURCE_WALK_TEXT_BYTES = 256,
	/* Per CPU: text, where a name may end behind it as far as the verifier knows, and one more name. */
	SOURCE_WALK_BYTES = 3 * SOURCE_WALK_TEXT_BYTES,
};

/* The members, by what is walked. */
enum {
	SOURCE_WALK_MNT,
	SOURCE_WALK_DENTRY,
	SOURCE_WALK_D_PARENT,
	SOURCE_WALK_D_NAME,
	SOURCE_WALK_D_LENGTH,
	SOURCE_WALK_VFSMOUNT,
	SOURCE_WALK_MNT_ROOT,
	SOURCE_WALK_MNT_PARENT,
	SOURCE_WALK_MNT_MOUNTPOINT,
};
enum { SOURCE_WALK_KN_PARENT, SOURCE_WALK_KN_NAME };
enum { SOURCE_WALK_ARG_START, SOURCE_WALK_ARG_END };
enum {
	SOURCE_WALK_INODE,
	SOURCE_WALK_MODE,
	SOURCE_WALK_SOCKET,
	SOURCE_WALK_SOCK,
	SOURCE_WALK_FAMILY,
	SOURCE_WALK_PORT,
	SOURCE_WALK_IP4,
	SOURCE_WALK_IP6,
	SOURCE_WALK_UNIX_PEER,
	SOURCE_WALK_UNIX_ADDRESS,
	SOURCE_WALK_UNIX_NAME,
	SOURCE_WALK_UNIX_LENGTH,
};
enum { SOURCE_WALK_MEMBERS_MAX = 12 };

/* Whether the op gives such a string. */
bool walk_is(enum source_op op);

/* Paths to the members, from address 0: an offset each; NULL ends them. NULL: the op gives no such string. */
const char *const *walk_members(enum source_op op);

/*
 * The string that path gives goes to field of the record, whose rest is zero already. r1 is what
 * path->left gives, r2 what path->right; r0 = the string's bytes. Goes to the style's label
 * unread where it cannot be put together.
 */
void walk_emit(struct ebpf_asm *as, const struct source_style *style, const struct source_node *path,
	       const struct event_field *field);

#endif
