// SPDX-License-Identifier: BSD-2-Clause
/* The strings that the kernel keeps in pieces, and the members of its structs through which they are found. */

#include "ebpf/path/walk.h"

#define KN_PARENT "cast(kernfs_node, 0)->__parent ? cast(kernfs_node, 0)->parent"
#define KN_NAME   "cast(kernfs_node, 0)->name"

static const struct {
	enum source_op op;
	const char *members[SOURCE_WALK_MEMBERS_MAX + 1];
} rows[] = {
	{ SOURCE_FILE_PATH,
	  { [SOURCE_WALK_MNT] = "cast(path, 0)->mnt",
	    [SOURCE_WALK_DENTRY] = "cast(path, 0)->dentry",
	    [SOURCE_WALK_D_PARENT] = "cast(dentry, 0)->d_parent",
	    [SOURCE_WALK_D_NAME] = "cast(dentry, 0)->d_name.name",
	    [SOURCE_WALK_D_LENGTH] = "cast(dentry, 0)->d_name.len",
	    [SOURCE_WALK_VFSMOUNT] = "cast(mount, 0)->mnt",
	    [SOURCE_WALK_MNT_ROOT] = "cast(vfsmount, 0)->mnt_root",
	    [SOURCE_WALK_MNT_PARENT] = "cast(mount, 0)->mnt_parent",
	    [SOURCE_WALK_MNT_MOUNTPOINT] = "cast(mount, 0)->mnt_mountpoint" } },
	{ SOURCE_CGROUP_PATH, { [SOURCE_WALK_KN_PARENT] = KN_PARENT, [SOURCE_WALK_KN_NAME] = KN_NAME } },
	{ SOURCE_CONTAINER_NAME, { [SOURCE_WALK_KN_PARENT] = KN_PARENT, [SOURCE_WALK_KN_NAME] = KN_NAME } },
	{ SOURCE_SOCKET_PEER,
	  { [SOURCE_WALK_INODE] = "cast(file, 0)->f_inode",
	    [SOURCE_WALK_MODE] = "cast(inode, 0)->i_mode",
	    [SOURCE_WALK_SOCKET] = "cast(file, 0)->private_data",
	    [SOURCE_WALK_SOCK] = "cast(socket, 0)->sk",
	    [SOURCE_WALK_FAMILY] = "cast(sock, 0)->__sk_common.skc_family",
	    [SOURCE_WALK_PORT] = "cast(sock, 0)->__sk_common.skc_dport",
	    [SOURCE_WALK_IP4] = "cast(sock, 0)->__sk_common.skc_daddr",
	    [SOURCE_WALK_IP6] = "cast(sock, 0)->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0]",
	    [SOURCE_WALK_UNIX_PEER] = "cast(unix_sock, 0)->peer",
	    [SOURCE_WALK_UNIX_ADDRESS] = "cast(unix_sock, 0)->addr",
	    [SOURCE_WALK_UNIX_NAME] = "cast(unix_address, 0)->name",
	    [SOURCE_WALK_UNIX_LENGTH] = "cast(unix_address, 0)->len" } },
	{ SOURCE_IP_TEXT, { NULL } },
	{ SOURCE_USER_SOCKADDR, { NULL } },
	{ SOURCE_USER_ARGS,
	  { [SOURCE_WALK_ARG_START] = "cast(mm_struct, 0)->arg_start",
	    [SOURCE_WALK_ARG_END] = "cast(mm_struct, 0)->arg_end" } },
};

const char *const *walk_members(enum source_op op)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].op == op)
			return rows[i].members;
	return NULL;
}

bool walk_is(enum source_op op)
{
	return walk_members(op) != NULL;
}
