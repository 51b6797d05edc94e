/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MEANING_FAMILY_PRIV_H
#define MEANING_FAMILY_PRIV_H

/* The names of a meaning's values. A family is a table in a file of its sort, and a line here. */

#include "meaning/meaning.h"

/*
 * A name stands for a value under a mask: the whole number (mask 0), single bits (mask = value), or one of the values
 * that a few bits together have. Rows are tried in their order, each takes its bits away from those that follow; a
 * second name of a value follows the one that is shown.
 */
struct meaning_row {
	const char *name;
	uint64_t mask;
	int64_t value;
};

struct meaning_family {
	const struct meaning_row *rows;
	size_t count;
	/* Names that the C library knows, numbers 1 .. last; rows hold what it lacks. name writes nothing but a name.
	 */
	const char *(*name)(int number);
	const char *prefix; /* of what it gives */
	int last;
	/* What only the host knows: the number of a name, and up to so many of the names. */
	bool (*find)(const char *name, int64_t *number);
	size_t (*list)(char (*names)[MEANING_NAME_BYTES], size_t most);
};

/* The bits of flags: those of a negative number of 32 bits are as many. */
static inline uint64_t meaning_bits(struct meaning_number number)
{
	bool is_narrow = number.is_signed && (int64_t)number.word < 0 && (int64_t)number.word >= INT32_MIN;

	return is_narrow ? (uint32_t)number.word : number.word;
}

#define MEANING_ONE(constant)          \
	{                              \
#constant, 0, constant \
	}
#define MEANING_BIT(constant)                 \
	{                                     \
#constant, constant, constant \
	}
#define MEANING_PART(mask, constant)      \
	{                                 \
#constant, mask, constant \
	}
#define MEANING_AS(name, value) \
	{                       \
		name, 0, value  \
	}
#define MEANING_BIT_AS(name, value) \
	{                           \
		name, value, value  \
	}
#define MEANING_FAMILY(table)                                        \
	{                                                            \
		.rows = table, .count = sizeof table / sizeof *table \
	}

/* calls.c */
extern const struct meaning_family meaning_calls;
/* errors.c */
extern const struct meaning_family meaning_errors;
/* signals.c */
extern const struct meaning_family meaning_signals, meaning_signal_masks, meaning_signal_codes, meaning_signal_fates;
/* files.c */
extern const struct meaning_family meaning_open, meaning_at, meaning_access, meaning_mode, meaning_whence,
	meaning_fcntl, meaning_flock, meaning_descriptor, meaning_descriptor_flags, meaning_rename, meaning_fallocate,
	meaning_mount, meaning_umount, meaning_splice, meaning_advice, meaning_xattr, meaning_statx, meaning_inotify,
	meaning_rw, meaning_sync_range;
/* ioctls.c */
extern const struct meaning_family meaning_ioctl;
/* memory.c */
extern const struct meaning_family meaning_prot, meaning_map, meaning_madvise, meaning_msync, meaning_mremap,
	meaning_mlock, meaning_memfd, meaning_fault;
/* processes.c */
extern const struct meaning_family meaning_clone, meaning_wait, meaning_idtype, meaning_policy, meaning_resource,
	meaning_rusage, meaning_ptrace, meaning_prctl, meaning_arch_prctl, meaning_priority_of, meaning_reboot,
	meaning_seccomp, meaning_bpf, meaning_membarrier, meaning_capabilities, meaning_random;
/* sockets.c */
extern const struct meaning_family meaning_socket_family, meaning_socket_type, meaning_protocol, meaning_message,
	meaning_shutdown, meaning_socket_level, meaning_tcp_flags, meaning_tcp_state;
/* waits.c */
extern const struct meaning_family meaning_futex, meaning_epoll, meaning_clock, meaning_timer, meaning_timerfd,
	meaning_itimer, meaning_ipc, meaning_ipc_command, meaning_event;
/* users.c */
extern const struct meaning_family meaning_user_names, meaning_group_names;
/* tasks.c */
extern const struct meaning_family meaning_state, meaning_softirq, meaning_lock, meaning_request, meaning_request_flags,
	meaning_hrtimer;

#endif
