// SPDX-License-Identifier: BSD-2-Clause
/* The names of what calls about files take. */

#include "meaning/family-priv.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Creation and status flags, then how it is opened. */
static const struct meaning_row open_rows[] = {
	MEANING_BIT(O_CREAT),
	MEANING_BIT(O_EXCL),
	MEANING_BIT(O_NOCTTY),
	MEANING_BIT(O_TRUNC),
	MEANING_BIT(O_APPEND),
	MEANING_BIT(O_NONBLOCK),
	{ "O_NDELAY", O_NONBLOCK, O_NONBLOCK },
	MEANING_BIT(O_SYNC),
	MEANING_BIT(O_DSYNC),
	MEANING_BIT(O_ASYNC),
	MEANING_BIT(O_DIRECT),
	MEANING_BIT_AS("O_LARGEFILE", 0100000),
	MEANING_BIT(O_TMPFILE),
	MEANING_BIT(O_DIRECTORY),
	MEANING_BIT(O_NOFOLLOW),
	MEANING_BIT(O_NOATIME),
	MEANING_BIT(O_CLOEXEC),
	MEANING_BIT(O_PATH),
	MEANING_PART(O_ACCMODE, O_RDONLY),
	MEANING_PART(O_ACCMODE, O_WRONLY),
	MEANING_PART(O_ACCMODE, O_RDWR),
	MEANING_PART(O_ACCMODE, O_ACCMODE),
};

const struct meaning_family meaning_open = MEANING_FAMILY(open_rows);

static const struct meaning_row at_rows[] = {
	MEANING_BIT(AT_SYMLINK_NOFOLLOW), MEANING_BIT_AS("AT_REMOVEDIR", 0x200),
	MEANING_BIT(AT_SYMLINK_FOLLOW),   MEANING_BIT(AT_NO_AUTOMOUNT),
	MEANING_BIT(AT_EMPTY_PATH),       MEANING_BIT(AT_STATX_FORCE_SYNC),
	MEANING_BIT(AT_STATX_DONT_SYNC),  MEANING_BIT(AT_RECURSIVE),
	{ "AT_EACCESS", 0x200, 0x200 },
};

const struct meaning_family meaning_at = MEANING_FAMILY(at_rows);

static const struct meaning_row access_rows[] = {
	MEANING_ONE(F_OK),
	MEANING_BIT(R_OK),
	MEANING_BIT(W_OK),
	MEANING_BIT(X_OK),
};

const struct meaning_family meaning_access = MEANING_FAMILY(access_rows);

static const struct meaning_row mode_rows[] = {
	MEANING_PART(S_IFMT, S_IFREG),  MEANING_PART(S_IFMT, S_IFDIR), MEANING_PART(S_IFMT, S_IFLNK),
	MEANING_PART(S_IFMT, S_IFCHR),  MEANING_PART(S_IFMT, S_IFBLK), MEANING_PART(S_IFMT, S_IFIFO),
	MEANING_PART(S_IFMT, S_IFSOCK), MEANING_BIT(S_IFMT),           MEANING_BIT(S_ISUID),
	MEANING_BIT(S_ISGID),           MEANING_BIT(S_ISVTX),          MEANING_BIT(S_IRWXU),
	MEANING_BIT(S_IRUSR),           MEANING_BIT(S_IWUSR),          MEANING_BIT(S_IXUSR),
	MEANING_BIT(S_IRWXG),           MEANING_BIT(S_IRGRP),          MEANING_BIT(S_IWGRP),
	MEANING_BIT(S_IXGRP),           MEANING_BIT(S_IRWXO),          MEANING_BIT(S_IROTH),
	MEANING_BIT(S_IWOTH),           MEANING_BIT(S_IXOTH),
};

const struct meaning_family meaning_mode = MEANING_FAMILY(mode_rows);

static const struct meaning_row whence_rows[] = {
	MEANING_ONE(SEEK_SET),  MEANING_ONE(SEEK_CUR),  MEANING_ONE(SEEK_END),
	MEANING_ONE(SEEK_DATA), MEANING_ONE(SEEK_HOLE),
};

const struct meaning_family meaning_whence = MEANING_FAMILY(whence_rows);

static const struct meaning_row fcntl_rows[] = {
	MEANING_ONE(F_DUPFD),
	MEANING_ONE(F_GETFD),
	MEANING_ONE(F_SETFD),
	MEANING_ONE(F_GETFL),
	MEANING_ONE(F_SETFL),
	MEANING_ONE(F_GETLK),
	MEANING_ONE(F_SETLK),
	MEANING_ONE(F_SETLKW),
	MEANING_ONE(F_SETOWN),
	MEANING_ONE(F_GETOWN),
	MEANING_ONE(F_SETSIG),
	MEANING_ONE(F_GETSIG),
	MEANING_ONE(F_SETOWN_EX),
	MEANING_ONE(F_GETOWN_EX),
	MEANING_ONE(F_OFD_GETLK),
	MEANING_ONE(F_OFD_SETLK),
	MEANING_ONE(F_OFD_SETLKW),
	MEANING_ONE(F_SETLEASE),
	MEANING_ONE(F_GETLEASE),
	MEANING_ONE(F_NOTIFY),
	MEANING_ONE(F_DUPFD_CLOEXEC),
	MEANING_ONE(F_SETPIPE_SZ),
	MEANING_ONE(F_GETPIPE_SZ),
	MEANING_ONE(F_ADD_SEALS),
	MEANING_ONE(F_GET_SEALS),
	MEANING_ONE(F_GET_RW_HINT),
	MEANING_ONE(F_SET_RW_HINT),
	MEANING_ONE(F_GET_FILE_RW_HINT),
	MEANING_ONE(F_SET_FILE_RW_HINT),
};

const struct meaning_family meaning_fcntl = MEANING_FAMILY(fcntl_rows);

static const struct meaning_row flock_rows[] = {
	MEANING_PART(7, LOCK_SH),
	MEANING_PART(~4 & 15, LOCK_EX),
	MEANING_PART(~4 & 15, LOCK_UN),
	MEANING_BIT(LOCK_NB),
};

const struct meaning_family meaning_flock = MEANING_FAMILY(flock_rows);

static const struct meaning_row descriptor_flag_rows[] = {
	MEANING_BIT(O_CLOEXEC),
	MEANING_BIT(O_NONBLOCK),
	MEANING_BIT(O_DIRECT),
};

const struct meaning_family meaning_descriptor_flags = MEANING_FAMILY(descriptor_flag_rows);

static const struct meaning_row descriptor_rows[] = { MEANING_ONE(AT_FDCWD) };

const struct meaning_family meaning_descriptor = MEANING_FAMILY(descriptor_rows);

static const struct meaning_row rename_rows[] = {
	MEANING_BIT(RENAME_NOREPLACE),
	MEANING_BIT(RENAME_EXCHANGE),
	MEANING_BIT(RENAME_WHITEOUT),
};

const struct meaning_family meaning_rename = MEANING_FAMILY(rename_rows);

static const struct meaning_row fallocate_rows[] = {
	MEANING_BIT_AS("FALLOC_FL_KEEP_SIZE", 1),      MEANING_BIT_AS("FALLOC_FL_PUNCH_HOLE", 2),
	MEANING_BIT_AS("FALLOC_FL_NO_HIDE_STALE", 4),  MEANING_BIT_AS("FALLOC_FL_COLLAPSE_RANGE", 8),
	MEANING_BIT_AS("FALLOC_FL_ZERO_RANGE", 16),    MEANING_BIT_AS("FALLOC_FL_INSERT_RANGE", 32),
	MEANING_BIT_AS("FALLOC_FL_UNSHARE_RANGE", 64),
};

const struct meaning_family meaning_fallocate = MEANING_FAMILY(fallocate_rows);

static const struct meaning_row mount_rows[] = {
	MEANING_BIT(MS_RDONLY),      MEANING_BIT(MS_NOSUID),     MEANING_BIT(MS_NODEV),    MEANING_BIT(MS_NOEXEC),
	MEANING_BIT(MS_SYNCHRONOUS), MEANING_BIT(MS_REMOUNT),    MEANING_BIT(MS_MANDLOCK), MEANING_BIT(MS_DIRSYNC),
	MEANING_BIT(MS_NOATIME),     MEANING_BIT(MS_NODIRATIME), MEANING_BIT(MS_BIND),     MEANING_BIT(MS_MOVE),
	MEANING_BIT(MS_REC),         MEANING_BIT(MS_SILENT),     MEANING_BIT(MS_POSIXACL), MEANING_BIT(MS_UNBINDABLE),
	MEANING_BIT(MS_PRIVATE),     MEANING_BIT(MS_SLAVE),      MEANING_BIT(MS_SHARED),   MEANING_BIT(MS_RELATIME),
	MEANING_BIT(MS_STRICTATIME), MEANING_BIT(MS_LAZYTIME),
};

const struct meaning_family meaning_mount = MEANING_FAMILY(mount_rows);

static const struct meaning_row umount_rows[] = {
	MEANING_BIT_AS("MNT_FORCE", 1),
	MEANING_BIT_AS("MNT_DETACH", 2),
	MEANING_BIT_AS("MNT_EXPIRE", 4),
	MEANING_BIT_AS("UMOUNT_NOFOLLOW", 8),
};

const struct meaning_family meaning_umount = MEANING_FAMILY(umount_rows);

static const struct meaning_row splice_rows[] = {
	MEANING_BIT(SPLICE_F_MOVE),
	MEANING_BIT(SPLICE_F_NONBLOCK),
	MEANING_BIT(SPLICE_F_MORE),
	MEANING_BIT(SPLICE_F_GIFT),
};

const struct meaning_family meaning_splice = MEANING_FAMILY(splice_rows);

static const struct meaning_row advice_rows[] = {
	MEANING_ONE(POSIX_FADV_NORMAL),   MEANING_ONE(POSIX_FADV_RANDOM),   MEANING_ONE(POSIX_FADV_SEQUENTIAL),
	MEANING_ONE(POSIX_FADV_WILLNEED), MEANING_ONE(POSIX_FADV_DONTNEED), MEANING_ONE(POSIX_FADV_NOREUSE),
};

const struct meaning_family meaning_advice = MEANING_FAMILY(advice_rows);

static const struct meaning_row xattr_rows[] = { MEANING_BIT_AS("XATTR_CREATE", 1),
						 MEANING_BIT_AS("XATTR_REPLACE", 2) };

const struct meaning_family meaning_xattr = MEANING_FAMILY(xattr_rows);

static const struct meaning_row statx_rows[] = {
	MEANING_BIT(STATX_ALL),    MEANING_BIT(STATX_BASIC_STATS), MEANING_BIT(STATX_TYPE),   MEANING_BIT(STATX_MODE),
	MEANING_BIT(STATX_NLINK),  MEANING_BIT(STATX_UID),         MEANING_BIT(STATX_GID),    MEANING_BIT(STATX_ATIME),
	MEANING_BIT(STATX_MTIME),  MEANING_BIT(STATX_CTIME),       MEANING_BIT(STATX_INO),    MEANING_BIT(STATX_SIZE),
	MEANING_BIT(STATX_BLOCKS), MEANING_BIT(STATX_BTIME),       MEANING_BIT(STATX_MNT_ID),
};

const struct meaning_family meaning_statx = MEANING_FAMILY(statx_rows);

static const struct meaning_row inotify_rows[] = {
	MEANING_BIT(IN_ACCESS),
	MEANING_BIT(IN_MODIFY),
	MEANING_BIT(IN_ATTRIB),
	MEANING_BIT(IN_CLOSE_WRITE),
	MEANING_BIT(IN_CLOSE_NOWRITE),
	MEANING_BIT(IN_OPEN),
	MEANING_BIT(IN_MOVED_FROM),
	MEANING_BIT(IN_MOVED_TO),
	MEANING_BIT(IN_CREATE),
	MEANING_BIT(IN_DELETE),
	MEANING_BIT(IN_DELETE_SELF),
	MEANING_BIT(IN_MOVE_SELF),
	MEANING_BIT(IN_ONLYDIR),
	MEANING_BIT(IN_DONT_FOLLOW),
	MEANING_BIT(IN_EXCL_UNLINK),
	MEANING_BIT(IN_MASK_CREATE),
	MEANING_BIT(IN_MASK_ADD),
	MEANING_BIT(IN_ISDIR),
	MEANING_BIT_AS("IN_ONESHOT", 0x80000000),
};

const struct meaning_family meaning_inotify = MEANING_FAMILY(inotify_rows);

static const struct meaning_row rw_rows[] = {
	MEANING_BIT_AS("RWF_HIPRI", 1),  MEANING_BIT_AS("RWF_DSYNC", 2),   MEANING_BIT_AS("RWF_SYNC", 4),
	MEANING_BIT_AS("RWF_NOWAIT", 8), MEANING_BIT_AS("RWF_APPEND", 16),
};

const struct meaning_family meaning_rw = MEANING_FAMILY(rw_rows);

static const struct meaning_row sync_range_rows[] = {
	MEANING_BIT(SYNC_FILE_RANGE_WAIT_BEFORE),
	MEANING_BIT(SYNC_FILE_RANGE_WRITE),
	MEANING_BIT(SYNC_FILE_RANGE_WAIT_AFTER),
};

const struct meaning_family meaning_sync_range = MEANING_FAMILY(sync_range_rows);
