// SPDX-License-Identifier: BSD-2-Clause
/* Collects what a trace says of its origin. */

#include "trace/ctf/write-priv.h"

#include <string.h>
#include <sys/utsname.h>

size_t ctf_env_fill(bool lttng, const struct utsname *system, struct ctf_env *env)
{
	const struct ctf_env own[] = { { "tracer_version", ASTERISM_VERSION, false } };
	const struct ctf_env as_lttng[] = {
		{ "tracer_name", "lttng-modules", false },
		{ "tracer_major", "2", true },
		{ "tracer_minor", "13", true },
		{ "tracer_patchlevel", "0", true },
		{ CTF_ENV_RECORDER, ASTERISM_VERSION, false },
	};
	const struct ctf_env machine[] = {
		{ "domain", "kernel", false },
		{ "hostname", system->nodename, false },
		{ "sysname", system->sysname, false },
		{ "kernel_release", system->release, false },
		{ "kernel_version", system->version, false },
		{ "machine", system->machine, false },
	};
	size_t count = lttng ? sizeof as_lttng / sizeof *as_lttng : sizeof own / sizeof *own;

	memcpy(env, lttng ? as_lttng : own, count * sizeof *env);
	memcpy(env + count, machine, sizeof machine);
	return count + sizeof machine / sizeof *machine;
}
