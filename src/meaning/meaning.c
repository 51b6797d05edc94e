// SPDX-License-Identifier: BSD-2-Clause
/* The table of meanings, how each is read, and which may be compared with each other. */

#include "meaning/family-priv.h"

#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#define FLAGS(name, family)                                  \
	{                                                    \
		"flags " name, MEANING_FLAGS, &family, false \
	}
#define ENUM(name, family)                                 \
	{                                                  \
		"enum " name, MEANING_NAME, &family, false \
	}

const struct meaning meaning_duration = { "duration", MEANING_DURATION, NULL, false };
const struct meaning meaning_time = { "time", MEANING_TIME, NULL, false };
const struct meaning meaning_addr = { "addr", MEANING_ADDRESS, NULL, true };
const struct meaning meaning_pid = { "pid", MEANING_NUMBER, NULL, true };
const struct meaning meaning_tid = { "tid", MEANING_NUMBER, NULL, true };
const struct meaning meaning_uid = { "uid", MEANING_NUMBER, &meaning_user_names, true };
const struct meaning meaning_gid = { "gid", MEANING_NUMBER, &meaning_group_names, true };

static const struct meaning *const spoken[] = { &meaning_duration, &meaning_time, &meaning_addr, &meaning_pid,
						&meaning_tid,      &meaning_uid,  &meaning_gid };

/* In the order of their texts. */
static const struct meaning meanings[] = {
	{ "bool", MEANING_TRUTH, NULL, false },
	{ "bytes", MEANING_BYTES, NULL, true },
	{ "code", MEANING_ADDRESS, NULL, false },
	{ "count", MEANING_NUMBER, NULL, true },
	{ "dev", MEANING_DEVICE, NULL, false },
	ENUM("arch_prctl", meaning_arch_prctl),
	ENUM("bpf", meaning_bpf),
	ENUM("clock", meaning_clock),
	ENUM("epoll", meaning_epoll),
	ENUM("fadvise", meaning_advice),
	ENUM("fcntl", meaning_fcntl),
	ENUM("idtype", meaning_idtype),
	ENUM("ioctl", meaning_ioctl),
	ENUM("ipc", meaning_ipc_command),
	ENUM("itimer", meaning_itimer),
	ENUM("madvise", meaning_madvise),
	ENUM("prctl", meaning_prctl),
	ENUM("priority_of", meaning_priority_of),
	ENUM("protocol", meaning_protocol),
	ENUM("ptrace", meaning_ptrace),
	ENUM("reboot", meaning_reboot),
	ENUM("request", meaning_request),
	ENUM("resource", meaning_resource),
	ENUM("rusage", meaning_rusage),
	ENUM("seccomp", meaning_seccomp),
	ENUM("shutdown", meaning_shutdown),
	ENUM("sigmask", meaning_signal_masks),
	ENUM("signal_code", meaning_signal_codes),
	ENUM("signal_fate", meaning_signal_fates),
	ENUM("socket_family", meaning_socket_family),
	ENUM("socket_level", meaning_socket_level),
	ENUM("softirq", meaning_softirq),
	ENUM("tcp_state", meaning_tcp_state),
	ENUM("whence", meaning_whence),
	{ "errno", MEANING_NAME, &meaning_errors, true },
	{ "fd", MEANING_DESCRIPTOR, &meaning_descriptor, true },
	FLAGS("access", meaning_access),
	FLAGS("at", meaning_at),
	FLAGS("capabilities", meaning_capabilities),
	FLAGS("clone", meaning_clone),
	FLAGS("descriptor", meaning_descriptor_flags),
	FLAGS("event", meaning_event),
	FLAGS("fallocate", meaning_fallocate),
	FLAGS("fault", meaning_fault),
	FLAGS("flock", meaning_flock),
	FLAGS("futex", meaning_futex),
	FLAGS("inotify", meaning_inotify),
	FLAGS("ipc", meaning_ipc),
	FLAGS("lock", meaning_lock),
	FLAGS("map", meaning_map),
	FLAGS("membarrier", meaning_membarrier),
	FLAGS("memfd", meaning_memfd),
	FLAGS("message", meaning_message),
	FLAGS("mlock", meaning_mlock),
	FLAGS("mount", meaning_mount),
	FLAGS("mremap", meaning_mremap),
	FLAGS("msync", meaning_msync),
	FLAGS("open", meaning_open),
	FLAGS("policy", meaning_policy),
	FLAGS("prot", meaning_prot),
	FLAGS("random", meaning_random),
	FLAGS("rename", meaning_rename),
	FLAGS("rw", meaning_rw),
	FLAGS("socket_type", meaning_socket_type),
	FLAGS("splice", meaning_splice),
	FLAGS("statx", meaning_statx),
	FLAGS("sync_range", meaning_sync_range),
	FLAGS("tcp", meaning_tcp_flags),
	FLAGS("timer", meaning_timer),
	FLAGS("timerfd", meaning_timerfd),
	FLAGS("umount", meaning_umount),
	FLAGS("wait", meaning_wait),
	FLAGS("xattr", meaning_xattr),
	{ "ip", MEANING_IP, NULL, false },
	{ "ip4", MEANING_IP4, NULL, false },
	{ "mode", MEANING_MODE, &meaning_mode, false },
	{ "pages", MEANING_NUMBER, NULL, false },
	{ "port", MEANING_NUMBER, NULL, false },
	{ "prio", MEANING_PRIORITY, NULL, false },
	{ "result", MEANING_RESULT, &meaning_errors, true },
	{ "signal", MEANING_NAME, &meaning_signals, false },
	{ "state", MEANING_FLAGS, &meaning_state, false },
	{ "syscall", MEANING_NAME, &meaning_calls, false },
};

enum {
	SPOKEN_COUNT = sizeof spoken / sizeof *spoken,
	MEANING_COUNT = SPOKEN_COUNT + sizeof meanings / sizeof *meanings,
};

const struct meaning *meaning_get(size_t index)
{
	if (index < SPOKEN_COUNT)
		return spoken[index];
	return index < MEANING_COUNT ? &meanings[index - SPOKEN_COUNT] : NULL;
}

static int compare_meaning_name(const void *text, const void *row)
{
	return strcmp(text, ((const struct meaning *)row)->text);
}

const struct meaning *meaning_find(const char *text)
{
	for (size_t i = 0; i < SPOKEN_COUNT; i++) {
		if (strcmp(spoken[i]->text, text) == 0)
			return spoken[i];
	}
	return bsearch(text, meanings, MEANING_COUNT - SPOKEN_COUNT, sizeof *meanings, compare_meaning_name);
}

const char *meaning_nearest(const char *wanted)
{
	const char *texts[MEANING_COUNT];

	for (size_t i = 0; i < MEANING_COUNT; i++)
		texts[i] = meaning_get(i)->text;
	return diag_nearest(wanted, texts, MEANING_COUNT);
}

bool meaning_has_second(const char *text)
{
	return strcmp(text, "flags") == 0 || strcmp(text, "enum") == 0;
}

/* Header fields could be compared with each other before they meant anything, so they still can. */
static bool is_of_header(const struct meaning *meaning)
{
	return meaning == &meaning_pid || meaning == &meaning_tid || meaning == &meaning_time;
}

/* A result is what the call says that it is, so it may be any of what calls give back. */
bool meaning_is_comparable(const struct meaning *a, const struct meaning *b)
{
	if (!a || !b || a == b)
		return true;
	/* What has the type addr means an address unless it says otherwise, and always could be compared. */
	if (a->form == MEANING_ADDRESS || b->form == MEANING_ADDRESS)
		return true;
	if (a->form == MEANING_RESULT || b->form == MEANING_RESULT)
		return a->is_given && b->is_given;
	return is_of_header(a) && is_of_header(b);
}

bool meaning_is_amount(const struct meaning *meaning)
{
	return meaning && (meaning->form == MEANING_DURATION || meaning->form == MEANING_BYTES);
}

bool meaning_is_text(const struct meaning *meaning)
{
	return meaning && meaning->form == MEANING_IP;
}

bool meaning_is_of_host(const struct meaning *meaning)
{
	return meaning && meaning->family && meaning->family->find;
}

bool meaning_has_names(const struct meaning *meaning)
{
	return meaning && meaning->family;
}
