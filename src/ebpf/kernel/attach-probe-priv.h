/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ATTACH_PROBE_PRIV_H
#define EBPF_KERNEL_ATTACH_PROBE_PRIV_H

/* What looks for functions and what looks for USDT probes share. */

#include "base/elf-code.h"
#include "ebpf/kernel/attach-probe.h"

#include <stdio.h>

struct attach_wanted {
	const char *path;
	const char *provider, *name; /* provider NULL: a function */
	struct arena *arena;
	struct attach_places *places; /* one, without offset, and with what is known before the file is read */
};

/* Puts a reason together and returns error. */
static inline int attach_refuse(const struct attach_reason *reason, int error, const char *what, const char *name)
{
	snprintf(reason->text, reason->size, "%s %s", what, name);
	return error;
}

/* Replaces the places by those where the file has the USDT probe. Returns what attach_probe_find does. */
int attach_usdt_find(int fd, const struct elf_code *code, const struct attach_wanted *wanted,
		     const struct attach_reason *reason);

#endif
