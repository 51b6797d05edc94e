// SPDX-License-Identifier: BSD-2-Clause
/* The names of errors, as the C library knows them. */

#include "meaning/family-priv.h"

#include <errno.h>
#include <string.h>

enum { ERROR_LAST = 133 };

/* Second names, and what the kernel keeps to itself but shows at the end of calls that it begins again. */
static const struct meaning_row error_rows[] = {
	MEANING_ONE(EWOULDBLOCK),
	MEANING_ONE(EDEADLOCK),
	MEANING_ONE(ENOTSUP),
	MEANING_AS("ERESTARTSYS", 512),
	MEANING_AS("ERESTARTNOINTR", 513),
	MEANING_AS("ERESTARTNOHAND", 514),
	MEANING_AS("ENOIOCTLCMD", 515),
	MEANING_AS("ERESTART_RESTARTBLOCK", 516),
	MEANING_AS("EPROBE_DEFER", 517),
	MEANING_AS("EOPENSTALE", 518),
	MEANING_AS("ENOPARAM", 519),
	MEANING_AS("ENOTSUPP", 524),
	MEANING_AS("EIOCBQUEUED", 529),
};

const struct meaning_family meaning_errors = {
	.rows = error_rows,
	.count = sizeof error_rows / sizeof *error_rows,
	.name = strerrorname_np,
	.prefix = "",
	.last = ERROR_LAST,
};
