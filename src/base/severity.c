// SPDX-License-Identifier: BSD-2-Clause
/* The words for levels of severity. */

#include "base/severity.h"

#include <stddef.h>

const char *const severity_names[SEVERITY_NAME_COUNT + 1] = { "info", "low", "medium", "high", "critical", NULL };

const char *severity_name(enum severity severity)
{
	return severity == SEVERITY_NONE ? "" : severity_names[severity - 1];
}
