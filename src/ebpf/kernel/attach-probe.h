/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ATTACH_PROBE_H
#define EBPF_KERNEL_ATTACH_PROBE_H

/*
 * Probes in user code: "uprobe:FILE:FUNCTION" where a function begins, "uretprobe:FILE:FUNCTION" where it returns,
 * "usdt:FILE:PROVIDER:PROBE" wherever the file has that probe. FILE is a path, or the name of a shared library
 * (libc.so.6); "asterism" is this program. A probe is met by every process that has the file mapped; the scope test
 * comes after that.
 */

#include "base/alloc.h"
#include "base/diag.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attach_place {
	const char *path;
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* of a USDT probe: where the file has the number that says that somebody looks; 0: none */
	uint64_t address;   /* of a USDT probe: what symbols of the file would say */
	const char *arguments; /* where a USDT probe has them (usdt-argument.h); NULL: it is a function */
	uint32_t machine;      /* whose registers these are */
	bool at_return;
	bool is_old; /* the file has the function only in a version that new programs are not linked with */
	bool is_own; /* in this program: met by this process only, about others (own-probe.h) */
};

struct attach_places {
	struct attach_place *items;
	size_t count;
};

/* Where one clause goes that says why not. */
struct attach_reason {
	char *text;
	size_t size;
};

bool attach_is_probe(const char *tracepoint);
bool attach_is_usdt(const char *tracepoint);

/*
 * Finds the places, at least one; they are arena's. Returns 0; -ENOENT (no such file, or not one for this machine),
 * -ESRCH (it has no such function or probe), -EOPNOTSUPP (this kernel cannot set the probe's semaphore), -EINVAL,
 * -E2BIG, -ENOMEM.
 */
int attach_probe_find(const char *tracepoint, struct arena *arena, struct attach_places *places,
		      const struct attach_reason *reason);

/* What a program is loaded for that is to have a link: BPF_TRACE_UPROBE_MULTI. */
#define ATTACH_PROBE_LINK ((enum bpf_attach_type)48)

/* What a program of the kprobe type is attached to, for all processes. */
struct attach_probe {
	const struct attach_place *place;
	const char *tracepoint;
	uint64_t cookie; /* which the program may ask for there */
	bool by_link;    /* of probes, for which it was loaded; else through perf */
};

/*
 * The kernel detaches events of perf one by one, 80 ms each, links of probes side by side. Returns a descriptor whose
 * closing detaches, or -errno.
 */
int attach_probe(int program_fd, const struct attach_probe *probe, struct asterism_diag *diag);
int attach_probe_link(int program_fd, const struct attach_place *place, uint64_t cookie);

#endif
